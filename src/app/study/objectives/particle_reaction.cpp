#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

#include "recoil/app/study/objectives/particle_objectives.hpp"
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
    if (holds_particles()) summands_.push_back({&bonds_, 1});
    if (problem.contact) add_contact();
    {
      const auto entries = direction_.write_owned();
      for (const LocalIndex k : support_.particles)
        std::copy_n(support_.direction.data(), 3, &entries[6 * k]);
      for (LocalIndex k = 0; !holds_particles() && k < problem.particles->num_owned(); ++k)
        std::copy_n(support_.direction.data(), 3, &entries[6 * k]);
    }
    direction_.update_ghosts();
  }

  std::string_view name() const override { return "reaction_force"; }
  std::vector<objectives::Quantity> depends_on() const override {
    std::vector<objectives::Quantity> all{objectives::quantities::displacement};
    for (const Summand& summand : summands_)
      std::ranges::copy(summand.potential->quantities(), std::back_inserter(all));
    if (!holds_particles()) return all;
    all.insert(all.end(), {particle_mass, gravity_vector, particle_loads});
    if (problem_.softens()) all.push_back(internal_variables);
    return all;
  }
  void check_time(double time) const override { observed(time); }
  bool has_deviations() const override { return track_.has_sd; }

  std::size_t num_residuals() const override { return comm().rank() == 0 ? 1 : 0; }
  objectives::ObservationNames observation_names() const override { return {{}, {"force"}}; }
  std::vector<objectives::ResidualLabel> residual_labels(double time) const override {
    return std::vector(num_residuals(),
                       objectives::ResidualLabel{0, 0, time, observed(time).inverse_sd[0] != 0,
                                                 track_.line_at(abscissa(time))});
  }

  std::optional<objectives::ComparedForce> compared_force(double time, double residual) const override {
    const auto target = observed(time);
    return objectives::ComparedForce{target.position[0],
                                     target.position[0] + residual / target.inverse_sd[0]};
  }

  std::vector<double> residuals(const ObservedState& state) override {
    linalg::Vector forces(direction_.shared_layout());
    begin_state(state);
    for (const auto& [potential, factor] : summands_)
      potential->add_gradient(state.u, factor, forces.write_owned());
    const auto target = observed(state.time);
    return on_first((direction_.dot(forces) - loads(state.time) - target.position[0]) * target.inverse_sd[0]);
  }

  /// Only shifts of particles count in R, and their rows of the Hessian are columns, too.
  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double>,
                                       const parameters::PhysicalDirection<3>& dq) override {
    linalg::Vector by_u(direction_.shared_layout()), by_q(direction_.shared_layout());
    begin_state(state);
    for (const auto& [potential, factor] : summands_) {
      potential->add_hessian_product(state.u, direction_.local(), factor, by_u.write_owned());
      potential->add_parameter_tangent(state.u, dq, factor, by_q.write_owned());
    }
    if (has_damage()) {
      const auto of_terms =
          solvers::internal_direction(problem_, state.previous_internal, dq.numbers(internal_variables));
      for (const auto& [potential, factor] : summands_)
        potential->add_parameter_tangent(state.u, of_terms, factor, by_q.write_owned());
    }
    double change = 0;
    for (const LocalIndex k : support_.particles)
      change -= support_.direction.dot(dq.numbers(particle_mass)[k] * problem_.gravity +
                                       problem_.mass[k] * dq.vectors(gravity_vector)[0] +
                                       dq.vectors(particle_loads)[k]);
    return on_first((product(by_u, du) + comm().sum(change) + direction_.dot(by_q)) *
                    observed(state.time).inverse_sd[0]);
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<3>& g) override {
    const double weight = weight_of(state, y);
    begin_state(state);
    for (const auto& [potential, factor] : summands_) {
      potential->add_hessian_product(state.u, direction_.local(), weight * factor, du);
      potential->add_parameter_products(state.u, direction_.local(), weight * factor, g);
    }
    if (has_damage()) {
      auto by_terms = solvers::internal_gradient(problem_);
      for (const auto& [potential, factor] : summands_)
        potential->add_parameter_products(state.u, direction_.local(), weight * factor, by_terms);
      solvers::add_by_internal(problem_, state.previous_internal, by_terms, g.numbers(internal_variables));
    }
    for (const LocalIndex k : support_.particles) {
      const Vector3d by_load = -weight * support_.direction;
      g.numbers(particle_mass)[k] += by_load.dot(problem_.gravity);
      g.vectors(gravity_vector)[0] += problem_.mass[k] * by_load;
      g.vectors(particle_loads)[k] += by_load;
    }
  }

  /// Friction acts since the start of the step, and bonds bear what they bore in it, with the integrity that
  /// they had there.
  bool depends_on_step() const override { return problem_.contact || problem_.softens(); }
  std::vector<double> previous_tangent(const ObservedState& state,
                                       std::span<const double> previous_du) override {
    linalg::Vector by_previous(direction_.shared_layout());
    add_previous(state, 1, by_previous.write_owned());
    return on_first(product(by_previous, previous_du) * observed(state.time).inverse_sd[0]);
  }
  void add_previous_products(const ObservedState& state, std::span<const double> y,
                             std::span<double> previous_du) override {
    add_previous(state, weight_of(state, y), previous_du);
  }

