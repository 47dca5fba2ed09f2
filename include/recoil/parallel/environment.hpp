#pragma once

#include "recoil/parallel/communicator.hpp"

namespace recoil::parallel {

/// Initialises MPI for the life of the object; only main programs own one. Where MPI is already initialised
/// (by PetscInitialize, say) it does nothing and leaves finalising to whoever did. Collective over
/// MPI_COMM_WORLD.
class Environment {
public:
  /// MPI_Init_thread with MPI_THREAD_FUNNELED. @throws LibraryError.
  Environment(int& argc, char**& argv);
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment();

private:
  bool owns_ = false;
};

/// How many ranks of `comm` run on the machine of this one. Collective.
int ranks_on_this_machine(const Communicator& comm);

/// True between MPI_Init and MPI_Finalize. Not collective.
bool mpi_is_active() noexcept;

/// Ends all ranks at once with `code`: for a rank that meets an error its peers cannot learn of. Not
/// collective.
[[noreturn]] void abort_all(int code) noexcept;

/// Throws LibraryError with the call's text and MPI's own message unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

} // namespace recoil::parallel

#define RECOIL_MPI(call) ::recoil::parallel::check_mpi((call), #call)
