#include <algorithm>
#include <numeric>
#include <span>

#include <gtest/gtest.h>
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>
#include <petsc/private/pcmgimpl.h>

#include "linalg/gamg_products.hpp"
#include "linalg/preconditioned_solver.hpp"
#include "linalg/stencils.hpp"

namespace recoil::gamg_products_test {
namespace {

using linalg::BlockMatrix;
using linalg::Renewal;
using linalg::StencilMatrix;

class SolverWithLevels : public linalg::PreconditionedSolver {
public:
  using PreconditionedSolver::PreconditionedSolver;

  /// What smoothers and residuals multiply with, and what they and coarser levels are made of.
  struct Operators {
    Mat smoothed, subtracted, matrix;
    KSPSetUpStage stage; ///< of the smoother
  };
  /// Of all levels but the finest.
  std::vector<Operators> coarse_levels() const {
    PetscInt num_levels = 0;
    RECOIL_PETSC(PCMGGetLevels(preconditioner_.get(), &num_levels));
    std::vector<Operators> result;
    for (PetscInt level = 0; level + 1 < num_levels; ++level) {
      KSP smoother = nullptr;
      Operators operators{};
      RECOIL_PETSC(PCMGGetSmoother(preconditioner_.get(), level, &smoother));
      RECOIL_PETSC(KSPGetOperators(smoother, &operators.smoothed, &operators.matrix));
      operators.stage = smoother->setupstage;
      operators.subtracted = static_cast<const PC_MG*>(preconditioner_.get()->data)->levels[level]->A;
      result.push_back(operators);
    }
    return result;
  }
  std::vector<Mat> coarse_operators() const {
    std::vector<Mat> result;
    for (const Operators& level : coarse_levels()) result.push_back(level.matrix);
    return result;
  }
};

/// On four ranks one owns nothing, and on two or more the coarsest level goes to one.
class GamgProducts : public ::testing::Test {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};
  testing::ElasticBox<3> box{comm, 10, comm.size() > 3 ? 1 : -1};
  BlockMatrix matrix{box.layout, box.graph};
  StencilMatrix springs{box.layout};
  SolverWithLevels solver = make_solver({});

