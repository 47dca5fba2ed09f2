#include "app/study/parameters/boundary_shape.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/app/simulation/discrete_scene.hpp"
#include "recoil/geometry/point_table.hpp"
#include "recoil/mesh_motion/boundary_extension.hpp"

namespace recoil::app {

namespace {

/// Positions that belong together across a period differ by no more than this share of the diagonal.
constexpr double partner_tolerance = 1e-6;

/// Flags of the local vertices of boundary facets of selected cells for which `takes(surface id)`.
/// Collective.
template <int dim, class Takes>
std::vector<char> vertices_of_facets(const SlotBuilder<dim>& builder, const ParameterSpec& spec,
                                     Takes takes) {
  const auto& mesh = builder.geometry.mesh;
  const fem::FunctionSpace<dim> linear(mesh, std::vector<int>(mesh.body_names.size(), 1));
  linalg::Vector marks(linear.layout());
  auto values = marks.write_local();
  for (const fem::BoundaryFacet& facet : linear.boundary_facets()) {
    if (!builder.selects(spec, facet.cell) || !takes(facet.id)) continue;
    const auto nodes = linear.cell_nodes(facet.cell);
    for (const int node : linear.basis(1).facet_nodes(facet.facet)) values[nodes[node] * dim] = 1;
  }
  // Facets of a ghost vertex may lie on cells that only its owner holds.
  marks.update_ghosts();
  std::vector<char> flags(mesh.vertices.size(), 0);
  for (LocalIndex vertex = 0; vertex < std::ssize(flags); ++vertex)
    flags[vertex] = marks.local()[linear.node_of_vertex(vertex) * dim] != 0;
  return flags;
}

/// Those of the surfaces of the basis; a vertex that is also on another surface stays, so that this keeps its
/// shape.
template <int dim>
std::vector<char> moving_vertices(const SlotBuilder<dim>& builder, const ParameterSpec& spec,
                                  const std::vector<char>& boundary) {
  const std::vector<int>& ids = spec.basis->boundary;
  if (ids.empty()) return boundary;
  for (const int id : ids) {
    const auto found = vertices_of_facets(builder, spec, [&](int other) { return other == id; });
    if (!builder.geometry.mesh.comm->any(holds(found, 1)))
      builder.refuse(
          spec, "basis",
          fmt::format("no surface of its bodies has the id {}; give it to one by `surface_selection` in the "
                      "scene, or leave it out of `boundary`",
                      id));
  }
  std::vector<char> moving = vertices_of_facets(builder, spec, [&](int id) { return holds(ids, id); });
  const auto staying = vertices_of_facets(builder, spec, [&](int id) { return !holds(ids, id); });
  for (std::size_t v = 0; v < moving.size(); ++v)
    if (staying[v] != 0) moving[v] = 0;
  if (!builder.geometry.mesh.comm->any(holds(moving, 1)))
    builder.refuse(
        spec, "basis",
        fmt::format("all vertices of the surfaces {} are on other surfaces, too, which keep their shape",
                    fmt::join(ids, ", ")));
  return moving;
}

/// Flagged vertices over all ranks, by ascending input id, the same on every rank.
template <int dim>
struct GatheredVertices {
  using Point = Eigen::Matrix<double, dim, 1>;
  std::vector<GlobalIndex> ids;
  std::vector<Point> positions;
};

template <int dim>
GatheredVertices<dim> gather(const mesh::DistributedMesh<dim>& mesh, const std::vector<char>& flags) {
  std::vector<GlobalIndex> owned;
  for (LocalIndex v = 0; v < mesh.num_owned_vertices; ++v)
    if (flags[v] != 0) owned.push_back(mesh.vertex_ids[v]);
  GatheredVertices<dim> result{mesh.comm->all_gather_parts(owned), {}};
  std::ranges::sort(result.ids);
  std::vector<double> coordinates(result.ids.size() * dim, 0.0);
  for (LocalIndex v = 0; v < mesh.num_owned_vertices; ++v) {
    if (flags[v] == 0) continue;
    const auto at = std::ranges::lower_bound(result.ids, mesh.vertex_ids[v]) - result.ids.begin();
    std::copy_n(mesh.vertices[v].data(), dim, coordinates.begin() + at * dim);
  }
  mesh.comm->sum(coordinates);
  for (std::size_t i = 0; i < result.ids.size(); ++i)
    result.positions.emplace_back(
        Eigen::Map<const Eigen::Matrix<double, dim, 1>>(coordinates.data() + i * dim));
  return result;
}

/// For each vertex the first one of its group: a vertex on one side of the box moves with that across from
/// it, along each periodic axis.
template <int dim>
std::vector<std::size_t> periodic_groups(const SlotBuilder<dim>& builder, const ParameterSpec& spec,
                                         const Eigen::AlignedBox<double, dim>& box,
                                         const GatheredVertices<dim>& vertices) {
  const double tolerance = partner_tolerance * box.diagonal().norm();
  std::vector<std::size_t> first(vertices.ids.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (first[i] != i) i = first[i];
    return i;
  };
  for (const int axis : spec.basis->periodic) {
    const auto on_side = [&](std::size_t i, double side) {
      return std::abs(vertices.positions[i][axis] - side) <= tolerance;
    };
    const auto join = [&](double from, double to) {
      geometry::PointTable<dim> others(tolerance);
      for (std::size_t i = 0; i < first.size(); ++i)
        if (on_side(i, to)) others.add(vertices.positions[i], i);
      for (std::size_t i = 0; i < first.size(); ++i) {
        if (!on_side(i, from)) continue;
        auto across = vertices.positions[i];
        across[axis] += to - from;
        const auto partner = others.find(across);
        if (!partner)
          builder.refuse(
              spec, "basis",
              fmt::format("the vertex at ({}) has no partner across the period along {}; both sides "
                          "need the same vertices, and both surfaces their ids in `boundary`",
                          fmt::join(vertices.positions[i], ", "), "xyz"[axis]));
        const std::size_t a = root(i), b = root(*partner);
        first[std::max(a, b)] = std::min(a, b);
      }
    };
    join(box.min()[axis], box.max()[axis]);
    join(box.max()[axis], box.min()[axis]);
  }
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = root(i);
  return first;
}

/// A slot per group, by the first vertex of each, which every rank holds.
template <int dim>
void make_group_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
                      const std::vector<char>& moving, const std::vector<char>& selected) {
  const auto& mesh = builder.geometry.mesh;
  const GatheredVertices<dim> vertices = gather(mesh, moving);
  const auto first = periodic_groups(builder, *field.spec, box_of(builder, selected), vertices);
  std::vector<LocalIndex> slots(first.size());
  LocalIndex count = 0;
  for (std::size_t i = 0; i < first.size(); ++i) slots[i] = first[i] == i ? count++ : slots[first[i]];
  builder.replicate(field, count);
  for (std::size_t v = 0; v < moving.size(); ++v) {
    if (moving[v] == 0) continue;
    const auto at = std::ranges::lower_bound(vertices.ids, mesh.vertex_ids[v]) - vertices.ids.begin();
    field.shape_weights[v] = {{slots[at], 1.0}};
  }
}

} // namespace

