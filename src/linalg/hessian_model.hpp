#pragma once

#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "recoil/linalg/minimize_bounded.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// The Hessian model of a function as PETSc sees it, times a factor: a dense matrix where the function has
/// one, products elsewhere. Not collective.
class HessianModel {
public:
  /// @param function must outlive the model
  HessianModel(const BoundedFunction& function, double scale);
  HessianModel(const HessianModel&) = delete;
  HessianModel& operator=(const HessianModel&) = delete;

  Mat matrix() const { return matrix_.get(); }
  bool is_dense() const { return static_cast<bool>(function_.hessian); }
  /// Makes it that at x.
  void move_to(std::span<const double> x);
  /// scale H d.
  void multiply(std::span<const double> d, std::span<double> result);
  /// Runs a callback; what it throws must not pass through PETSc.
  template <class Work>
  PetscErrorCode guarded(Work work) {
    try {
      work();
      return 0;
    } catch (...) {
      thrown_ = std::current_exception();
      return PETSC_ERR_USER;
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

private:
  void fill();

  const BoundedFunction& function_;
  double scale_;
  MatHandle matrix_;
  std::vector<double> x_;
  /// Conjugate gradients start with the same directions again when the trust region has become smaller; a
  /// product costs as much as simulations do.
  std::vector<std::pair<std::vector<double>, std::vector<double>>> products_;
  std::exception_ptr thrown_;
};

} // namespace recoil::linalg
