#include "recoil/app/scene/option_keys.hpp"

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
  const OptionNames names = keys_of_options();
  EXPECT_FALSE(names.empty());
  for (const auto& [option, key] : names)
    EXPECT_TRUE(is_key(key) || key == "/sweep/store_every")
        << option << ": " << key; // the latter is one of studies
}

} // namespace
} // namespace recoil::app::option_keys_test
