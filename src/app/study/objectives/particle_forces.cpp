#include "app/study/objectives/particle_forces.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "recoil/app/study/objectives/observables_on_particles.hpp"
#include "recoil/objectives/forces.hpp"
#include "recoil/potentials/bonds/bond_damping.hpp"
#include "recoil/solvers/bdem/softening.hpp"
#include "recoil/stepping/sweep_products.hpp"

namespace recoil::app {
namespace {

using Eigen::Vector3d;
using objectives::Observable;
using objectives::ObservedState;
using particles::DistributedParticles;
using solvers::gravity_vector, solvers::particle_loads, solvers::particle_mass, stepping::internal_variables;

/// Bonds and contact at states that are looked at, beside those of the problem, which are where steps have
/// left them.
struct SeenForces {
  const solvers::BondedParticles& problem;
  std::unique_ptr<potentials::BondPotential> bonds;
  std::unique_ptr<potentials::BondDampingPotential> bond_damping; ///< null without
  std::unique_ptr<potentials::SphereBarrierPotential> barrier;    ///< null without contact, as the next
  std::unique_ptr<potentials::SphereFrictionPotential> friction;
  std::unique_ptr<potentials::SphereDampingPotential> damping; ///< null without a restitution
  std::unique_ptr<particles::CellMotion> cell;                 ///< null where nothing repeats
  double time = 0;
  std::vector<double> internal = {}; ///< at the start of the step

  /// `obstacle`: the number of the one whose pairs count; -1: all pairs.
  explicit SeenForces(const solvers::BondedParticles& problem, std::int32_t obstacle = -1)
      : problem(problem),
        bonds(std::make_unique<potentials::BondPotential>(*problem.particles, problem.bonds->material())) {
    if (problem.cell_motion) {
      cell = std::make_unique<particles::CellMotion>(*problem.cell_motion);
      bonds->follow(*cell);
    }
    if (problem.bond_damping) bond_damping = std::make_unique<potentials::BondDampingPotential>(*bonds);
    if (!problem.contact) return;
    const potentials::SphereBarrierPotential& all = *problem.barrier;
    const potentials::SphereFrictionPotential& sliding = *problem.friction;
    barrier = std::make_unique<potentials::SphereBarrierPotential>(*problem.contact, all.stiffness(),
                                                                   all.law(), obstacle);
    friction = std::make_unique<potentials::SphereFrictionPotential>(
        *problem.contact, *barrier, sliding.coefficients(), sliding.rolling(), sliding.eps_v());
    barrier->set_compliances(all.compliances());
    if (problem.damping)
      damping = std::make_unique<potentials::SphereDampingPotential>(
          *problem.contact, *barrier, problem.damping->restitution(), problem.damping->mass());
  }

