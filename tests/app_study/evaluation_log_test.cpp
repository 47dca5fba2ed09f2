#include <filesystem>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/app/study/evaluation/evaluation_log.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::app::evaluation_log_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// What a file and its array file hold.
struct Content {
  std::string lines, arrays;
};

class EvaluationLogOf : public ::testing::Test {
protected:
  EvaluationLogOf() { fs::remove_all(folder_); }
  ~EvaluationLogOf() override { fs::remove_all(folder_); }
  void fill() {
    EvaluationLog log(folder_);
    const auto second = EvaluationLog::file_of_group(folder_, 1);
    add_evaluation(file(), {here_, 0}, ExperimentValue{1.0 / 3, {0.1, 0.2}, "", 2, 9, "0-b.h5", "0-a.h5"}, 5);
    add_evaluation(second, {here_, 1}, ExperimentValue{0, {}, "step 3 fails", 1, 4, "", ""}, 6);
    add_evaluation(file(), {here_, 0}, ExperimentGradient{{1e-300, -2.0 / 7}, "", 3}, 7);
  }
  fs::path file() const { return EvaluationLog::file_of_group(folder_, 0); }
  fs::path arrays() const { return EvaluationLog::array_file(file()); }
  Content content() const { return {read_file(file()), read_file(arrays())}; }
  void put(const Content& content) const {
    std::ofstream(file(), std::ios::binary) << content.lines;
    std::ofstream(arrays(), std::ios::binary) << content.arrays;
  }
  /// The message of what the folder is refused with; empty if it is not.
  std::string refusal() const {
    try {
      const EvaluationLog log(folder_);
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_ = fs::temp_directory_path() / "recoil_evaluation_log_test";
  std::vector<double> here_{1, 2}, there_{1, 2.0000000000000004};
};

TEST_F(EvaluationLogOf, FindsWhatOtherProcessesHaveWritten) {
  fill();
  const EvaluationLog log(folder_);
  const auto value = log.find<ExperimentValue>({here_, 0});
  ASSERT_TRUE(value);
  EXPECT_EQ(value->objective, 1.0 / 3);
  EXPECT_EQ(value->near, "0-a.h5");
  EXPECT_EQ(value->terms, (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(value->seconds, 2);
  EXPECT_EQ(log.find<ExperimentValue>({here_, 1})->failure, "step 3 fails");
  EXPECT_EQ(log.find<ExperimentGradient>({here_, 0})->by_values, (std::vector<double>{1e-300, -2.0 / 7}));
  EXPECT_FALSE(log.find<ExperimentGradient>({here_, 1}));
  EXPECT_FALSE(log.find<ExperimentValue>({there_, 0}));
  EXPECT_EQ(log.wall_seconds(), 7);
}

TEST_F(EvaluationLogOf, KeepsWhatWasCompleteWhereverWritingEnds) {
  fill();
  const Content whole = content();
  const std::size_t first_line = whole.lines.find('\n') + 1, first_array = 2 * sizeof(double);
  // The array of the gradient is written, then its line.
  std::vector<Content> states;
  for (std::size_t end = first_array; end < whole.arrays.size(); ++end)
    states.push_back({whole.lines.substr(0, first_line), whole.arrays.substr(0, end)});
  for (std::size_t end = first_line; end < whole.lines.size(); ++end)
    states.push_back({whole.lines.substr(0, end), whole.arrays});
  for (const Content& state : states) {
    put(state);
    EvaluationLog log(folder_);
    ASSERT_EQ(log.find<ExperimentValue>({here_, 0})->terms, (std::vector<double>{0.1, 0.2}));
    ASSERT_FALSE(log.find<ExperimentGradient>({here_, 0}));
    add_evaluation(file(), {here_, 0}, ExperimentGradient{{4}, "", 3}, 8);
    log.read();
    ASSERT_EQ(log.find<ExperimentGradient>({here_, 0})->by_values, (std::vector<double>{4}));
  }
  EXPECT_GT(states.size(), 100U);
}

TEST_F(EvaluationLogOf, DropsSummandsOnceTheirSumIsThere) {
  fill();
  EvaluationLog log(folder_);
  const ExperimentProduct product{{{3, 4}, "", 2}};
  for (const int group : {0, 2})
    add_evaluation(EvaluationLog::summand_file(folder_, group), {here_, group}, product, 8);
  log.read();
  EXPECT_EQ(log.find<ExperimentProduct>({here_, 2})->by_values, product.by_values);
  add_evaluation(file(), {here_, ProductSum::experiment}, ProductSum{{6, 8}, {2, 2}}, 9);
  log.drop_summands();
  EXPECT_FALSE(log.find<ExperimentProduct>({here_, 2}));
  for (const EvaluationLog& after : {log, EvaluationLog(folder_)}) {
    EXPECT_FALSE(after.find<ExperimentProduct>({here_, 0}));
    EXPECT_TRUE(after.find<ExperimentGradient>({here_, 0}));
  }
  add_evaluation(EvaluationLog::summand_file(folder_, 2), {there_, 2}, product, 10);
  log.read();
  EXPECT_TRUE(log.find<ExperimentProduct>({there_, 2})) << "its file begins anew";
  EXPECT_EQ(log.find<ProductSum>({here_, ProductSum::experiment})->by_values, (std::vector<double>{6, 8}));
}

TEST_F(EvaluationLogOf, RefusesADamagedLine) {
  fill();
  Content damaged = content();
  damaged.lines[30] ^= 1;
  put(damaged);
  EXPECT_THAT(refusal(), HasSubstr(file().string() + ": the line at byte 0 is damaged"));
}

TEST_F(EvaluationLogOf, RefusesADamagedArray) {
  fill();
  const Content whole = content();
  for (std::size_t at = 0; at < whole.arrays.size(); ++at) {
    Content damaged = whole;
    damaged.arrays[at] ^= 1;
    put(damaged);
    ASSERT_THAT(refusal(), HasSubstr(arrays().string() + ": the array at byte")) << at;
  }
  put({whole.lines, whole.arrays.substr(0, whole.arrays.size() - 1)});
  EXPECT_THAT(refusal(), HasSubstr(arrays().string() + ": the array at byte 16 is damaged"));
  put({whole.lines, ""});
  EXPECT_THAT(refusal(), HasSubstr("the array at byte 0 is damaged"));
}

} // namespace
} // namespace recoil::app::evaluation_log_test
