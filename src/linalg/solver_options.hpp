#pragma once

#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <slepceps.h>

#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace recoil::linalg {

/// Owns an eigensolver of SLEPc.
using EpsHandle = UniqueHandle<PetscTraits<EPS, EPSDestroy>>;

/// Name (without leading dash and prefix) and value of PETSc options.
using OptionList = std::vector<std::pair<std::string, std::string>>;

/// Puts options into PETSc's database for the life of the object, except those that the user has set there:
/// objects that PETSc creates inside others read their choices nowhere else. Not collective.
class ScopedOptions {
public:
  explicit ScopedOptions(const OptionList& defaults) {
    for (const auto& [name, value] : defaults) {
      const std::string option = "-" + name;
      PetscBool set = PETSC_FALSE;
      RECOIL_PETSC(PetscOptionsHasName(nullptr, nullptr, option.c_str(), &set));
      if (set == PETSC_TRUE) continue;
      RECOIL_PETSC(PetscOptionsSetValue(nullptr, option.c_str(), value.empty() ? nullptr : value.c_str()));
      inserted_.push_back(option);
    }
  }
  ScopedOptions(const ScopedOptions&) = delete;
  ScopedOptions& operator=(const ScopedOptions&) = delete;
  ~ScopedOptions() {
    for (const std::string& option : inserted_) PetscOptionsClearValue(nullptr, option.c_str());
  }

private:
  std::vector<std::string> inserted_;
};

/// Keeps PETSc from printing errors that the caller handles by their code. Not collective.
class QuietErrors {
public:
  QuietErrors() { PetscPushErrorHandler(PetscReturnErrorHandler, nullptr); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() { PetscPopErrorHandler(); }
};

/// act(), which PETSc calls and which returns its error codes. Exceptions, which must not pass through
/// PETSc's frames, become PETSC_ERR_MEM, which callers take for a failure of this solve, or, with a warning,
/// PETSC_ERR_ARG_OUTOFRANGE, a mistake.
template <class Act>
PetscErrorCode without_exceptions(Act act) try {
  return act();
} catch (const std::bad_alloc&) {
  return PETSC_ERR_MEM;
} catch (const InputError&) {
  return PETSC_ERR_MEM; // what collectively() makes of std::bad_alloc
} catch (const std::exception& error) {
  log_warning("a step of the linear solver failed", {{"reason", std::string_view(error.what())}});
  return PETSC_ERR_ARG_OUTOFRANGE;
}

/// Runs what PETSc calls back: exceptions must not pass through PETSc's frames, and wait here until those are
/// left.
class CallbackGuard {
public:
  template <class Work>
  PetscErrorCode run(Work work) {
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
  std::exception_ptr thrown_;
};

/// Shows act(entries) what this rank has of x.
template <class Act>
void with_entries(Vec x, Act act) {
  const double* entries = nullptr;
  PetscInt size = 0;
  RECOIL_PETSC(VecGetLocalSize(x, &size));
  RECOIL_PETSC(VecGetArrayRead(x, &entries));
  act(std::span<const double>(entries, size));
  RECOIL_PETSC(VecRestoreArrayRead(x, &entries));
}

/// Has act(entries, result) write the entries of `result`.
template <class Act>
void map_entries(Vec x, Vec result, Act act) {
  double* written = nullptr;
  RECOIL_PETSC(VecGetArrayWrite(result, &written));
  with_entries(x, [&](std::span<const double> entries) { act(entries, std::span(written, entries.size())); });
  RECOIL_PETSC(VecRestoreArrayWrite(result, &written));
}

/// How a solve has ended, and after how many iterations.
inline std::pair<KSPConvergedReason, int> end_of(KSP ksp) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  RECOIL_PETSC(KSPGetConvergedReason(ksp, &reason));
  RECOIL_PETSC(KSPGetIterationNumber(ksp, &iterations));
  return {reason, static_cast<int>(iterations)};
}

/// A sequential sparse Cholesky factorisation that notices indefinite matrices.
OptionList factorization_options(const std::string& prefix);

/// A sparse LDL' factorisation, on one rank, that takes indefinite matrices as they are.
OptionList indefinite_options(const std::string& prefix, int num_ranks);

/// The built-in choices of a method as PETSc options, which may depend on those that the user has made.
OptionList default_options(LinearMethod method, const std::string& prefix, int num_ranks,
                           const OptionList& of_user, bool has_coarse_space);

/// What the user's PETSc options say about the solver with `prefix`: those with the prefix, and those on
/// matrix products and coarsening, which have none. Must be asked for while no defaults are in the database.
OptionList user_options(const std::string& prefix);

/// Whether the user's options say how PETSc is to form products of matrices.
bool chooses_products(const OptionList& of_user);

/// Whether the user's options say how GAMG is to make levels coarse.
bool chooses_aggregates(const OptionList& of_user);

/// False if `options` choose something known to give other last bits in every run on `num_ranks` ranks.
bool are_repeatable(const OptionList& options, int num_ranks);

} // namespace recoil::linalg
