#include "recoil/mesh/input/node_values.hpp"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::mesh {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class NodeValues : public ::testing::Test {
protected:
  std::vector<NodeValue> read(const std::string& text, int dim) {
    const auto path = folder_.path() / "values.txt";
    std::ofstream(path) << text;
    return read_node_values(path, dim, 10, "scene.json:3 (/place)");
  }

  std::string complaint(const std::string& text, int dim = 2) {
    try {
      read(text, dim);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

private:
  recoil::testing::TemporaryFolder folder_;
};

TEST_F(NodeValues, RowsOfNumbersAndFreeComponents) {
  const auto rows = read("# vertex x y z\n7 0 -0.2 1e-3\n\n 0 nan NaN 2 # tip\n", 3);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].vertex, 7);
  EXPECT_EQ(rows[0].value, (std::array<double, 3>{0, -0.2, 1e-3}));
  EXPECT_EQ(rows[1].vertex, 0);
  EXPECT_TRUE(std::isnan(rows[1].value[0]) && std::isnan(rows[1].value[1]));
  EXPECT_EQ(rows[1].value[2], 2);
  EXPECT_EQ(read("9 1 2", 2)[0].value[1], 2);
  EXPECT_EQ(read("4.000e+00 1 2", 2)[0].vertex, 4);
}

TEST_F(NodeValues, WrongRowsAreRefusedWithTheirPlace) {
  const auto place = AllOf(HasSubstr("scene.json:3 (/place)"), HasSubstr("values.txt:2"));
  EXPECT_THAT(complaint("0 1 2\n10 1 2\n"), AllOf(place, HasSubstr("no vertex 10"), HasSubstr("0 to 9")));
  EXPECT_THAT(complaint("0 1 2\n-1 1 2\n"), AllOf(place, HasSubstr("no vertex -1")));
  EXPECT_THAT(complaint("0 1 2\n1.5 1 2\n"), AllOf(place, HasSubstr("no vertex 1.5")));
  EXPECT_THAT(complaint("0 1 2\n1 1\n"), AllOf(place, HasSubstr("after 1 of 2 components")));
  EXPECT_THAT(complaint("0 1 2\n1 1 2 3\n"), AllOf(place, HasSubstr("more than a vertex and 2")));
  EXPECT_THAT(complaint("0 1 2\n1 1 inf\n"), AllOf(place, HasSubstr("inf")));
  EXPECT_THAT(complaint("0 1 2\n1 1 two\n"), AllOf(place, HasSubstr("'two'")));
  EXPECT_THAT(complaint("0 1 2\n0 1 2\n"), AllOf(place, HasSubstr("has a row already")));
  EXPECT_THAT(complaint("# nothing\n"), HasSubstr("no rows"));
}

} // namespace
} // namespace recoil::mesh
