#include <gtest/gtest.h>

#include "bdem/runs.hpp"
#include "recoil/adjoint/sweeps.hpp"
#include "recoil/base/error.hpp"
#include "recoil/inverse/reduced_objective.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;
using geometry::Quaternion;
using potentials::Particle;

/// A number in (-1, 1) that differs from one id to the next.
double varied(GlobalIndex id, int salt) {
  return std::sin(1.7 * double(id) + 2.3 * salt + 0.4 * double(id % 3));
}
Vector3d varied_vector(GlobalIndex id, int salt) {
  return {varied(id, salt), varied(id, salt + 11), varied(id, salt + 23)};
}

/// What gradients are by, one direction each.
enum Kind { young, poisson, mass, gravity, loads, motion, places, turns, speeds, spins, num_kinds };
constexpr std::array<const char*, num_kinds> names{"E",      "nu",    "mass",        "gravity",  "loads",
                                                   "motion", "place", "orientation", "velocity", "spin"};
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
};

Vector3d gravity_direction() { return {3, -2, 4}; }
Vector3d base_gravity() { return {0, 0, -9.81}; }
Vector3d clamp_rate() { return {0.02, -0.05, 0.04}; }
Vector3d clamp_spin() { return {3, 1, -2}; }
Vector3d clamp_rate_direction(double r) { return r * Vector3d(2, 1, -3); }
Vector3d clamp_spin_direction() { return {-0.7, 1.2, 0.4}; }

Vector3d force_on(const Body& body, GlobalIndex id) { return body.force * varied_vector(id, 1); }
Vector3d moment_on(const Body& body, GlobalIndex id) { return body.moment * varied_vector(id, 2); }
Vector3d force_direction(const Body& body, GlobalIndex id) { return body.force * varied_vector(id, 3); }
Vector3d moment_direction(const Body& body, GlobalIndex id) { return body.moment * varied_vector(id, 4); }

BondedParticlesOptions options_of(const Body& body) {
  BondedParticlesOptions options;
  options.integrator = body.integrator;
  options.dt = body.dt;
  options.tolerance = 1e-12;
  return options;
}

