#include "reference_assembly.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>
#include <Eigen/LU>

namespace recoil::bench {

ReferenceAssembly::ReferenceAssembly(const std::vector<Eigen::Vector3d>& vertices,
                                     std::vector<std::array<std::int32_t, 4>> cells)
    : cells_(std::move(cells)) {
  gradients_.reserve(cells_.size());
  volumes_.reserve(cells_.size());
  std::vector<std::vector<std::int32_t>> neighbours(vertices.size());
  for (const auto& cell : cells_) {
    Eigen::Matrix3d edges;
    for (int i = 0; i < 3; ++i)
      edges.col(i) = vertices[static_cast<std::size_t>(cell[static_cast<std::size_t>(i) + 1])] -
                     vertices[static_cast<std::size_t>(cell[0])];
    Gradients& G = gradients_.emplace_back();
    G.bottomRows<3>() = edges.inverse();
    G.row(0) = -G.bottomRows<3>().colwise().sum();
    volumes_.push_back(std::abs(edges.determinant()) / 6);
    for (const auto a : cell)
      for (const auto b : cell) neighbours[static_cast<std::size_t>(a)].push_back(b);
  }

  const auto num_rows = static_cast<PetscInt>(3 * vertices.size());
  std::vector<PetscInt> row_lengths;
  row_begin_.push_back(0);
  for (auto& row : neighbours) {
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    row_begin_.push_back(row_begin_.back() + static_cast<std::int32_t>(row.size()));
    row_lengths.insert(row_lengths.end(), 3, static_cast<PetscInt>(3 * row.size()));
  }
  positions_.reserve(cells_.size());
  for (const auto& cell : cells_) {
    std::size_t k = 0;
    auto& positions = positions_.emplace_back();
    for (const auto a : cell) {
      const auto& row = neighbours[static_cast<std::size_t>(a)];
      for (const auto b : cell)
        positions[k++] = static_cast<std::int32_t>(std::ranges::lower_bound(row, b) - row.begin());
    }
  }

  RECOIL_PETSC(MatCreateSeqAIJ(PETSC_COMM_SELF, num_rows, num_rows, 0, row_lengths.data(), matrix_.put()));
  std::vector<PetscInt> columns;
  for (std::size_t row = 0; row < neighbours.size(); ++row) {
    columns.clear();
    for (const auto column : neighbours[row])
      for (PetscInt i = 0; i < 3; ++i) columns.push_back(3 * column + i);
    const std::vector<PetscScalar> zeros(columns.size(), 0.0);
    for (PetscInt i = 0; i < 3; ++i) {
      const PetscInt index = 3 * static_cast<PetscInt>(row) + i;
      RECOIL_PETSC(MatSetValues(matrix_.get(), 1, &index, static_cast<PetscInt>(columns.size()),
                                columns.data(), zeros.data(), INSERT_VALUES));
    }
  }
  RECOIL_PETSC(MatAssemblyBegin(matrix_.get(), MAT_FINAL_ASSEMBLY));
  RECOIL_PETSC(MatAssemblyEnd(matrix_.get(), MAT_FINAL_ASSEMBLY));
}

inline void ReferenceAssembly::element_hessian(std::size_t cell, const std::vector<double>& u, double lambda,
                                               double mu, Hessian& K) const {
  const Gradients& G = gradients_[cell];
  Eigen::Matrix3d F = Eigen::Matrix3d::Identity();
  for (std::size_t a = 0; a < 4; ++a)
    F += Eigen::Map<const Eigen::Vector3d>(&u[3 * static_cast<std::size_t>(cells_[cell][a])]) *
         G.row(static_cast<Eigen::Index>(a));
  const Gradients h = G * F.inverse();
  const double weight = volumes_[cell], swap = weight * (mu - lambda * std::log(F.determinant()));
  const double outer = weight * lambda, metric = weight * mu;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      const double d = metric * G.row(a).dot(G.row(b));
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          K(3 * a + i, 3 * b + j) = swap * h(b, i) * h(a, j) + outer * h(a, i) * h(b, j) + (i == j ? d : 0.0);
    }
}

void ReferenceAssembly::assemble(const std::vector<double>& u, double lambda, double mu) {
  PetscScalar* values = nullptr;
  RECOIL_PETSC(MatSeqAIJGetArray(matrix_.get(), &values));
  Hessian K;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    element_hessian(cell, u, lambda, mu, K);
    for (std::size_t a = 0; a < 4; ++a) {
      const auto row = static_cast<std::size_t>(cells_[cell][a]);
      const std::ptrdiff_t length = 3 * (row_begin_[row + 1] - row_begin_[row]);
      PetscScalar* first = values + 9 * static_cast<std::ptrdiff_t>(row_begin_[row]);
      for (std::size_t b = 0; b < 4; ++b) {
        PetscScalar* block = first + 3 * static_cast<std::ptrdiff_t>(positions_[cell][4 * a + b]);
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            block[i * length + j] += K(3 * static_cast<int>(a) + i, 3 * static_cast<int>(b) + j);
      }
    }
  }
  RECOIL_PETSC(MatSeqAIJRestoreArray(matrix_.get(), &values));
}

double ReferenceAssembly::kernels_only(const std::vector<double>& u, double lambda, double mu) const {
  Hessian K;
  double sum = 0;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    element_hessian(cell, u, lambda, mu, K);
    sum += K(0, 0) + K(11, 5);
  }
  return sum;
}

} // namespace recoil::bench
