#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "app/study/evaluation_log.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

class EvaluationLogOf : public ::testing::Test {
protected:
  EvaluationLogOf() { std::filesystem::remove_all(folder_); }
  ~EvaluationLogOf() override { std::filesystem::remove_all(folder_); }
  void fill() {
    EvaluationLog log(folder_);
    const auto second = EvaluationLog::file_of_group(folder_, 1);
    add_evaluation(file(), here_, 0, ExperimentValue::what, ExperimentValue{1.0 / 3, {0.1, 0.2}, "", 2}, 5);
    add_evaluation(second, here_, 1, ExperimentValue::what, ExperimentValue{0, {}, "step 3 fails", 1}, 6);
    add_evaluation(file(), here_, 0, ExperimentGradient::what, ExperimentGradient{{1e-300, -2.0 / 7}, "", 3},
                   7);
  }
  std::filesystem::path file() const { return EvaluationLog::file_of_group(folder_, 0); }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "recoil_evaluation_log_test";
  std::vector<double> here_{1, 2}, there_{1, 2.0000000000000004};
};

TEST_F(EvaluationLogOf, FindsWhatOtherProcessesHaveWritten) {
  fill();
  const EvaluationLog log(folder_);
  const auto value = log.find<ExperimentValue>(here_, 0);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->objective, 1.0 / 3);
  EXPECT_EQ(value->terms, (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(value->seconds, 2);
  EXPECT_EQ(log.find<ExperimentValue>(here_, 1)->failure, "step 3 fails");
  EXPECT_EQ(log.find<ExperimentGradient>(here_, 0)->by_values, (std::vector<double>{1e-300, -2.0 / 7}));
  EXPECT_FALSE(log.find<ExperimentGradient>(here_, 1));
  EXPECT_FALSE(log.find<ExperimentValue>(there_, 0));
  EXPECT_EQ(log.wall_seconds(), 7);
}

TEST_F(EvaluationLogOf, ForgetsALineThatIsHalfWritten) {
  fill();
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 4);
  const EvaluationLog log(folder_);
  EXPECT_TRUE(log.find<ExperimentValue>(here_, 0));
  EXPECT_FALSE(log.find<ExperimentGradient>(here_, 0));
  add_evaluation(file(), here_, 0, ExperimentGradient::what, ExperimentGradient{{4}, "", 3}, 8);
  EXPECT_EQ(EvaluationLog(folder_).find<ExperimentGradient>(here_, 0)->by_values, (std::vector<double>{4}));
}

TEST_F(EvaluationLogOf, RefusesADamagedLine) {
  fill();
  std::fstream text(file(), std::ios::in | std::ios::out);
  text.seekp(30);
  text << "#";
  text.close();
  EXPECT_THROW(EvaluationLog log(folder_), FileError);
}

} // namespace
} // namespace recoil::app
