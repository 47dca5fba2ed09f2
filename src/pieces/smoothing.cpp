#include "recoil/pieces/smoothing.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

namespace recoil::pieces {

namespace {

constexpr double least_share = 1e-12;

struct SmoothingSystem {
  Eigen::VectorXd masses;
  Eigen::SparseMatrix<double, Eigen::RowMajor> matrix; ///< M + length^2 L
};

template <int dim>
SmoothingSystem assemble(const CellMesh<dim>& mesh, double length) {
  const auto n = static_cast<Eigen::Index>(mesh.vertices.size());
  SmoothingSystem system{Eigen::VectorXd::Zero(n), {n, n}};
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(mesh.cells.size() * (dim + 1) * (dim + 1));
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    const auto& cell = mesh.cells[c];
    const double volume = cage::volume(mesh, c);
    Eigen::Matrix<double, dim, dim> edges;
    for (int k = 0; k < dim; ++k) edges.col(k) = mesh.vertices[cell[k + 1]] - mesh.vertices[cell[0]];
    Eigen::Matrix<double, dim, dim + 1> gradients; // of the hat functions
    gradients.template rightCols<dim>() = edges.inverse().transpose();
    gradients.col(0) = -gradients.template rightCols<dim>().rowwise().sum();
    for (int i = 0; i <= dim; ++i) {
      system.masses[cell[i]] += volume / (dim + 1);
      for (int j = 0; j <= dim; ++j)
        entries.emplace_back(cell[i], cell[j],
                             length * length * volume * gradients.col(i).dot(gradients.col(j)));
    }
  }
  for (Eigen::Index v = 0; v < n; ++v) entries.emplace_back(v, v, system.masses[v]);
  system.matrix.setFromTriplets(entries.begin(), entries.end());
  return system;
}

} // namespace

double Membership::share(std::int32_t vertex, std::int32_t label) const {
  const auto begin = labels.begin() + offsets[vertex], end = labels.begin() + offsets[vertex + 1];
  const auto found = std::lower_bound(begin, end, label);
  return found != end && *found == label ? shares[found - labels.begin()] : 0;
}

std::vector<std::int32_t> Membership::largest() const {
  std::vector<std::int32_t> result;
  for (std::size_t v = 0; v + 1 < offsets.size(); ++v)
    result.push_back(labels[std::max_element(shares.begin() + offsets[v], shares.begin() + offsets[v + 1]) -
                            shares.begin()]);
  return result;
}

double Membership::place(std::int32_t a, std::int32_t la, std::int32_t b, std::int32_t lb) const {
  const double before = share(a, la) - share(a, lb), behind = share(b, lb) - share(b, la);
  return before + behind > 0 ? before / (before + behind) : 0.5;
}

template <int dim>
Membership smooth_labels(const CellMesh<dim>& mesh, std::span<const std::int32_t> cell_labels,
                         double length) {
  const auto n = mesh.vertices.size();
  const auto system = assemble(mesh, length);
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double, Eigen::RowMajor>, Eigen::Lower | Eigen::Upper> solver;
  solver.setTolerance(1e-12);
  solver.compute(system.matrix);
  const auto num_labels =
      cell_labels.empty() ? 0 : 1 + *std::max_element(cell_labels.begin(), cell_labels.end());
  std::vector<std::vector<std::size_t>> cells_of(num_labels);
  for (std::size_t c = 0; c < cell_labels.size(); ++c) cells_of[cell_labels[c]].push_back(c);
  std::vector<std::vector<std::pair<std::int32_t, double>>> rows(n);
  for (std::int32_t label = 0; label < num_labels; ++label) {
    Eigen::VectorXd weights = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(n)); // M Z
    for (const auto c : cells_of[label])
      for (const auto v : mesh.cells[c]) weights[v] += cage::volume(mesh, c) / (dim + 1);
    const Eigen::VectorXd means = weights.cwiseQuotient(system.masses);
    const Eigen::VectorXd shares =
        length > 0 ? Eigen::VectorXd(solver.solveWithGuess(weights, means)) : means;
    for (std::size_t v = 0; v < n; ++v)
      if (shares[v] > least_share) rows[v].emplace_back(label, shares[v]);
  }
  Membership result{{0}, {}, {}};
  for (const auto& row : rows) {
    double sum = 0;
    for (const auto& [label, share] : row) sum += share;
    for (const auto& [label, share] : row) {
      result.labels.push_back(label);
      result.shares.push_back(share / sum);
    }
    result.offsets.push_back(std::ssize(result.labels));
  }
  return result;
}

template <int dim>
cage::CutCells<dim> cut_along_envelope(const CellMesh<dim>& mesh, const Membership& membership) {
  const auto labels = membership.largest();
  return cage::cut_cells<dim>(mesh, labels, [&](std::int32_t a, std::int32_t b) {
    return membership.place(a, labels[a], b, labels[b]);
  });
}

#define RECOIL_SMOOTHING(dim)                                                                                \
  template Membership smooth_labels(const CellMesh<dim>&, std::span<const std::int32_t>, double);            \
  template cage::CutCells<dim> cut_along_envelope(const CellMesh<dim>&, const Membership&);
RECOIL_SMOOTHING(2)
RECOIL_SMOOTHING(3)
#undef RECOIL_SMOOTHING

} // namespace recoil::pieces
