#include "recoil/mesh/input/quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace recoil::mesh {

namespace {

double determinant(const std::array<Eigen::Vector3d, 4>& corners, int dim) {
  const Eigen::Vector3d a = corners[1] - corners[0], b = corners[2] - corners[0];
  if (dim == 2) return a.x() * b.y() - a.y() * b.x();
  return a.cross(b).dot(corners[3] - corners[0]);
}

} // namespace

double signed_volume(const std::array<Eigen::Vector3d, 4>& corners, int dim) {
  return determinant(corners, dim) / (dim == 2 ? 2 : 6);
}

double scaled_jacobian(const std::array<Eigen::Vector3d, 4>& corners, int dim) {
  const std::size_t n = dim + 1;
  // the determinant is the same at every corner: the longest product of edges gives the minimum of its size
  double longest = 0, shortest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    double product = 1;
    for (std::size_t j = 0; j < n; ++j)
      if (j != i) product *= (corners[j] - corners[i]).norm();
    longest = std::max(longest, product);
    shortest = std::min(shortest, product);
  }
  const double d = determinant(corners, dim) * (dim == 2 ? 2 / std::numbers::sqrt3 : std::numbers::sqrt2);
  const double scale = d >= 0 ? longest : shortest;
  return scale > 0 ? d / scale : 0;
}

namespace {

/// With sums in place of means.
std::vector<BodyQuality> sum_quality(const SimplexMesh& mesh) {
  std::vector<BodyQuality> report(mesh.body_names.size());
  for (std::size_t b = 0; b < report.size(); ++b) {
    report[b].name = mesh.body_names[b];
    report[b].min_scaled_jacobian = report[b].min_edge = std::numeric_limits<double>::infinity();
  }
  const std::size_t n = mesh.dim + 1;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    auto& body = report[mesh.cell_body[c]];
    std::array<Eigen::Vector3d, 4> corners;
    for (std::size_t i = 0; i < n; ++i) {
      corners[i] = mesh.vertices[mesh.cells[c][i]];
      body.box.extend(corners[i]);
      for (std::size_t j = 0; j < i; ++j) {
        const double length = (corners[i] - corners[j]).norm();
        body.min_edge = std::min(body.min_edge, length);
        body.max_edge = std::max(body.max_edge, length);
        body.mean_edge += length;
      }
    }
    const double quality = scaled_jacobian(corners, mesh.dim);
    if (quality < body.min_scaled_jacobian) {
      body.min_scaled_jacobian = quality;
      body.worst_cell = c;
    }
    body.mean_scaled_jacobian += quality;
    body.volume += signed_volume(corners, mesh.dim);
    ++body.cells;
  }
  return report;
}

void divide_sums(int dim, std::vector<BodyQuality>& report) {
  for (auto& body : report) {
    const double cells = double(std::max<std::int64_t>(body.cells, 1));
    body.mean_scaled_jacobian /= cells;
    body.mean_edge /= cells * (dim == 2 ? 3 : 6);
    if (body.cells == 0) body.min_scaled_jacobian = body.min_edge = 0;
  }
}

} // namespace

std::vector<BodyQuality> body_quality(const SimplexMesh& mesh) {
  std::vector<BodyQuality> report = sum_quality(mesh);
  divide_sums(mesh.dim, report);
  return report;
}

std::vector<BodyQuality> body_quality(const parallel::Communicator& comm, const SlicedMesh& mesh) {
  std::vector<BodyQuality> report = sum_quality(mesh.share);
  for (BodyQuality& body : report) {
    const double own = body.min_scaled_jacobian;
    body.min_scaled_jacobian = comm.min(own);
    const bool is_worst = body.worst_cell >= 0 && own == body.min_scaled_jacobian;
    body.worst_cell = comm.min(is_worst ? GlobalIndex(mesh.cell_ids[body.worst_cell]) : mesh.num_cells);
    if (body.worst_cell == mesh.num_cells) body.worst_cell = -1;
    body.min_edge = comm.min(body.min_edge);
    body.max_edge = comm.max(body.max_edge);
    body.cells = comm.sum(GlobalIndex(body.cells));
    for (double* sum : {&body.volume, &body.mean_scaled_jacobian, &body.mean_edge}) *sum = comm.sum(*sum);
    for (int k = 0; k < 3; ++k) {
      body.box.min()[k] = comm.min(body.box.min()[k]);
      body.box.max()[k] = comm.max(body.box.max()[k]);
    }
  }
  divide_sums(mesh.share.dim, report);
  return report;
}

} // namespace recoil::mesh
