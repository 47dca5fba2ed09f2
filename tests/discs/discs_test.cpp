#include <gtest/gtest.h>

#include "discs/disc_step.hpp"
#include "newton/toy_objective.hpp"
#include "recoil/app/run/forward_run.hpp"
#include "recoil/app/run/run_state.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/inverse/reduced_objective.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::discs {
namespace {

constexpr GlobalIndex num_steps = 12;

ExitCode run(const parallel::Communicator& comm, const std::filesystem::path& path, GlobalIndex steps,
             bool restart) {
  DiscSolver solver(comm, reference);
  DiscOutput output(solver);
  const app::Interrupts interrupts(comm);
  const auto folder =
      restart ? checkpoint::RunFolder::open(comm, path) : checkpoint::RunFolder::create(comm, path);
  if (!restart) folder.begin(comm, "{}\n");
  app::ForwardRun forward(comm, solver, output, {num_steps, 4, 2, {}}, folder, interrupts);
  return restart ? forward.restart(steps) : forward.start("{\"solver\":\"discs\"}", steps);
}

/// To the same bits on one rank; on several ones sums are taken in other orders.
void expect_same(const linalg::Vector& a, const linalg::Vector& b, GlobalIndex id) {
  const VectorXd x = gather(a), y = gather(b);
  if (a.layout().comm->size() == 1) {
    EXPECT_EQ(x, y) << id;
  }
  EXPECT_LT((x - y).norm(), 1e-12 * x.norm()) << id;
}

TEST(Discs, RestartOnOtherRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const parallel::Communicator alone = comm.split(comm.rank());
  const testing::TemporaryFolder folder(comm);
  EXPECT_EQ(run(comm, folder / "whole", num_steps, false), ExitCode::done);
  // Step 5 is not stored: its states are kept for the restart alone.
  const auto run_alone = [&](GlobalIndex steps, bool restart) {
    if (comm.rank() != 0) return;
    EXPECT_EQ(run(alone, folder / "parts", steps, restart), ExitCode::done);
  };
  run_alone(5, false);
  comm.barrier();
  EXPECT_EQ(run(comm, folder / "parts", 9, true), ExitCode::done);
  comm.barrier();
  run_alone(num_steps, true);
  comm.barrier();

  const std::string ledger = read_file(folder / "whole" / "ledger.csv"),
                    other = read_file(folder / "parts" / "ledger.csv");
  EXPECT_EQ(std::ranges::count(ledger, '\n'), std::ranges::count(other, '\n'));
  if (comm.size() == 1) {
    EXPECT_EQ(ledger, other);
  }
  EXPECT_EQ(ledger.substr(0, ledger.find('\n')),
            "step,time,kinetic,elastic,barrier,gravity,dissipated_drag,linear_x,linear_y,linear_z,angular_x,"
            "angular_y,angular_z,newton,active_pairs,min_distance");
  EXPECT_NE(read_file(folder / "parts" / "summary.json").find("\"discs\": 5"), std::string::npos);

  const DiscSolver solver(comm, reference);
  const DiscOutput output(solver);
  checkpoint::TrajectoryReader whole(comm, folder / "whole" / "trajectory"),
      parts(comm, folder / "parts" / "trajectory");
  ASSERT_EQ(whole.records(), parts.records());
  EXPECT_EQ(whole.records().back().coefficients.order, 2);
  for (const GlobalIndex id : {GlobalIndex{0}, GlobalIndex{4}, num_steps}) {
    const auto a = app::read_state(app::fields_of(whole, id), id, solver, output),
               b = app::read_state(app::fields_of(parts, id), id, solver, output);
    expect_same(a.u, b.u, id);
    expect_same(a.v, b.v, id);
  }
}

TEST(Discs, BalanceTheirEnergies) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto total = [](const DiscSolver& solver) {
    double sum = 0;
    for (const auto& [name, value] : solver.balance().energies) sum += std::get<double>(value);
    return sum;
  };
  DiscSolver solver(comm, reference, 1);
  const double before = total(solver);
  VectorXd turn = gather(solver.history().newest().u);
  GlobalIndex most_pairs = 0;
  bool passes_the_cut = false; // where atan2 jumps
  while (solver.step() < num_steps) {
    const double energy = total(solver);
    ASSERT_TRUE(solver.advance([](const auto&...) {}, 1).accepted);
    most_pairs = std::max(most_pairs, stepping::value_of<GlobalIndex>(solver.counts(), "active_pairs"));
    EXPECT_LT(total(solver), energy) << "implicit Euler dissipates";
    const VectorXd now = gather(solver.history().newest().u);
    for (int i = 0; i < num_discs; ++i)
      passes_the_cut |= now[4 * i + 2] < 0 && now[4 * i + 3] * turn[4 * i + 3] < 0;
    turn = now;
  }
  EXPECT_GT(most_pairs, num_discs - 1) << "the discs touch each other and the floor";
  EXPECT_GT(total(solver), 0.1 * before);
  EXPECT_TRUE(passes_the_cut);
}

