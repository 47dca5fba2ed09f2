#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"

namespace recoil::app::option_keys_test {
namespace {

bool is_key(const std::string& key) {
  for (const KeySection& section : scene_keys().sections)
    for (const Key& row : section.keys)
      for (const std::string& pattern : expand_braces(row.pattern))
        if (key == pattern) return true;
  return false;
}

TEST(OptionKeys, AreKeysOfScenes) {
  const OptionNames names = all_solvers().format().option_names();
  EXPECT_FALSE(names.empty());
  for (const auto& [option, key] : names) EXPECT_TRUE(is_key(key)) << option << ": " << key;
}

} // namespace
} // namespace recoil::app::option_keys_test
