#include "recoil/base/option_names.hpp"

#include <gtest/gtest.h>

namespace recoil {
namespace {

TEST(OptionNames, MessagesNameOptionsAsTheUserKnowsThem) {
  set_option_names({{"dhat", "/contact/dhat"}, {"dt", "/time/dt"}});
  EXPECT_EQ(name_options("raise <dhat>, or lower <dt>"), "raise /contact/dhat, or lower /time/dt");
  EXPECT_EQ(name_options("<dt>"), "/time/dt");
  EXPECT_EQ(name_options("dt < 1 and <unknown> and <<dt>> and <dt"),
            "dt < 1 and <unknown> and </time/dt> and <dt");
  EXPECT_EQ(name_options(""), "");
  set_option_names({});
  EXPECT_EQ(name_options("a smaller <dhat>"), "a smaller <dhat>");
}

} // namespace
} // namespace recoil
