#include "recoil/base/suggest.hpp"

#include <gtest/gtest.h>

namespace recoil::suggest_test {

TEST(Suggest, edit_distance) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("matreial", "material"), 1) << "a swap of neighbours is one edit";
  EXPECT_EQ(edit_distance("ca", "abc"), 3) << "no place is edited twice";
}

TEST(Suggest, nearest_name) {
  const std::vector<std::string> keys{"materials", "geometry", "boundary_conditions", "time", "NeoHookean",
                                      "E",         "nu"};
  EXPECT_EQ(nearest_name("matreials", keys), "materials");
  EXPECT_EQ(nearest_name("boundary_condition", keys), "boundary_conditions");
  EXPECT_EQ(nearest_name("neohookean", keys), "NeoHookean");
  EXPECT_EQ(nearest_name("tme", keys), "time");
  EXPECT_EQ(nearest_name("e", keys), "E");
  EXPECT_EQ(nearest_name("output", keys), "");
  EXPECT_EQ(nearest_name("zz", keys), "");
  EXPECT_EQ(nearest_name("", keys), "");
  EXPECT_EQ(nearest_name("time", {}), "");
  EXPECT_EQ(nearest_name("ab", {"Ab", "aB", "ab"}), "ab") << "the exact case wins";
}

TEST(Suggest, did_you_mean) {
  EXPECT_EQ(did_you_mean("tmie", {"time"}), "; did you mean 'time'?");
  EXPECT_EQ(did_you_mean("zebra", {"time"}), "");
}

TEST(Suggest, list_names) {
  EXPECT_EQ(list_names({}, "and"), "");
  EXPECT_EQ(list_names({"a"}, "and"), "a");
  EXPECT_EQ(list_names({"a", "b"}, "or"), "a or b");
  EXPECT_EQ(list_names({"a", "b", "c"}, "and"), "a, b and c");
}

} // namespace recoil::suggest_test
