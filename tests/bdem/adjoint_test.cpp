#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "bdem/adjoint_bodies.hpp"
#include "recoil/base/error.hpp"
#include "recoil/inverse/reduced_objective.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;

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
    products_.gradients.emplace_back(sizes_of(problem_), quantities_of(problem_));
    step_ = solver.recorded_step(products_);
  }
  adjoint::StateDerivatives& objective() override { return objective_; }
  stepping::DifferentiableStep step() override { return step_.get(); }
  inverse::ParameterValues gradient() override {
    std::array<double, 3> sums{};
    auto& by = products_.gradients[0];
    for (const double value : by.numbers("E")) sums[0] += value;
    for (const double value : by.numbers("nu")) sums[1] += value;
    const std::vector<double>& by_mass = by.numbers(particle_mass);
    for (std::size_t k = 0; k < by_mass.size(); ++k) sums[2] += by_mass[k] * problem_.mass[k] / density_;
    problem_.particles->points->comm->sum(sums);
    return {{sums[0]}, {sums[1]}, {sums[2]}};
  }
  std::vector<inverse::GatheredArray> gathered() override {
    auto& by = products_.gradients[0];
    return {{"mass", by.numbers(particle_mass)}, {"E", by.numbers("E")}, {"nu", by.numbers("nu")}};
  }

private:
  const BondedParticles& problem_;
  Speeds& objective_;
  double density_;
  stepping::SweepProducts<3> products_;
  std::unique_ptr<stepping::MapReverseStep> step_;
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
  stepping::SweepProducts<3> products;
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
