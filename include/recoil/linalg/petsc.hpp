#pragma once

#include <concepts>
#include <string>
#include <utility>

#include <petscksp.h>
#include <petscsf.h>

#include "recoil/base/error.hpp"
#include "recoil/base/unique_handle.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::linalg {

/// Throws a LibraryError with the call and PETSc's own text of `code`, std::bad_alloc where PETSc ran out of
/// memory. Not collective.
[[noreturn]] void petsc_failed(PetscErrorCode code, const char* call, const char* file, int line);

/// True for PETSc objects that may still be freed (not after PetscFinalize).
bool petsc_is_alive() noexcept;

template <class Object, PetscErrorCode (*destroy)(Object*)>
struct PetscTraits {
  using Handle = Object;
  static Object null() { return nullptr; }
  static void release(Object& object) noexcept {
    if (petsc_is_alive()) destroy(&object);
  }
};

using VecHandle = UniqueHandle<PetscTraits<Vec, VecDestroy>>;
using MatHandle = UniqueHandle<PetscTraits<Mat, MatDestroy>>;
using KspHandle = UniqueHandle<PetscTraits<KSP, KSPDestroy>>;
using PcHandle = UniqueHandle<PetscTraits<PC, PCDestroy>>;
using IsHandle = UniqueHandle<PetscTraits<IS, ISDestroy>>;
using NullSpaceHandle = UniqueHandle<PetscTraits<MatNullSpace, MatNullSpaceDestroy>>;
using ScatterHandle = UniqueHandle<PetscTraits<VecScatter, VecScatterDestroy>>;
using StarForestHandle = UniqueHandle<PetscTraits<PetscSF, PetscSFDestroy>>;

/// A size or an index as PETSc counts. @throws LibraryError where PETSc was built with indices that are too
/// narrow for it. Not collective.
template <std::integral Integer>
PetscInt petsc_int(Integer number) {
  if (!std::in_range<PetscInt>(number))
    throw LibraryError("PETSc cannot count to " + std::to_string(number) +
                       ": use a PETSc with 64-bit indices (--with-64-bit-indices), or more ranks where the "
                       "matrix is distributed");
  return static_cast<PetscInt>(number);
}

/// A handle of its own on an object that another one keeps too. Not collective.
template <class Handle>
Handle share(typename Handle::Handle object);

/// Starts PETSc (and MPI) for the lifetime of a program; errors come back as codes instead of aborting, and
/// signals stay with the program. `options` are PETSc options as on a command line, read after the built-in
/// defaults. Only in mains.
class PetscSession {
public:
  PetscSession(int* argc, char*** argv);
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;
};

/// Tells PETSc that the values of `object` were changed through its arrays, so that caches that hang on its
/// state (norms, preconditioners) are renewed. Not collective.
void mark_changed(PetscObject object);

/// Adds options ("-ksp_type cg -pc_type gamg") to PETSc's database. @throws InputError if PETSc cannot parse
/// them. Collective.
void insert_options(const std::string& options);

} // namespace recoil::linalg

/// Calls a PETSc function and turns an error code into a LibraryError.
#define RECOIL_PETSC(call)                                                                                   \
  do {                                                                                                       \
    if (const PetscErrorCode recoil_code = (call); recoil_code != 0)                                         \
      ::recoil::linalg::petsc_failed(recoil_code, #call, __FILE__, __LINE__);                                \
  } while (false)

template <class Handle>
Handle recoil::linalg::share(typename Handle::Handle object) {
  RECOIL_PETSC(PetscObjectReference(reinterpret_cast<PetscObject>(object)));
  return Handle::adopt(object);
}
