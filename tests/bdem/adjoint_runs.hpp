#pragma once

#include "bdem/contacts.hpp"
#include "bdem/runs.hpp"
#include "recoil/adjoint/sweeps.hpp"

/// Runs of bonded particles whose sweeps are compared with differences.
namespace recoil::solvers::testing {

using geometry::Quaternion;
using potentials::Particle;

/// A number in (-1, 1) that differs from one id to the next.
inline double varied(GlobalIndex id, int salt) {
  return std::sin(1.7 * double(id) + 2.3 * salt + 0.4 * double(id % 3));
}
inline Vector3d varied_vector(GlobalIndex id, int salt) {
  return {varied(id, salt), varied(id, salt + 11), varied(id, salt + 23)};
}

/// What gradients are by, one direction each.
enum Kind {
  young,
  poisson,
  mass,
  gravity,
  loads,
  motion,
  places,
  turns,
  speeds,
  spins,
  tensile,
  shear,
  friction,
  damping,
  num_kinds
};
inline constexpr std::array<const char*, num_kinds> names{
    "E",           "nu",       "mass", "gravity",          "loads",          "motion",   "place",
    "orientation", "velocity", "spin", "tensile strength", "shear strength", "friction", "damping"};
/// How far the problem has gone along the direction of each kind.
using Shares = std::array<double, num_kinds>;

struct Body {
  std::string name;
  particles::ParticleSet set;
  Stuff stuff;
  ParticleIntegrator integrator;
  double dt;
  GlobalIndex steps;
  bool clamped;         ///< the particle 0, which moves and turns
  double speed, twist;  ///< of the start [m/s], [1/m]
  Vector3d spin;        ///< of the start, of the whole [1/s]
  double force, moment; ///< on each particle, growing with time [N/s], [N m/s]
  // Of bonds that soften: strength in tension [Pa], twice that in shear, and damage_width.
  double strength = 0, width = 0;
  GlobalIndex anchor = -1; ///< a particle that is held where it is
  /// What particles meet; none: they pass through each other.
  std::function<SphereObstacles()> obstacles = {};
  double coefficient = 0, rolling = 0; ///< of friction
  double restitution = 1;
  double damping_time = 0;                                         ///< of bonds [s]
  std::function<Eigen::Matrix3d(double)> deformation = undeformed; ///< of a cell of the set