  /// Bonds bear what they bore in the step that led to a state, with the integrity that they had there;
  /// their damping and friction act since its start. Collective.
  void enter(const ObservedState& state) {
    time = state.time;
    enter_bonds(state);
    if (bond_damping) bond_damping->begin_step({state.time, state.record->dt, 1, state.previous_u});
    if (problem.contact) enter_contact(state);
  }
  void enter_bonds(const ObservedState& state) {
    internal.assign(state.previous_internal.begin(), state.previous_internal.end());
    solvers::set_damage(*bonds, solvers::damage_of(problem, internal), problem.damage_width);
    if (cell) cell->begin_step(state.time, state.record ? state.record->dt : 0);
  }
  /// How the forces of some potentials change with the internal variables, and the transpose. Collective.
  void add_internal_tangent(std::span<const double> u, std::span<const potentials::Potential<3>* const> some,
                            std::span<const double> ds, double factor, std::span<double> y) const {
    const auto of_terms = solvers::internal_direction(problem, internal, ds);
    for (const auto* potential : some)
      if (potential) potential->add_parameter_tangent(u, of_terms, factor, y);
  }
  void add_internal_products(std::span<const double> u, std::span<const potentials::Potential<3>* const> some,
                             std::span<const double> p, double factor,
                             parameters::PhysicalGradient<3>& g) const {
    auto by_terms = solvers::internal_gradient(problem);
    for (const auto* potential : some)
      if (potential) potential->add_parameter_products(u, p, factor, by_terms);
    solvers::add_by_internal(problem, internal, by_terms, g.numbers(internal_variables));
  }
  /// All forces; null where there are none of a kind.
  std::array<const potentials::Potential<3>*, 5> all() const {
    return {bonds.get(), bond_damping.get(), barrier.get(), friction.get(), damping.get()};
  }
  double slope(std::size_t bond) const {
    return solvers::integrity_slope(internal[bond], problem.damage_width);
  }

private:
  /// Bonds of the problem are after it what they were before: those of the end of a run that goes on.
  void enter_contact(const ObservedState& state) {
    potentials::BondPotential& own = *problem.bonds;
    std::vector<double>& distances = problem.contact->bond_distances();
    const std::vector<double> kept_distances = distances;
    const std::vector<char> broken(own.broken().begin(), own.broken().end());
    std::vector<double> integrity;
    for (LocalIndex bond = 0; bond < std::ssize(broken); ++bond) integrity.push_back(own.integrity(bond));
    solvers::set_internal(problem, state.previous_internal);
    problem.begin_cell(state.time, state.record->dt);
    solvers::restore_contact(*problem.contact, *barrier, *friction, damping.get(), state.time,
                             state.record->dt, state.previous_u, state.u);
    for (LocalIndex bond = 0; bond < std::ssize(broken); ++bond)
      own.set_integrity(bond, integrity[bond], broken[bond] != 0);
    distances = kept_distances;
  }
};

/// A potential of which forces and their derivatives by physical quantities alone are wanted.
class OfQuantities : public potentials::Potential<3> {
public:
  double value(std::span<const double>) const override { return 0; }
  void add_gradient(std::span<const double>, double, std::span<double>) const override {}
  void add_hessian(std::span<const double>, double, potentials::Projection,
                   const linalg::HessianSink&) const override {}
  void add_hessian_product(std::span<const double>, std::span<const double>, double,
                           std::span<double>) const override {}
};

/// How forces depend on the internal variables at the start of the step.
class InternalForces final : public OfQuantities {
public:
  explicit InternalForces(const SeenForces& seen) : seen_(seen) {}
  std::string_view name() const override { return "internal"; }
  std::vector<parameters::Quantity> quantities() const override { return {internal_variables}; }

  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<3>& dq,
                             double factor, std::span<double> y) const override {
    seen_.add_internal_tangent(u, seen_.all(), dq.numbers(internal_variables), factor, y);
  }
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<3>& g) const override {
    seen_.add_internal_products(u, seen_.all(), p, factor, g);
  }

private:
  const SeenForces& seen_;
};

/// Gravity and loads: -sum (m g + f(t)) . p.
class DeadLoads final : public OfQuantities {
public:
  explicit DeadLoads(const SeenForces& seen) : seen_(seen), problem_(seen.problem) {}
  std::string_view name() const override { return "loads"; }
  std::vector<parameters::Quantity> quantities() const override {
    return {particle_mass, gravity_vector, particle_loads};
  }

  void add_gradient(std::span<const double>, double factor, std::span<double> g) const override {
    std::vector<double> forces(6 * num_owned(), 0.0);
    if (problem_.add_loads) problem_.add_loads(seen_.time, forces);
    for (std::size_t k = 0; k < num_owned(); ++k)
      shift_of(g, k) -= factor * (problem_.mass[k] * problem_.gravity + shift_of(std::span(forces), k));
  }
  void add_parameter_tangent(std::span<const double>, const parameters::PhysicalDirection<3>& dq,
                             double factor, std::span<double> y) const override {
    for (std::size_t k = 0; k < num_owned(); ++k)
      shift_of(y, k) -=
          factor * (dq.numbers(particle_mass)[k] * problem_.gravity +
                    problem_.mass[k] * dq.vectors(gravity_vector)[0] + dq.vectors(particle_loads)[k]);
  }
  void add_parameter_products(std::span<const double>, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<3>& g) const override {
    for (std::size_t k = 0; k < num_owned(); ++k) {
      const Vector3d by_load = -factor * shift_of(p, k);
      g.numbers(particle_mass)[k] += by_load.dot(problem_.gravity);
      g.vectors(gravity_vector)[0] += problem_.mass[k] * by_load;
      g.vectors(particle_loads)[k] += by_load;
    }
  }

private:
  std::size_t num_owned() const { return problem_.particles->num_owned(); }

  const SeenForces& seen_;
  const solvers::BondedParticles& problem_;
};

/// The forces of the barrier on some particles.
class ContactForcesOnParticles final : public Observable<3> {
public:
  ContactForcesOnParticles(const solvers::BondedParticles& problem, std::vector<std::size_t> owned)
      : Observable(*problem.particles->points->comm, 3, count(owned.size())), seen_(problem),
        owned_(std::move(owned)) {}

