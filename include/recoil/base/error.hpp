#pragma once

#include <exception>
#include <stdexcept>
#include <string>

/// Four kinds of trouble, four tools: the caller's mistake is an InputError, trouble with files a FileError,
/// a failing C library a LibraryError, our own bug RECOIL_ASSERT. A computation that does not converge is a
/// result, not an error.
namespace recoil {

/// Exit codes of every recoil program; exit_status() says what `internal` becomes.
enum class ExitCode : int {
  done = 0,
  internal = 1,
  bad_input = 2,
  no_solution = 3,
  file_error = 4,
  interrupted = 75
};

/// Base of all exceptions thrown by recoil; carries the exit code of a program that ends with it.
class Error : public std::runtime_error {
public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

private:
  ExitCode code_;
};

/// Wrong input. The message says what is wrong, where (JSON pointer, file:line, element, body) and how to
/// fix it.
class InputError : public Error {
public:
  explicit InputError(const std::string& message) : Error(ExitCode::bad_input, message) {}
  /// "`where`: `what`".
  InputError(const std::string& where, const std::string& what) : InputError(where + ": " + what) {}
};

/// A file that cannot be written, read, or is damaged.
class FileError : public Error {
public:
  explicit FileError(const std::string& message) : Error(ExitCode::file_error, message) {}
};

/// A failure reported by a C library (PETSc, MPI, METIS), with the call and the library's own message. Unless
/// it is `agreed` upon, other ranks may know nothing of it and wait.
class LibraryError : public Error {
public:
  explicit LibraryError(const std::string& message, bool agreed = false)
      : Error(ExitCode::internal, message), agreed_(agreed) {}
  bool agreed() const noexcept { return agreed_; }

private:
  bool agreed_;
};

/// The status that a process ends with: an internal error counts as no solution. The codes that scripts
/// know are 0, 2, 3, 4 and 75.
int exit_status(ExitCode code) noexcept;

/// What an exception of any kind comes down to.
struct Failure {
  ExitCode code;
  std::string message;
};

/// Translates an exception: errors of recoil as they are, errors of std::filesystem into trouble with the
/// file that they name, memory that ran out on rank `rank` into the input's fault, anything else into an
/// internal error.
Failure describe_failure(const std::exception& exception, int rank);

/// Prints expression, place and stack-free message, then aborts. Used by RECOIL_ASSERT.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

} // namespace recoil

/// States what must hold unless recoil itself has a bug; active in all builds, so keep it O(1).
#define RECOIL_ASSERT(expression)                                                                            \
  ((expression) ? void(0) : ::recoil::assertion_failed(#expression, __FILE__, __LINE__))
