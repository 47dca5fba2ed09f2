#include <functional>

#include <gtest/gtest.h>

#include "bdem/runs.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;

/// Logarithmic decrement per period and circular frequency of a decaying oscillation about zero, from the
/// first to the last of its maxima from the number `first` on; maxima by parabolas.
struct Decay {
  double decrement, frequency;
};
Decay decay_of(const std::vector<double>& values, double dt, int first) {
  std::vector<double> sizes, times;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    const double a = values[i - 1], b = values[i], c = values[i + 1];
    if (!(b > 0 && b > a && b >= c)) continue;
    const double slope = (c - a) / 2, bend = a - 2 * b + c;
    sizes.push_back(b - slope * slope / (2 * bend));
    times.push_back((double(i) - slope / bend) * dt);
  }
  const int count = int(sizes.size()) - 1 - first;
  if (count < 1) {
    ADD_FAILURE() << "only " << sizes.size() << " maxima";
    return {0, 0};
  }
  return {std::log(sizes[first] / sizes.back()) / count, 2 * pi * count / (times.back() - times[first])};
}

double decrement_at(double ratio) { return 2 * pi * ratio / std::sqrt(1 - ratio * ratio); }

/// A mode of two free particles, a bond apart: what they start with, and where it shows.
struct Mode {
  const char* name;
  double frequency;                                            ///< [1/s]
  std::function<std::pair<Vector3d, Vector3d>(int id)> speeds; ///< along x, in space
  std::function<double(const potentials::Particle&, const potentials::Particle&)> amplitude;
};

constexpr double l = 0.1, r = 0.04, small = 1e-5;
const Stuff stuff{1e6, 0.3, 1000};

std::vector<Mode> modes() {
  const double m = stuff.rho * 4 * pi / 3 * r * r * r, I = 0.4 * m * r * r;
  const auto k = potentials::bond_stiffness(stuff.E, stuff.E / (2 * (1 + stuff.nu)), r, l);
  const auto side = [](int id) { return id == 0 ? -1.0 : 1.0; };
  const auto turn = [](const potentials::Particle& at, int axis) {
    return geometry::quaternion_logarithm(at.q)[axis];
  };
  const Vector3d zero = Vector3d::Zero();
  const auto spins = [=](int axis) {
    return [=](int id) { return std::pair<Vector3d, Vector3d>(zero, side(id) * Vector3d::Unit(axis)); };
  };
  const auto difference = [=](int axis) {
    return [=](const potentials::Particle& a, const potentials::Particle& b) {
      return turn(b, axis) - turn(a, axis);
    };
  };
  // Spins w of both and -4 I w / (m l^2) of the line have no momentum together.
  const double of_line = -4 * I / (m * l * l);
  return {{"stretch", std::sqrt(2 * k.stretch / m),
           [=](int id) { return std::pair<Vector3d, Vector3d>(r * side(id) * Vector3d::UnitX(), zero); },
           [](const auto& a, const auto& b) { return b.p.x() - a.p.x() - l; }},
          {"twist", std::sqrt(2 * k.twist / I), spins(0), difference(0)},
          {"bending", std::sqrt(2 * k.bend / I), spins(2), difference(2)},
          {"shear", std::sqrt(k.shear * (1 / (2 * I) + 2 / (m * l * l))),
           [=](int id) {
             return std::pair<Vector3d, Vector3d>(side(id) * of_line * l / 2 * Vector3d::UnitY(),
                                                  Vector3d::UnitZ());
           },
           [=](const auto& a, const auto&) { return turn(a, 2); }}};
}

