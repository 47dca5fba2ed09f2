#include <gtest/gtest.h>

#include "linalg/elastic_box.hpp"

namespace recoil::vector_test {
namespace {

using linalg::Vector;
using testing::ElasticBox;

double value_at(GlobalIndex node, int component) {
  return 1.0 + static_cast<double>(node) + 0.25 * component;
}

/// Rank 1 owns nothing where there are several ranks.
class VectorTest : public ::testing::Test {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};
  ElasticBox<3> box{comm, 4, 1};

  Vector numbered() const {
    Vector vector(box.layout);
    const auto owned = vector.write_owned();
    for (std::size_t i = 0; i < owned.size(); ++i)
      owned[i] = value_at(box.layout->offset + static_cast<GlobalIndex>(i / 3), static_cast<int>(i % 3));
    return vector;
  }
};

TEST_F(VectorTest, GhostsTakeTheValuesOfTheirOwners) {
  ASSERT_EQ(box.layout->num_owned == 0, comm.size() > 1 && comm.rank() == 1);
  Vector vector = numbered();

  vector.update_ghosts();

  for (std::size_t ghost = 0; ghost < box.layout->ghosts.size(); ++ghost)
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(vector.local()[vector.owned().size() + 3 * ghost + i],
                value_at(box.layout->ghosts[ghost], static_cast<int>(i)));
}

TEST_F(VectorTest, ReductionsRunOverOwnedEntriesOfAllRanks) {
  Vector vector = numbered();
  vector.update_ghosts();
  double sum = 0, sum_of_squares = 0, largest = 0;
  for (GlobalIndex node = 0; node < box.layout->num_global; ++node)
    for (int i = 0; i < 3; ++i) {
      sum += value_at(node, i);
      sum_of_squares += value_at(node, i) * value_at(node, i);
      largest = std::max(largest, value_at(node, i));
    }
  Vector ones(box.layout);
  ones.fill(-1);

  EXPECT_NEAR(vector.dot(ones), -sum, 1e-12 * sum);
  EXPECT_NEAR(vector.norm(), std::sqrt(sum_of_squares), 1e-12 * sum);
  EXPECT_EQ(vector.norm_infinity(), largest);
}

TEST_F(VectorTest, NormsFollowChangesMadeThroughTheArray) {
  Vector vector(box.layout);
  vector.fill(1);
  const double before = vector.norm();

  for (double& value : vector.write_owned()) value = 2;

  EXPECT_NEAR(vector.norm(), 2 * before, 1e-12 * before);
}

TEST_F(VectorTest, CopiesAreDeepAndArithmeticReachesGhosts) {
  Vector vector = numbered();
  vector.update_ghosts();
  Vector copy = vector;
  Vector assigned;
  assigned = vector;

  copy.scale(3);
  copy.add(-1, vector);

  for (std::size_t i = 0; i < vector.local().size(); ++i) {
    EXPECT_EQ(copy.local()[i], 3 * vector.local()[i] - vector.local()[i]);
    EXPECT_EQ(assigned.local()[i], vector.local()[i]);
  }
  EXPECT_NEAR(copy.norm(), 2 * vector.norm(), 1e-12 * vector.norm());
}

} // namespace
} // namespace recoil::vector_test
