#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "potentials/directions.hpp"
#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/stepping/sweep_products.hpp"
#include "support/derivatives.hpp"

namespace recoil::app {

/// What a direction changes.
struct Changed {
  bool initial = false, motion = false, constants = false, loads = false, shape = false;
};

/// Rough directions in the physical quantities of a scene for a tangent-linear sweep, and the products with
/// them of what a reverse sweep finds.
template <int dim>
class PhysicalProbe {
public:
  using Point = Eigen::Matrix<double, dim, 1>;
  using Quantities = std::vector<parameters::Quantity>;

  PhysicalProbe(DiscreteScene<dim>& discrete, const std::vector<Changed>& changed)
      : on_(discrete), changed_(changed), ids_(potentials::entry_ids(discrete.space())),
        slopes_(changed.size(), 0.0) {
    namespace by = parameters::quantities;
    add(by::density);
    add(by::vertices);
    for (const auto& term : problem().terms)
      for (const auto& quantity : term.potential->quantities()) add(quantity);
    const std::size_t coefficients = problem().contact->parameters().friction.values.size();
    ids_[parameters::Place::obstacle_vertex] = discrete.obstacles().vertex_ids;
    ids_[parameters::Place::coefficient].resize(coefficients);
    std::iota(ids_[parameters::Place::coefficient].begin(), ids_[parameters::Place::coefficient].end(), 0);
    const LocalIndex obstacles = discrete.obstacles().num_vertices();
    products_.gradients.emplace_back(discrete.space(), all_, obstacles, coefficients);
    directions_.changes.assign(changed.size(),
                               {discrete.space(), all_, std::size_t(problem().contact->surface().num_owned()),
                                obstacles, coefficients});
    for (std::size_t k = 0; k < changed.size(); ++k) {
      if (changed[k].constants) potentials::fill_roughly(directions_.changes[k], constants_, ids_);
      if (changed[k].shape) potentials::fill_roughly(directions_.changes[k], shape_, ids_);
    }
    set_directions();
    set_products();
  }

  stepping::SweepDirections<dim>& directions() { return directions_; }
  stepping::SweepProducts<dim>& products() { return products_; }
  /// The products with every direction, after the reverse sweep. Collective.
  std::vector<double> slopes() {
    add_products(constants_);
    add_products(shape_);
    on_.space().comm().sum(slopes_);
    return slopes_;
  }

private:
  const solvers::ElastodynamicsProblem<dim>& problem() const { return on_.solver().problem(); }

  void add(const parameters::Quantity& quantity) {
    namespace by = parameters::quantities;
    if (std::ranges::count(all_, quantity) > 0) return;
    all_.push_back(quantity);
    if (quantity.place == parameters::Place::surface_vertex) return;
    if (quantity == by::traction || quantity == by::pressure)
      loads_.push_back(quantity);
    else
      (quantity == by::vertices || quantity == by::obstacle_vertices ? shape_ : constants_)
          .push_back(quantity);
  }
  void add_products(const Quantities& quantities) {
    for (std::size_t k = 0; k < changed_.size(); ++k)
      for (const parameters::Quantity& quantity : quantities)
        slopes_[k] += potentials::derivative_along(products_.gradients[0], directions_.changes[k], quantity);
  }
  /// Of what all ranks have in common.
  void add_product(bool Changed::*kind, double product) {
    for (std::size_t k = 0; k < changed_.size(); ++k)
      if (changed_[k].*kind && on_.space().comm().rank() == 0) slopes_[k] += product;
  }

  linalg::Vector field(double seed) const { return test::rough_field(on_.space(), 1, seed); }
  /// Of prescribed displacements.
  linalg::Vector motion(double time, double load_factor) const {
    linalg::Vector all = field(5 + 10 * time), free = all;
    problem().dirichlet->clear(free.write_owned());
    free.update_ghosts();
    all.add(-1, free);
    all.scale(load_factor);
    return all;
  }
  Point obstacle_motion(std::size_t vertex, double time, double load_factor) const {
    return load_factor *
           potentials::rough_vector<dim>(problem().contact->surface().vertices()[vertex].id, 9 * time);
  }

  void set_directions() {
    directions_.initial = [this](std::size_t k, linalg::Vector& y, linalg::Vector& z) {
      if (!changed_[k].initial) return;
      y = field(1);
      z = field(2);
    };
    directions_.prescribed = [this](std::size_t k, double time, double load_factor, linalg::Vector& y) {
      if (changed_[k].motion) y = motion(time, load_factor);
    };
    directions_.obstacles = [this](std::size_t k, double time, double load_factor, std::vector<Point>& y) {
      for (std::size_t v = 0; changed_[k].motion && v < y.size(); ++v)
        y[v] = obstacle_motion(v, time, load_factor);
    };
    directions_.loads = [this](std::size_t k, double time) {
      if (!changed_[k].loads) return;
      auto& change = directions_.changes[k];
      potentials::fill_roughly(change, loads_, ids_);
      for (const parameters::Quantity& load : loads_)
        if (load.is_vector)
          for (Point& entry : change.vectors(load)) entry *= 1 + 30 * time;
        else
          for (double& entry : change.numbers(load)) entry *= 1 - 20 * time;
    };
  }
  void set_products() {
    products_.initial = [this](std::size_t, const linalg::Vector& y, const linalg::Vector& z) {
      add_product(&Changed::initial, y.dot(field(1)) + z.dot(field(2)));
    };
    products_.prescribed = [this](std::size_t, double time, double load_factor, const linalg::Vector& y) {
      add_product(&Changed::motion, y.dot(motion(time, load_factor)));
    };
    products_.obstacles = [this](std::size_t, double time, double load_factor, const std::vector<Point>& y) {
      for (std::size_t v = 0; v < y.size(); ++v)
        for (std::size_t k = 0; k < changed_.size(); ++k)
          if (changed_[k].motion && problem().contact->surface().obstacle_vertex(LocalIndex(v)) >= 0)
            slopes_[k] += y[v].dot(obstacle_motion(v, time, load_factor));
    };
    products_.loads = [this](std::size_t, double time) {
      for (std::size_t k = 0; k < changed_.size(); ++k) directions_.loads(k, time);
      add_products(loads_);
      for (const parameters::Quantity& load : loads_) products_.gradients[0].clear(load);
    };
  }

  DiscreteScene<dim>& on_;
  std::vector<Changed> changed_;
  Quantities all_, constants_, loads_, shape_;
  potentials::EntryIds ids_;
  stepping::SweepDirections<dim> directions_;
  stepping::SweepProducts<dim> products_;
  std::vector<double> slopes_; ///< this rank's shares until slopes()
};

} // namespace recoil::app
