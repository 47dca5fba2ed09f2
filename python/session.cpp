#include "session.hpp"

#include <atomic>
#include <csignal>
#include <iostream>
#include <memory>

#include "objective.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/option_names.hpp"
#include "recoil/base/phases.hpp"
#include "recoil/linalg/petsc.hpp"
#include "recoil/parallel/environment.hpp"

namespace recoil::python {

namespace {

std::unique_ptr<linalg::PetscSession> session;
std::atomic<bool> is_busy{false};

/// Sets the log back, so that no file of a run stays open.
void end_log(int rank) noexcept try {
  LogOptions log;
  log.rank = rank;
  log.level = LogLevel::warning;
  initialize_log(log);
} catch (...) {
}

int own_rank() {
  int rank = 0;
  if (parallel::mpi_is_active()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

} // namespace

bool is_started() noexcept { return session != nullptr; }

bool is_in_call() noexcept { return is_busy; }

void start(const std::string& petsc_options) {
  if (!is_started()) {
    InterruptSignals::catch_keyboard();
    OptionNames options = app::all_solvers().format().option_names();
    options.merge(app::study_option_names());
    set_option_names(std::move(options));
    session = std::make_unique<linalg::PetscSession>(nullptr, nullptr);
    end_start_up();
    end_log(own_rank());
  }
  if (!petsc_options.empty()) linalg::insert_options(petsc_options);
}

void finish() noexcept {
  if (!is_started()) return;
  close_all_objectives();
  session.reset();
}

parallel::Communicator communicator_at(std::uintptr_t address) {
  if (address == 0) return parallel::Communicator(MPI_COMM_WORLD);
  return parallel::Communicator(*reinterpret_cast<const MPI_Comm*>(address));
}

Call::Call(std::string subject) : subject_(std::move(subject)) {
  if (is_busy.exchange(true))
    throw Failure(ExitCode::bad_input,
                  "recoil is at work in another thread; MPI and PETSc allow one call at a time");
}

Call::~Call() {
  end_log(own_rank());
  InterruptSignals::suspend();
  is_busy = false;
}

/// SIGINT if it has come to any rank, else the highest number; 0 for none. Collective.
int Call::agreed_signal(const parallel::Communicator& comm) const {
  constexpr GlobalIndex keyboard = 1000;
  const GlobalIndex own = signals_.signal() == SIGINT ? keyboard : signals_.signal();
  const GlobalIndex agreed = comm.max(own);
  return static_cast<int>(agreed == keyboard ? SIGINT : agreed);
}

void Call::require_no_signal(const parallel::Communicator& comm) const {
  if (const int signal = agreed_signal(comm); signal != 0)
    throw Failure(ExitCode::interrupted, "interrupted by signal " + std::to_string(signal), subject_, signal);
}

void Call::fail(const parallel::Communicator& comm, const std::exception& error) const {
  const auto* of_recoil = dynamic_cast<const Error*>(&error);
  const auto* of_library = dynamic_cast<const LibraryError*>(&error);
  const bool is_agreed = of_recoil != nullptr && (of_library == nullptr || of_library->agreed());
  const Failure failed = [&] {
    const recoil::Failure failure = describe_failure(error, comm.rank());
    return Failure(failure.code, name_options(failure.message), subject_);
  }();
  if (is_agreed)
    throw Failure(failed.code, failed.message, subject_,
                  failed.code == ExitCode::interrupted ? agreed_signal(comm) : 0);
  if (comm.size() == 1) throw failed;
  std::cerr << "recoil: " << failed.message << std::endl;
  parallel::abort_all(exit_status(failed.code));
}

} // namespace recoil::python
