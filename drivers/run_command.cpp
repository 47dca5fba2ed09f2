#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include <sys/resource.h>

#include "commands.hpp"
#include "recoil/base/memory.hpp"
#include "recoil/base/option_names.hpp"
#include "recoil/parallel/environment.hpp"

namespace recoil::drivers {

namespace {

/// Given back before the message about memory that ran out is made.
void* reserve = nullptr;
constexpr std::size_t reserve_bytes = std::size_t(1) << 20;

/// Of MPI_COMM_WORLD, for a handler that cannot ask.
int own_rank = 0;

/// OpenMPI and PETSc do not survive failing allocations while they start; addresses, most of which are never
/// used.
constexpr double least_bytes = 400e6;
/// OpenMPI starts with files of 4 MB.
constexpr double least_file_bytes = 8e6;

bool is_short_of_memory(const std::exception& error) {
  return dynamic_cast<const LibraryError*>(&error) != nullptr && memory_is_short();
}

[[noreturn]] void end_all_ranks(const std::exception& error) {
  std::free(std::exchange(reserve, nullptr));
  const Failure failure = is_short_of_memory(error) ? describe_failure(std::bad_alloc(), own_rank)
                                                    : describe_failure(error, own_rank);
  std::cerr << "recoil: " << name_options(failure.message) << std::endl;
  parallel::abort_all(exit_status(failure.code));
}

[[noreturn]] void end_on_escaped_exception() {
  try {
    if (const auto escaped = std::current_exception()) std::rethrow_exception(escaped);
  } catch (const std::exception& error) {
    end_all_ranks(error);
  } catch (...) {
  }
  std::fputs("recoil: error inside recoil, please report it: ended without an exception\n", stderr);
  parallel::abort_all(exit_status(ExitCode::internal));
}

[[noreturn]] void refuse_to_start(ExitCode code, const std::string& given, double needed) {
  std::cerr << "recoil: " << given << ", the program takes " << describe_bytes(needed)
            << " to start; raise the limit" << std::endl;
  std::_Exit(exit_status(code));
}

} // namespace

void prepare_process() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(&end_on_escaped_exception);
  reserve = std::calloc(reserve_bytes, 1);
  const MemoryLimit limit = memory_limit();
  if (limit.bytes < least_bytes)
    refuse_to_start(ExitCode::bad_input,
                    limit.source + " gives " + describe_bytes(limit.bytes) + " of memory", least_bytes);
  rlimit files{};
  if (getrlimit(RLIMIT_FSIZE, &files) == 0 && double(files.rlim_cur) < least_file_bytes)
    refuse_to_start(ExitCode::file_error,
                    "`ulimit -f` lets files grow to " + describe_bytes(double(files.rlim_cur)),
                    least_file_bytes);
}

int run_command(const parallel::Communicator& comm, const Run& run) {
  own_rank = comm.rank();
  try {
    return exit_status(run(comm));
  } catch (const LibraryError& error) {
    if (!error.agreed()) end_all_ranks(error);
    if (comm.rank() == 0) std::cerr << "recoil: " << name_options(error.what()) << std::endl;
    return exit_status(error.code());
  } catch (const Error& error) {
    // Errors of the other kinds are the same on all ranks; one of them tells.
    if (comm.rank() == 0) std::cerr << "recoil: " << name_options(error.what()) << std::endl;
    return exit_status(error.code());
  } catch (const std::exception& error) {
    end_all_ranks(error);
  }
}

} // namespace recoil::drivers
