#include "recoil/objectives/forces.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
void update_contact(potentials::ContactState<dim>& contact, const ObstacleMotion& obstacles,
                    const ObservedState& state) {
  if (obstacles) contact.set_obstacle_displacement(obstacles(state.time));
  contact.update(state.u);
}

template <int dim>
class ContactForceNorm final : public Objective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  ContactForceNorm(Region<dim> region, potentials::ContactState<dim>& contact, double stiffness,
                   ObstacleMotion obstacles)
      : region_(std::move(region)), contact_(&contact), barrier_(contact), stiffness_(stiffness),
        obstacles_(std::move(obstacles)) {}

  std::string_view name() const override { return "contact_force_norm"; }
  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::vertices, quantities::obstacle_vertices,
            quantities::obstacle_positions};
  }

  double value(const ObservedState& state) override {
    update_contact(*contact_, obstacles_, state);
    double sum = 0;
    for (const Point& force : forces()) sum += force.squaredNorm();
    return region_.comm().sum(sum);
  }

  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    update_contact(*contact_, obstacles_, state);
    // With f = -k dB/dx at the nodes of the region and p = -2 f: dJ = p' k d(dB/dx).
    linalg::Vector p(region_.space->layout());
    contact_->add_to_nodes(forces(), -2 * factor, p.write_owned());
    p.update_ghosts();
    barrier_.add_hessian_product(state.u, p.local(), stiffness_, du);
    barrier_.add_parameter_products(state.u, p.local(), stiffness_, g);
  }

private:
  /// At the owned surface vertices; zero on bodies outside of the region and on obstacles.
  std::vector<Point> forces() const {
    std::vector<Point> field = barrier_.gradient();
    for (LocalIndex v = 0; v < std::ssize(field); ++v) {
      const auto& vertex = contact_->surface().vertices()[v];
      const bool selected = contact_->surface().node(v) >= 0 &&
                            std::binary_search(region_.bodies.begin(), region_.bodies.end(), vertex.body);
      field[v] *= selected ? -stiffness_ : 0.0;
    }
    return field;
  }

  Region<dim> region_;
  potentials::ContactState<dim>* contact_;
  potentials::BarrierPotential<dim> barrier_;
  double stiffness_;
  ObstacleMotion obstacles_;
};

template <int dim>
class ReactionForce final : public LeastSquaresObjective<dim> {
public:
  ReactionForce(const fem::FunctionSpace<dim>& space, Reaction<dim> reaction, Track<1> track, Travel travel)
      : LeastSquaresObjective<dim>(space.comm()), space_(&space), reaction_(std::move(reaction)),
        track_(std::move(track)), travel_(std::move(travel)), direction_(space.layout()) {
    RECOIL_ASSERT(track_.is_load_curve == (travel_ != nullptr));
    const auto entries = direction_.write_owned();
    for (LocalIndex node = 0; node < std::ssize(reaction_.nodes); ++node)
      if (reaction_.nodes[node] != 0) fem::node_block<dim>(entries, node) = reaction_.direction;
    direction_.update_ghosts();
  }

  std::string_view name() const override { return "reaction_force"; }
  std::vector<Quantity> depends_on() const override {
    std::vector<Quantity> result{quantities::displacement, quantities::vertices};
    for (const auto& summand : reaction_.summands)
      for (Quantity& quantity : summand.potential->quantities())
        if (std::ranges::find(result, quantity) == result.end()) result.push_back(std::move(quantity));
    return result;
  }
  void check_time(double time) const override { observed(time); }
  bool has_deviations() const override { return track_.has_sd; }
  std::vector<double> observation_times() const override {
    return travel_ ? std::vector<double>() : track_.observation_times();
  }