  bool softens() const { return width > 0; }
};

inline Vector3d gravity_direction() { return {3, -2, 4}; }
inline Vector3d base_gravity() { return {0, 0, -9.81}; }
inline Vector3d clamp_rate() { return {0.02, -0.05, 0.04}; }
inline Vector3d clamp_spin() { return {3, 1, -2}; }
inline Vector3d clamp_rate_direction(double r) { return r * Vector3d(2, 1, -3); }
inline Vector3d clamp_spin_direction() { return {-0.7, 1.2, 0.4}; }

inline Vector3d force_on(const Body& body, GlobalIndex id) { return body.force * varied_vector(id, 1); }
inline Vector3d moment_on(const Body& body, GlobalIndex id) { return body.moment * varied_vector(id, 2); }
inline Vector3d force_direction(const Body& body, GlobalIndex id) {
  return body.force * varied_vector(id, 3);
}
inline Vector3d moment_direction(const Body& body, GlobalIndex id) {
  return body.moment * varied_vector(id, 4);
}

inline BondedParticlesOptions options_of(const Body& body) {
  BondedParticlesOptions options;
  options.integrator = body.integrator;
  options.dt = body.dt;
  options.tolerance = 1e-12;
  options.sudden_breaking = SuddenBreaking::shorter_steps;
  return options;
}

inline BondedParticlesSolver solver_at(const parallel::Communicator& comm, const Body& body,
                                       const Shares& at) {
  BondedParticles problem = bonded(comm, body.set, body.stuff, {}, body.deformation);
  const auto& particles = *problem.particles;
  potentials::BondMaterial material = problem.bonds->material();
  for (std::size_t k = 0; k < particles.bonds.size(); ++k) {
    material.young_modulus[k] *= 1 + at[young] * varied(particles.bonds[k].id, 5);
    material.poisson_ratio[k] += 8 * at[poisson] * varied(particles.bonds[k].id, 6);
  }
  if (body.damping_time > 0) {
    material.damping_time.emplace();
    for (const auto& bond : particles.bonds)
      material.damping_time->push_back(body.damping_time * (1 + at[damping] * varied(bond.id, 16)));
  }
  problem.set_bonds(std::make_unique<potentials::BondPotential>(particles, std::move(material)));
  if (body.softens()) {
    problem.damage_width = body.width;
    problem.strength = strength(problem, body.strength, 2 * body.strength);
    for (std::size_t k = 0; k < particles.bonds.size(); ++k) {
      const GlobalIndex id = particles.bonds[k].id;
      problem.strength->tensile[k] *= 1 + 0.2 * varied(id, 41) + at[tensile] * varied(id, 42);
      problem.strength->shear[k] *= 1 + 0.2 * varied(id, 43) + at[shear] * varied(id, 44);
      problem.strength->tan_friction[k] = 0.3;
    }
  }
  if (body.anchor >= 0) clamp(problem, body.anchor);
  for (std::size_t k = 0; k < problem.mass.size(); ++k)
    problem.mass[k] *= 1 + at[mass] * varied(particles.ids[k], 7);
  if (body.obstacles)
    add_contact(problem, body.obstacles(), body.coefficient * (1 + at[friction]), 0.05, body.rolling,
                body.restitution);
  problem.gravity = base_gravity() + at[gravity] * gravity_direction();
  problem.add_loads = [&particles, &body, at](double time, std::span<double> values) {
    for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
      const GlobalIndex id = particles.ids[k];
      for (int c = 0; c < 3; ++c) {
        values[6 * std::size_t(k) + c] +=
            time * (force_on(body, id) + at[loads] * force_direction(body, id))[c];
        values[6 * std::size_t(k) + 3 + c] +=
            time * (moment_on(body, id) + at[loads] * moment_direction(body, id))[c];
      }
    }
  };
  if (body.clamped) {
    clamp(problem, 0);
    problem.move_prescribed = [&particles, at](double time, std::span<double> u) {
      for (std::size_t k = 0; k < particles.ids.size(); ++k) {
        if (particles.ids[k] != 0) continue;
        const Vector3d p = particles.positions[k] +
                           time * (clamp_rate() + at[motion] * clamp_rate_direction(particles.radii[k]));
        const Quaternion q =
            geometry::product(geometry::quaternion_exponential(time * clamp_spin()),
                              geometry::quaternion_exponential(at[motion] * time * clamp_spin_direction()));
        std::copy_n(p.data(), 3, u.begin() + 7 * std::ptrdiff_t(k));
        std::copy_n(q.data(), 4, u.begin() + 7 * std::ptrdiff_t(k) + 3);
      }
    };
  }
  BondedParticlesSolver solver(std::move(problem), options_of(body));
  Vector u(particles.points), v(particles.tangents);
  const auto points = u.write_local(), tangents = v.write_local();
  for (std::size_t k = 0; k < particles.ids.size(); ++k) {
    const GlobalIndex id = particles.ids[k];
    const bool held = (body.clamped && id == 0) || id == body.anchor;
    const double r = particles.radii[k];
    const Vector3d X = particles.positions[k];
    const Quaternion twisted = geometry::quaternion_exponential(Vector3d(0, 0, body.twist * X.z()));
    Vector3d p = geometry::rotation_matrix(twisted) * X,
             v_own = body.speed * varied_vector(id, 8) + body.spin.cross(p),
             w_own = geometry::rotation_matrix(twisted).transpose() * body.spin +
                     body.speed / r * varied_vector(id, 9);
    Quaternion q = twisted;
    if (!held) {
      p += at[places] * r * varied_vector(id, 12);
      q = geometry::product(q, geometry::quaternion_exponential(at[turns] * varied_vector(id, 13)));
    }
    v_own += at[speeds] * varied_vector(id, 14);
    w_own = r * (w_own + at[spins] / r * varied_vector(id, 15));
    std::copy_n(p.data(), 3, points.begin() + 7 * std::ptrdiff_t(k));
    std::copy_n(q.data(), 4, points.begin() + 7 * std::ptrdiff_t(k) + 3);
    std::copy_n(v_own.data(), 3, tangents.begin() + 6 * std::ptrdiff_t(k));
    std::copy_n(w_own.data(), 3, tangents.begin() + 6 * std::ptrdiff_t(k) + 3);
  }
  solver.start(u, v);
  return solver;
}

