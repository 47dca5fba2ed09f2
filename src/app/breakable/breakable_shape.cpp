#include "recoil/app/breakable/breakable_shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <Eigen/Geometry>

#include "app/breakable/join_crumbs.hpp"
#include "recoil/base/error.hpp"
#include "recoil/cage/cut_cells.hpp"
#include "recoil/geometry/closest_points.hpp"

namespace recoil::app {

namespace {

namespace fm = solvers::fracture_modes;

template <int dim>
std::vector<std::array<std::int32_t, dim>> boundary_facets(const cage::CellMesh<dim>& mesh) {
  const std::vector<std::int32_t> one_label(mesh.cells.size(), 0);
  std::vector<std::array<std::int32_t, dim>> facets;
  for (const auto& facet : cage::interfaces<dim>(mesh, one_label)) facets.push_back(facet.vertices);
  return facets;
}

template <int dim>
Eigen::Vector3d in_space(const cage::Point<dim>& x) {
  Eigen::Vector3d result = Eigen::Vector3d::Zero();
  result.template head<dim>() = x;
  return result;
}

/// The point of a facet nearest to x, as weights of its corners.
template <int dim>
Eigen::Matrix<double, dim, 1> nearest_weights(const cage::CellMesh<dim>& mesh,
                                              const std::array<std::int32_t, dim>& facet,
                                              const cage::Point<dim>& x) {
  geometry::StencilPoints<dim> points = geometry::StencilPoints<dim>::Zero();
  points.col(0) = x;
  for (int k = 0; k < dim; ++k) points.col(k + 1) = mesh.vertices[facet[k]];
  const auto kind = dim == 3 ? geometry::StencilKind::vertex_face : geometry::StencilKind::vertex_edge;
  return -geometry::closest_points<dim>(kind, points).weights.template segment<dim>(1);
}

template <int dim>
const cage::FacetMesh<dim>& input_of(const BreakableShape<dim>& shape) {
  if constexpr (dim == 2)
    return shape.outline;
  else
    return shape.surface.mesh;
}

/// The pieces of the solid, or of a repaired one where it cannot be cut as it is.
template <int dim>
std::vector<pieces::Piece<dim>> cut_solid_or_repaired(BreakableShape<dim>& shape, BrokenBody<dim>& broken) {
  const cage::Solid<dim>* solid = &*shape.solid;
  auto parts = pieces::cut_solid<dim>(*solid, broken.cells);
  if (!parts) {
    if (!shape.repaired)
      shape.repaired = cage::repair_solid<dim>(input_of(shape), "cannot be cut as it is", shape.solid_options,
                                               shape.where);
    solid = &*shape.repaired;
    parts = pieces::cut_solid<dim>(*solid, broken.cells);
  }
  if (!parts)
    throw InputError(shape.where, "the cage does not contain the surface; make the modes again with more "
                                  "elements in the cage");
  broken.volume = pieces::moments<dim>(solid->surface).volume;
  broken.repair = solid->repair;
  return std::move(*parts);
}

} // namespace

template <int dim>
cage::FacetMesh<dim> surface_of(const BreakableShape<dim>& shape) {
  if (shape.solid) return shape.solid->surface;
  return {shape.mesh.vertices, boundary_facets(shape.mesh)};
}

template <int dim>
double mean_edge(const cage::CellMesh<dim>& mesh) {
  double sum = 0;
  for (const auto& cell : mesh.cells)
    for (int i = 0; i <= dim; ++i)
      for (int j = 0; j < i; ++j) sum += (mesh.vertices[cell[i]] - mesh.vertices[cell[j]]).norm();
  return sum / (double(mesh.cells.size()) * (dim * (dim + 1) / 2));
}

template <int dim>
HitFinder<dim>::HitFinder(const BreakableShape<dim>& shape)
    : shape_(&shape), facets_(boundary_facets(shape.mesh)), first_reach_(mean_edge(shape.mesh)) {
  std::vector<Eigen::AlignedBox3d> boxes;
  for (const auto& facet : facets_) {
    auto& box = boxes.emplace_back();
    for (const auto v : facet) box.extend(in_space<dim>(shape.mesh.vertices[v]));
  }
  tree_.emplace(std::move(boxes));
}

template <int dim>
cage::Point<dim> HitFinder<dim>::normal(const std::array<std::int32_t, dim>& facet) const {
  const auto& x = shape_->mesh.vertices;
  const cage::Point<dim> edge = x[facet[1]] - x[facet[0]];
  if constexpr (dim == 2)
    return cage::Point<2>(edge.y(), -edge.x()).normalized();
  else
    return edge.cross(x[facet[2]] - x[facet[0]]).normalized();
}

template <int dim>
Hit<dim> HitFinder<dim>::nearest(const cage::Point<dim>& x) const {
  double reach = first_reach_, least = std::numeric_limits<double>::infinity();
  Hit<dim> hit;
  std::int32_t best = -1;
  Eigen::Matrix<double, dim, 1> best_weights;
  for (; best < 0 || least > reach; reach *= 2) {
    const Eigen::Vector3d at = in_space<dim>(x), span = Eigen::Vector3d::Constant(reach);
    for (const auto f : tree_->meeting({at - span, at + span})) {
      const auto weights = nearest_weights<dim>(shape_->mesh, facets_[f], x);
      cage::Point<dim> place = cage::Point<dim>::Zero();
      for (int k = 0; k < dim; ++k) place += weights[k] * shape_->mesh.vertices[facets_[f][k]];
      if (const double distance = (place - x).norm(); distance < least) {
        least = distance;
        best = f;
        best_weights = weights;
        hit.place = place;
      }
    }
  }
  hit.distance = least;
  hit.normal = normal(facets_[best]);
  hit.point = {{0, 0, 0, 0}, {0, 0, 0, 0}};
  for (int k = 0; k < dim; ++k) {
    const auto& ids = shape_->model.vertices;
    hit.point.vertices[k] =
        static_cast<int>(std::ranges::lower_bound(ids, GlobalIndex(facets_[best][k])) - ids.begin());
    hit.point.weights[k] = best_weights[k];
  }
  return hit;
}

template <int dim>
std::optional<Hit<dim>> HitFinder<dim>::vertex(GlobalIndex id) const {
  const auto& ids = shape_->model.vertices;
  const auto found = std::ranges::lower_bound(ids, id);
  if (found == ids.end() || *found != id) return {};
  Hit<dim> hit{{{static_cast<int>(found - ids.begin()), 0, 0, 0}, {1, 0, 0, 0}},
               shape_->mesh.vertices[id],
               cage::Point<dim>::Zero()};
  for (const auto& facet : facets_)
    if (std::ranges::find(facet, static_cast<std::int32_t>(id)) != facet.end()) hit.normal += normal(facet);
  hit.normal.normalize();
  return hit;
}

template <int dim>
std::vector<FragmentMotion<dim>>
fragment_motions(const fm::ImpactModel& model, const fm::ImpactSolver& solver, std::span<const int> fragments,
                 const cage::Point<dim>& velocity) {
  std::vector<FragmentMotion<dim>> motions(solver.num_fragments(), {0, 0, 0, velocity});
  for (int p = 0; p < model.num_pieces; ++p) {
    FragmentMotion<dim>& motion = motions[fragments[p]];
    motion.density += model.masses[p]; // the mass, first
    motion.volume += model.volumes[p];
    motion.amplitude += model.masses[p] * solver.amplitudes()[p];
  }
  for (auto& motion : motions) {
    motion.amplitude /= motion.density;
    motion.density /= motion.volume;
    motion.velocity *= motion.amplitude;
  }
  return motions;
}

template <int dim>
BrokenBody<dim> break_body(BreakableShape<dim>& shape, std::span<const int> fragments) {
  std::vector<std::int32_t> labels;
  for (const auto piece : shape.piece_of_cell) labels.push_back(fragments[piece]);
  const auto membership = pieces::smooth_labels<dim>(shape.mesh, labels, shape.smoothing_length);
  BrokenBody<dim> broken;
  broken.cells = pieces::cut_along_envelope<dim>(shape.mesh, membership);
  std::vector<pieces::Piece<dim>> parts =
      shape.solid ? cut_solid_or_repaired(shape, broken) : pieces::pieces_of_cells<dim>(broken.cells);
  if (!shape.solid)
    for (std::size_t c = 0; c < shape.mesh.cells.size(); ++c)
      broken.volume += cage::volume<dim>(shape.mesh, c);
  std::vector<int> sources;
  for (auto& part : connected_parts<dim>(std::move(parts), sources)) {
    auto moments = pieces::moments<dim>(part.mesh);
    broken.pieces.push_back({std::move(part), sources[broken.pieces.size()], moments});
  }
  join_crumbs<dim>(broken.pieces, shape.least_piece * broken.volume);
  return broken;
}

#define RECOIL_BREAKABLE(dim)                                                                                \
  template cage::FacetMesh<dim> surface_of(const BreakableShape<dim>&);                                      \
  template double mean_edge(const cage::CellMesh<dim>&);                                                     \
  template class HitFinder<dim>;                                                                             \
  template std::vector<FragmentMotion<dim>> fragment_motions(                                                \
      const fm::ImpactModel&, const fm::ImpactSolver&, std::span<const int>, const cage::Point<dim>&);       \
  template BrokenBody<dim> break_body(BreakableShape<dim>&, std::span<const int>);
RECOIL_BREAKABLE(2)
RECOIL_BREAKABLE(3)
#undef RECOIL_BREAKABLE

} // namespace recoil::app
