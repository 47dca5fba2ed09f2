#include "recoil/solvers/fracture_modes/element_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include <Eigen/Geometry>
#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/fem/cell_geometry.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

/// What one of the two elements of a face says about it; travels as bytes.
template <int dim>
struct FaceSide {
  std::array<GlobalIndex, dim> vertices; ///< input ids, ascending
  GlobalIndex node;                      ///< global number of the element
  GlobalIndex cell_id;
  std::array<double, 3> centre; ///< of the element
  double mass, area, factor;
  std::int32_t painted;
  std::int32_t opposite; ///< vertex of the element
};

template <int dim>
double factorial() {
  return dim == 2 ? 2 : 6;
}

/// Area and unit normal of the face opposite to vertex `opposite` of a cell.
template <int dim>
std::pair<double, Eigen::Matrix<double, dim, 1>> area_and_normal(const mesh::DistributedMesh<dim>& mesh,
                                                                 LocalIndex cell, int opposite) {
  std::array<Eigen::Matrix<double, dim, 1>, dim> points;
  for (int i = 0, k = 0; i <= dim; ++i)
    if (i != opposite) points[k++] = mesh.vertices[mesh.cells[cell][i]];
  Eigen::Matrix<double, dim, 1> normal;
  if constexpr (dim == 2) {
    const Eigen::Vector2d edge = points[1] - points[0];
    normal = Eigen::Vector2d(edge.y(), -edge.x());
  } else {
    normal = (points[1] - points[0]).cross(points[2] - points[0]) / 2;
  }
  const double area = normal.norm();
  return {area, normal / area};
}

double weight_of(FaceWeight weight, double area) {
  switch (weight) {
  case FaceWeight::tv:
    return area;
  case FaceWeight::paper:
    return std::sqrt(area);
  case FaceWeight::reference_code:
    return 2 * area;
  }
  return area;
}

template <int dim>
std::array<double, 3> centre_of(const mesh::DistributedMesh<dim>& mesh, LocalIndex cell) {
  std::array<double, 3> centre{};
  for (const LocalIndex vertex : mesh.cells[cell])
    for (int i = 0; i < dim; ++i) centre[i] += mesh.vertices[vertex][i] / (dim + 1);
  return centre;
}

double positive(double value, const char* name, GlobalIndex cell_id) {
  if (!(value > 0) || !std::isfinite(value))
    throw InputError(
        fmt::format("fracture modes: {} of cell {} is {}; it must be positive", name, cell_id, value));
  return value;
}

template <int dim>
std::vector<FaceSide<dim>> sides_of_owned(const mesh::DistributedMesh<dim>& mesh,
                                          const FractureMaterial<dim>& material, GlobalIndex offset) {
  const fem::CellGeometry<dim> geometry(mesh);
  std::vector<FaceSide<dim>> sides;
  sides.reserve(std::size_t(mesh.num_owned_cells) * (dim + 1));
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    const GlobalIndex id = mesh.cell_ids[cell];
    const double density = material.density ? positive(material.density(cell), "the density", id) : 1.0;
    const double toughness =
        material.toughness ? positive(material.toughness(cell), "the toughness", id) : 1.0;
    const double volume = positive(geometry.weight_factor(cell) / factorial<dim>(), "the volume", id);
    const double mass = density * volume;
    const std::array<double, 3> centre = centre_of(mesh, cell);
    const bool painted = material.unbreakable && material.unbreakable(cell);
    for (int opposite = 0; opposite <= dim; ++opposite) {
      const auto [area, normal] = area_and_normal(mesh, cell, opposite);
      const double fault = material.fault_factor
                               ? positive(material.fault_factor(cell, normal), "the factor of a fault", id)
                               : 1.0;
      FaceSide<dim> side{{}, offset + cell, id, centre, mass, area, toughness * fault, painted, opposite};
      for (int i = 0, k = 0; i <= dim; ++i)
        if (i != opposite) side.vertices[k++] = mesh.vertex_ids[mesh.cells[cell][i]];
      sides.push_back(side);
    }
  }
  return sides;
}

/// Pairs of sides with the same vertices: `matched`, one after the other, and the rest.
template <int dim>
void pair_up(std::vector<FaceSide<dim>> sides, std::vector<FaceSide<dim>>& matched,
             std::vector<FaceSide<dim>>& single) {
  std::ranges::sort(sides, [](const auto& a, const auto& b) {
    return std::tie(a.vertices, a.cell_id) < std::tie(b.vertices, b.cell_id);
  });
  for (std::size_t i = 0; i < sides.size();) {
    std::size_t end = i + 1;
    while (end < sides.size() && sides[end].vertices == sides[i].vertices) ++end;
    if (end - i > 2)
      throw InputError(fmt::format("mesh: cells {}, {} and {} share one face; at most two cells may",
                                   sides[i].cell_id, sides[i + 1].cell_id, sides[i + 2].cell_id));
    auto& target = end - i == 2 ? matched : single;
    target.insert(target.end(), sides.begin() + i, sides.begin() + end);
    i = end;
  }
}