/// The direction of one kind.
inline parameters::PhysicalDirection<3> direction_of(const BondedParticles& problem, const Body& body,
                                                     Kind kind) {
  parameters::PhysicalDirection<3> result(sizes_of(problem), quantities_of(problem));
  const auto& particles = *problem.particles;
  for (std::size_t k = 0; k < particles.bonds.size(); ++k) {
    const GlobalIndex id = particles.bonds[k].id;
    if (kind == young) result.numbers("E")[k] = problem.bonds->material().young_modulus[k] * varied(id, 5);
    if (kind == poisson) result.numbers("nu")[k] = 8 * varied(id, 6);
    if (kind == damping && problem.bond_damping)
      result.numbers(potentials::damping_time_of_bonds)[k] = body.damping_time * varied(id, 16);
    if (kind == tensile && problem.softens())
      result.numbers(tensile_strength)[k] =
          problem.strength->tensile[k] / (1 + 0.2 * varied(id, 41)) * varied(id, 42);
    if (kind == shear && problem.softens())
      result.numbers(shear_strength)[k] =
          problem.strength->shear[k] / (1 + 0.2 * varied(id, 43)) * varied(id, 44);
  }
  if (kind == friction && body.obstacles)
    result.numbers(parameters::quantities::friction)[0] = body.coefficient;
  for (LocalIndex k = 0; k < particles.num_owned(); ++k)
    if (kind == mass) result.numbers(particle_mass)[k] = problem.mass[k] * varied(particles.ids[k], 7);
  if (kind == gravity) result.vectors(gravity_vector)[0] = gravity_direction();
  return result;
}

/// Sets how the loads at a time change along the kind `loads`.
inline void set_loads(const BondedParticles& problem, const Body& body, double time,
                      parameters::PhysicalDirection<3>& change) {
  for (LocalIndex k = 0; k < problem.particles->num_owned(); ++k) {
    const GlobalIndex id = problem.particles->ids[k];
    change.vectors(particle_loads)[k] = time * force_direction(body, id);
    change.vectors(particle_moments)[k] = time * moment_direction(body, id);
  }
}

/// `loads` of the result is left to who uses it.
inline stepping::SweepDirections<3> directions_of(const BondedParticles& problem, const Body& body) {
  stepping::SweepDirections<3> result;
  for (int kind = 0; kind < num_kinds; ++kind)
    result.changes.push_back(direction_of(problem, body, Kind(kind)));
  const auto& particles = *problem.particles;
  result.prescribed = [&particles, &body](std::size_t kind, double time, double, Vector& y) {
    const auto values = y.write_owned();
    for (LocalIndex k = 0; k < particles.num_owned() && kind == motion && body.clamped; ++k)
      for (int c = 0; c < 3 && particles.ids[k] == 0; ++c) {
        values[6 * std::size_t(k) + c] = time * clamp_rate_direction(particles.radii[k])[c];
        values[6 * std::size_t(k) + 3 + c] = time * particles.radii[k] * clamp_spin_direction()[c];
      }
  };
  result.initial = [&particles, &body](std::size_t kind, Vector& y, Vector& z) {
    const auto u = y.write_owned(), v = z.write_owned();
    for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
      const GlobalIndex id = particles.ids[k];
      const bool held = (body.clamped && id == 0) || id == body.anchor;
      for (int c = 0; c < 3; ++c) {
        const std::size_t shift = 6 * std::size_t(k) + c, turn = shift + 3;
        const double r = particles.radii[k];
        if (kind == places && !held) u[shift] = r * varied_vector(id, 12)[c];
        if (kind == turns && !held) u[turn] = r * varied_vector(id, 13)[c];
        if (kind == speeds) v[shift] = varied_vector(id, 14)[c];
        if (kind == spins) v[turn] = varied_vector(id, 15)[c];
      }
    }
  };
  return result;
}

/// Objective 0: weighted places and orientations at the end, sum of c . p / r + b . R a. Objective 1: those
/// half way, and sum of d . v + |v|^2 / 2 there and at the end.
class Sums final : public adjoint::StateDerivatives {
public:
  Sums(const particles::DistributedParticles& particles, GlobalIndex steps)
      : particles_(particles), steps_(steps) {}

