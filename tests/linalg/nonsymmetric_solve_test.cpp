#include <cmath>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "recoil/linalg/nonsymmetric_solve.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::linalg::nonsymmetric_solve_test {
namespace {

/// Convection and diffusion on a ring, upwind to one side: (A x)_i = (2 + c) x_i - x_{i+1} - (1 + c) x_{i-1}
/// + s x_i, with the entries of a rank between ghosts from its neighbours.
class Ring : public ::testing::Test {
protected:
  static constexpr LocalIndex per_rank = 40;
  static constexpr double convection = 3, shift = 0.05;

  Ring() {
    auto made = std::make_shared<VectorLayout>();
    made->comm = &comm;
    made->num_owned = per_rank;
    made->offset = static_cast<GlobalIndex>(per_rank) * comm.rank();
    made->num_global = static_cast<GlobalIndex>(per_rank) * comm.size();
    if (comm.size() > 1)
      made->ghosts = {(made->offset + made->num_global - 1) % made->num_global,
                      (made->offset + per_rank) % made->num_global};
    layout = made;
    if (comm.size() == 2 && made->ghosts[0] > made->ghosts[1]) std::swap(made->ghosts[0], made->ghosts[1]);
  }

  double at(const Vector& x, GlobalIndex index) const {
    const GlobalIndex n = layout->num_global, wrapped = (index + n) % n;
    if (wrapped >= layout->offset && wrapped < layout->offset + per_rank)
      return x.local()[static_cast<std::size_t>(wrapped - layout->offset)];
    return x.local()[static_cast<std::size_t>(per_rank) + (layout->ghosts[0] == wrapped ? 0 : 1)];
  }
  void multiply(const Vector& x, Vector& y) const {
    auto out = y.write_owned();
    for (LocalIndex i = 0; i < per_rank; ++i) {
      const GlobalIndex k = layout->offset + i;
      out[static_cast<std::size_t>(i)] =
          (2 + convection + shift) * at(x, k) - at(x, k + 1) - (1 + convection) * at(x, k - 1);
    }
  }
  NonsymmetricSystem system() const {
    return {[this](const Vector& x, Vector& y) { multiply(x, y); },
            [](const Vector& x, Vector& y) {
              y.copy_from(x);
              y.scale(1 / (2 + convection + shift));
            }};
  }

  parallel::Communicator comm{MPI_COMM_WORLD};
  std::shared_ptr<const VectorLayout> layout;
};

TEST_F(Ring, SolvesToTheTolerance) {
  Vector b(layout), x(layout), residual(layout);
  auto entries = b.write_owned();
  for (LocalIndex i = 0; i < per_rank; ++i)
    entries[static_cast<std::size_t>(i)] = std::sin(0.7 * static_cast<double>(layout->offset + i));
  const LinearResult result = solve_nonsymmetric(system(), b, x, 1e-12, 2000);
  ASSERT_EQ(result.outcome, LinearOutcome::converged);
  multiply(x, residual);
  residual.add(-1, b);
  EXPECT_LE(residual.norm(), 2e-12 * b.norm());
  EXPECT_GT(result.iterations, 3);
}

TEST_F(Ring, TellsWhenItRunsOut) {
  Vector b(layout), x(layout);
  b.write_owned()[0] = 1;
  EXPECT_EQ(solve_nonsymmetric(system(), b, x, 1e-12, 2).outcome, LinearOutcome::not_converged);
}

TEST_F(Ring, ZeroNeedsNoIteration) {
  const Vector b(layout);
  Vector x(layout);
  const LinearResult result = solve_nonsymmetric(system(), b, x, 1e-12, 10);
  EXPECT_EQ(result.outcome, LinearOutcome::converged);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(x.norm(), 0);
}

TEST_F(Ring, PassesOnWhatAFunctionThrows) {
  Vector b(layout), x(layout);
  b.write_owned()[0] = 1;
  NonsymmetricSystem failing = system();
  failing.multiply = [](const Vector&, Vector&) { throw InputError("thrown on purpose"); };
  EXPECT_THROW(solve_nonsymmetric(failing, b, x, 1e-12, 10), InputError);
}

} // namespace
} // namespace recoil::linalg::nonsymmetric_solve_test
