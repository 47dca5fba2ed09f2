#include "recoil/inverse/field_prior.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::inverse {

namespace {

using Eigen::Index;
using Eigen::VectorXd;
using SparseMatrix = Eigen::SparseMatrix<double>;
using Entries = std::vector<Eigen::Triplet<double>>;

Eigen::Map<const VectorXd> as_vector(std::span<const double> x) { return {x.data(), std::ssize(x)}; }

std::vector<double> as_list(const VectorXd& x) { return {x.data(), x.data() + x.size()}; }

/// Weight of what is not linear around a vertex, against its gradient: with 3 covariances are nearest to
/// those of the continuum on structured meshes of triangles and of tetrahedra.
constexpr double roughness_weight = 3;

struct Elements {
  Eigen::MatrixXd centroids; ///< a column each
  VectorXd volumes;
};

Elements measure(const ElementMesh& mesh) {
  const Eigen::Map<const Eigen::MatrixXd> vertices(mesh.vertices.data(), mesh.dim,
                                                   std::ssize(mesh.vertices) / mesh.dim);
  const auto count = static_cast<Index>(mesh.size());
  Elements elements{Eigen::MatrixXd(mesh.dim, count), VectorXd(count)};
  for (Index element = 0; element < count; ++element) {
    Eigen::MatrixXd corners(mesh.dim, mesh.dim + 1);
    for (Index i = 0; i <= mesh.dim; ++i)
      corners.col(i) = vertices.col(mesh.cells[element * (mesh.dim + 1) + i]);
    Eigen::Matrix3d edges = Eigen::Matrix3d::Identity();
    edges.topLeftCorner(mesh.dim, mesh.dim) = corners.rightCols(mesh.dim).colwise() - corners.col(0);
    elements.centroids.col(element) = corners.rowwise().mean();
    elements.volumes[element] = std::abs(edges.determinant()) / (mesh.dim == 2 ? 2 : 6);
    if (!(elements.volumes[element] > 0))
      throw InputError(
          fmt::format("element {} of the field has no volume, so that nothing can be said of its "
                      "correlation with the others",
                      element));
  }
  return elements;
}

std::vector<std::vector<Index>> elements_around_vertices(const ElementMesh& mesh) {
  std::vector<std::vector<Index>> around(mesh.vertices.size() / mesh.dim);
  for (std::size_t i = 0; i < mesh.cells.size(); ++i)
    around[mesh.cells[i]].push_back(static_cast<Index>(i / (mesh.dim + 1)));
  return around;
}

/// The matrix of the energy of values at `x` with the weights `volumes`, integrated over the share of a
/// vertex: that of the gradient which fits them best, and what it leaves.
Eigen::MatrixXd energy_around_vertex(Eigen::MatrixXd x, const VectorXd& volumes) {
  const Index dim = x.rows(), count = x.cols();
  const VectorXd weights = volumes / volumes.sum();
  x.colwise() -= VectorXd(x * weights);
  const Eigen::MatrixXd weighted = x * weights.asDiagonal();
  const Eigen::MatrixXd spread = weighted * x.transpose();
  if (spread.trace() == 0) return Eigen::MatrixXd::Zero(count, count); // one element
  // Few elements may lie on a line or plane.
  const Eigen::MatrixXd gradient = linalg::pseudo_solve(spread, weighted, 1e-9);
  Eigen::MatrixXd rest = Eigen::MatrixXd::Identity(count, count) - x.transpose() * gradient;
  rest.rowwise() -= weights.transpose();
  const double scale = roughness_weight * static_cast<double>(dim) / spread.trace();
  return volumes.sum() / static_cast<double>(dim + 1) *
         (gradient.transpose() * gradient + scale * rest.transpose() * weights.asDiagonal() * rest);
}

/// kappa^2 M + G.
SparseMatrix assemble(const ElementMesh& mesh, const Elements& elements, double kappa) {
  Entries entries;
  for (Index a = 0; a < elements.volumes.size(); ++a)
    entries.emplace_back(a, a, kappa * kappa * elements.volumes[a]);
  for (const std::vector<Index>& around : elements_around_vertices(mesh)) {
    if (around.empty()) continue;
    const Eigen::MatrixXd energy =
        energy_around_vertex(elements.centroids(Eigen::all, around), elements.volumes(around));
    for (Index i = 0; i < energy.rows(); ++i)
      for (Index j = 0; j < energy.cols(); ++j) entries.emplace_back(around[i], around[j], energy(i, j));
  }
  SparseMatrix K(elements.volumes.size(), elements.volumes.size());
  K.setFromTriplets(entries.begin(), entries.end());
  return K;
}

} // namespace

struct FieldPrior::Operator {
  SparseMatrix K;
  Eigen::SimplicialLLT<SparseMatrix> factor;
  VectorXd root_volumes;
  VectorXd scale; ///< S

  Operator(const ElementMesh& mesh, double kappa, double deviation) {
    const Elements elements = measure(mesh);
    root_volumes = elements.volumes.cwiseSqrt();
    K = assemble(mesh, elements, kappa);
    factor.compute(K);
    if (factor.info() != Eigen::Success)
      throw InputError("the correlation length is too long for the mesh of the field: its covariance is "
                       "singular in double precision; take a shorter one");
    scale = deviation * pointwise_variances().cwiseSqrt().cwiseInverse();
  }

private:
  /// The diagonal of K^-1 M K^-1.
  VectorXd pointwise_variances() const {
    constexpr Index block = 64;
    VectorXd variances(K.rows());
    for (Index first = 0; first < K.rows(); first += block) {
      const Index count = std::min(block, K.rows() - first);
      Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(K.rows(), count);
      columns.middleRows(first, count).setIdentity();
      variances.segment(first, count) =
          (root_volumes.asDiagonal() * factor.solve(columns)).colwise().squaredNorm().transpose();
    }
    return variances;
  }
};

FieldPrior::FieldPrior(const ElementMesh& mesh, double correlation_length, double deviation)
    : operator_(std::make_shared<Operator>(mesh, std::sqrt(8 * (2 - 0.5 * mesh.dim)) / correlation_length,
                                           deviation)),
      deviation_(deviation) {}

std::size_t FieldPrior::size() const { return static_cast<std::size_t>(operator_->root_volumes.size()); }

std::vector<double> FieldPrior::whiten(std::span<const double> x) const {
  const Operator& of = *operator_;
  return as_list((of.K * as_vector(x).cwiseQuotient(of.scale)).cwiseQuotient(of.root_volumes));
}

std::vector<double> FieldPrior::whiten_transposed(std::span<const double> y) const {
  const Operator& of = *operator_;
  return as_list((of.K * as_vector(y).cwiseQuotient(of.root_volumes)).cwiseQuotient(of.scale));
}

std::vector<double> FieldPrior::colour(std::span<const double> y) const {
  const Operator& of = *operator_;
  const VectorXd load = as_vector(y).cwiseProduct(of.root_volumes);
  return as_list(of.factor.solve(load).cwiseProduct(of.scale));
}

std::vector<double> FieldPrior::colour_transposed(std::span<const double> x) const {
  const Operator& of = *operator_;
  const VectorXd load = as_vector(x).cwiseProduct(of.scale);
  return as_list(of.factor.solve(load).cwiseProduct(of.root_volumes));
}

} // namespace recoil::inverse
