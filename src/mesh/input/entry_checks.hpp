#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mesh/input/overlaps.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/geometry_spec.hpp"
#include "recoil/mesh/input/body_mesh.hpp"

namespace recoil::mesh {

/// Runs `act`, whose InputErrors name the file, and puts the entry in front.
template <class Act>
auto naming_entry(const GeometrySpec& spec, const Act& act) {
  try {
    return act();
  } catch (const InputError& error) {
    if (spec.where.empty()) throw;
    throw InputError(spec.where, error.what());
  }
}

/// @throws InputError for an entry without a mesh, and for what bodies cannot have.
void check_source(const GeometrySpec& spec);

/// @throws InputError if the cells of an entry are not those of the dimension of the scene.
void check_dimension(const BodyMesh& mesh, int dim, const std::string& where);

/// Share of the product of three edges (two in 2D) below which find_boundary() takes the determinant of a
/// cell for rounding.
inline constexpr double facet_rounding = 1e-10;
/// The side of a facet on which the other corner of a cell lies, 1 or -1; 0 if that is nearly none, by
/// `rounding` as facet_rounding.
int side_of(const BodyMesh& mesh, const std::array<std::int32_t, 3>& facet, std::int32_t opposite,
            double rounding);

/// Facets of cells that are not connected lie on each other where vertices are there twice: a warning. Cells
/// that overlap have facets on each other that face the same way. @throws InputError for these.
void check_connections(const BodyMesh& mesh, const Boundary& boundary, const std::string& where);

/// The pairs of `facets` (edges end with -1) that check_connections() finds, of any order.
std::vector<Overlap> overlapping_facets(std::span<const Eigen::Vector3d> vertices,
                                        std::span<const std::array<std::int32_t, 3>> facets, int dim);
/// Its warning of `count` pairs, of which one is shown by its cells.
std::string unconnected_warning(const std::string& where, int dim, std::int64_t count,
                                const std::array<std::int64_t, 2>& cells, const Eigen::Vector3d& place);

} // namespace recoil::mesh