  std::vector<objectives::Quantity> depends_on() const override {
    std::vector<objectives::Quantity> all{objectives::quantities::displacement};
    if (seen_.problem.softens()) all.push_back(internal_variables);
    return all;
  }
  bool depends_on_step() const override { return true; }
  bool has_tangent() const override { return false; }

  std::vector<double> values(const ObservedState& state) override {
    seen_.enter(state);
    std::vector<double> gradient(6 * std::size_t(seen_.problem.particles->num_owned()), 0.0), rows;
    seen_.barrier->add_gradient(state.u, -1, gradient);
    for (const std::size_t k : owned_) rows.insert(rows.end(), &gradient[6 * k], &gradient[6 * k + 3]);
    return rows;
  }
  /// y' df = p' d(dC/dp) with p = -y.
  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<3>& g) override {
    seen_.enter(state);
    linalg::Vector p(seen_.problem.particles->tangents);
    const std::span<double> entries = p.write_owned();
    for (std::size_t i = 0; i < owned_.size(); ++i)
      shift_of(entries, owned_[i]) = -Eigen::Map<const Vector3d>(&y[3 * i]);
    p.update_ghosts();
    seen_.barrier->add_hessian_product(state.u, p.local(), 1, du);
    const std::array<const potentials::Potential<3>*, 1> some{seen_.barrier.get()};
    if (seen_.problem.softens()) seen_.add_internal_products(state.u, some, p.local(), 1, g);
  }

private:
  SeenForces seen_;
  std::vector<std::size_t> owned_;
};

/// What bonds alone say of a state, by all that they depend on.
class ObservableOfBonds : public Observable<3> {
public:
  ObservableOfBonds(const solvers::BondedParticles& problem, int num_components)
      : Observable(*problem.particles->points->comm, num_components,
                   one_point(*problem.particles->points->comm)),
        seen_(problem), particles_(*problem.particles) {}

  std::vector<objectives::Quantity> depends_on() const final {
    std::vector<objectives::Quantity> all = seen_.bonds->quantities();
    all.push_back(objectives::quantities::displacement);
    if (seen_.problem.softens()) all.push_back(internal_variables);
    return all;
  }
  bool depends_on_step() const final { return seen_.problem.softens(); }
  bool has_tangent() const final { return false; }

protected:
  /// Adds derivatives by the constants of a bond, and by its integrity.
  void add_products_of(LocalIndex bond, double by_E, double by_nu, double by_integrity,
                       parameters::PhysicalGradient<3>& g) const {
    if (particles_.owns(particles_.bonds[bond])) {
      g.numbers(potentials::young_modulus_of_bonds)[bond] += by_E;
      g.numbers(potentials::poisson_ratio_of_bonds)[bond] += by_nu;
    }
    if (seen_.problem.softens()) g.numbers(internal_variables)[bond] += seen_.slope(bond) * by_integrity;
  }

  SeenForces seen_;
  const DistributedParticles& particles_;
};

/// The energy of the bonds of some bodies.
class EnergyOfBonds final : public ObservableOfBonds {
public:
  /// @param bodies flags by number.
  EnergyOfBonds(const solvers::BondedParticles& problem, std::vector<char> bodies)
      : ObservableOfBonds(problem, 1), bodies_(std::move(bodies)) {}

  std::vector<double> values(const ObservedState& state) override {
    enter(state);
    return on_first(std::array{comm().sum(seen_.bonds->stored_energy(state.u))});
  }
  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<3>& g) override {
    enter(state);
    const double factor = on_all(y)[0];
    seen_.bonds->add_gradient(state.u, factor, du);
    for (LocalIndex bond = 0; bond < std::ssize(particles_.bonds); ++bond) {
      if (!selects(bond)) continue;
      const auto [by_E, by_nu] = seen_.bonds->energy_by_moduli(bond, state.u);
      const double share = factor * seen_.bonds->integrity(bond);
      add_products_of(bond, share * by_E, share * by_nu, factor * seen_.bonds->energy_of(bond, state.u), g);
    }
  }

private:
  bool selects(LocalIndex bond) const { return bodies_[particles_.body[particles_.bonds[bond].a]] != 0; }
  /// Bonds of other bodies count as severed.
  void enter(const ObservedState& state) {
    seen_.enter_bonds(state);
    for (LocalIndex bond = 0; bond < std::ssize(particles_.bonds); ++bond)
      if (!selects(bond)) seen_.bonds->break_bond(bond);
  }

  std::vector<char> bodies_;
};