  std::size_t num_residuals() const override { return space_->comm().rank() == 0 ? 1 : 0; }
  ObservationNames observation_names() const override { return {{}, {"force"}}; }
  std::vector<ResidualLabel> residual_labels(double time) const override {
    return std::vector(num_residuals(), ResidualLabel{0, 0, time, observed(time).inverse_sd[0] != 0,
                                                      track_.line_at(abscissa(time))});
  }
  std::vector<double> residuals(const ObservedState& state) override {
    move_to(state);
    linalg::Vector forces(space_->layout());
    for (const auto& [potential, factor] : reaction_.summands)
      potential->add_gradient(state.u, factor, forces.write_owned());
    const auto target = observed(state.time);
    return on_first((direction_.dot(forces) - target.position[0]) * target.inverse_sd[0]);
  }

  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double>,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    move_to(state);
    linalg::Vector by_u(space_->layout()), by_q(space_->layout());
    for (const auto& [potential, factor] : reaction_.summands) {
      potential->add_hessian_product(state.u, direction_.local(), factor, by_u.write_owned());
      potential->add_parameter_tangent(state.u, dq, factor, by_q.write_owned());
    }
    return on_first((product(by_u, du) + direction_.dot(by_q)) * observed(state.time).inverse_sd[0]);
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    move_to(state);
    const double weight = weight_of(state, y);
    for (const auto& [potential, factor] : reaction_.summands) {
      potential->add_hessian_product(state.u, direction_.local(), weight * factor, du);
      potential->add_parameter_products(state.u, direction_.local(), weight * factor, g);
    }
  }

  bool depends_on_step() const override { return reaction_.enter_step != nullptr; }
  std::vector<double> previous_tangent(const ObservedState& state,
                                       std::span<const double> previous_du) override {
    linalg::Vector by_previous(space_->layout());
    add_previous(state, 1, by_previous.write_owned());
    return on_first(product(by_previous, previous_du) * observed(state.time).inverse_sd[0]);
  }
  void add_previous_products(const ObservedState& state, std::span<const double> y,
                             std::span<double> previous_du) override {
    add_previous(state, weight_of(state, y), previous_du);
  }

private:
  double abscissa(double time) const { return travel_ ? travel_(time) : time; }
  Track<1>::Sample observed(double time) const { return track_.at(abscissa(time)); }
  std::vector<double> on_first(double residual) const {
    return space_->comm().rank() == 0 ? std::vector<double>{residual} : std::vector<double>{};
  }
  void move_to(const ObservedState& state) {
    if (reaction_.enter_step) reaction_.enter_step(state);
    for (const auto& summand : reaction_.summands) summand.potential->update(state.u);
  }
  /// y += weight dR/du_previous
  void add_previous(const ObservedState& state, double weight, std::span<double> y) const {
    for (const auto& [potential, factor] : reaction_.summands)
      potential->add_previous_product(state.u, direction_.local(), weight * factor, y);
  }
  /// What R has to be multiplied by for y' r, from the entries of `y` of all ranks.
  double weight_of(const ObservedState& state, std::span<const double> y) const {
    return space_->comm().sum(y.empty() ? 0.0 : y[0]) * observed(state.time).inverse_sd[0];
  }
  /// a . b over the owned entries of all ranks.
  double product(const linalg::Vector& a, std::span<const double> b) const {
    return space_->comm().sum(std::inner_product(a.owned().begin(), a.owned().end(), b.begin(), 0.0));
  }

  const fem::FunctionSpace<dim>* space_;
  Reaction<dim> reaction_;
  Track<1> track_;
  Travel travel_;
  linalg::Vector direction_; ///< d at the nodes that count
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_contact_force_norm(Region<dim> region,
                                                        potentials::ContactState<dim>& contact,
                                                        double stiffness, ObstacleMotion obstacles) {
  if (!(stiffness > 0) || !std::isfinite(stiffness))
    throw InputError("contact_force_norm: barrier stiffness " + std::to_string(stiffness) +
                     "; it must be positive");
  return std::make_unique<ContactForceNorm<dim>>(std::move(region), contact, stiffness, std::move(obstacles));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_reaction_force(const fem::FunctionSpace<dim>& space,
                                                    Reaction<dim> reaction, Track<1> track, Travel travel) {
  return std::make_unique<ReactionForce<dim>>(space, std::move(reaction), std::move(track),
                                              std::move(travel));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_contact_force_norm(                                          \
      Region<dim>, potentials::ContactState<dim>&, double, ObstacleMotion);                                  \
  template std::unique_ptr<Objective<dim>> make_reaction_force(const fem::FunctionSpace<dim>&,               \
                                                               Reaction<dim>, Track<1>, Travel);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
