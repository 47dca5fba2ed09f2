#pragma once

#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "recoil/base/error.hpp"

namespace recoil::parallel {

template <class Work>
std::invoke_result_t<Work> collectively(const Communicator& comm, Work&& work) {
  using Result = std::invoke_result_t<Work>;
  static_assert(!std::is_reference_v<Result>, "return a value or a pointer");
  constexpr bool returns_nothing = std::is_void_v<Result>;
  std::conditional_t<returns_nothing, int, std::optional<Result>> result{};
  int code = 0;
  std::string message;
  try {
    if constexpr (returns_nothing)
      std::forward<Work>(work)();
    else
      result.emplace(std::forward<Work>(work)());
  } catch (const std::exception& error) {
    const Failure failure = describe_failure(error, comm.rank());
    code = static_cast<int>(failure.code);
    message = failure.message.empty() ? "unknown error" : failure.message;
  }
  agree(comm, code, message);
  if constexpr (!returns_nothing) return std::move(*result);
}

} // namespace recoil::parallel
