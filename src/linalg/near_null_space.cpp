#include "recoil/linalg/near_null_space.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace recoil::linalg {

namespace {

/// Value in component `component` of rigid body mode `mode` at `x` (centroid at 0): translations, then
/// rotations.
double rigid_mode(int dim, int mode, int component, const std::array<double, 3>& x) {
  if (mode < dim) return mode == component ? 1 : 0;
  // Rotation about axis k turns component i = k+1 into j = k+2: u_i = -x_j, u_j = x_i. In 2D there is the
  // axis z only.
  const int axis = dim == 2 ? 2 : mode - dim;
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  if (component == i) return -x[j];
  return component == j ? x[i] : 0;
}

} // namespace

NearNullSpace rigid_body_modes(const Vector& positions, std::span<const char> constrained) {
  const VectorLayout& layout = positions.layout();
  const int dim = layout.block_size;
  RECOIL_ASSERT(dim == 2 || dim == 3);
  const std::span<const double> x = positions.owned();

  std::array<double, 3> center{};
  for (std::size_t i = 0; i < x.size(); ++i) center[i % dim] += x[i];
  layout.comm->sum(center);
  for (double& c : center) c /= layout.num_global;

  return {layout, dim * (dim + 1) / 2, [&](int mode, std::span<double> values) {
            for (std::size_t i = 0; i < x.size(); i += dim) {
              std::array<double, 3> at{};
              for (int d = 0; d < dim; ++d) at[d] = x[i + d] - center[d];
              for (int d = 0; d < dim; ++d)
                values[i + d] = constrained[i + d] ? 0 : rigid_mode(dim, mode, d, at);
            }
          }};
}

NearNullSpace::NearNullSpace(const VectorLayout& layout, int num_modes, const Fill& fill) {
  const PetscInt size = layout.num_owned * layout.block_size;
  std::vector<VecHandle> modes(num_modes);
  std::vector<Vec> kept;
  for (int mode = 0; mode < num_modes; ++mode) {
    VecHandle& handle = modes[mode];
    RECOIL_PETSC(VecCreate(layout.comm->get(), handle.put()));
    Vec vec = handle.get();
    RECOIL_PETSC(VecSetSizes(vec, size, PETSC_DETERMINE));
    RECOIL_PETSC(VecSetBlockSize(vec, layout.block_size));
    RECOIL_PETSC(VecSetType(vec, VECSTANDARD));
    PetscScalar* values = nullptr;
    RECOIL_PETSC(VecGetArrayWrite(vec, &values));
    fill(mode, std::span<double>(values, size));
    RECOIL_PETSC(VecRestoreArrayWrite(vec, &values));

    // Twice, as one Gram-Schmidt sweep leaves modes that are almost dependent far from orthogonal.
    PetscReal length = 0, remainder = 0;
    RECOIL_PETSC(VecNorm(vec, NORM_2, &length));
    for (int sweep = 0; sweep < 2; ++sweep) {
      if (kept.empty()) break;
      std::vector<PetscScalar> overlaps(kept.size());
      RECOIL_PETSC(VecMDot(vec, petsc_int(kept.size()), kept.data(), overlaps.data()));
      for (PetscScalar& overlap : overlaps) overlap = -overlap;
      RECOIL_PETSC(VecMAXPY(vec, petsc_int(kept.size()), overlaps.data(), kept.data()));
    }
    RECOIL_PETSC(VecNorm(vec, NORM_2, &remainder));
    constexpr double dependent = 1e-6;
    if (!(remainder > dependent * length)) continue;
    RECOIL_PETSC(VecScale(vec, 1 / remainder));
    kept.push_back(vec);
  }
  num_modes_ = static_cast<int>(kept.size());
  if (num_modes_ == 0) return;
  RECOIL_PETSC(
      MatNullSpaceCreate(layout.comm->get(), PETSC_FALSE, num_modes_, kept.data(), null_space_.put()));
}

} // namespace recoil::linalg