BondedParticlesSolver solver_at(const parallel::Communicator& comm, const Body& body, const Shares& at) {
  BondedParticles problem = bonded(comm, body.set, body.stuff);
  const auto& particles = *problem.particles;
  potentials::BondMaterial material = problem.bonds->material();
  for (std::size_t k = 0; k < particles.bonds.size(); ++k) {
    material.young_modulus[k] *= 1 + at[young] * varied(particles.bonds[k].id, 5);
    material.poisson_ratio[k] += 8 * at[poisson] * varied(particles.bonds[k].id, 6);
  }
  problem.bonds = std::make_unique<potentials::BondPotential>(particles, std::move(material));
  for (std::size_t k = 0; k < problem.mass.size(); ++k)
    problem.mass[k] *= 1 + at[mass] * varied(particles.ids[k], 7);
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
    const bool held = body.clamped && id == 0;
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
BondedDirection direction_of(const BondedParticles& problem, Kind kind) {
  BondedDirection result(problem);
  const auto& particles = *problem.particles;
  for (std::size_t k = 0; k < particles.bonds.size(); ++k) {
    const GlobalIndex id = particles.bonds[k].id;
    if (kind == young)
      result.bonds.numbers("E")[k] = problem.bonds->material().young_modulus[k] * varied(id, 5);
    if (kind == poisson) result.bonds.numbers("nu")[k] = 8 * varied(id, 6);
  }
  for (LocalIndex k = 0; k < particles.num_owned(); ++k)
    if (kind == mass) result.mass[k] = problem.mass[k] * varied(particles.ids[k], 7);
  if (kind == gravity) result.gravity = gravity_direction();
  return result;
}

BondedSweepDirections directions_of(const BondedParticles& problem, const Body& body) {
  BondedSweepDirections result;
  for (int kind = 0; kind < num_kinds; ++kind) result.changes.push_back(direction_of(problem, Kind(kind)));
  const auto& particles = *problem.particles;
  result.loads = [&particles, &body](std::size_t kind, double time, std::span<double> values) {
    for (LocalIndex k = 0; k < particles.num_owned() && kind == loads; ++k)
      for (int c = 0; c < 3; ++c) {
        values[6 * std::size_t(k) + c] = time * force_direction(body, particles.ids[k])[c];
        values[6 * std::size_t(k) + 3 + c] = time * moment_direction(body, particles.ids[k])[c];
      }
  };
  result.prescribed = [&particles, &body](std::size_t kind, double time, Vector& y) {
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
      const bool held = body.clamped && id == 0;
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

private:
  void see(const stepping::StepRecord& record, const Vector& u, const Vector& v) {
    records.push_back(record);
    states.push_back({record.id, u, v});
    const auto share = sums.value(record, u, v);
    for (int k = 0; k < 2; ++k) values[k] += share[k];
  }
};

using Slopes = std::array<std::array<double, num_kinds>, 2>;

/// The gradients of both objectives along the directions, by one reverse sweep.
Slopes reverse_slopes(const parallel::Communicator& comm, const Body& body, WholeRun& run) {
  const BondedParticles& problem = run.solver.problem();
  const auto& particles = *problem.particles;
  const BondedSweepDirections directions = directions_of(problem, body);
  Slopes slopes{};
  BondedSweepProducts products;
  products.gradients.assign(2, BondedGradient(problem));
  products.loads = [&](std::size_t objective, double time, std::span<const double> by) {
    std::vector<double> change(by.size(), 0.0);
    directions.loads(loads, time, change);
    for (std::size_t i = 0; i < by.size(); ++i) slopes[objective][loads] += by[i] * change[i];
  };
  products.prescribed = [&](std::size_t objective, double time, const Vector& y) {
    Vector change(y.shared_layout());
    directions.prescribed(motion, time, change);
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
  adjoint::ReverseSweep sweep(run.records, run, run.sums, *step, {1e-13});
  while (sweep.next() >= 0) {
    const std::string failure = sweep.advance();
    EXPECT_EQ(failure, "");
    if (!failure.empty()) break;
  }
  for (std::size_t objective = 0; objective < 2; ++objective) {
    BondedGradient& gradient = products.gradients[objective];
    for (const Kind kind : {young, poisson})
      for (std::size_t k = 0; k < particles.bonds.size(); ++k)
        slopes[objective][kind] += gradient.bonds.numbers(kind == young ? "E" : "nu")[k] *
                                   directions.changes[kind].bonds.numbers(kind == young ? "E" : "nu")[k];
    for (LocalIndex k = 0; k < particles.num_owned(); ++k)
      slopes[objective][mass] += gradient.mass[k] * directions.changes[mass].mass[k];
    slopes[objective][gravity] = gradient.gravity.dot(gravity_direction());
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

Tangents tangent_slopes(const Body& body, WholeRun& run) {
  BondedSweepDirections directions = directions_of(run.solver.problem(), body);
  Tangents tangents(run.sums);
  const auto step = run.solver.tangent_step(directions);
  adjoint::TangentSweep sweep(*step, tangents, 1, {1e-13});
  for (std::size_t i = 0; i < run.states.size(); ++i)
    EXPECT_EQ(sweep.advance(run.records[i], run.states[i].u, run.states[i].v), "");
  return tangents;
}

std::vector<Body> bodies() {
  using enum ParticleIntegrator;
  std::vector<Body> result;
  for (const auto integrator : {be_reflect, mid_reflectT}) {
    const std::string of = integrator == be_reflect ? ", be_reflect" : ", mid_reflectT";
    const bool euler = integrator == be_reflect;
    // T = 3.5 ms.
    result.push_back({"two particles" + of,
                      chain(1, 0.1, 0.04),
                      {1e5, 0.3, 1000},
                      integrator,
                      0.007,
                      8,
                      false,
                      0.3,
                      0,
                      {3, 5, -4},
                      20,
                      1});
    result.push_back({"free chain" + of,
                      chain(4, 0.1, 0.04),
                      {1e5, 0.3, 1000},
                      integrator,
                      euler ? 0.035 : 0.014,
                      10,
                      false,
                      0.4,
                      0,
                      {6, 4, -5},
                      20,
                      1});
    // T = 2 ms.
    result.push_back({"held chain" + of,
                      chain(4, 0.1, 0.04),
                      {3e5, 0.3, 1000},
                      integrator,
                      euler ? 0.1 : 0.02,
                      euler ? 5 : 10,
                      true,
                      0.1,
                      0,
                      {0, 0, 0},
                      40,
                      2});
    // T = 0.85 ms.
    result.push_back({"block" + of,
                      block(4, 4, 4, 0.01),
                      {1e6, 0.3, 1000},
                      integrator,
                      euler ? 20 * 8.5e-4 : 5 * 8.5e-4,
                      euler ? 4 : 10,
                      false,
                      0.02,
                      3,
                      {8, 12, 25},
                      euler ? 20.0 : 1.0,
                      euler ? 0.05 : 0.005});
  }
  result.push_back({"held chain at rest",
                    chain(4, 0.1, 0.04),
                    {3e5, 0.3, 1000},
                    quasistatic,
                    0.25,
                    4,
                    true,
                    0,
                    0,
                    {0, 0, 0},
                    6,
                    0.6});
  return result;
}

WholeRun run_along(const parallel::Communicator& comm, const Body& body, Kind kind, double share) {
  Shares at{};
  at[kind] = share;
  return WholeRun(comm, body, at);
}

TEST(BondedAdjoint, GradientsAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const Body& body : bodies()) {
    WholeRun run(comm, body, {});
    const Slopes slopes = reverse_slopes(comm, body, run);
    for (int kind = 0; kind < num_kinds; ++kind) {
      if (kind == motion && !body.clamped) continue;
      // At rest only moments know where a step started: in which orientation.
      if (body.integrator == ParticleIntegrator::quasistatic &&
          (kind == places || kind == speeds || kind == spins)) {
        EXPECT_EQ(slopes[0][kind], 0);
        EXPECT_EQ(slopes[1][kind], 0);
        continue;
      }
      // Of fourth order.
      const double h = body.integrator == ParticleIntegrator::mid_reflectT ? 5e-4 : 1e-3;
      const auto at = [&](double share) { return run_along(comm, body, Kind(kind), share).values; };
      const auto a = at(h), b = at(-h), c = at(2 * h), d = at(-2 * h);
      for (int k = 0; k < 2; ++k) {
        const double difference = (8 * (a[k] - b[k]) - (c[k] - d[k])) / (12 * h);
        EXPECT_NEAR(slopes[k][kind], difference, 1e-6 * std::abs(difference))
            << body.name << ", objective " << k << " by " << names[kind];
      }
    }
  }
}

TEST(BondedAdjoint, TangentsAreTheTransposeOfGradients) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const Body& body : bodies()) {
    WholeRun run(comm, body, {});
    const Slopes slopes = reverse_slopes(comm, body, run);
    const Tangents tangents = tangent_slopes(body, run);
    for (int kind = 0; kind < num_kinds; ++kind)
      for (int k = 0; k < 2; ++k)
        EXPECT_NEAR(tangents.slopes[k][kind], slopes[k][kind], 1e-12 * tangents.sizes[k][kind])
            << body.name << ", objective " << k << " by " << names[kind];
  }
}

TEST(BondedAdjoint, RemaindersAreOfSecondOrder) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const Body& body : bodies()) {
    WholeRun run(comm, body, {});
    const Slopes slopes = reverse_slopes(comm, body, run);
    const auto remainders = [&](double h) {
      Shares at;
      at.fill(h);
      const auto values = WholeRun(comm, body, at).values;
      std::array<double, 2> result{};
      for (int k = 0; k < 2; ++k) {
        double slope = 0;
        for (int kind = 0; kind < num_kinds; ++kind)
          if (kind != motion || body.clamped) slope += slopes[k][kind];
        result[k] = values[k] - run.values[k] - h * slope;
      }
      return result;
    };
    const auto coarse = remainders(2e-4), fine = remainders(1e-4);
    for (int k = 0; k < 2; ++k)
      EXPECT_NEAR(std::log2(coarse[k] / fine[k]), 2, 0.05) << body.name << ", objective " << k;
  }
}

