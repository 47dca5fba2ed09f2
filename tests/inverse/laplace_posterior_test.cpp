#include <cmath>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "inverse/strip_mesh.hpp"
#include "recoil/base/error.hpp"
#include "recoil/inverse/laplace_posterior.hpp"

namespace recoil::inverse {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const parallel::Communicator& world() {
  static const parallel::Communicator comm(MPI_COMM_WORLD);
  return comm;
}

/// r = J z of as many numbers as `data` on elements of a strip and a variable beside them, each row of which
/// sees one end of the strip; a rank holds every size()-th row.
class LinearData {
public:
  LinearData(Index data, Index n, double strength) : J_(data, n) {
    for (Index i = 0; i < data; ++i)
      for (Index j = 0; j < n; ++j)
        J_(i, j) = strength * std::exp(-0.3 * static_cast<double>(j)) * std::sin(0.7 * (i + 1.0) * (j + 2.0));
  }
  std::vector<double> product(std::span<const double> d) {
    const Eigen::Map<const VectorXd> x(d.data(), std::ssize(d));
    VectorXd sum = VectorXd::Zero(J_.cols());
    for (Index i = world().rank(); i < J_.rows(); i += world().size())
      sum += J_.row(i).transpose() * J_.row(i).dot(x);
    std::vector<double> result(sum.begin(), sum.end());
    world().sum(result);
    return result;
  }
  const MatrixXd& J() const { return J_; }

private:
  MatrixXd J_;
};

/// A field of 120 elements and a variable.
GaussianPrior make_prior() {
  const FieldPrior field(strip_mesh(2, {10, 6}), 1.2, 0.5);
  return {field.size() + 1, {{field.size(), 0, 2}}, {{0, 1, field}}};
}

MatrixXd precision_of(const GaussianPrior& prior) {
  const MatrixXd W = matrix_of(prior.num_rows(), [&](const auto& d) { return prior.whiten(d); });
  return W.transpose() * W;
}

TEST(LaplacePosterior, IsThatOfTheDenseFormula) {
  const GaussianPrior prior = make_prior();
  const Index n = static_cast<Index>(prior.num_rows());
  LinearData data(25, n, 30);
  // Eigenvalues that small count for nothing.
  const LaplacePosterior found = laplace_posterior(
      world(), prior, [&](std::span<const double> d) { return data.product(d); }, {1e-6, 100});
  EXPECT_TRUE(found.is_complete);
  const MatrixXd of_prior = precision_of(prior), of_data = data.J().transpose() * data.J();
  const MatrixXd exact = (of_prior + of_data).inverse();
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> dense(of_data, of_prior);
  ASSERT_GE(found.eigenvalues.size(), 5u);
  ASSERT_LE(found.eigenvalues.size(), 25u);
  EXPECT_GT(found.eigenvalues[0], 100);
  double determined = 0;
  for (std::size_t k = 0; k < found.eigenvalues.size(); ++k) {
    const double lambda = dense.eigenvalues()[n - 1 - static_cast<Index>(k)];
    EXPECT_NEAR(found.eigenvalues[k], lambda, 1e-8 * dense.eigenvalues()[n - 1]);
    determined += lambda / (1 + lambda);
    const Eigen::Map<const VectorXd> v(found.vectors[k].data(), n);
    EXPECT_NEAR(v.dot(of_prior * v), 1, 1e-8);
    EXPECT_NEAR(v.dot(of_data * v), found.eigenvalues[k], 1e-8 * found.eigenvalues[0]);
  }
  EXPECT_NEAR(found.determined(), determined, 1e-5);
  for (Index i = 0; i < n; ++i) EXPECT_NEAR(found.variances[i], exact(i, i), 1e-6 * found.prior_variances[i]);
  EXPECT_LT(found.variances[0], 0.5 * found.prior_variances[0]) << "seen by the data";
  EXPECT_GT(found.variances[n - 2], 0.9 * found.prior_variances[n - 2]) << "at the other end";
  EXPECT_LE(found.products, 80);
}

/// What is left out makes variances too large, by no more than it says.
TEST(LaplacePosterior, LeavesOutWhatTheDataHardlySay) {
  const GaussianPrior prior = make_prior();
  const Index n = static_cast<Index>(prior.num_rows());
  LinearData data(25, n, 1);
  const auto product = [&](std::span<const double> d) { return data.product(d); };
  const LaplacePosterior found = laplace_posterior(world(), prior, product);
  const MatrixXd exact = (precision_of(prior) + data.J().transpose() * data.J()).inverse();
  EXPECT_TRUE(found.is_complete);
  EXPECT_GE(found.eigenvalues.back(), 0.1);
  EXPECT_LT(found.eigenvalues.size(), 25u);
  for (Index i = 0; i < n; ++i) {
    EXPECT_GE(found.variances[i], exact(i, i) - 1e-6 * found.prior_variances[i]);
    EXPECT_LE(found.variances[i], exact(i, i) + 0.1 / 1.1 * found.prior_variances[i]);
  }
  const LaplacePosterior cut = laplace_posterior(world(), prior, product, {0.1, 2});
  EXPECT_FALSE(cut.is_complete);
  ASSERT_EQ(cut.eigenvalues.size(), 2u);
  EXPECT_NEAR(cut.eigenvalues[1], found.eigenvalues[1], 1e-8 * found.eigenvalues[0]);
}

TEST(LaplacePosterior, IsThePriorWithoutData) {
  const GaussianPrior prior = make_prior();
  const LaplacePosterior found = laplace_posterior(
      world(), prior, [](std::span<const double> d) { return std::vector<double>(d.size(), 0.0); });
  EXPECT_TRUE(found.is_complete);
  EXPECT_TRUE(found.eigenvalues.empty());
  EXPECT_EQ(found.variances, found.prior_variances);
}

TEST(LaplacePosterior, ThrowsOnEveryRankWhatAProductThrows) {
  int calls = 0;
  const auto fail = [&](std::span<const double> d) {
    if (++calls == 3) throw FileError("a file is full");
    return std::vector<double>(d.begin(), d.end());
  };
  EXPECT_THROW(laplace_posterior(world(), make_prior(), fail), FileError);
}

} // namespace
} // namespace recoil::inverse
