#include "linalg/coarse_level.hpp"

#include <utility>
#include <vector>

#include "linalg/solver_options.hpp"

namespace recoil::linalg {

namespace {

bool is_coarse(const CoarseSpace& space, LocalIndex node) {
  const auto first = space.offsets[node];
  return space.offsets[node + 1] == first + 1 && space.nodes[first] == node;
}

/// Global numbers of the coarse nodes among the local ones, -1 for the others. Collective.
std::vector<GlobalIndex> number_coarse_nodes(const VectorLayout& fine, const CoarseSpace& space,
                                             const VectorLayout& coarse) {
  Vector numbers(std::make_shared<VectorLayout>(fine));
  GlobalIndex next = coarse.offset;
  for (LocalIndex node = 0; node < fine.num_owned; ++node)
    numbers.write_owned()[node * fine.block_size] = is_coarse(space, node) ? 1.0 * next++ : -1;
  numbers.update_ghosts();
  std::vector<GlobalIndex> result(fine.num_local());
  for (LocalIndex node = 0; node < fine.num_local(); ++node)
    result[node] = static_cast<GlobalIndex>(numbers.local()[node * fine.block_size]);
  return result;
}

} // namespace

CoarseLevel::CoarseLevel(const VectorLayout& layout, const CoarseSpace& space) {
  auto coarse = std::make_shared<VectorLayout>();
  for (LocalIndex node = 0; node < layout.num_owned; ++node)
    if (is_coarse(space, node)) fine_nodes_.push_back(node);
  coarse->comm = layout.comm;
  coarse->block_size = layout.block_size;
  coarse->num_owned = static_cast<LocalIndex>(fine_nodes_.size());
  coarse->offset = layout.comm->exclusive_scan(GlobalIndex{coarse->num_owned});
  coarse->num_global = layout.comm->sum(GlobalIndex{coarse->num_owned});
  const std::vector<GlobalIndex> numbers = number_coarse_nodes(layout, space, *coarse);
  layout_ = coarse;

  const PetscInt size = layout.block_size;
  std::vector<PetscInt> rows{0}, columns;
  std::vector<PetscScalar> values;
  for (LocalIndex node = 0; node < layout.num_owned; ++node)
    for (PetscInt i = 0; i < size; ++i) {
      const bool whole = is_coarse(space, node);
      for (auto k = space.offsets[node]; k < space.offsets[node + 1]; ++k) {
        const LocalIndex from = space.nodes[k];
        if (!whole && (space.constrained[size * node + i] != 0 || space.constrained[size * from + i] != 0))
          continue;
        columns.push_back(petsc_int(numbers[from] * size) + i);
        values.push_back(space.weights[k]);
      }
      rows.push_back(petsc_int(columns.size()));
    }
  Mat mat = nullptr;
  RECOIL_PETSC(MatCreate(layout.comm->get(), interpolation_.put()));
  mat = interpolation_.get();
  RECOIL_PETSC(MatSetSizes(mat, size * layout.num_owned, size * coarse->num_owned,
                           petsc_int(size * layout.num_global), petsc_int(size * coarse->num_global)));
  RECOIL_PETSC(MatSetType(mat, MATAIJ));
  RECOIL_PETSC(MatSetBlockSizes(mat, size, size));
  RECOIL_PETSC(MatSeqAIJSetPreallocationCSR(mat, rows.data(), columns.data(), values.data()));
  RECOIL_PETSC(MatMPIAIJSetPreallocationCSR(mat, rows.data(), columns.data(), values.data()));
}

PetscErrorCode CoarseLevel::make_levels(PC multigrid) {
  constexpr PetscInt num_levels = 2;
  PetscCall(PCMGSetLevels(multigrid, num_levels, nullptr));
  PetscCall(PCMGSetGalerkin(multigrid, PC_MG_GALERKIN_EXTERNAL));
  return 0;
}

PetscErrorCode CoarseLevel::take(PC multigrid, Mat matrix, const NearNullSpace* modes) {
  KSP solver = nullptr;
  PetscCall(PCMGGetSmoother(multigrid, 0, &solver));
  PetscObjectState state = 0;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix), &state));
  const bool is_same = state == std::exchange(state_, state);
  if (multigrid == multigrid_.get() && matrix == matrix_.get()) {
    if (is_same) return 0;
    Mat kept = product_.get();
    PetscCall(MatPtAP(matrix, interpolation_.get(), MAT_REUSE_MATRIX, PETSC_DEFAULT, &kept));
    // Has the coarse solver set up with all others, not in the first solve.
    return KSPSetOperators(solver, product_.get(), product_.get());
  }
  multigrid_.reset();
  product_.reset();
  PetscCall(MatPtAP(matrix, interpolation_.get(), MAT_INITIAL_MATRIX, PETSC_DEFAULT, product_.put()));
  PetscCall(MatSetOption(product_.get(), MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetBlockSize(product_.get(), layout_->block_size));
  matrix_ = share<MatHandle>(matrix);
  multigrid_ = share<PcHandle>(multigrid);
  if (modes != nullptr) {
    PetscCall(restrict_modes(*modes));
    PetscCall(MatSetNearNullSpace(product_.get(), modes_->get()));
  }
  PetscCall(PCMGSetInterpolation(multigrid, 1, interpolation_.get()));
  PetscCall(KSPSetOperators(solver, product_.get(), product_.get()));
  return 0;
}

PetscErrorCode CoarseLevel::restrict_modes(const NearNullSpace& modes) {
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  if (modes.get() != nullptr) PetscCall(MatNullSpaceGetVecs(modes.get(), nullptr, &count, &vectors));
  const int size = layout_->block_size;
  modes_ = std::make_unique<NearNullSpace>(*layout_, static_cast<int>(count),
                                           [&](int mode, std::span<double> values) {
                                             with_entries(vectors[mode], [&](std::span<const double> fine) {
                                               for (std::size_t k = 0; k < fine_nodes_.size(); ++k)
                                                 for (int i = 0; i < size; ++i)
                                                   values[size * k + i] = fine[size * fine_nodes_[k] + i];
                                             });
                                           });
  return 0;
}

} // namespace recoil::linalg