private:
  struct Summand {
    const potentials::Potential<3>* potential;
    double factor;
  };

  const parallel::Communicator& comm() const { return *problem_.particles->points->comm; }
  bool holds_particles() const { return support_.obstacle < 0; }
  bool has_damage() const { return holds_particles() && problem_.softens(); }
  void add_contact() {
    const potentials::SphereFrictionPotential& friction = *problem_.friction;
    const potentials::SphereBarrierPotential& all = *problem_.barrier;
    barrier_.emplace(*problem_.contact, all.stiffness(), all.law(), support_.obstacle);
    friction_.emplace(*problem_.contact, *barrier_, friction.coefficients(), friction.rolling(),
                      friction.eps_v());
    const double factor = holds_particles() ? 1 : -1;
    summands_.push_back({&*barrier_, factor});
    summands_.push_back({&*friction_, factor});
  }
  std::span<const double> damage(const ObservedState& state) const {
    return solvers::damage_of(problem_, state.previous_internal);
  }
  void begin_state(const ObservedState& state) {
    if (has_damage()) solvers::set_damage(bonds_, damage(state), problem_.damage_width);
    if (problem_.contact) begin_contact(state);
  }
  /// Bonds of the problem are after it what they were before: those of the end of a run that goes on.
  void begin_contact(const ObservedState& state) {
    potentials::BondPotential& bonds = *problem_.bonds;
    std::vector<double>& distances = problem_.contact->bond_distances();
    const std::vector<double> kept_distances = distances;
    const std::vector<char> broken(bonds.broken().begin(), bonds.broken().end());
    std::vector<double> integrity;
    for (LocalIndex bond = 0; bond < std::ssize(broken); ++bond) integrity.push_back(bonds.integrity(bond));
    solvers::set_internal(problem_, state.previous_internal);
    solvers::restore_contact(*problem_.contact, *barrier_, *friction_, state.time, state.record->dt,
                             state.previous_u, state.u);
    for (LocalIndex bond = 0; bond < std::ssize(broken); ++bond)
      bonds.set_integrity(bond, integrity[bond], broken[bond] != 0);
    distances = kept_distances;
  }
  /// y += weight dR/du_previous
  void add_previous(const ObservedState& state, double weight, std::span<double> y) const {
    for (const auto& [potential, factor] : summands_)
      potential->add_previous_product(state.u, direction_.local(), weight * factor, y);
  }
  double abscissa(double time) const { return travel_ ? travel_(time) : time; }
  objectives::Track<1>::Sample observed(double time) const { return track_.at(abscissa(time)); }
  std::vector<double> on_first(double residual) const {
    return comm().rank() == 0 ? std::vector<double>{residual} : std::vector<double>{};
  }
  /// What R has to be multiplied by for y' r, from the entries of `y` of all ranks.
  double weight_of(const ObservedState& state, std::span<const double> y) const {
    return comm().sum(y.empty() ? 0.0 : y[0]) * observed(state.time).inverse_sd[0];
  }
  /// a . b over the owned entries of all ranks.
  double product(const linalg::Vector& a, std::span<const double> b) const {
    return comm().sum(std::inner_product(a.owned().begin(), a.owned().end(), b.begin(), 0.0));
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
  std::optional<potentials::SphereBarrierPotential> barrier_;
  std::optional<potentials::SphereFrictionPotential> friction_;
  std::vector<Summand> summands_;
  linalg::Vector direction_; ///< of shifts of the support, or of all particles
};

} // namespace

std::unique_ptr<objectives::Objective<3>> make_particle_reaction(const solvers::BondedParticles& problem,
                                                                 ParticleSupport support,
                                                                 objectives::Track<1> track,
                                                                 objectives::Travel travel) {
  return std::make_unique<ParticleReaction>(problem, std::move(support), std::move(track), std::move(travel));
}

} // namespace recoil::app
