#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <Eigen/Core>

#include "recoil/inverse/field_prior.hpp"

namespace recoil::inverse {

/// A box around the origin of cubes with edges `h`, cut along one diagonal into 2 triangles or 6 tetrahedra
/// each (Kuhn).
inline ElementMesh strip_mesh(int dim, std::vector<int> cubes, double h = 0.5) {
  ElementMesh mesh{dim, {}, {}};
  std::vector<int> at(dim, 0);
  const auto number = [&](const std::vector<int>& vertex) {
    GlobalIndex result = 0;
    for (int i = dim - 1; i >= 0; --i) result = result * (cubes[i] + 1) + vertex[i];
    return result;
  };
  const auto for_each = [&](int more, auto act) {
    std::ranges::fill(at, 0);
    while (true) {
      act();
      int axis = 0;
      while (axis < dim && ++at[axis] == cubes[axis] + more) at[axis++] = 0;
      if (axis == dim) return;
    }
  };
  for_each(1, [&] {
    for (int i = 0; i < dim; ++i) mesh.vertices.push_back(h * (at[i] - 0.5 * cubes[i]));
  });
  for_each(0, [&] {
    std::vector<int> order(dim), corner;
    std::iota(order.begin(), order.end(), 0);
    do {
      corner = at;
      mesh.cells.push_back(number(corner));
      for (const int axis : order) {
        ++corner[axis];
        mesh.cells.push_back(number(corner));
      }
    } while (std::ranges::next_permutation(order).found);
  });
  return mesh;
}

/// The columns of a linear map of n numbers.
template <class Map>
Eigen::MatrixXd matrix_of(std::size_t n, Map map) {
  Eigen::MatrixXd result(n, n);
  for (Eigen::Index i = 0; i < result.cols(); ++i) {
    std::vector<double> unit(n, 0.0);
    unit[i] = 1;
    const std::vector<double> column = map(unit);
    result.col(i) = Eigen::Map<const Eigen::VectorXd>(column.data(), std::ssize(column));
  }
  return result;
}

inline Eigen::VectorXd centroid_of(const ElementMesh& mesh, std::size_t element) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(mesh.dim);
  for (int i = 0; i <= mesh.dim; ++i)
    sum += Eigen::Map<const Eigen::VectorXd>(
        mesh.vertices.data() + mesh.cells[element * (mesh.dim + 1) + i] * mesh.dim, mesh.dim);
  return sum / (mesh.dim + 1);
}

inline std::size_t element_nearest(const ElementMesh& mesh, const std::vector<double>& point) {
  const Eigen::Map<const Eigen::VectorXd> x(point.data(), mesh.dim);
  std::size_t nearest = 0;
  for (std::size_t element = 1; element < mesh.size(); ++element)
    if ((centroid_of(mesh, element) - x).norm() < (centroid_of(mesh, nearest) - x).norm()) nearest = element;
  return nearest;
}

} // namespace recoil::inverse