template <int dim>
Eigen::AlignedBox<double, dim> box_of(const SlotBuilder<dim>& builder, const std::vector<char>& flags) {
  const auto& mesh = builder.geometry.mesh;
  Eigen::AlignedBox<double, dim> box;
  for (std::size_t vertex = 0; vertex < flags.size(); ++vertex)
    if (flags[vertex] != 0) box.extend(mesh.vertices[vertex]);
  Eigen::Matrix<double, dim, 1> low = box.min(), high = box.max();
  for (int i = 0; i < dim; ++i) {
    low[i] = mesh.comm->min(low[i]);
    high[i] = mesh.comm->max(high[i]);
  }
  return {low, high};
}

template <int dim>
void make_boundary_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
                         const std::vector<char>& selected) {
  const ParameterSpec& spec = *field.spec;
  const std::vector<char> boundary = vertices_of_facets(builder, spec, [](int) { return true; });
  const std::vector<char> moving = moving_vertices(builder, spec, boundary);
  if (spec.basis->periodic.empty()) {
    builder.add_vertex_slots(field, moving);
    for (std::size_t v = 0; v < moving.size(); ++v)
      if (moving[v] != 0) field.shape_weights[v] = {{field.slot_of_vertex[v], 1.0}};
  } else {
    make_group_slots(builder, field, moving, selected);
  }
  if (!spec.basis->extension) return;
  std::vector<char> leads = boundary;
  for (std::size_t v = 0; v < leads.size(); ++v)
    if (selected[v] == 0) leads[v] = 1;
  field.extension = std::make_shared<mesh_motion::BoundaryExtension<dim>>(builder.geometry.mesh, leads,
                                                                          *spec.basis->extension);
}

template Eigen::AlignedBox<double, 2> box_of(const SlotBuilder<2>&, const std::vector<char>&);
template Eigen::AlignedBox<double, 3> box_of(const SlotBuilder<3>&, const std::vector<char>&);
template void make_boundary_slots(const SlotBuilder<2>&, ParameterField<2>&, const std::vector<char>&);
template void make_boundary_slots(const SlotBuilder<3>&, ParameterField<3>&, const std::vector<char>&);

} // namespace recoil::app
