#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "app/study/objectives/particle_objectives.hpp"
#include "recoil/base/error.hpp"
#include "recoil/linalg/vector.hpp"
#include "recoil/potentials/bonds/bond_potential.hpp"
#include "recoil/solvers/bdem/softening.hpp"

namespace recoil::app {
namespace {

using Eigen::Vector3d;
using objectives::ObservedState;

/// Its residual is that of the first rank.
class ParticleReaction final : public objectives::LeastSquaresObjective<3> {
public:
  ParticleReaction(const solvers::BondedParticles& problem, ParticleSupport support,
                   objectives::Track<1> track, objectives::Travel travel)
      : LeastSquaresObjective(*problem.particles->points->comm), problem_(problem),
        support_(std::move(support)), track_(std::move(track)), travel_(std::move(travel)),
        bonds_(*problem.particles, problem.bonds->material()), direction_(problem.particles->tangents) {
    {
      const auto entries = direction_.write_owned();
      for (const LocalIndex k : support_.particles)
        std::copy_n(support_.direction.data(), 3, entries.begin() + 6 * std::ptrdiff_t(k));
    }
    direction_.update_ghosts();
  }

  std::string_view name() const override { return "reaction_force"; }
  std::vector<objectives::Quantity> depends_on() const override {
    std::vector<objectives::Quantity> all = bonds_.quantities();
    all.insert(all.end(),
               {objectives::quantities::displacement, particle_mass, gravity_components, particle_loads});
    if (problem_.softens()) all.push_back(bond_damage);
    return all;
  }
  void check_time(double time) const override { observed(time); }
  bool has_deviations() const override { return track_.has_sd; }
  /// R has no forces of contact.
  void check_run(double time) const override {
    if (!problem_.contact) return;
    const potentials::SphereContact& pairs = problem_.contact->pairs;
    std::vector<double> own(problem_.particles->num_owned(), 0.0);
    for (const LocalIndex k : support_.particles) own[k] = 1;
    const std::vector<double> is_held = pairs.spheres()->gather(own, 1);
    const bool touches = std::ranges::any_of(pairs.touching(), [&](const potentials::SphereTouch& touch) {
      return is_held[touch.pair.a] != 0 || (touch.pair.b >= 0 && is_held[touch.pair.b] != 0);
    });
    if (comm().any(touches))
      throw InputError("reaction_force",
                       fmt::format("particles of its `boundary` are in contact at t = {:g} s, and it knows "
                                   "forces of bonds alone; choose particles that nothing touches",
                                   time));
  }

  std::size_t num_residuals() const override { return comm().rank() == 0 ? 1 : 0; }
  objectives::ObservationNames observation_names() const override { return {{}, {"force"}}; }
  std::vector<objectives::ResidualLabel> residual_labels(double time) const override {
    return std::vector(num_residuals(),
                       objectives::ResidualLabel{0, 0, time, observed(time).inverse_sd[0] != 0});
  }

  std::optional<objectives::ComparedForce> compared_force(double time, double residual) const override {
    const auto target = observed(time);
    return objectives::ComparedForce{target.position[0],
                                     target.position[0] + residual / target.inverse_sd[0]};
  }

  std::vector<double> residuals(const ObservedState& state) override {
    linalg::Vector forces(direction_.shared_layout());
    begin_state(state);
    bonds_.add_gradient(state.u, 1, forces.write_owned());
    const auto target = observed(state.time);
    return on_first((direction_.dot(forces) - loads(state.time) - target.position[0]) * target.inverse_sd[0]);
  }