class StressOfCell final : public ObservableOfBonds {
public:
  explicit StressOfCell(const solvers::BondedParticles& problem) : ObservableOfBonds(problem, 9) {}

  std::vector<double> values(const ObservedState& state) override {
    seen_.enter_bonds(state);
    Matrix sum = Matrix::Zero();
    for (LocalIndex bond = 0; bond < std::ssize(particles_.bonds); ++bond)
      if (particles_.owns(particles_.bonds[bond]))
        sum += seen_.bonds->pull_of(bond, state.u) * line_at_rest(bond).transpose() / volume();
    comm().sum(std::span(sum.data(), 9));
    return on_first(std::span<const double>(sum.data(), 9));
  }
  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<3>& g) override {
    seen_.enter_bonds(state);
    const std::vector<double> factors = on_all(y);
    const Eigen::Map<const Matrix> Y(factors.data());
    for (LocalIndex bond = 0; bond < std::ssize(particles_.bonds); ++bond) {
      const Vector3d along = Y * line_at_rest(bond) / volume();
      potentials::add_to_owned_ends(seen_.bonds->pull_gradient_of(bond, state.u) * along,
                                    particles_.bonds[bond], particles_.num_owned(), 1, du);
      const auto [by_E, by_nu, by_integrity] = seen_.bonds->pull_by_constants(bond, state.u);
      add_products_of(bond, by_E.dot(along), by_nu.dot(along), by_integrity.dot(along), g);
    }
  }

private:
  using Matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  Vector3d line_at_rest(LocalIndex bond) const {
    const auto& [a, b, id] = particles_.bonds[bond];
    return particles_.positions[b] + seen_.bonds->period(bond) - particles_.positions[a];
  }
  double volume() const { return std::abs(seen_.cell->cell().volume()); }
};

/// What bears `factor` times the forces of contact.
objectives::Reaction<3> begin_reaction(const solvers::BondedParticles& problem, const Vector3d& direction,
                                       std::shared_ptr<SeenForces> seen, double factor) {
  objectives::Reaction<3> reaction;
  reaction.layout = problem.particles->tangents;
  reaction.direction = direction;
  reaction.nodes.assign(problem.particles->num_owned(), 0);
  reaction.depends_on_step = problem.contact || problem.softens();
  if (problem.contact) reaction.summands.push_back({seen->barrier.get(), factor});
  if (problem.contact) reaction.summands.push_back({seen->friction.get(), factor});
  if (problem.damping) reaction.summands.push_back({seen->damping.get(), factor});
  reaction.enter_state = [seen](const ObservedState& state) { seen->enter(state); };
  return reaction;
}

} // namespace

ParticleObservable observe_holding_force(const solvers::BondedParticles& problem, const Vector3d& direction,
                                         const std::vector<LocalIndex>& held) {
  const auto seen = std::make_shared<SeenForces>(problem);
  auto reaction = begin_reaction(problem, direction, seen, 1);
  for (const LocalIndex k : held) reaction.nodes[k] = 1;
  reaction.summands.push_back({seen->bonds.get(), 1});
  if (problem.bond_damping) reaction.summands.push_back({seen->bond_damping.get(), 1});
  reaction.depends_on_step = reaction.depends_on_step || problem.bond_damping;
  reaction.owned.push_back(std::make_unique<DeadLoads>(*seen));
  if (problem.softens()) reaction.owned.push_back(std::make_unique<InternalForces>(*seen));
  for (const auto& potential : reaction.owned) reaction.summands.push_back({potential.get(), 1});
  return objectives::observe_reaction<3>(std::move(reaction));
}

ParticleObservable observe_obstacle_force(const solvers::BondedParticles& problem, const Vector3d& direction,
                                          std::int32_t obstacle) {
  auto reaction = begin_reaction(problem, direction, std::make_shared<SeenForces>(problem, obstacle), -1);
  std::ranges::fill(reaction.nodes, 1);
  return objectives::observe_reaction<3>(std::move(reaction));
}

ParticleObservable observe_particle_contact(const solvers::BondedParticles& problem,
                                            std::vector<std::size_t> owned) {
  return std::make_unique<ContactForcesOnParticles>(problem, std::move(owned));
}

ParticleObservable observe_bond_energy(const solvers::BondedParticles& problem, std::vector<char> bodies) {
  return std::make_unique<EnergyOfBonds>(problem, std::move(bodies));
}

ParticleObservable observe_cell_of_bonds(const solvers::BondedParticles& problem) {
  return std::make_unique<StressOfCell>(problem);
}

} // namespace recoil::app