/// J = sum over all states and discs of x y + 2 sin a + |v|^2 / 10.
struct Sums final : public adjoint::StateDerivatives {
  static double value(const Vector& u, const Vector& v) {
    double sum = 0;
    for (std::size_t p = 0; p < u.owned().size(); p += 4)
      sum += u.owned()[p] * u.owned()[p + 1] + 2 * u.owned()[p + 3];
    for (const double speed : v.owned()) sum += 0.1 * speed * speed;
    return u.layout().comm->sum(sum);
  }
  std::size_t num_objectives() const override { return 1; }
  void add(std::size_t, const adjoint::StateOfRun& at, adjoint::StatePartials& by) override {
    const auto u = at.now.u.owned();
    const auto by_u = by.u.write_owned();
    for (std::size_t p = 0, t = 0; p < u.size(); p += 4, t += 3) {
      by_u[t] += u[p + 1];
      by_u[t + 1] += u[p];
      by_u[t + 2] += 2 * u[p + 2];
    }
    by.v.add(0.2, at.now.v);
  }
};

/// All ranks hold the whole gradient.
class DiscAdjoint final : public inverse::AdjointProblem {
public:
  explicit DiscAdjoint(const Parameters& q)
      : step_(q, [this](std::size_t k, double share) { gradient_[k] += share; }) {}
  adjoint::StateDerivatives& objective() override { return sums_; }
  stepping::DifferentiableStep step() override { return &step_; }
  inverse::ParameterValues gradient() override { return {gradient_}; }
  std::vector<inverse::GatheredArray> gathered() override { return {{"gradient", gradient_}}; }

private:
  Sums sums_;
  std::vector<double> gradient_ = std::vector<double>(num_parameters, 0.0);
  DiscStep step_;
};

class DiscProblem final : public inverse::ForwardProblem {
public:
  DiscProblem(const parallel::Communicator& comm, const Parameters& q, int order) : solver_(comm, q, order) {}
  stepping::Solver& solver() override { return solver_; }
  GlobalIndex num_steps() const override { return discs::num_steps; }
  void observe(const stepping::StepRecord&, const Vector& u, const Vector& v,
               std::span<const double>) override {
    sum_ += Sums::value(u, v);
  }
  std::vector<double> terms() const override { return {sum_}; }
  std::vector<std::string> places_of_terms() const override { return {"here"}; }
  std::unique_ptr<inverse::AdjointProblem> adjoint(GlobalIndex) override {
    return std::make_unique<DiscAdjoint>(solver_.parameters());
  }

private:
  DiscSolver solver_;
  double sum_ = 0;
};

class DiscModel final : public inverse::ForwardModel {
public:
  DiscModel(const parallel::Communicator& comm, int order) : comm_(comm), order_(order) {}
  std::unique_ptr<inverse::ForwardProblem> at(const inverse::ParameterValues& q) const override {
    return std::make_unique<DiscProblem>(comm_, q[0], order_);
  }
  std::string parameter_name(std::size_t) const override { return "discs"; }
  int history() const override { return order_; }
  const parallel::Communicator& comm() const override { return comm_; }

private:
  const parallel::Communicator& comm_;
  int order_;
};