  std::array<double, 2> value(const stepping::StepRecord& record, const Vector& u, const Vector& v) const {
    std::array<double, 2> sums{};
    for (LocalIndex k = 0; k < particles_.num_owned(); ++k)
      for (std::size_t objective = 0; objective < 2; ++objective) {
        const GlobalIndex id = particles_.ids[k];
        if (sees_places(objective, record)) {
          const Eigen::Map<const Vector3d> p(u.owned().data() + 7 * k);
          const Eigen::Map<const Quaternion> q(u.owned().data() + 7 * k + 3);
          sums[objective] += varied_vector(id, 31).dot(p) / particles_.radii[k] +
                             varied_vector(id, 32).dot(geometry::rotation_matrix(q) * varied_vector(id, 33));
        }
        if (sees_speeds(objective, record)) {
          const Eigen::Map<const Eigen::Matrix<double, 6, 1>> speed(v.owned().data() + 6 * k);
          sums[objective] += varied_vector(id, 34).dot(speed.head<3>()) +
                             varied_vector(id, 35).dot(speed.tail<3>()) + speed.squaredNorm() / 2;
        }
      }
    return sums;
  }
  std::size_t num_objectives() const override { return 2; }
  void add(std::size_t objective, const adjoint::StateOfRun& at, adjoint::StatePartials& by) override {
    const auto by_u = by.u.write_owned(), by_v = by.v.write_owned();
    for (LocalIndex k = 0; k < particles_.num_owned(); ++k) {
      const GlobalIndex id = particles_.ids[k];
      const double r = particles_.radii[k];
      if (sees_places(objective, at.record)) {
        const Eigen::Map<const Quaternion> q(at.now.u.owned().data() + 7 * k + 3);
        Eigen::Map<Vector3d>(by_u.data() + 6 * k) += varied_vector(id, 31) / r;
        Eigen::Map<Vector3d>(by_u.data() + 6 * k + 3) +=
            varied_vector(id, 33).cross(geometry::rotation_matrix(q).transpose() * varied_vector(id, 32)) / r;
      }
      if (sees_speeds(objective, at.record)) {
        const Eigen::Map<const Eigen::Matrix<double, 6, 1>> speed(at.now.v.owned().data() + 6 * k);
        Eigen::Map<Vector3d>(by_v.data() + 6 * k) += varied_vector(id, 34) + speed.head<3>();
        Eigen::Map<Vector3d>(by_v.data() + 6 * k + 3) += varied_vector(id, 35) + speed.tail<3>();
      }
    }
  }

private:
  bool sees_places(std::size_t objective, const stepping::StepRecord& record) const {
    return record.nominal_step == (objective == 0 ? steps_ : steps_ / 2);
  }
  bool sees_speeds(std::size_t objective, const stepping::StepRecord& record) const {
    return objective == 1 && (record.nominal_step == steps_ / 2 || record.nominal_step == steps_);
  }
  const particles::DistributedParticles& particles_;
  GlobalIndex steps_;
};

struct WholeRun final : adjoint::StateSource {
  BondedParticlesSolver solver;
  Sums sums;
  std::vector<stepping::StepRecord> records;
  std::vector<stepping::State> states;
  std::array<double, 2> values{};

  WholeRun(const parallel::Communicator& comm, const Body& body, const Shares& at)
      : solver(solver_at(comm, body, at)), sums(*solver.problem().particles, body.steps) {
    see({}, solver.history().newest().u, solver.history().newest().v);
    while (solver.step() < body.steps) {
      const auto outcome =
          solver.advance([&](const auto& record, const Vector& u, const Vector& v) { see(record, u, v); });
      EXPECT_TRUE(outcome.accepted) << outcome.failure << " in step " << solver.step() + 1;
      EXPECT_EQ(outcome.repetitions, 0);
      if (!outcome.accepted) break;
    }
    comm.sum(values);
  }
  const stepping::State& state(GlobalIndex id) override { return states[id]; }
  /// Bonds that bear less than half of what they would if they were sound.
  GlobalIndex num_broken() const { return stepping::value_of<GlobalIndex>(solver.counts(), "broken_bonds"); }
  /// How often two particles whose bond has broken pressed on each other at the end of a step.
  GlobalIndex num_torn_contacts = 0;

private:
  GlobalIndex count_torn_contacts() const {
    GlobalIndex count = 0;
    for (const potentials::SphereTouch& touch : solver.problem().contact->touching())
      count += touch.pair.bond >= 0 && solver.problem().barrier->force(touch) > 1e-3 ? 1 : 0;
    return solver.problem().particles->points->comm->sum(count);
  }
  void see(const stepping::StepRecord& record, const Vector& u, const Vector& v) {
    records.push_back(record);
    states.push_back({record.id, u, v, solver.history().newest().internal});
    const auto share = sums.value(record, u, v);
    for (int k = 0; k < 2; ++k) values[k] += share[k];
    if (solver.problem().contact) num_torn_contacts += count_torn_contacts();
  }
};