  /// Only shifts of particles count in R, and their rows of the Hessian are columns, too.
  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double>,
                                       const parameters::PhysicalDirection<3>& dq) override {
    linalg::Vector by_u(direction_.shared_layout()), by_q(direction_.shared_layout());
    begin_state(state);
    bonds_.add_hessian_product(state.u, direction_.local(), 1, by_u.write_owned());
    bonds_.add_parameter_tangent(state.u, dq, 1, by_q.write_owned());
    if (problem_.softens()) {
      std::vector<double> change = dq.numbers(bond_damage);
      for (std::size_t k = 0; k < change.size(); ++k) change[k] *= slope(state, k);
      bonds_.add_integrity_tangent(state.u, change, 1, by_q.write_owned());
    }
    double change = std::inner_product(by_u.owned().begin(), by_u.owned().end(), du.begin(), 0.0);
    const Eigen::Map<const Vector3d> dg(dq.numbers(gravity_components).data());
    for (const LocalIndex k : support_.particles)
      change -= support_.direction.dot(dq.numbers(particle_mass)[k] * problem_.gravity +
                                       problem_.mass[k] * dg + dq.vectors(particle_loads)[k]);
    return on_first((comm().sum(change) + direction_.dot(by_q)) * observed(state.time).inverse_sd[0]);
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<3>& g) override {
    const double weight = comm().sum(y.empty() ? 0.0 : y[0]) * observed(state.time).inverse_sd[0];
    begin_state(state);
    bonds_.add_hessian_product(state.u, direction_.local(), weight, du);
    bonds_.add_parameter_products(state.u, direction_.local(), weight, g);
    if (problem_.softens()) {
      std::vector<double>& by_damage = g.numbers(bond_damage);
      std::vector<double> by_integrity(by_damage.size(), 0.0);
      bonds_.add_integrity_products(state.u, direction_.local(), weight, by_integrity);
      for (std::size_t k = 0; k < by_damage.size(); ++k) by_damage[k] += slope(state, k) * by_integrity[k];
    }
    Eigen::Map<Vector3d> by_gravity(g.numbers(gravity_components).data());
    for (const LocalIndex k : support_.particles) {
      const Vector3d by_load = -weight * support_.direction;
      g.numbers(particle_mass)[k] += by_load.dot(problem_.gravity);
      by_gravity += problem_.mass[k] * by_load;
      g.vectors(particle_loads)[k] += by_load;
    }
  }

  /// Bonds bear what they bore in the step, whose integrity is that of its start; the displacement there does
  /// not count.
  bool depends_on_step() const override { return problem_.softens(); }
  std::vector<double> previous_tangent(const ObservedState&, std::span<const double>) override {
    return std::vector(num_residuals(), 0.0);
  }

private:
  const parallel::Communicator& comm() const { return *problem_.particles->points->comm; }
  void begin_state(const ObservedState& state) {
    solvers::set_damage(bonds_, state.previous_internal, problem_.damage_width);
  }
  double slope(const ObservedState& state, std::size_t bond) const {
    return solvers::integrity_slope(state.previous_internal[bond], problem_.damage_width);
  }
  objectives::Track<1>::Sample observed(double time) const {
    return track_.at(travel_ ? travel_(time) : time);
  }
  std::vector<double> on_first(double residual) const {
    return comm().rank() == 0 ? std::vector<double>{residual} : std::vector<double>{};
  }
  /// The component along the direction of what pulls at the support from outside. Collective.
  double loads(double time) const {
    std::vector<double> forces(6 * std::size_t(problem_.particles->num_owned()), 0.0);
    if (problem_.add_loads) problem_.add_loads(time, forces);
    double own = 0;
    for (const LocalIndex k : support_.particles)
      own += support_.direction.dot(problem_.mass[k] * problem_.gravity +
                                    Eigen::Map<const Vector3d>(forces.data() + 6 * std::size_t(k)));
    return comm().sum(own);
  }

  const solvers::BondedParticles& problem_;
  ParticleSupport support_;
  objectives::Track<1> track_;
  objectives::Travel travel_;
  potentials::BondPotential bonds_; ///< at states, wherever steps take theirs
  linalg::Vector direction_;        ///< of shifts of the support
};

} // namespace

std::unique_ptr<objectives::Objective<3>> make_particle_reaction(const solvers::BondedParticles& problem,
                                                                 ParticleSupport support,
                                                                 objectives::Track<1> track,
                                                                 objectives::Travel travel) {
  return std::make_unique<ParticleReaction>(problem, std::move(support), std::move(track), std::move(travel));
}

} // namespace recoil::app
