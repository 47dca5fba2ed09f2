#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "recoil/app/simulation/discrete_scene.hpp"
#include "recoil/solvers/elastodynamics/sweep_directions.hpp"
#include "recoil/solvers/elastodynamics/sweep_products.hpp"
#include "support/derivatives.hpp"

namespace recoil::app {

/// What a direction changes.
struct Changed {
  bool initial = false, motion = false, constants = false, loads = false, shape = false;
};

/// Directions in the physical quantities of a scene for a tangent-linear sweep, and the products with them of
/// what a reverse sweep finds.
template <int dim>
class PhysicalProbe {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  PhysicalProbe(DiscreteScene<dim>& discrete, const std::vector<Changed>& changed)
      : on_(discrete), changed_(changed), slopes_(changed.size(), 0.0) {
    std::vector<parameters::Quantity> quantities{by::density, by::vertices};
    for (const auto& term : problem().terms)
      for (const auto& quantity : term.potential->quantities()) quantities.push_back(quantity);
    const LocalIndex obstacles = discrete.obstacles().num_vertices();
    const std::size_t coefficients = problem().contact->parameters().friction.values.size();
    products_.gradients.emplace_back(discrete.space(), quantities, obstacles, coefficients);
    directions_.changes.assign(changed.size(), {discrete.space(), quantities,
                                                std::size_t(problem().contact->surface().num_owned()),
                                                obstacles, coefficients});
    for (std::size_t k = 0; k < changed.size(); ++k)
      for (const auto& quantity : quantities) {
        const bool is_shape = quantity == by::vertices || quantity == by::obstacle_vertices;
        if (is_shape ? changed[k].shape : changed[k].constants && !varies(quantity.name))
          fill(directions_.changes[k], quantity, 0);
      }
    set_functions();
  }

  solvers::SweepDirections<dim>& directions() { return directions_; }
  solvers::SweepProducts<dim>& products() { return products_; }
  /// The products with every direction, after the reverse sweep. Collective.
  std::vector<double> slopes() {
    for (std::size_t k = 0; k < changed_.size(); ++k)
      products_.gradients[0].for_each_array([&](const std::string& name, std::span<double> gradient) {
        if (!varies(name)) slopes_[k] += dot(gradient, entries(directions_.changes[k], name));
      });
    on_.space().comm().sum(slopes_);
    return slopes_;
  }

private:
  struct by {
    static constexpr auto& density = parameters::quantities::density;
    static constexpr auto& vertices = parameters::quantities::vertices;
    static constexpr auto& obstacle_vertices = parameters::quantities::obstacle_vertices;
    static constexpr auto& traction = parameters::quantities::traction;
    static constexpr auto& pressure = parameters::quantities::pressure;
  };
  const solvers::ElastodynamicsProblem<dim>& problem() const { return on_.solver().problem(); }

  /// Given anew in every step.
  static bool varies(const std::string& name) {
    return name == by::traction.name || name == by::pressure.name ||
           name == parameters::quantities::obstacle_positions.name ||
           name == parameters::quantities::previous_obstacle_positions.name;
  }
  static double rough(GlobalIndex id, double seed) { return std::sin(12.9898 * double(id) + 78.233 * seed); }
  static double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += a[i] * b[i];
    return sum;
  }
  static std::span<double> entries(parameters::PhysicalDirection<dim>& arrays, const std::string& name) {
    std::span<double> found;
    arrays.for_each_array([&](const std::string& other, std::span<double> of) {
      if (other == name) found = of;
    });
    return found;
  }
  GlobalIndex id_of(parameters::Place place, std::size_t entry) const {
    const auto& mesh = on_.mesh();
    if (place == parameters::Place::cell) return mesh.cell_ids[entry];
    if (place == parameters::Place::vertex) return mesh.vertex_ids[entry];
    if (place == parameters::Place::obstacle_vertex) return on_.obstacles().vertex_ids[entry];
    if (place == parameters::Place::facet) {
      const fem::BoundaryFacet& facet = on_.space().boundary_facets()[entry];
      return mesh.cell_ids[facet.cell] * (dim + 1) + facet.facet;
    }
    return static_cast<GlobalIndex>(entry);
  }
  void fill(parameters::PhysicalDirection<dim>& direction, const parameters::Quantity& quantity,
            double time) const {
    const std::span<double> all = entries(direction, quantity.name);
    const std::size_t width = quantity.is_vector ? dim : 1;
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = rough(id_of(quantity.place, i / width), double(i % width) + 30 * time + 0.1);
  }
  Point obstacle_change(std::size_t vertex, double time) const {
    Point change;
    for (int i = 0; i < dim; ++i) change[i] = rough(GlobalIndex(vertex), i + 20 * time);
    return change;
  }
  linalg::Vector field(double seed) const { return test::rough_field(on_.space(), 1, seed); }
  /// Of prescribed displacements at a time.
  linalg::Vector motion(double time, double load_factor) const {
    linalg::Vector all = field(5 + 10 * time), free = all;
    problem().dirichlet->clear(free.write_owned());
    free.update_ghosts();
    all.add(-1, free);
    all.scale(load_factor);
    return all;
  }

