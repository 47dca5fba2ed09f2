#include "recoil/base/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "recoil/base/memory.hpp"

namespace recoil {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error in recoil: assertion `%s` does not hold\n", file, line,
               expression);
  std::fflush(stderr);
  std::abort();
}

int exit_status(ExitCode code) noexcept {
  return static_cast<int>(code == ExitCode::internal ? ExitCode::no_solution : code);
}

Failure describe_failure(const std::exception& exception, int rank) {
  if (const auto* error = dynamic_cast<const Error*>(&exception)) return {error->code(), error->what()};
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
    return {ExitCode::bad_input, out_of_memory(rank)};
  if (const auto* error = dynamic_cast<const std::filesystem::filesystem_error*>(&exception))
    return {ExitCode::file_error, error->path1().string() + ": " + error->code().message()};
  const std::string text = exception.what();
  return {ExitCode::internal, "error inside recoil, please report it" + (text.empty() ? "" : ": " + text)};
}

} // namespace recoil
