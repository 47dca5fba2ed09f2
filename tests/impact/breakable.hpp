#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include <fmt/format.h>

#include "fracture_modes/bars.hpp"
#include "pieces/shapes.hpp"
#include "recoil/app/breakable/breakable_shape.hpp"
#include "recoil/cage/cage.hpp"
#include "recoil/cage/manifold.hpp"
#include "recoil/cage/winding.hpp"

/// Shapes with fracture modes, made on one rank, and what must hold of their pieces.
namespace recoil::test {

template <int dim>
mesh::SimplexMesh simplex_mesh(const cage::CellMesh<dim>& cells) {
  mesh::SimplexMesh mesh;
  mesh.dim = dim;
  mesh.body_names = {"body"};
  for (const auto& x : cells.vertices) {
    mesh.vertices.emplace_back(Eigen::Vector3d::Zero()).template head<dim>() = x;
    mesh.vertex_point_id.push_back(0);
  }
  std::map<std::array<std::int32_t, dim>, int> uses;
  const auto face = [&](std::size_t cell, int opposite) {
    std::array<std::int32_t, dim> vertices;
    for (int i = 0, at = 0; i <= dim; ++i)
      if (i != opposite) vertices[at++] = cells.cells[cell][i];
    std::ranges::sort(vertices);
    return vertices;
  };
  for (std::size_t c = 0; c < cells.cells.size(); ++c) {
    auto& cell = mesh.cells.emplace_back();
    cell.fill(-1);
    std::ranges::copy(cells.cells[c], cell.begin());
    mesh.cell_body.push_back(0);
    mesh.cell_volume_id.push_back(0);
    mesh.cell_source.push_back(static_cast<std::int64_t>(c));
    for (int i = 0; i <= dim; ++i) ++uses[face(c, i)];
  }
  for (std::size_t c = 0; c < cells.cells.size(); ++c) {
    auto& ids = mesh.facet_ids.emplace_back();
    ids.fill(mesh::interior_facet);
    for (int i = 0; i <= dim; ++i)
      if (uses[face(c, i)] == 1) ids[i] = mesh::unselected_facet;
  }
  return mesh;
}

/// Modes and responses of cells.
template <int dim>
app::BreakableShape<dim> breakable_cells(cage::CellMesh<dim> cells, int modes, double blur) {
  namespace fm = solvers::fracture_modes;
  const parallel::Communicator comm(MPI_COMM_SELF);
  const Broken<dim> broken(comm, simplex_mesh<dim>(cells), {.count = modes});
  const fm::VertexMatrices<dim> matrices(broken.mesh);
  const auto prepared = fm::prepare_impacts(matrices, broken.graph, broken.modes, {.blur_length = blur});
  app::BreakableShape<dim> shape;
  shape.piece_of_cell.resize(cells.cells.size());
  for (std::size_t c = 0; c < cells.cells.size(); ++c)
    shape.piece_of_cell[broken.graph.cell_ids[c]] = prepared.piece_of_local[c];
  shape.model = prepared.model;
  for (const auto& mode : broken.modes.modes) shape.energies.push_back(mode.energy);
  shape.smoothing_length = app::mean_edge<dim>(cells);
  shape.mesh = std::move(cells);
  return shape;
}

/// A body in a cage.
inline app::BreakableShape<3> breakable_solid(const shapes::Shape& input, std::int64_t cells, int modes) {
  const cage::SolidOptions options{.repair_cells = 4 * cells};
  auto solid = cage::make_solid<3>(input.surface, options, input.name);
  auto cage = cage::make_cage<3>(solid, {.cells = cells}, input.name);
  Eigen::AlignedBox3d box;
  for (const auto& x : cage.mesh.vertices) box.extend(x);
  auto shape = breakable_cells<3>(std::move(cage.mesh), modes, 0.1 * box.diagonal().norm());
  shape.smoothing_length = cage.edge;
  shape.solid = std::move(solid);
  shape.solid_options = options;
  shape.surface.mesh = input.surface;
  shape.where = input.name;
  return shape;
}

/// What is wrong with the pieces of a body; empty if nothing is.
template <int dim>
std::string fault_of(const app::BrokenBody<dim>& broken, int fragments, double cell_volume) {
  double volume = 0, cells = 0;
  std::map<std::int64_t, cage::Point<dim>> points;
  std::map<std::pair<int, int>, double> areas;
  for (int n = 0; n < std::ssize(broken.pieces); ++n) {
    const auto& piece = broken.pieces[n].piece;
    const auto name = fmt::format("piece {} of {} ", n, broken.pieces.size());
    if (!cage::is_closed_manifold(piece.mesh)) return name + "is no closed manifold";
    if (!(broken.pieces[n].moments.volume > 0)) return name + "is turned inside out";
    if (piece.label != n) return name + "has another label";
    if (broken.pieces[n].fragment < 0 || broken.pieces[n].fragment >= fragments)
      return name + "is of no fragment";
    for (std::size_t f = 0; f < piece.mesh.facets.size(); ++f) {
      if (piece.neighbours[f] == n) return name + "is its own neighbour";
      if (piece.neighbours[f] < 0) continue;
      if (piece.neighbours[f] >= std::ssize(broken.pieces)) return name + "has a neighbour that is not there";
      cage::Point<dim> edge =
          piece.mesh.vertices[piece.mesh.facets[f][1]] - piece.mesh.vertices[piece.mesh.facets[f][0]];
      double area = edge.norm();
      if constexpr (dim == 3)
        area = edge.cross(piece.mesh.vertices[piece.mesh.facets[f][2]] -
                          piece.mesh.vertices[piece.mesh.facets[f][0]])
                   .norm();
      areas[{n, piece.neighbours[f]}] += area;
    }
    for (std::size_t v = 0; v < piece.ids.size(); ++v) {
      if (piece.ids[v] < 0) continue;
      const auto [entry, is_new] = points.try_emplace(piece.ids[v], piece.mesh.vertices[v]);
      if (!is_new && entry->second != piece.mesh.vertices[v])
        return name + "has a vertex that lies elsewhere";
    }
    volume += broken.pieces[n].moments.volume;
  }
  for (const auto& [sides, area] : areas) {
    const auto other = areas.find({sides.second, sides.first});
    if (other == areas.end() || std::abs(other->second - area) > 1e-9 * area)
      return fmt::format("faults between pieces {} and {} are not the same on both sides", sides.first,
                         sides.second);
  }
  for (std::size_t c = 0; c < broken.cells.cells.size(); ++c) cells += cage::volume<dim>(broken.cells, c);
  if (std::abs(cells - cell_volume) > 1e-12 * cell_volume) return "cells do not add up";
  if (std::abs(volume - broken.volume) > 1e-6 * broken.volume)
    return fmt::format("volumes {} of pieces do not add up to {}", volume, broken.volume);
  return {};
}

} // namespace recoil::test
