#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"

/// Files that tests give to readers, and what these say of wrong ones.
namespace recoil::testing {

inline std::filesystem::path write_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

/// The message of the InputError that `act` must throw.
template <class Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

} // namespace recoil::testing
