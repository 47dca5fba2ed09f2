#include "recoil/surface/surface.hpp"

#include "recoil/base/error.hpp"

namespace recoil::surface {

namespace {

/// sum_k n_k ways_k.
template <int dim>
Eigen::Matrix<double, dim, 1> way_to(const std::array<int, dim>& cell,
                                     const Eigen::Matrix<double, dim, dim>& ways) {
  Eigen::Matrix<double, dim, 1> way = Eigen::Matrix<double, dim, 1>::Zero();
  for (int k = 0; k < dim; ++k) way += cell[k] * ways.col(k);
  return way;
}

} // namespace

/// The local number of a node that this rank owns; -1 for others.
template <int dim>
LocalIndex Surface<dim>::owned_node(GlobalIndex block) const {
  const GlobalIndex local = block - layout()->offset;
  return block >= 0 && local >= 0 && local < layout()->num_owned ? static_cast<LocalIndex>(local) : -1;
}

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
  if (!parts_.copies) return result;
  Eigen::Matrix<double, dim, dim> ways = Eigen::Matrix<double, dim, dim>::Zero();
  for (int k = 0; k < dim; ++k)
    for (const std::size_t end : {0, 1})
      if (const LocalIndex node = owned_node(parts_.copies->ends[k][end]); node >= 0)
        ways.col(k) += (end == 0 ? -1 : 1) * Eigen::Map<const Point>(u.data() + std::ptrdiff_t{dim} * node);
  comm().sum({ways.data(), std::size_t{dim * dim}});
  for (LocalIndex v = 0; v < num_vertices(); ++v)
    if (const std::int32_t cell = parts_.copies->cell_of_vertex[v]; cell > 0)
      result[v] += way_to<dim>(parts_.copies->cells[cell], ways);
  return result;
}

template <int dim>
void Surface<dim>::add_to_ends(const std::vector<Point>& field, double factor, std::span<double> g) const {
  if (!parts_.copies) return;
  Eigen::Matrix<double, dim, dim> forces = Eigen::Matrix<double, dim, dim>::Zero();
  for (LocalIndex v = 0; v < num_owned(); ++v)
    if (const std::int32_t cell = parts_.copies->cell_of_vertex[v]; cell > 0)
      for (int k = 0; k < dim; ++k) forces.col(k) += parts_.copies->cells[cell][k] * field[v];
  comm().sum({forces.data(), std::size_t{dim * dim}});
  for (int k = 0; k < dim; ++k)
    for (const std::size_t end : {0, 1})
      if (const LocalIndex node = owned_node(parts_.copies->ends[k][end]); node >= 0)
        Eigen::Map<Point>(g.data() + std::ptrdiff_t{dim} * node) +=
            (end == 0 ? -factor : factor) * forces.col(k);
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
  template void Surface<dim>::add_to_ends(const std::vector<Eigen::Matrix<double, dim, 1>>&, double,         \
                                          std::span<double>) const;                                          \
  template void Surface<dim>::add_to_rest(const std::vector<Eigen::Matrix<double, dim, 1>>&,                 \
                                          std::span<Eigen::Matrix<double, dim, 1>>,                          \
                                          std::span<Eigen::Matrix<double, dim, 1>>) const;                   \
  template std::vector<Eigen::Matrix<double, dim, 1>> Surface<dim>::rest_changes(                            \
      std::span<const Eigen::Matrix<double, dim, 1>>, std::span<const Eigen::Matrix<double, dim, 1>>) const;
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::surface
