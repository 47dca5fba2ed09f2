#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <petsc/private/petscimpl.h>

#include "linalg/coarse_level.hpp"
#include "recoil/linalg/vector.hpp"

namespace recoil::coarse_level_test {
namespace {

constexpr int size = 2;

/// A chain of nodes with two components each, `num_owned` on every rank but the last, which has none unless
/// it is alone; those with even numbers are coarse, the others in the middle of two of them. The first
/// component of the second node is prescribed.
struct Chain {
  std::shared_ptr<linalg::VectorLayout> layout = std::make_shared<linalg::VectorLayout>();
  linalg::CoarseSpace space;

  explicit Chain(const parallel::Communicator& comm) {
    constexpr LocalIndex num_owned = 7;
    const bool works = comm.size() == 1 || comm.rank() < comm.size() - 1;
    layout->comm = &comm;
    layout->block_size = size;
    layout->num_owned = works ? num_owned : 0;
    layout->offset = comm.exclusive_scan(GlobalIndex{layout->num_owned});
    layout->num_global = comm.sum(GlobalIndex{layout->num_owned});
    const GlobalIndex begin = layout->offset, end = begin + layout->num_owned;
    if (works && begin > 0) layout->ghosts.push_back(begin - 1);
    if (works && end < layout->num_global) layout->ghosts.push_back(end);
    space.offsets.push_back(0);
    for (GlobalIndex node = begin; node < end; ++node) {
      if (node % 2 == 0)
        add(node, 1);
      else if (node + 1 == layout->num_global)
        add(node - 1, 1);
      else
        for (const GlobalIndex end_of_edge : {node - 1, node + 1}) add(end_of_edge, 0.5);
      space.offsets.push_back(std::ssize(space.nodes));
    }
    for (LocalIndex node = 0; node < layout->num_local(); ++node)
      for (int i = 0; i < size; ++i) space.constrained.push_back(is_prescribed(layout->global(node), i));
  }

  static bool is_prescribed(GlobalIndex node, int component) { return node == 1 && component == 0; }

  void add(GlobalIndex node, double weight) {
    LocalIndex local = 0;
    while (layout->global(local) != node) ++local;
    space.nodes.push_back(local);
    space.weights.push_back(weight);
  }
};

/// Value of a coarse function at a coarse node.
double coarse_value(GlobalIndex node, int component) { return std::sin(1.0 + node) + 2 * component; }

double fine_value(GlobalIndex node, int component, GlobalIndex num_nodes) {
  if (node % 2 == 0) return coarse_value(node, component);
  if (Chain::is_prescribed(node, component)) return 0;
  if (node + 1 == num_nodes) return coarse_value(node - 1, component);
  return 0.5 * (coarse_value(node - 1, component) + coarse_value(node + 1, component));
}

/// Symmetric, tridiagonal by nodes, times `scale`.
void fill(const Chain& chain, double scale, Mat matrix) {
  const auto& layout = *chain.layout;
  for (GlobalIndex node = layout.offset; node < layout.offset + layout.num_owned; ++node)
    for (int i = 0; i < size; ++i)
      for (const GlobalIndex other : {node - 1, node, node + 1}) {
        if (other < 0 || other >= layout.num_global) continue;
        const double value = scale * (other == node ? 3 + std::cos(node + i) : -1);
        RECOIL_PETSC(MatSetValue(matrix, linalg::petsc_int(size * node + i),
                                 linalg::petsc_int(size * other + i), value, INSERT_VALUES));
      }
  RECOIL_PETSC(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  RECOIL_PETSC(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
}

double energy(Mat matrix, Vec x) {
  linalg::VecHandle y;
  RECOIL_PETSC(VecDuplicate(x, y.put()));
  RECOIL_PETSC(MatMult(matrix, x, y.get()));
  PetscScalar result = 0;
  RECOIL_PETSC(VecDot(x, y.get(), &result));
  return result;
}

Mat product_of(PC multigrid) {
  KSP solver = nullptr;
  Mat product = nullptr;
  RECOIL_PETSC(PCMGGetSmoother(multigrid, 0, &solver));
  RECOIL_PETSC(KSPGetOperators(solver, nullptr, &product));
  return product;
}

TEST(CoarseLevel, IsTheGalerkinProductAndIsRenewedWithTheMatrix) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Chain chain(comm);
  const linalg::VectorLayout& layout = *chain.layout;
  const PetscInt num_rows = size * layout.num_owned;
  linalg::MatHandle matrix;
  RECOIL_PETSC(MatCreateAIJ(comm.get(), num_rows, num_rows, PETSC_DETERMINE, PETSC_DETERMINE, 3, nullptr, 2,
                            nullptr, matrix.put()));
  RECOIL_PETSC(MatSetBlockSize(matrix.get(), size));
  fill(chain, 1, matrix.get());
  linalg::PcHandle multigrid;
  RECOIL_PETSC(PCCreate(comm.get(), multigrid.put()));
  RECOIL_PETSC(PCSetType(multigrid.get(), PCMG));
  RECOIL_PETSC(linalg::CoarseLevel::make_levels(multigrid.get()));
  linalg::CoarseLevel level(layout, chain.space);
  RECOIL_PETSC(level.take(multigrid.get(), matrix.get(), nullptr));

  linalg::Vector fine(chain.layout);
  for (LocalIndex node = 0; node < layout.num_owned; ++node)
    for (int i = 0; i < size; ++i)
      fine.write_owned()[size * node + i] = fine_value(layout.global(node), i, layout.num_global);
  linalg::VecHandle coarse;
  RECOIL_PETSC(MatCreateVecs(product_of(multigrid.get()), coarse.put(), nullptr));
  PetscInt next = 0;
  RECOIL_PETSC(VecGetOwnershipRange(coarse.get(), &next, nullptr));
  for (GlobalIndex node = layout.offset; node < layout.offset + layout.num_owned; ++node)
    for (int i = 0; i < size && node % 2 == 0; ++i)
      RECOIL_PETSC(VecSetValue(coarse.get(), next++, coarse_value(node, i), INSERT_VALUES));
  RECOIL_PETSC(VecAssemblyBegin(coarse.get()));
  RECOIL_PETSC(VecAssemblyEnd(coarse.get()));
  const double expected = energy(matrix.get(), fine.get());
  EXPECT_NEAR(energy(product_of(multigrid.get()), coarse.get()), expected, 1e-13 * std::abs(expected));

  Mat product = product_of(multigrid.get());
  PetscObjectState before = 0, after = 0;
  RECOIL_PETSC(PetscObjectStateGet(reinterpret_cast<PetscObject>(product), &before));
  RECOIL_PETSC(level.take(multigrid.get(), matrix.get(), nullptr));
  RECOIL_PETSC(PetscObjectStateGet(reinterpret_cast<PetscObject>(product), &after));
  EXPECT_EQ(before, after) << "multiplied again with the same matrix";
  fill(chain, 2, matrix.get());
  RECOIL_PETSC(level.take(multigrid.get(), matrix.get(), nullptr));
  EXPECT_EQ(product_of(multigrid.get()), product) << "made anew for new values";
  EXPECT_NEAR(energy(product, coarse.get()), 2 * expected, 1e-13 * std::abs(expected));
}

} // namespace
} // namespace recoil::coarse_level_test