/// The decay of a mode that is damped at `ratio` of its critical damping, in `parts` steps a period.
Decay decay(const Mode& mode, double ratio, ParticleIntegrator integrator, int parts, double share = 0.2) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, chain(1, l, r), stuff);
  damp(problem, 2 * ratio / mode.frequency);
  BondedParticlesOptions options;
  options.integrator = integrator;
  options.dt = 2 * pi / mode.frequency / parts;
  options.tolerance = 1e-12;
  options.explicit_share = share;
  BondedParticlesSolver solver(std::move(problem), options);
  start(solver, unmoved, [&](GlobalIndex id, const Vector3d&) {
    auto [speed, spin] = mode.speeds(int(id));
    return std::pair<Vector3d, Vector3d>(small * mode.frequency * speed, small * mode.frequency * spin);
  });
  const double before = solver.ledger().kinetic;
  std::vector<double> values;
  while (solver.step() < 4 * parts) {
    run(solver, solver.step() + 1);
    const Vector& u = solver.history().newest().u;
    values.push_back(mode.amplitude(find(solver.problem(), u, 0), find(solver.problem(), u, 1)));
  }
  const ParticleLedger& ledger = solver.ledger();
  EXPECT_NEAR(ledger.kinetic + ledger.elastic + ledger.dissipated_bonds + ledger.dissipated_integrator,
              before, 1e-8 * before)
      << mode.name;
  if (integrator != ParticleIntegrator::be_reflect) {
    EXPECT_NEAR(ledger.dissipated_bonds, before, 0.1 * before) << mode.name;
    // Leapfrog knows the rates at its ends less well than those between.
    const double share_of_integrator = integrator == ParticleIntegrator::leapfrog ? 4e-3 : 1e-3;
    EXPECT_LE(std::abs(ledger.dissipated_integrator), share_of_integrator * before) << mode.name;
  }
  return decay_of(values, options.dt, 0);
}

/// By steps of the second order: logarithmic decrements of all ways in which a bond gives way, at three time
/// steps. Ranks, which wait for each other in each step, have the ends of the bond on two of them, in shear.
TEST(BondDamping, OfABondIsThatOfTheory) {
  const bool is_alone = parallel::Communicator(MPI_COMM_WORLD).size() == 1;
  constexpr double ratio = 0.05;
  double worst = 0;
  std::vector<Mode> chosen = modes();
  if (!is_alone) chosen.erase(chosen.begin(), chosen.end() - 1);
  for (const Mode& mode : chosen) {
    std::vector<double> errors;
    for (const int parts : is_alone ? std::vector{40, 80, 160} : std::vector{40}) {
      const Decay found = decay(mode, ratio, ParticleIntegrator::mid_reflectT, parts);
      errors.push_back(found.decrement / decrement_at(ratio) - 1);
      EXPECT_LE(std::abs(errors.back()), 0.01) << mode.name << ", " << parts << " steps a period";
      EXPECT_NEAR(found.frequency / (mode.frequency * std::sqrt(1 - ratio * ratio)), 1, 0.01) << mode.name;
      worst = std::max(worst, std::abs(errors.back()));
    }
    for (std::size_t k = 1; k < errors.size(); ++k)
      EXPECT_NEAR(std::log2(errors[k - 1] / errors[k]), 2, 0.3) << mode.name;
    for (const double share : is_alone ? std::vector{0.2, 0.1, 0.05} : std::vector{0.2}) {
      const Decay found = decay(mode, ratio, ParticleIntegrator::leapfrog, 40, share);
      EXPECT_NEAR(found.decrement / decrement_at(ratio), 1, 0.01) << mode.name << ", leapfrog at " << share;
      worst = std::max(worst, std::abs(found.decrement / decrement_at(ratio) - 1));
    }
  }
  RecordProperty("worst", std::to_string(worst));
}

/// Backward Euler damps by w dt / 2 on top of it, which goes with dt.
TEST(BondDamping, OfBackwardEulerComesOnTopOfItsOwn) {
  const Mode mode = modes().front();
  const auto at = [&](int parts) {
    return decay(mode, 0.05, ParticleIntegrator::be_reflect, parts).decrement;
  };
  const double coarse = at(200), fine = at(400);
  EXPECT_NEAR(2 * fine - coarse, decrement_at(0.05), 0.01 * decrement_at(0.05));
  EXPECT_GT(coarse, decrement_at(0.05) * 1.2);
}