TEST(BondedAdjoint, GradientsAreTheSameOnAnyRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const parallel::Communicator alone = comm.split(comm.rank());
  for (const Body& body : bodies()) {
    WholeRun run(comm, body, {}), other(alone, body, {});
    const Slopes slopes = reverse_slopes(comm, body, run), expected = reverse_slopes(alone, body, other),
                 sizes = tangent_slopes(body, run).sizes;
    for (int kind = 0; kind < num_kinds; ++kind)
      for (int k = 0; k < 2; ++k)
        EXPECT_NEAR(slopes[k][kind], expected[k][kind], 1e-11 * sizes[k][kind])
            << body.name << ", objective " << k << " by " << names[kind];
  }
}

/// Objective 1 of Sums alone.
class Speeds final : public adjoint::StateDerivatives {
public:
  Speeds(const particles::DistributedParticles& particles, GlobalIndex steps) : sums_(particles, steps) {}
  double value(const stepping::StepRecord& record, const Vector& u, const Vector& v) const {
    return sums_.value(record, u, v)[1];
  }
  std::size_t num_objectives() const override { return 1; }
  void add(std::size_t, const adjoint::StateOfRun& at, adjoint::StatePartials& by) override {
    sums_.add(1, at, by);
  }

private:
  Sums sums_;
};

