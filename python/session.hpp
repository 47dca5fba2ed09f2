#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"
#include "recoil/parallel/communicator.hpp"

/// What calls from Python have in common: MPI and PETSc, which run from the first call to the end of the
/// interpreter, signals, errors.
namespace recoil::python {

/// An error on its way to Python.
struct Failure : std::exception {
  Failure(ExitCode code, std::string message, std::string subject = {}, int signal = 0)
      : code(code), message(std::move(message)), subject(std::move(subject)), signal(signal) {}
  const char* what() const noexcept override { return message.c_str(); }
  ExitCode code;
  std::string message;
  std::string subject; ///< what the input is: "scene" or "study"
  int signal;          ///< that ended the call; 0 for none
};

bool is_started() noexcept;
/// Whether a thread is in a call.
bool is_in_call() noexcept;
/// Starts MPI, unless it runs, and PETSc with these options. Collective over MPI_COMM_WORLD.
void start(const std::string& petsc_options);
/// Ends what start() has begun. Collective over MPI_COMM_WORLD.
void finish() noexcept;

/// The communicator that mpi4py keeps at an address; MPI_COMM_WORLD for none. @throws Failure where MPI does
/// not know it: mpi4py then uses another MPI library.
parallel::Communicator communicator_at(std::uintptr_t address);

/// A call of recoil from Python, without Python's lock: one at a time in the process. While it lives, SIGINT,
/// SIGTERM and SIGUSR1 end what is computed; else they are those of Python, whatever lives on.
class Call {
public:
  /// @throws Failure where another thread is in a call.
  explicit Call(std::string subject);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  /// What `work` returns. Collective. @throws Failure, the same on all ranks: for errors of recoil, and where
  /// a signal has come to any rank. An error that other ranks cannot know of ends all of them.
  template <class Work>
  auto run(const parallel::Communicator& comm, Work work) const {
    try {
      auto result = work();
      require_no_signal(comm);
      return result;
    } catch (const Failure&) {
      throw;
    } catch (const std::exception& error) {
      fail(comm, error);
    }
  }

private:
  void require_no_signal(const parallel::Communicator& comm) const;
  [[noreturn]] void fail(const parallel::Communicator& comm, const std::exception& error) const;
  int agreed_signal(const parallel::Communicator& comm) const;

  std::string subject_;
  InterruptSignals signals_;
};

} // namespace recoil::python