  void set_functions() {
    const parallel::Communicator& comm = on_.space().comm();
    // The same on all ranks, counted once.
    const auto add = [this, &comm](std::size_t k, double product) {
      if (comm.rank() == 0) slopes_[k] += product;
    };
    directions_.initial = [this](std::size_t k, linalg::Vector& y, linalg::Vector& z) {
      if (!changed_[k].initial) return;
      y = field(1);
      z = field(2);
    };
    products_.initial = [this, add](std::size_t, const linalg::Vector& y, const linalg::Vector& z) {
      const double product = y.dot(field(1)) + z.dot(field(2));
      for (std::size_t k = 0; k < changed_.size(); ++k)
        if (changed_[k].initial) add(k, product);
    };
    directions_.prescribed = [this](std::size_t k, double time, double load_factor, linalg::Vector& y) {
      if (changed_[k].motion) y = motion(time, load_factor);
    };
    products_.prescribed = [this, add](std::size_t, double time, double load_factor,
                                       const linalg::Vector& y) {
      const double product = y.dot(motion(time, load_factor));
      for (std::size_t k = 0; k < changed_.size(); ++k)
        if (changed_[k].motion) add(k, product);
    };
    directions_.obstacles = [this](std::size_t k, double time, double load_factor, std::vector<Point>& y) {
      for (std::size_t v = 0; v < y.size(); ++v)
        y[v] = changed_[k].motion ? Point(load_factor * obstacle_change(v, time)) : Point::Zero();
    };
    products_.obstacles = [this](std::size_t, double time, double load_factor, const std::vector<Point>& y) {
      const auto& surface = problem().contact->surface();
      for (std::size_t v = 0; v < y.size(); ++v)
        for (std::size_t k = 0; surface.obstacle_vertex(LocalIndex(v)) >= 0 && k < changed_.size(); ++k)
          if (changed_[k].motion) slopes_[k] += load_factor * y[v].dot(obstacle_change(v, time));
    };
    directions_.loads = [this](std::size_t k, double time) {
      if (!changed_[k].loads) return;
      fill(directions_.changes[k], by::traction, time);
      fill(directions_.changes[k], by::pressure, time);
    };
    products_.loads = [this](std::size_t, double time) {
      auto& gradient = products_.gradients[0];
      gradient.for_each_array([&](const std::string& name, std::span<double> of) {
        if (name != by::traction.name && name != by::pressure.name) return;
        for (std::size_t k = 0; k < changed_.size(); ++k) {
          directions_.loads(k, time);
          slopes_[k] += dot(of, entries(directions_.changes[k], name));
        }
        std::ranges::fill(of, 0.0);
      });
    };
  }
  DiscreteScene<dim>& on_;
  std::vector<Changed> changed_;
  solvers::SweepDirections<dim> directions_;
  solvers::SweepProducts<dim> products_;
  std::vector<double> slopes_; ///< this rank's shares until slopes()
};

} // namespace recoil::app
