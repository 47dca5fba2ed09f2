#include "recoil/linalg/petsc.hpp"

#include <new>
#include <string>

#include <petsc/private/petscimpl.h>
#include <slepcsys.h>

#include "linalg/library_settings.hpp"

namespace recoil::linalg {

void petsc_failed(PetscErrorCode code, const char* call, const char* file, int line) {
  if (code == PETSC_ERR_MEM) throw std::bad_alloc();
  const char* text = nullptr;
  char* specific = nullptr;
  PetscErrorMessage(code, &text, &specific);
  std::string message = std::string("PETSc: ") + call + " failed with code " + std::to_string(code);
  if (text != nullptr) message += std::string(" (") + text + ")";
  if (specific != nullptr && *specific != '\0') message += std::string(": ") + specific;
  throw LibraryError(message + " at " + file + ":" + std::to_string(line));
}

bool petsc_is_alive() noexcept {
  PetscBool initialized = PETSC_FALSE, finalized = PETSC_FALSE;
  PetscInitialized(&initialized);
  PetscFinalized(&finalized);
  return initialized == PETSC_TRUE && finalized == PETSC_FALSE;
}

/// Another library of the process has begun PETSc, and will end it.
static bool begun_elsewhere = false;

PetscSession::PetscSession(int* argc, char*** argv) {
  begun_elsewhere = petsc_is_alive();
  keep_to_one_thread();
  choose_blas_kernels();
  take_blas_buffer();
  // Taking PETSc's handlers back afterwards would reset those of the program too.
  RECOIL_PETSC(PetscOptionsSetValue(nullptr, "-no_signal_handler", "1"));
  RECOIL_PETSC(PetscInitialize(argc, argv, nullptr, nullptr));
  RECOIL_PETSC(SlepcInitializeNoArguments());
  RECOIL_PETSC(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
}

PetscSession::~PetscSession() {
  PetscPopErrorHandler();
  if (begun_elsewhere) return;
  SlepcFinalize();
  PetscFinalize();
}

void mark_changed(PetscObject object) { RECOIL_PETSC(PetscObjectStateIncrease(object)); }

void insert_options(const std::string& options) {
  if (PetscOptionsInsertString(nullptr, options.c_str()) != 0)
    throw InputError("PETSc cannot read the options '" + options + "'");
  // PetscInitialize would have begun to count for it.
  PetscBool logs = PETSC_FALSE;
  RECOIL_PETSC(PetscOptionsHasName(nullptr, nullptr, "-log_view", &logs));
  if (logs == PETSC_TRUE) RECOIL_PETSC(PetscLogDefaultBegin());
}

} // namespace recoil::linalg
