#pragma once

#include <mpi.h>

namespace recoil::parallel {

/// Throws LibraryError with the call's text and MPI's own message unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

} // namespace recoil::parallel

#define RECOIL_MPI(call) ::recoil::parallel::check_mpi((call), #call)
