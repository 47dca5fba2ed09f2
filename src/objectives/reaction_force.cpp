#include "recoil/objectives/reaction_force.hpp"

#include <algorithm>

#include "recoil/objectives/least_squares.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
class ReactionForce final : public LeastSquaresObjective<dim> {
public:
  ReactionForce(const fem::FunctionSpace<dim>& space, Reaction<dim> reaction, Track<1> track, Travel travel)
      : LeastSquaresObjective<dim>(space.comm()), space_(&space), reaction_(std::move(reaction)),
        track_(std::move(track)), travel_(std::move(travel)), direction_(space.layout()) {
    RECOIL_ASSERT(track_.is_load_curve == (travel_ != nullptr));
    const auto entries = direction_.write_owned();
    for (std::size_t node = 0; node < reaction_.nodes.size(); ++node)
      if (reaction_.nodes[node] != 0)
        fem::node_block<dim>(entries, static_cast<LocalIndex>(node)) = reaction_.direction;
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
    double change = 0;
    for (std::size_t i = 0; i < by_u.owned().size(); ++i) change += by_u.owned()[i] * du[i];
    change = space_->comm().sum(change) + direction_.dot(by_q);
    return on_first(change * observed(state.time).inverse_sd[0]);
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    move_to(state);
    const double weight = space_->comm().sum(y.empty() ? 0.0 : y[0]) * observed(state.time).inverse_sd[0];
    for (const auto& [potential, factor] : reaction_.summands) {
      potential->add_hessian_product(state.u, direction_.local(), weight * factor, du);
      potential->add_parameter_products(state.u, direction_.local(), weight * factor, g);
    }
  }

private:
  Track<1>::Sample observed(double time) const { return track_.at(travel_ ? travel_(time) : time); }
  std::vector<double> on_first(double residual) const {
    return space_->comm().rank() == 0 ? std::vector<double>{residual} : std::vector<double>{};
  }
  void move_to(const ObservedState& state) {
    if (reaction_.contact == nullptr) return;
    if (reaction_.obstacles) reaction_.contact->set_obstacle_displacement(reaction_.obstacles(state.time));
    reaction_.contact->update(state.u);
  }

  const fem::FunctionSpace<dim>* space_;
  Reaction<dim> reaction_;
  Track<1> track_;
  Travel travel_;
  linalg::Vector direction_; ///< d at the nodes that count
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_reaction_force(const fem::FunctionSpace<dim>& space,
                                                    Reaction<dim> reaction, Track<1> track, Travel travel) {
  return std::make_unique<ReactionForce<dim>>(space, std::move(reaction), std::move(track),
                                              std::move(travel));
}

template std::unique_ptr<Objective<2>> make_reaction_force(const fem::FunctionSpace<2>&, Reaction<2>,
                                                           Track<1>, Travel);
template std::unique_ptr<Objective<3>> make_reaction_force(const fem::FunctionSpace<3>&, Reaction<3>,
                                                           Track<1>, Travel);

} // namespace recoil::objectives