/// The faces that this rank's elements share with each other and with those of other ranks. Faces that are
/// not complete here meet their other side on the rank in whose block of ids their first vertex is.
/// Collective.
template <int dim>
std::vector<FaceSide<dim>> matched_sides(const mesh::DistributedMesh<dim>& mesh,
                                         std::vector<FaceSide<dim>> sides) {
  const parallel::Communicator& comm = *mesh.comm;
  std::vector<FaceSide<dim>> matched, single;
  parallel::collectively(comm, [&] { pair_up<dim>(std::move(sides), matched, single); });
  std::vector<std::vector<FaceSide<dim>>> outgoing(comm.size());
  for (const auto& side : single)
    outgoing[io::rank_of_row(side.vertices[0], mesh.num_vertices_global, comm.size())].push_back(side);
  const auto incoming = parallel::exchange(comm, outgoing);
  std::map<GlobalIndex, int> rank_of_node;
  std::vector<FaceSide<dim>> met, met_pairs, boundary;
  for (int rank = 0; rank < comm.size(); ++rank)
    for (const auto& side : incoming[rank]) {
      met.push_back(side);
      rank_of_node[side.node] = rank;
    }
  parallel::collectively(comm, [&] { pair_up<dim>(std::move(met), met_pairs, boundary); });
  std::vector<std::vector<FaceSide<dim>>> answers(comm.size());
  for (std::size_t i = 0; i < met_pairs.size(); i += 2)
    for (std::size_t k = 0; k < 2; ++k) {
      auto& answer = answers[rank_of_node.at(met_pairs[i + k].node)];
      answer.push_back(met_pairs[i]);
      answer.push_back(met_pairs[i + 1]);
    }
  for (const auto& list : parallel::exchange(comm, answers))
    matched.insert(matched.end(), list.begin(), list.end());
  return matched;
}

} // namespace

template <int dim>
ElementGraph explode(const mesh::DistributedMesh<dim>& mesh, const FractureMaterial<dim>& material) {
  const parallel::Communicator& comm = *mesh.comm;
  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = &comm;
  layout->num_owned = mesh.num_owned_cells;
  layout->offset = comm.exclusive_scan(GlobalIndex{mesh.num_owned_cells});
  layout->num_global = mesh.num_cells_global;
  auto sides =
      parallel::collectively(comm, [&] { return sides_of_owned<dim>(mesh, material, layout->offset); });

  ElementGraph graph;
  graph.cell_ids.assign(mesh.cell_ids.begin(), mesh.cell_ids.begin() + mesh.num_owned_cells);
  graph.masses.resize(mesh.num_owned_cells);
  graph.centres.resize(mesh.num_owned_cells);
  for (const auto& side : sides) {
    graph.masses[side.node - layout->offset] = side.mass;
    graph.centres[side.node - layout->offset] = Eigen::Vector3d(side.centre.data());
  }
  const auto matched = matched_sides<dim>(mesh, std::move(sides));
  std::map<GlobalIndex, LocalIndex> ghost_of_node;
  const auto local = [&](const FaceSide<dim>& side) {
    const GlobalIndex owned = side.node - layout->offset;
    if (owned >= 0 && owned < layout->num_owned) return static_cast<LocalIndex>(owned);
    const auto [place, is_new] = ghost_of_node.try_emplace(side.node, layout->num_local());
    if (is_new) {
      layout->ghosts.push_back(side.node);
      graph.cell_ids.push_back(side.cell_id);
      graph.masses.push_back(side.mass);
      graph.centres.emplace_back(side.centre.data());
    }
    return place->second;
  };
  for (std::size_t i = 0; i < matched.size(); i += 2) { // a pair is in ascending order of cell ids
    const auto &first = matched[i], &second = matched[i + 1];
    const double factor = (first.factor + second.factor) / 2;
    const LocalIndex a = local(first), b = local(second);
    graph.faces.push_back({a, b, first.area, factor * weight_of(material.weight, first.area),
                           first.painted == 0 || second.painted == 0, a < layout->num_owned,
                           static_cast<std::int8_t>(first.opposite),
                           static_cast<std::int8_t>(second.opposite)});
  }
  std::ranges::sort(graph.faces, [&](const ElementFace& x, const ElementFace& y) {
    return std::pair(graph.cell_ids[x.a], graph.cell_ids[x.b]) <
           std::pair(graph.cell_ids[y.a], graph.cell_ids[y.b]);
  });
  graph.layout = layout;
  return graph;
}

double discontinuity_energy(const ElementGraph& graph, std::span<const double> field) {
  double energy = 0;
  for (const ElementFace& face : graph.faces)
    if (face.counted) energy += face.weight * std::abs(field[face.a] - field[face.b]);
  return graph.comm().sum(energy);
}

double mass_product(const ElementGraph& graph, std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (LocalIndex e = 0; e < graph.layout->num_owned; ++e) sum += graph.masses[e] * x[e] * y[e];
  return graph.comm().sum(sum);
}

template ElementGraph explode(const mesh::DistributedMesh<2>&, const FractureMaterial<2>&);
template ElementGraph explode(const mesh::DistributedMesh<3>&, const FractureMaterial<3>&);

} // namespace recoil::solvers::fracture_modes
