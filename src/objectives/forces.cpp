#include "recoil/objectives/forces.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
class ContactForces final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  ContactForces(Region<dim> region, std::shared_ptr<potentials::ContactState<dim>> contact, double stiffness,
                ObstacleMotion obstacles, std::vector<char> nodes)
      : Observable<dim>(region.comm(), dim, this->count(contact->surface().num_owned())),
        region_(std::move(region)), contact_(std::move(contact)), barrier_(*contact_), stiffness_(stiffness),
        obstacles_(std::move(obstacles)), nodes_(std::move(nodes)) {}

  std::vector<Quantity> depends_on() const override {
    std::vector<Quantity> all = barrier_.quantities();
    all.push_back(quantities::displacement);
    return all;
  }

  std::vector<double> values(const ObservedState& state) override {
    update(state);
    std::vector<Point> field = barrier_.gradient();
    for (LocalIndex v = 0; v < std::ssize(field); ++v) field[v] *= selects(v) ? -stiffness_ : 0.0;
    const std::span<const double> rows = parameters::components(field);
    return {rows.begin(), rows.end()};
  }

  /// y' df = p' k d(dB/dx) with p = -y at the nodes of the region.
  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    update(state);
    std::vector<Point> field(this->points().size(), Point::Zero());
    for (LocalIndex v = 0; v < std::ssize(field); ++v)
      if (selects(v)) field[v] = Eigen::Map<const Point>(&y[dim * v]);
    linalg::Vector p(region_.space->layout());
    contact_->add_to_nodes(field, -1, p.write_owned());
    p.update_ghosts();
    barrier_.add_hessian_product(state.u, p.local(), stiffness_, du);
    barrier_.add_parameter_products(state.u, p.local(), stiffness_, g);
  }
  bool has_tangent() const override { return false; }

private:
  void update(const ObservedState& state) {
    if (obstacles_) contact_->set_obstacle_displacement(obstacles_(state.time));
    contact_->update(state.u);
  }
  bool selects(LocalIndex v) const {
    const auto& surface = contact_->surface();
    return surface.node(v) >= 0 && (nodes_.empty() || nodes_[surface.node(v)] != 0) &&
           std::ranges::binary_search(region_.bodies, surface.vertices()[v].body);
  }

  Region<dim> region_;
  std::shared_ptr<potentials::ContactState<dim>> contact_;
  potentials::BarrierPotential<dim> barrier_;
  double stiffness_;
  ObstacleMotion obstacles_;
  std::vector<char> nodes_; ///< per owned node: it counts; empty: all do
};

template <int dim>
class ReactionForce final : public Observable<dim> {
public:
  explicit ReactionForce(Reaction<dim> reaction)
      : Observable<dim>(*reaction.layout->comm, 1, this->one_point(*reaction.layout->comm)),
        reaction_(std::move(reaction)), direction_(reaction_.layout) {
    const auto entries = direction_.write_owned();
    for (std::size_t node = 0; node < reaction_.nodes.size(); ++node)
      if (reaction_.nodes[node] != 0)
        std::ranges::copy(reaction_.direction, &entries[node * reaction_.layout->block_size]);
    direction_.update_ghosts();
  }

  std::vector<Quantity> depends_on() const override {
    std::vector<Quantity> result{quantities::displacement};
    for (const auto& summand : reaction_.summands)
      for (Quantity& quantity : summand.potential->quantities())
        if (std::ranges::find(result, quantity) == result.end()) result.push_back(std::move(quantity));
    return result;
  }

  std::vector<double> values(const ObservedState& state) override {
    enter(state);
    linalg::Vector forces(reaction_.layout);
    potentials::add_gradients<dim>(reaction_.summands, state.u, forces.write_owned());
    return on_first(direction_.dot(forces));
  }

  std::vector<double> tangent(const ObservedState& state, std::span<const double> du, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    enter(state);
    linalg::Vector by_u(reaction_.layout), by_q(reaction_.layout);
    for (const auto& [potential, factor] : reaction_.summands) {
      potential->add_hessian_product(state.u, direction_.local(), factor, by_u.write_owned());
      potential->add_parameter_tangent(state.u, dq, factor, by_q.write_owned());
    }
    return on_first(product(by_u, du) + direction_.dot(by_q));
  }

  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    enter(state);
    const double weight = this->on_all(y)[0];
    for (const auto& [potential, factor] : reaction_.summands) {
      potential->add_hessian_product(state.u, direction_.local(), weight * factor, du);
      potential->add_parameter_products(state.u, direction_.local(), weight * factor, g);
    }
  }

  bool depends_on_step() const override { return reaction_.depends_on_step; }
  std::vector<double> previous_tangent(const ObservedState& state,
                                       std::span<const double> previous_du) override {
    linalg::Vector by_previous(reaction_.layout);
    add_previous(state, 1, by_previous.write_owned());
    return on_first(product(by_previous, previous_du));
  }
  void add_previous_products(const ObservedState& state, std::span<const double> y,
                             std::span<double> previous_du) override {
    add_previous(state, this->on_all(y)[0], previous_du);
  }

private:
  void enter(const ObservedState& state) {
    if (reaction_.enter_state) reaction_.enter_state(state);
  }
  /// y += weight dR/du_previous
  void add_previous(const ObservedState& state, double weight, std::span<double> y) const {
    for (const auto& [potential, factor] : reaction_.summands)
      potential->add_previous_product(state.u, direction_.local(), weight * factor, y);
  }
  std::vector<double> on_first(double value) const {
    return Observable<dim>::on_first(Eigen::Matrix<double, 1, 1>(value));
  }
  /// a . b over the owned entries of all ranks.
  double product(const linalg::Vector& a, std::span<const double> b) const {
    return this->comm().sum(std::inner_product(a.owned().begin(), a.owned().end(), b.begin(), 0.0));
  }

  Reaction<dim> reaction_;
  linalg::Vector direction_; ///< d at the nodes that count
};

} // namespace

template <int dim>
std::unique_ptr<Observable<dim>>
observe_contact_forces(Region<dim> region, std::shared_ptr<potentials::ContactState<dim>> contact,
                       double stiffness, ObstacleMotion obstacles, std::vector<char> nodes) {
  if (!(stiffness > 0) || !std::isfinite(stiffness))
    throw InputError("contact_force_norm: barrier stiffness " + std::to_string(stiffness) +
                     "; it must be positive");
  return std::make_unique<ContactForces<dim>>(std::move(region), std::move(contact), stiffness,
                                              std::move(obstacles), std::move(nodes));
}

template <int dim>
std::unique_ptr<Observable<dim>> observe_reaction(Reaction<dim> reaction) {
  return std::make_unique<ReactionForce<dim>>(std::move(reaction));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Observable<dim>> observe_contact_forces(                                          \
      Region<dim>, std::shared_ptr<potentials::ContactState<dim>>, double, ObstacleMotion,                   \
      std::vector<char>);                                                                                    \
  template std::unique_ptr<Observable<dim>> observe_reaction(Reaction<dim>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
