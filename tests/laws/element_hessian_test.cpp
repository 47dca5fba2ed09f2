#include "recoil/potentials/laws/element_hessian.hpp"

#include <gtest/gtest.h>

#include "laws/samples.hpp"
#include "recoil/potentials/laws/all.hpp"

using namespace recoil::potentials;
using namespace recoil::testing;

namespace {

// sum_jl g_a(j) A_ijkl g_b(l), index by index.
template <int dim>
Eigen::MatrixXd contracted(const Tangent<dim>& A, const Eigen::MatrixXd& gradients, double weight) {
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(gradients.rows() * dim, gradients.rows() * dim);
  for (Eigen::Index a = 0; a < gradients.rows(); ++a)
    for (Eigen::Index b = 0; b < gradients.rows(); ++b)
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          for (int k = 0; k < dim; ++k)
            for (int l = 0; l < dim; ++l)
              K(dim * a + i, dim * b + k) +=
                  weight * gradients(a, j) * A(dim * i + j, dim * k + l) * gradients(b, l);
  return K;
}

/// Copies the blocks above the diagonal, transposed, below it.
template <int dim, class Hessian>
void mirror_blocks(Hessian&& K) {
  const Eigen::Index num_nodes = K.rows() / dim;
  for (Eigen::Index b = 1; b < num_nodes; ++b)
    for (Eigen::Index a = 0; a < b; ++a)
      K.template block<dim, dim>(dim * b, dim * a) = K.template block<dim, dim>(dim * a, dim * b).transpose();
}

// The kernel adds the upper blocks only, to what is there, and mirror_blocks completes them.
template <int dim, class AddHessian>
void check_kernel(const Tangent<dim>& A, AddHessian&& add_hessian) {
  using Fixed = Eigen::Matrix<double, dim + 1, dim>;
  using Quadratic = Eigen::Matrix<double, (dim + 1) * (dim + 2) / 2, dim, Eigen::RowMajor>;
  const auto check = [&](const auto& gradients, auto K) {
    const Eigen::MatrixXd expected = contracted<dim>(A, gradients, 0.3);
    ASSERT_GT(expected.norm(), 1e-3);
    K.setZero();
    add_hessian(gradients, 0.1, K);
    add_hessian(gradients, 0.2, K);
    for (Eigen::Index b = 0; b < gradients.rows(); ++b)
      for (Eigen::Index a = b + 1; a < gradients.rows(); ++a)
        EXPECT_EQ((K.template block<dim, dim>(dim * a, dim * b).norm()), 0.0);
    mirror_blocks<dim>(K);
    EXPECT_LT((K - expected).norm(), 1e-13 * expected.norm());
    EXPECT_LT((K - K.transpose()).norm(), 1e-14 * expected.norm());
  };
  const Fixed linear = Fixed::Random();
  check(linear, Eigen::Matrix<double, dim*(dim + 1), dim*(dim + 1)>());
  const Quadratic quadratic = Quadratic::Random();
  check(quadratic,
        Eigen::Matrix<double, dim * Quadratic::RowsAtCompileTime, dim * Quadratic::RowsAtCompileTime>());
  // Run-time node counts through a Map, as for higher orders.
  const Eigen::Matrix<double, Eigen::Dynamic, dim, Eigen::RowMajor> storage =
      Eigen::Matrix<double, Eigen::Dynamic, dim, Eigen::RowMajor>::Random(20, dim);
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, dim, Eigen::RowMajor>> any(storage.data(), 20,
                                                                                          dim);
  check(any, Eigen::MatrixXd(20 * dim, 20 * dim));
}

template <class Law>
void check_law() {
  constexpr int dim = Law::dimension;
  SCOPED_TRACE(Law::name);
  const auto p = Example<Law>::parameters;
  for (const Sample<dim>& sample : samples<dim>(!Law::resists_inversion, 2)) {
    SCOPED_TRACE(sample.kind);
    Tangent<dim> A;
    Law::tangent(sample.F, p, A);
    check_kernel<dim>(A, [&](const auto& gradients, double weight, auto& K) {
      Law::add_hessian(gradients, weight, sample.F, p, K);
    });
    check_kernel<dim>(A, [&](const auto& gradients, double weight, auto& K) {
      add_tangent_hessian(gradients, weight, A, K);
    });
  }
}

} // namespace

TEST(ElementHessian, EveryLaw2D) {
  for_each_law<2>([]<class Law>() { check_law<Law>(); });
}

TEST(ElementHessian, EveryLaw3D) {
  for_each_law<3>([]<class Law>() { check_law<Law>(); });
}