/// A cantilever in its first mode: higher ones are damped more, and are gone after a period.
TEST(BondDamping, OfABarInBendingIsThatOfTheory) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  constexpr int n = 12, first = 2, periods = 6;
  const double m = stuff.rho * 4 * pi / 3 * r * r * r, bending = stuff.E * pi * std::pow(r, 4) / 4,
               beam = 1.8751 * 1.8751 * std::sqrt(bending / (m / l)) / std::pow(n * l, 2), time = 0.04 / beam;
  for (const int parts : {40, 80, 160}) {
    BondedParticles problem = bonded(comm, chain(n, l, r), stuff);
    clamp(problem, 0);
    damp(problem, time);
    BondedParticlesOptions options;
    options.integrator = ParticleIntegrator::mid_reflectT;
    options.dt = 2 * pi / beam / parts;
    options.tolerance = 1e-9;
    BondedParticlesSolver solver(std::move(problem), options);
    // About the shape of the first mode.
    const auto place = unmoved;
    start(solver, place, [&](GlobalIndex, const Vector3d& x) {
      const double s = x.x() / (n * l), w = (s * s * (6 - 4 * s + s * s)) / 3,
                   slope = (12 * s - 12 * s * s + 4 * s * s * s) / 3 / (n * l), speed = 1e-4 * l * beam;
      return std::pair<Vector3d, Vector3d>(Vector3d(0, speed * w, 0), Vector3d(0, 0, speed * slope));
    });
    std::vector<double> tip;
    while (solver.step() < periods * parts) {
      run(solver, solver.step() + 1);
      tip.push_back(find(solver.problem(), solver.history().newest().u, n).p.y());
    }
    const Decay found = decay_of(tip, options.dt, first);
    // The frequency of the discrete, sheared bar is that of the run.
    const double damped = found.frequency, frequency = damped / std::sqrt(1 - std::pow(time * damped / 2, 2)),
                 expected = decrement_at(time * frequency / 2);
    EXPECT_NEAR(damped / beam, 1, 0.12);
    EXPECT_NEAR(found.decrement / expected, 1, 0.01) << parts << " steps a period";
    RecordProperty("decrement_" + std::to_string(parts), std::to_string(found.decrement / expected));
  }
}

/// A load that is put on at once and stays: with all rates at rest but those of the viscosity, the chain goes
/// to its length by 1 / (1 + dt / tau) of the way that is left in each step.
TEST(BondDamping, LetsABarCreepAtRest) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, chain(3, l, r), stuff);
  clamp(problem, 0);
  damp(problem, 0.5);
  const particles::DistributedParticles* particles = problem.particles.get();
  problem.add_loads = [=](double, std::span<double> loads) {
    for (LocalIndex k = 0; k < particles->num_owned(); ++k)
      if (particles->ids[k] == 3) loads[6 * std::size_t(k)] += 1;
  };
  BondedParticlesOptions options = at_rest();
  options.dt = 0.1;
  BondedParticlesSolver solver(std::move(problem), options);
  const double end = 3 * l / (stuff.E * pi * r * r);
  for (int step = 1; step <= 10; ++step) {
    run(solver, step);
    const double way = find(solver.problem(), solver.history().newest().u, 3).p.x() - 3 * l;
    EXPECT_NEAR(way / end, 1 - std::pow(1 + 0.1 / 0.5, -step), 1e-6);
  }
  const ParticleLedger& ledger = solver.ledger();
  EXPECT_NEAR(ledger.external_work, ledger.elastic + ledger.dissipated_bonds + ledger.dissipated_integrator,
              1e-9 * ledger.elastic);
}

/// Bonds that are overdamped: the damped critical step keeps leapfrog stable, and both ways agree.
TEST(BondDamping, MayBeMuch) {
  const Mode mode = modes().front();
  const parallel::Communicator comm(MPI_COMM_WORLD);
  std::vector<double> ways;
  for (const auto integrator : {ParticleIntegrator::leapfrog, ParticleIntegrator::mid_reflectT}) {
    BondedParticles problem = bonded(comm, chain(1, l, r), stuff);
    damp(problem, 20 / mode.frequency);
    BondedParticlesOptions options;
    options.integrator = integrator;
    options.dt = 0.02 / mode.frequency;
    options.tolerance = 1e-12;
    options.explicit_share = 0.9;
    BondedParticlesSolver solver(std::move(problem), options);
    const auto place = [](GlobalIndex id, const Vector3d& X) {
      return potentials::Particle{X + Vector3d(id == 0 ? 0 : small, 0, 0), geometry::identity_quaternion()};
    };
    start(solver, place, [](GlobalIndex, const Vector3d&) {
      return std::pair<Vector3d, Vector3d>(Vector3d::Zero(), Vector3d::Zero());
    });
    run(solver, 100);
    const Vector& u = solver.history().newest().u;
    ways.push_back((find(solver.problem(), u, 1).p - find(solver.problem(), u, 0).p).norm() - l);
  }
  EXPECT_NEAR(ways[0] / small, ways[1] / small, 1e-3);
  EXPECT_GT(ways[1], 0.5 * small);
}

} // namespace
} // namespace recoil::solvers