/// By E, nu and density of the whole body.
class StuffAdjoint final : public inverse::AdjointProblem {
public:
  StuffAdjoint(BondedParticlesSolver& solver, Speeds& objective, double density)
      : problem_(solver.problem()), objective_(objective), density_(density) {
    products_.gradients.emplace_back(problem_);
    step_ = solver.recorded_step(products_);
  }
  adjoint::StateDerivatives& objective() override { return objective_; }
  stepping::DifferentiableStep& step() override { return *step_; }
  inverse::ParameterValues gradient() override {
    std::array<double, 3> sums{};
    auto& by = products_.gradients[0];
    for (const double value : by.bonds.numbers("E")) sums[0] += value;
    for (const double value : by.bonds.numbers("nu")) sums[1] += value;
    for (std::size_t k = 0; k < by.mass.size(); ++k) sums[2] += by.mass[k] * problem_.mass[k] / density_;
    problem_.particles->points->comm->sum(sums);
    return {{sums[0]}, {sums[1]}, {sums[2]}};
  }
  std::vector<inverse::GatheredArray> gathered() override {
    auto& by = products_.gradients[0];
    return {{"mass", by.mass}, {"E", by.bonds.numbers("E")}, {"nu", by.bonds.numbers("nu")}};
  }

private:
  const BondedParticles& problem_;
  Speeds& objective_;
  double density_;
  BondedSweepProducts products_;
  std::unique_ptr<stepping::DifferentiableStep> step_;
};

class StuffProblem final : public inverse::ForwardProblem {
public:
  StuffProblem(const parallel::Communicator& comm, const Body& body)
      : body_(body), solver_(solver_at(comm, body_, {})), speeds_(*solver_.problem().particles, body_.steps) {
  }
  stepping::Solver& solver() override { return solver_; }
  GlobalIndex num_steps() const override { return body_.steps; }
  void observe(const stepping::StepRecord& record, const Vector& u, const Vector& v) override {
    sum_ += u.layout().comm->sum(speeds_.value(record, u, v));
  }
  std::vector<double> terms() const override { return {sum_}; }
  std::vector<std::string> places_of_terms() const override { return {"here"}; }
  std::unique_ptr<inverse::AdjointProblem> adjoint(GlobalIndex) override {
    return std::make_unique<StuffAdjoint>(solver_, speeds_, body_.stuff.rho);
  }

private:
  Body body_;
  BondedParticlesSolver solver_;
  Speeds speeds_;
  double sum_ = 0;
};

class StuffModel final : public inverse::ForwardModel {
public:
  StuffModel(const parallel::Communicator& comm, const Body& body) : comm_(comm), body_(body) {}
  std::unique_ptr<inverse::ForwardProblem> at(const inverse::ParameterValues& q) const override {
    Body body = body_;
    body.stuff = {q[0][0], q[1][0], q[2][0]};
    return std::make_unique<StuffProblem>(comm_, body);
  }
  std::string parameter_name(std::size_t) const override { return "stuff"; }
  int history() const override { return 1; }
  const parallel::Communicator& comm() const override { return comm_; }

private:
  const parallel::Communicator& comm_;
  const Body& body_;
};

/// Through the reduced objective of inverse problems, which takes steps again whose states it has not stored.
TEST(BondedAdjoint, ReducedObjectivesHaveTheirGradients) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const Body& body : bodies()) {
    const StuffModel model(comm, body);
    inverse::ReducedObjective objective(model, {3, {1e-13, {}}});
    const inverse::ParameterValues q{{body.stuff.E}, {body.stuff.nu}, {body.stuff.rho}};
    const inverse::ObjectiveGradient gradient = objective.gradient(q);
    ASSERT_EQ(gradient.failure, "");
    for (std::size_t k = 0; k < q.size(); ++k) {
      const auto value = [&](double share) {
        inverse::ParameterValues changed = q;
        changed[k][0] *= 1 + share;
        return objective.value(changed).objective;
      };
      // Of fourth order.
      const double h = 1e-3;
      const double difference =
          (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h * q[k][0]);
      EXPECT_NEAR(gradient.values[k][0], difference, 1e-6 * std::abs(difference))
          << body.name << ", parameter " << k;
    }
  }
}

TEST(BondedAdjoint, RefusesWhatHasNone) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedSweepProducts products;
  for (const auto integrator : {ParticleIntegrator::del_exact, ParticleIntegrator::leapfrog}) {
    BondedParticlesOptions options;
    options.integrator = integrator;
    options.dt = 1e-3;
    BondedParticlesSolver solver(bonded(comm, chain(2, 0.1, 0.04), {}), options);
    EXPECT_THROW(solver.recorded_step(products), InputError);
  }
  BondedParticles problem = bonded(comm, chain(2, 0.1, 0.04), {});
  for (std::size_t k = 0; k < problem.particles->ids.size(); ++k)
    if (problem.particles->ids[k] == 0) problem.prescribed[6 * k + 4] = 1;
  BondedParticlesOptions options;
  options.dt = 1e-3;
  BondedParticlesSolver solver(std::move(problem), options);
  EXPECT_THROW(solver.recorded_step(products), InputError);
}

} // namespace
} // namespace recoil::solvers