using Slopes = std::array<std::array<double, num_kinds>, 2>;

/// The gradients of both objectives along the directions, by one reverse sweep.
inline Slopes reverse_slopes(const parallel::Communicator& comm, const Body& body, WholeRun& run) {
  const BondedParticles& problem = run.solver.problem();
  stepping::SweepDirections<3> directions = directions_of(problem, body);
  Slopes slopes{};
  stepping::SweepProducts<3> products;
  products.gradients.assign(2, parameters::PhysicalGradient<3>(sizes_of(problem), quantities_of(problem)));
  products.loads = [&](std::size_t objective, double time) {
    set_loads(problem, body, time, directions.changes[loads]);
    for (const auto& quantity : {particle_loads, particle_moments}) {
      const auto by = products.gradients[objective].entries(quantity),
                 change = directions.changes[loads].entries(quantity);
      for (std::size_t i = 0; i < by.size(); ++i) slopes[objective][loads] += by[i] * change[i];
      products.gradients[objective].clear(quantity);
    }
  };
  products.prescribed = [&](std::size_t objective, double time, double, const Vector& y) {
    Vector change(y.shared_layout());
    directions.prescribed(motion, time, 1, change);
    for (std::size_t i = 0; i < y.owned().size(); ++i)
      slopes[objective][motion] += y.owned()[i] * change.owned()[i];
  };
  products.initial = [&](std::size_t objective, const Vector& y, const Vector& z) {
    for (const Kind kind : {places, turns, speeds, spins}) {
      Vector u(y.shared_layout()), v(y.shared_layout());
      directions.initial(kind, u, v);
      for (std::size_t i = 0; i < y.owned().size(); ++i)
        slopes[objective][kind] += y.owned()[i] * u.owned()[i] + z.owned()[i] * v.owned()[i];
    }
  };
  const auto step = run.solver.recorded_step(products);
  adjoint::ReverseSweep sweep(run.records, run, run.sums, step.get(), {1e-13});
  while (sweep.next() >= 0) {
    const std::string failure = sweep.advance();
    EXPECT_EQ(failure, "");
    if (!failure.empty()) break;
  }
  for (std::size_t objective = 0; objective < 2; ++objective) {
    for (const Kind kind : {young, poisson, tensile, shear, friction, damping, mass, gravity})
      for (const parameters::Quantity& quantity : quantities_of(problem)) {
        const auto by = products.gradients[objective].entries(quantity),
                   change = directions.changes[kind].entries(quantity);
        for (std::size_t i = 0; i < by.size(); ++i) slopes[objective][kind] += by[i] * change[i];
      }
    comm.sum(slopes[objective]);
  }
  return slopes;
}

/// The same by a tangent-linear sweep, and how large the terms are that they are the sums of.
struct Tangents final : adjoint::StateTangents {
  Sums& sums;
  Slopes slopes{}, sizes{};
  explicit Tangents(Sums& of) : sums(of) {}
  void see(std::size_t direction, const adjoint::StateOfRun& at,
           const adjoint::StateChange& change) override {
    for (std::size_t objective = 0; objective < 2; ++objective) {
      const Vector zero(change.u.shared_layout());
      adjoint::StatePartials by{zero, zero, zero};
      sums.add(objective, at, by);
      slopes[objective][direction] += by.u.dot(change.u) + by.v.dot(change.v);
      sizes[objective][direction] += by.u.norm() * change.u.norm() + by.v.norm() * change.v.norm();
    }
  }
};

inline Tangents tangent_slopes(const Body& body, WholeRun& run) {
  stepping::SweepDirections<3> directions = directions_of(run.solver.problem(), body);
  directions.loads = [&](std::size_t kind, double time) {
    if (kind == loads) set_loads(run.solver.problem(), body, time, directions.changes[kind]);
  };
  Tangents tangents(run.sums);
  const auto step = run.solver.tangent_step(directions);
  adjoint::TangentSweep sweep(step.get(), tangents, 1, {1e-13});
  for (std::size_t i = 0; i < run.states.size(); ++i)
    EXPECT_EQ(sweep.advance(run.records[i], run.states[i].u, run.states[i].v, run.states[i].internal), "");
  return tangents;
}

} // namespace recoil::solvers::testing