  void SetUp() override { testing::assemble<3>(box, {}, matrix); }
  SolverWithLevels make_solver(const linalg::OptionList& options,
                               const std::string& prefix = "recoil_") const {
    return {{box.layout, prefix, "contact_", options, nullptr}, linalg::LinearMethod::amg};
  }
  void assemble_springs(unsigned seed) {
    std::vector<GlobalIndex> nodes(static_cast<std::size_t>(box.layout->num_global));
    std::iota(nodes.begin(), nodes.end(), 0);
    testing::assemble(testing::random_springs(3, nodes, comm.size(), 20, 1e4, seed,
                                              [&](GlobalIndex node, int) { return node % 11 == 0; }),
                      springs);
  }
  static int num_by_blocks(const SolverWithLevels& solver) {
    const std::vector<Mat> operators = solver.coarse_operators();
    return static_cast<int>(std::ranges::count_if(operators, &linalg::is_block_product));
  }
  /// Of a first set-up, which has copies of the products where a level is on fewer ranks.
  static void expect_only_block_products(const SolverWithLevels& solver) {
    EXPECT_GE(num_by_blocks(solver), 1);
    for (Mat coarse : solver.coarse_operators())
      EXPECT_TRUE(coarse->product == nullptr || linalg::is_block_product(coarse));
  }
};

TEST_F(GamgProducts, FirstAndRenewedOperatorsAreMultipliedByBlocks) {
  solver.rebuild(matrix, box.modes(), nullptr);
  ASSERT_GE(solver.coarse_operators().size(), 2U);
  expect_only_block_products(solver);
  testing::assemble<3>(box, {}, matrix, 2);
  solver.refresh(nullptr, Renewal::operators);
  EXPECT_EQ(num_by_blocks(solver), static_cast<int>(solver.coarse_operators().size()));
}

TEST_F(GamgProducts, LevelsMultiplyByHalves) {
  const auto expect_halves = [this] {
    const auto levels = solver.coarse_levels();
    ASSERT_GE(levels.size(), 2U);
    for (const auto& [smoothed, subtracted, matrix, stage] : std::span(levels).subspan(1)) {
      EXPECT_EQ(stage, KSP_SETUP_NEWRHS) << "bounds of the smoother would be estimated anew";
      EXPECT_NE(smoothed, matrix);
      EXPECT_EQ(smoothed, subtracted);
      linalg::VecHandle x, y, expected;
      RECOIL_PETSC(MatCreateVecs(matrix, x.put(), y.put()));
      RECOIL_PETSC(VecDuplicate(y.get(), expected.put()));
      RECOIL_PETSC(VecSetRandom(x.get(), nullptr));
      RECOIL_PETSC(MatMult(matrix, x.get(), expected.get()));
      RECOIL_PETSC(MatMult(smoothed, x.get(), y.get()));
      PetscReal size = 0, error = 0;
      RECOIL_PETSC(VecNorm(expected.get(), NORM_2, &size));
      RECOIL_PETSC(VecAXPY(y.get(), -1, expected.get()));
      RECOIL_PETSC(VecNorm(y.get(), NORM_2, &error));
      EXPECT_LE(error, 1e-13 * size);
    }
  };
  solver.rebuild(matrix, box.modes(), nullptr);
  expect_halves();
  testing::assemble<3>(box, {}, matrix, 2);
  solver.refresh(nullptr, Renewal::operators);
  expect_halves();
  linalg::Vector b = testing::weight(box, 1), x(box.layout);
  EXPECT_EQ(solver.solve(b, x, 1e-8, 100).outcome, linalg::LinearOutcome::converged);
  expect_halves();
}

TEST_F(GamgProducts, RenewedOperatorsBelowALevelOnFewerRanksAreMultipliedByBlocks) {
  linalg::insert_options("-gathered_pc_gamg_process_eq_limit 10000");
  SolverWithLevels gathered = make_solver({}, "gathered_");
  gathered.rebuild(matrix, box.modes(), nullptr);
  ASSERT_GE(gathered.coarse_operators().size(), 2U);
  testing::assemble<3>(box, {}, matrix, 2);
  gathered.refresh(nullptr, Renewal::operators);
  EXPECT_EQ(num_by_blocks(gathered), static_cast<int>(gathered.coarse_operators().size()));
}

TEST_F(GamgProducts, OperatorsOfAnotherPatternAreMultipliedByBlocks) {
  assemble_springs(1);
  solver.rebuild(matrix, box.modes(), &springs);
  expect_only_block_products(solver);
  assemble_springs(2);
  solver.refresh(&springs, Renewal::everything);
  expect_only_block_products(solver);
}

// Of blocks of one entry there is nothing to gain.
TEST_F(GamgProducts, ScalarsAreMultipliedByPetsc) {
  const auto layout = std::make_shared<linalg::VectorLayout>(*box.layout);
  layout->block_size = 1;
  BlockMatrix laplacian(layout, box.graph);
  std::vector<double> entries(box.graph->neighbours.size(), -1);
  for (std::size_t node = 0; node + 1 < box.graph->offsets.size(); ++node)
    for (auto k = box.graph->offsets[node]; k < box.graph->offsets[node + 1]; ++k)
      if (box.graph->neighbours[static_cast<std::size_t>(k)] == static_cast<LocalIndex>(node))
        entries[static_cast<std::size_t>(k)] = 28;
  laplacian.begin_filling();
  laplacian.add_scaled_identities(entries);
  laplacian.finish_filling();
  SolverWithLevels scalar{{layout, "recoil_", "contact_", {}, nullptr}, linalg::LinearMethod::amg};
  scalar.rebuild(
      laplacian,
      [&] {
        return linalg::NearNullSpace(*layout, 1,
                                     [](int, std::span<double> values) { std::ranges::fill(values, 1.0); });
      },
      nullptr);
  ASSERT_GE(scalar.coarse_operators().size(), 1U);
  EXPECT_EQ(num_by_blocks(scalar), 0);
  laplacian.shift_diagonal(0.1);
  scalar.refresh(nullptr, Renewal::operators);
  EXPECT_EQ(num_by_blocks(scalar), 0);
  linalg::Vector b(layout), x(layout);
  b.fill(1);
  EXPECT_EQ(scalar.solve(b, x, 1e-8, 100).outcome, linalg::LinearOutcome::converged);
}

TEST_F(GamgProducts, UsersChooseHowPetscMultiplies) {
  SolverWithLevels by_petsc = make_solver({{"matptap_via", "allatonce"}});
  by_petsc.rebuild(matrix, box.modes(), nullptr);
  EXPECT_EQ(num_by_blocks(by_petsc), 0);
}

} // namespace
} // namespace recoil::gamg_products_test
