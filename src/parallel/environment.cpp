#include "recoil/parallel/environment.hpp"

#include <cstdlib>

#include "recoil/base/error.hpp"

namespace recoil::parallel {

Environment::Environment(int& argc, char**& argv) {
  int initialized = 0;
  RECOIL_MPI(MPI_Initialized(&initialized));
  if (initialized) return;
  int provided = 0;
  RECOIL_MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
  owns_ = true;
}

Environment::~Environment() {
  if (owns_ && mpi_is_active()) MPI_Finalize();
}

int ranks_on_this_machine(const Communicator& comm) {
  UniqueHandle<CommunicatorTraits> machine;
  RECOIL_MPI(MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, machine.put()));
  int size = 1;
  RECOIL_MPI(MPI_Comm_size(machine.get(), &size));
  return size;
}

bool mpi_is_active() noexcept {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

void abort_all(int code) noexcept {
  if (mpi_is_active()) MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw LibraryError("MPI: " + std::string(call) + " failed: " + std::string(text, length));
}

} // namespace recoil::parallel