/// On one rank; on several ones those of one rank, since differences are most of the work.
TEST(Discs, GradientsAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const parallel::Communicator alone = comm.split(comm.rank());
  for (const int order : {1, 2}) {
    const DiscModel model(comm, order), other(alone, order);
    // States between every fourth step are computed again for the sweep.
    inverse::ReducedObjective objective(model, {4, {}});
    const inverse::ObjectiveGradient gradient = objective.gradient({reference});
    ASSERT_EQ(gradient.failure, "");
    if (comm.size() > 1) {
      const auto expected = inverse::ReducedObjective(other, {4, {}}).gradient({reference}).values;
      for (std::size_t k = 0; k < num_parameters; ++k)
        EXPECT_NEAR(gradient.values[0][k], expected.at(0)[k], 1e-10 * std::abs(expected[0][k]))
            << "parameter " << k << ", BDF" << order;
      continue;
    }
    for (std::size_t k = 0; k < num_parameters; ++k) {
      const auto value = [&](double share) {
        Parameters q = reference;
        q[k] *= 1 + share;
        return objective.value({q}).objective;
      };
      // Of fourth order.
      const double h = 1e-3;
      const double difference =
          (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h * reference[k]);
      EXPECT_NEAR(gradient.values[0][k], difference, 1e-6 * std::abs(difference))
          << "parameter " << k << ", BDF" << order;
    }
  }
}

/// The changes of the states of a run along directions: the slopes of Sums, and the last of them.
struct DiscTangents final : adjoint::StateTangents {
  explicit DiscTangents(std::size_t directions) : slopes(directions), sizes(directions), last(directions) {}
  void see(std::size_t direction, const adjoint::StateOfRun& at,
           const adjoint::StateChange& change) override {
    const Vector &du = change.u, &dv = change.v, zero(du.shared_layout());
    adjoint::StatePartials by{zero, zero, zero};
    Sums().add(0, at, by);
    slopes[direction] += by.u.dot(du) + by.v.dot(dv);
    sizes[direction] += std::abs(by.u.dot(du)) + std::abs(by.v.dot(dv));
    last[direction] = gather(du);
    newton::testing::expect_current_ghosts(du, gather(du));
    newton::testing::expect_current_ghosts(dv, gather(dv));
  }
  std::vector<double> slopes, sizes;
  std::vector<VectorXd> last; ///< du
};

/// One parameter each, in units of its value, and all of them.
std::vector<Parameters> disc_directions() {
  std::vector<Parameters> result(num_parameters, Parameters(num_parameters));
  for (std::size_t k = 0; k < num_parameters; ++k) result[k][k] = reference[k];
  result.push_back({0.3, -7.0, 1.1, 2.0, -0.1, 0.9});
  return result;
}

VectorXd last_positions(const parallel::Communicator& comm, const Parameters& q, int order) {
  DiscSolver solver(comm, q, order);
  while (solver.step() < num_steps) EXPECT_TRUE(solver.advance([](const auto&...) {}, 1).accepted);
  return gather(solver.history().newest().u);
}

TEST(Discs, TangentsAreTheTransposeOfGradientsAndAgreeWithDifferences) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (const int order : {1, 2}) {
    const inverse::ObjectiveGradient gradient =
        inverse::ReducedObjective(DiscModel(comm, order), {1, {}}).gradient({reference});
    ASSERT_EQ(gradient.failure, "");
    const std::vector<Parameters> directions = disc_directions();
    DiscSolver solver(comm, reference, order);
    DiscStep step(reference, {}, directions);
    DiscTangents tangents(directions.size());
    adjoint::TangentSweep sweep(&step, tangents, order, {});
    const auto take = [&](const stepping::StepRecord& record, const Vector& u, const Vector& v) {
      EXPECT_EQ(sweep.advance(record, u, v), "");
    };
    take({}, solver.history().newest().u, solver.history().newest().v);
    while (solver.step() < num_steps) ASSERT_TRUE(solver.advance(take, 1).accepted);
    for (std::size_t k = 0; k < directions.size(); ++k) {
      double slope = 0;
      for (std::size_t j = 0; j < num_parameters; ++j) slope += gradient.values[0][j] * directions[k][j];
      EXPECT_NEAR(tangents.slopes[k], slope, 1e-12 * tangents.sizes[k])
          << "direction " << k << ", BDF" << order;
      if (comm.size() > 1) continue;
      const auto at = [&](double by) {
        Parameters q = reference;
        for (std::size_t j = 0; j < num_parameters; ++j) q[j] += by * directions[k][j];
        return last_positions(comm, q, order);
      };
      // Of fourth order.
      const double h = 1e-3;
      const VectorXd change =
          (8 * Plane::difference(at(-h), at(h)) - Plane::difference(at(-2 * h), at(2 * h))) / (12 * h);
      EXPECT_LT((tangents.last[k] - change).norm(), 1e-6 * change.norm())
          << "direction " << k << ", BDF" << order;
    }
  }
}

} // namespace
} // namespace recoil::discs
