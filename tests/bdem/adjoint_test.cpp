#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include <gtest/gtest.h>

#include "bdem/adjoint_runs.hpp"
#include "recoil/base/error.hpp"
#include "recoil/inverse/reduced_objective.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;

/// Two ranks take all bodies; what more of them do does not depend on the integrator.
constexpr std::array<std::string_view, 4> of_many_ranks{"two particles, be_reflect", "block, mid_reflectT",
                                                        "held chain at rest", "softening block, be_reflect"};

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
  // Bonds at the corner that moves are softened past their peak.
  struct Softening {
    const char* name;
    ParticleIntegrator integrator;
    double dt;
    GlobalIndex steps;
    double speed, force, moment, strength, width;
    GlobalIndex anchor;
  };
  for (const auto& [name, integrator, dt, steps, speed, force, moment, strength, width, anchor] :
       {Softening{"softening block at rest", quasistatic, 2e-3, 12, 0, 10, 0.1, 1e4, 0.3, 26},
        Softening{"softening block, be_reflect", be_reflect, 1.7e-3, 8, 0.02, 1, 0.005, 5e3, 0.3, -1},
        Softening{"softening block, mid_reflectT", mid_reflectT, 5e-4, 8, 0.02, 1, 0.005, 3e3, 0.4, -1}})
    result.push_back({name,
                      block(3, 3, 3, 0.01),
                      {1e6, 0.3, 1000},
                      integrator,
                      dt,
                      steps,
                      true,
                      speed,
                      0,
                      {0, 0, 0},
                      force,
                      moment,
                      strength,
                      width,
                      anchor});
  for (const std::size_t of : {result.size() - 4, result.size() - 2}) {
    result.push_back(result[of]);
    result.back().name += ", bonds of another form";
    result.back().stuff.form = other_form;
  }
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 2)
    std::erase_if(result, [](const Body& body) { return !std::ranges::count(of_many_ranks, body.name); });
  return result;
}

/// Why several ranks take no differences, which are most of the work.
constexpr const char* same_as_alone = "GradientsAreTheSameOnAnyRanks compares with those of one rank";

WholeRun run_along(const parallel::Communicator& comm, const Body& body, Kind kind, double share) {
  Shares at{};
  at[kind] = share;
  return WholeRun(comm, body, at);
}

/// Differences of fourth order. Those of runs in which bonds soften need small steps, as kinks of their
/// ratios are near, and rounding then shows: the best one of some counts.
void expect_differences(const parallel::Communicator& comm, const Body& body, Kind kind, const Slopes& slopes,
                        const std::array<double, 2>& values) {
  const bool is_second_order = body.integrator == ParticleIntegrator::mid_reflectT;
  const std::vector<double> shares =
      body.softens() ? std::vector{1e-4, 1e-5, 1e-7} : std::vector{is_second_order ? 5e-4 : 1e-3};
  std::array<double, 2> error, difference{};
  error.fill(std::numeric_limits<double>::infinity());
  for (const double h : shares) {
    const auto at = [&](double share) { return run_along(comm, body, kind, share).values; };
    const auto a = at(h), b = at(-h), c = at(2 * h), d = at(-2 * h);
    for (int k = 0; k < 2; ++k) {
      difference[k] = (8 * (a[k] - b[k]) - (c[k] - d[k])) / (12 * h);
      const double rounding = body.softens() ? 1e-14 * (1 + std::abs(values[k])) / h : 0;
      error[k] = std::min(error[k],
                          (std::abs(slopes[k][kind] - difference[k]) - rounding) / std::abs(difference[k]));
    }
    if (std::max(error[0], error[1]) <= 1e-6) break;
  }
  for (int k = 0; k < 2; ++k)
    EXPECT_LE(error[k], 1e-6) << body.name << ", objective " << k << " by " << names[kind] << ": "
                              << slopes[k][kind] << " against " << difference[k];
}

TEST(BondedAdjoint, GradientsAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  if (comm.size() > 1) GTEST_SKIP() << same_as_alone;
  for (const Body& body : bodies()) {
    WholeRun run(comm, body, {});
    if (body.softens()) {
      EXPECT_GE(run.num_broken(), 3) << body.name;
    }
    const Slopes slopes = reverse_slopes(comm, body, run);
    for (int kind = 0; kind < num_kinds; ++kind) {
      if ((kind == motion && !body.clamped) || (kind >= tensile && !body.softens())) continue;
      // At rest only moments know where a step started: in which orientation.
      if (body.integrator == ParticleIntegrator::quasistatic &&
          (kind == places || kind == speeds || kind == spins)) {
        EXPECT_EQ(slopes[0][kind], 0);
        EXPECT_EQ(slopes[1][kind], 0);
        continue;
      }
      expect_differences(comm, body, Kind(kind), slopes, run.values);
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
  if (comm.size() > 1) GTEST_SKIP() << same_as_alone;
  for (const Body& body : bodies()) {
    // Kinks of ratios are nearer than where remainders stand out from rounding.
    if (body.softens()) continue;
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
  void observe(const stepping::StepRecord& record, const Vector& u, const Vector& v,
               std::span<const double>) override {
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
  const parallel::Communicator alone = comm.split(comm.rank());
  for (const Body& body : bodies()) {
    const StuffModel model(comm, body), other(alone, body);
    const inverse::ReducedObjective::Options options{3, {1e-13, {}}};
    inverse::ReducedObjective objective(model, options);
    const inverse::ParameterValues q{{body.stuff.E}, {body.stuff.nu}, {body.stuff.rho}};
    const inverse::ObjectiveGradient gradient = objective.gradient(q);
    ASSERT_EQ(gradient.failure, "");
    if (comm.size() > 1) {
      const auto expected = inverse::ReducedObjective(other, options).gradient(q).values;
      for (std::size_t k = 0; k < q.size(); ++k)
        EXPECT_NEAR(gradient.values[k][0], expected.at(k)[0], 1e-8 * std::abs(expected[k][0]))
            << body.name << ", parameter " << k;
      continue;
    }
    for (std::size_t k = 0; k < q.size(); ++k) {
      const auto value = [&](double share) {
        inverse::ParameterValues changed = q;
        changed[k][0] *= 1 + share;
        return objective.value(changed).objective;
      };
      // Of fourth order.
      const double h = body.softens() ? 1e-4 : 1e-3;
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
