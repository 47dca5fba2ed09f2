#include "recoil/pieces/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_map>

#include <Eigen/Dense>

#include "pieces/cut_surface.hpp"
#include "recoil/base/error.hpp"
#include "recoil/cage/manifold.hpp"

namespace recoil::pieces {

namespace {

constexpr int attempts = 8;
constexpr double largest_move = 1e-7; ///< of fault vertices, over the extent of the body
constexpr double volume_tolerance = 1e-9;

/// Points, and facets by their numbers, as a mesh of its own whose vertices form fans.
bool make_manifold(std::span<const Point<3>> points, const std::vector<std::array<std::int32_t, 3>>& facets,
                   Piece<3>& piece, std::vector<std::int32_t>& sources) {
  auto manifold = cage::split_to_manifold(points, facets);
  piece.mesh = std::move(manifold.mesh);
  piece.ids.assign(manifold.vertex_sources.begin(), manifold.vertex_sources.end());
  sources = std::move(manifold.facet_sources);
  return manifold.is_closed;
}

bool make_manifold(std::span<const Point<2>> points, const std::vector<std::array<std::int32_t, 2>>& facets,
                   Piece<2>& piece, std::vector<std::int32_t>& sources) {
  for (std::size_t f = 0; f < facets.size(); ++f) sources.push_back(static_cast<std::int32_t>(f));
  piece.mesh = {{points.begin(), points.end()}, facets};
  for (std::size_t v = 0; v < points.size(); ++v) piece.ids.push_back(static_cast<std::int64_t>(v));
  return cage::is_closed_manifold(piece.mesh);
}

/// A piece of facets with numbers of the body; none if it is not closed.
template <int dim>
std::optional<Piece<dim>> assemble(std::int32_t label, const std::vector<Point<dim>>& points,
                                   const std::vector<PieceFacet<dim>>& facets) {
  std::unordered_map<std::int32_t, std::int32_t> numbers;
  std::vector<Point<dim>> own;
  std::vector<std::int32_t> globals;
  std::vector<std::array<std::int32_t, dim>> corners;
  for (const auto& facet : facets) {
    auto& facet_corners = corners.emplace_back();
    for (int k = 0; k < dim; ++k) {
      const auto [entry, is_new] =
          numbers.try_emplace(facet.vertices[k], static_cast<std::int32_t>(own.size()));
      if (is_new) own.push_back(points[facet.vertices[k]]), globals.push_back(facet.vertices[k]);
      facet_corners[k] = entry->second;
    }
  }
  Piece<dim> piece{label, {}, {}, {}, {}};
  std::vector<std::int32_t> sources;
  if (!make_manifold(own, corners, piece, sources)) return std::nullopt;
  for (auto& id : piece.ids)
    if (id >= 0) id = globals[id];
  for (const auto f : sources) {
    piece.neighbours.push_back(facets[f].neighbour);
    piece.parents.push_back(facets[f].parent);
  }
  return piece;
}

template <int dim>
std::vector<Piece<dim>> assemble_all(const CutSurfaces<dim>& surfaces) {
  std::vector<Piece<dim>> pieces;
  for (std::size_t label = 0; label < surfaces.of_label.size(); ++label) {
    if (surfaces.of_label[label].empty()) continue;
    auto piece = assemble<dim>(static_cast<std::int32_t>(label), surfaces.points, surfaces.of_label[label]);
    if (!piece) throw Degenerate{};
    pieces.push_back(std::move(*piece));
  }
  return pieces;
}

template <int dim>
std::vector<Point<dim>> move_at_random(std::vector<Point<dim>> points, double size, int attempt) {
  std::mt19937_64 random(attempt);
  for (auto& x : points)
    for (int k = 0; k < dim; ++k) x[k] += size * (std::ldexp(static_cast<double>(random() >> 11), -52) - 1);
  return points;
}

} // namespace

template <int dim>
std::int32_t label_at(const cage::CutCells<dim>& cells, const Point<dim>& x) {
  std::int32_t found = -1;
  double best = -1e-9; // least barycentric coordinate
  for (std::size_t c = 0; c < cells.cells.size(); ++c) {
    const auto& cell = cells.cells[c];
    Eigen::Matrix<double, dim, dim> edges;
    for (int k = 0; k < dim; ++k) edges.col(k) = cells.vertices[cell[k + 1]] - cells.vertices[cell[0]];
    const Point<dim> weights = edges.inverse() * (x - cells.vertices[cell[0]]);
    const double least = std::min(weights.minCoeff(), 1 - weights.sum());
    if (least > best) best = least, found = cells.labels[c];
  }
  if (found < 0) throw Degenerate{};
  return found;
}

template <int dim>
std::vector<Piece<dim>> pieces_of_cells(const cage::CutCells<dim>& cells) {
  CutSurfaces<dim> surfaces;
  surfaces.points = cells.vertices;
  for (const auto& facet : cage::interfaces(static_cast<const CellMesh<dim>&>(cells), cells.labels)) {
    surfaces.of_label.resize(
        std::max<std::size_t>(surfaces.of_label.size(), 1 + std::max(facet.below, facet.above)));
    surfaces.of_label[facet.below].push_back({facet.vertices, facet.above, -1});
    if (facet.above < 0) continue;
    auto turned = facet.vertices;
    std::swap(turned[0], turned[1]);
    surfaces.of_label[facet.above].push_back({turned, facet.below, -1});
  }
  try {
    return assemble_all(surfaces);
  } catch (const Degenerate&) {
    throw InputError("the cells do not conform: some facet belongs to more than two of them");
  }
}

template <int dim>
std::optional<std::vector<Piece<dim>>> cut_solid(const cage::Solid<dim>& solid,
                                                 const cage::CutCells<dim>& cells) {
  std::vector<cage::Interface<dim>> faults;
  for (const auto& facet : cage::interfaces(static_cast<const CellMesh<dim>&>(cells), cells.labels))
    if (facet.above >= 0) faults.push_back(facet);
  Eigen::AlignedBox<double, dim> box;
  for (const auto& x : solid.surface.vertices) box.extend(x);
  const double volume = moments(solid.surface).volume;
  for (int attempt = 1; attempt <= attempts; ++attempt) try {
      const auto moved = move_at_random(cells.vertices, largest_move * box.diagonal().norm(), attempt);
      auto pieces = assemble_all(cut_surfaces(solid, cells, moved, faults));
      double sum = 0;
      for (const auto& piece : pieces) sum += moments(piece.mesh).volume;
      if (std::abs(sum - volume) <= volume_tolerance * volume) return pieces;
    } catch (const Degenerate&) {
    }
  return std::nullopt;
}

template <int dim>
CutBody<dim> cut_body(const cage::Solid<dim>& solid, const cage::CutCells<dim>& cells,
                      const cage::SolidOptions& options, const std::string& where) {
  if (auto pieces = cut_solid(solid, cells)) return {solid, std::move(*pieces)};
  auto repaired = cage::repair_solid(solid.input, "cannot be cut as it is", options, where);
  if (auto pieces = cut_solid(repaired, cells)) return {std::move(repaired), std::move(*pieces)};
  throw InputError(where, "the cage does not contain the surface; make one from it, with more cells");
}

#define RECOIL_PIECES(dim)                                                                                   \
  template std::int32_t label_at(const cage::CutCells<dim>&, const Point<dim>&);                             \
  template std::vector<Piece<dim>> pieces_of_cells(const cage::CutCells<dim>&);                              \
  template std::optional<std::vector<Piece<dim>>> cut_solid(const cage::Solid<dim>&,                         \
                                                            const cage::CutCells<dim>&);                     \
  template CutBody<dim> cut_body(const cage::Solid<dim>&, const cage::CutCells<dim>&,                        \
                                 const cage::SolidOptions&, const std::string&);
RECOIL_PIECES(2)
RECOIL_PIECES(3)
#undef RECOIL_PIECES

} // namespace recoil::pieces
