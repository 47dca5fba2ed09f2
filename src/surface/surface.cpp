#include "recoil/surface/surface.hpp"

#include "recoil/base/error.hpp"

namespace recoil::surface {

template <int dim>
std::vector<typename Surface<dim>::Point>
Surface<dim>::displacements(std::span<const double> u, std::span<const double> obstacle_displacement) const {
  std::vector<Point> result(num_vertices());
  for (LocalIndex v = 0; v < num_vertices(); ++v) {
    const bool is_node = node(v) >= 0;
    result[v].setZero();
    if (!is_node && obstacle_displacement.empty()) continue;
    const std::size_t index = is_node ? node(v) : obstacle_vertex(v);
    const double* entries = (is_node ? u.data() : obstacle_displacement.data()) + index * dim;
    for (int i = 0; i < dim; ++i) result[v][i] = entries[i];
  }
  return result;
}

template <int dim>
std::vector<typename Surface<dim>::Point>
Surface<dim>::positions(std::span<const double> u, std::span<const double> obstacle_displacement) const {
  std::vector<Point> result = displacements(u, obstacle_displacement);
  for (LocalIndex v = 0; v < num_vertices(); ++v)
    for (std::size_t i = 0; i < dim; ++i) result[v][i] += vertices()[v].rest[i];
  return result;
}

template <int dim>
void Surface<dim>::add_to_rest(const std::vector<Point>& field, std::span<Point> mesh_vertices,
                               std::span<Point> obstacle_vertices) const {
  RECOIL_ASSERT(std::ssize(field) == num_vertices());
  for (LocalIndex v = 0; v < num_vertices(); ++v)
    if (node(v) < 0) obstacle_vertices[obstacle_vertex(v)] += field[v];
  for (const auto& [vertex, carrier, share] : parts_.carriers)
    mesh_vertices[carrier] += share * field[vertex];
}

template <int dim>
std::vector<typename Surface<dim>::Point>
Surface<dim>::rest_changes(std::span<const Point> mesh_vertices,
                           std::span<const Point> obstacle_vertices) const {
  std::vector<Point> field(num_vertices(), Point::Zero());
  for (LocalIndex v = 0; v < num_vertices() && !obstacle_vertices.empty(); ++v)
    if (node(v) < 0) field[v] = obstacle_vertices[obstacle_vertex(v)];
  if (!mesh_vertices.empty())
    for (const auto& [vertex, carrier, share] : parts_.carriers)
      field[vertex] += share * mesh_vertices[carrier];
  return field;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<Eigen::Matrix<double, dim, 1>> Surface<dim>::displacements(                           \
      std::span<const double>, std::span<const double>) const;                                               \
  template std::vector<Eigen::Matrix<double, dim, 1>> Surface<dim>::positions(                               \
      std::span<const double>, std::span<const double>) const;                                               \
  template void Surface<dim>::add_to_rest(const std::vector<Eigen::Matrix<double, dim, 1>>&,                 \
                                          std::span<Eigen::Matrix<double, dim, 1>>,                          \
                                          std::span<Eigen::Matrix<double, dim, 1>>) const;                   \
  template std::vector<Eigen::Matrix<double, dim, 1>> Surface<dim>::rest_changes(                            \
      std::span<const Eigen::Matrix<double, dim, 1>>, std::span<const Eigen::Matrix<double, dim, 1>>) const;
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::surface
