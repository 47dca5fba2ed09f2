#include "linalg/hessian_model.hpp"

#include <algorithm>

#include "recoil/base/error.hpp"

namespace recoil::linalg {

namespace {

/// Relative to the diagonal: keeps a semidefinite model definite under rounding, and changes a step by far
/// less than the model itself is wrong by.
constexpr double diagonal_shift = 1e-12;

/// Result of the shell matrix whose context is a HessianModel.
PetscErrorCode multiply_shell(Mat shell, Vec d, Vec result) {
  HessianModel* model = nullptr;
  if (const PetscErrorCode code = MatShellGetContext(shell, static_cast<void*>(&model))) return code;
  return model->guarded([&] {
    const double* in = nullptr;
    double* out = nullptr;
    PetscInt size = 0;
    RECOIL_PETSC(VecGetLocalSize(d, &size));
    RECOIL_PETSC(VecGetArrayRead(d, &in));
    RECOIL_PETSC(VecGetArrayWrite(result, &out));
    const auto n = static_cast<std::size_t>(size);
    model->multiply({in, n}, {out, n});
    RECOIL_PETSC(VecRestoreArrayWrite(result, &out));
    RECOIL_PETSC(VecRestoreArrayRead(d, &in));
  });
}

MatHandle make_dense(PetscInt n) {
  MatHandle matrix;
  RECOIL_PETSC(MatCreateSeqDense(PETSC_COMM_SELF, n, n, nullptr, matrix.put()));
  return matrix;
}

MatHandle make_shell(PetscInt n, HessianModel& model) {
  MatHandle matrix;
  RECOIL_PETSC(MatCreateShell(PETSC_COMM_SELF, n, n, n, n, &model, matrix.put()));
  RECOIL_PETSC(MatShellSetOperation(matrix.get(), MATOP_MULT, reinterpret_cast<void (*)()>(multiply_shell)));
  RECOIL_PETSC(MatSetOption(matrix.get(), MAT_SYMMETRIC, PETSC_TRUE));
  return matrix;
}

} // namespace

HessianModel::HessianModel(const BoundedFunction& function, double scale)
    : function_(function), scale_(scale) {
  if (!function.hessian && !function.hessian_product)
    throw InputError("Gauss-Newton needs a model of the second derivatives, which only objectives that are "
                     "sums of squares have: choose quasi-Newton or conjugate gradients");
  const auto n = static_cast<PetscInt>(function.lower.size());
  matrix_ = is_dense() ? make_dense(n) : make_shell(n, *this);
}

void HessianModel::move_to(std::span<const double> x) {
  x_.assign(x.begin(), x.end());
  products_.clear();
  if (is_dense()) fill();
  RECOIL_PETSC(MatAssemblyBegin(matrix_.get(), MAT_FINAL_ASSEMBLY));
  RECOIL_PETSC(MatAssemblyEnd(matrix_.get(), MAT_FINAL_ASSEMBLY));
}

void HessianModel::fill() {
  const std::vector<double> values = function_.hessian(x_);
  double* entries = nullptr;
  RECOIL_PETSC(MatDenseGetArrayWrite(matrix_.get(), &entries));
  std::ranges::transform(values, entries, [this](double value) { return scale_ * value; });
  for (std::size_t i = 0; i < x_.size(); ++i) entries[i * (x_.size() + 1)] *= 1 + diagonal_shift;
  RECOIL_PETSC(MatDenseRestoreArrayWrite(matrix_.get(), &entries));
}

void HessianModel::multiply(std::span<const double> d, std::span<double> result) {
  auto known = std::ranges::find_if(products_, [&](const auto& p) { return std::ranges::equal(p.first, d); });
  if (known == products_.end()) {
    std::vector<double> product(d.size());
    function_.hessian_product(x_, d, product);
    known = products_.emplace(known, std::vector<double>(d.begin(), d.end()), std::move(product));
  }
  std::ranges::transform(known->second, result.begin(), [this](double value) { return scale_ * value; });
}

} // namespace recoil::linalg
