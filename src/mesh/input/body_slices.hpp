#pragma once

#include <string>

#include "mesh/input/shape_by_numbers.hpp"
#include "recoil/mesh/input/body_mesh.hpp"
#include "recoil/parallel/communicator.hpp"

/// Bodies of which every rank holds some consecutive cells, in the order of ranks, as a BodyMesh with its
/// PlaceInBody. The vertices of a slice keep the order of their numbers in the body: whatever compares
/// numbers of vertices does the same on a slice as on the whole. All functions are collective.
namespace recoil::mesh {

/// Replaces the numbers of vertices in `cells` by their places in the ascending list of those that occur,
/// which is returned. Not collective.
std::vector<std::int32_t> number_locally(std::vector<std::array<std::int32_t, 4>>& cells, int dim);

/// Gives a slice those facets in groups of which it has all vertices, in its numbers. Not collective.
void keep_facets(const std::vector<std::array<std::int32_t, 3>>& facets,
                 const std::vector<std::int32_t>& tags, BodyMesh& mesh);

/// The slice of a built-in shape, made without the rest.
BodyMesh slice_of_shape(const parallel::Communicator& comm, const ShapeByNumbers& shape);

/// The slices of a body that the first rank holds whole. Facets in groups go to the slices that have all of
/// their vertices. @param dim of the body, on all ranks.
BodyMesh scatter_body(const parallel::Communicator& comm, int dim, BodyMesh&& whole);

/// refine() on slices; children stay where their parents are.
/// @throws InputError on every rank, as refine().
void refine_slices(const parallel::Communicator& comm, BodyMesh& mesh, int levels, const std::string& where);

/// find_boundary() on slices, of a body that has been found sound or is so by construction: that a facet is
/// shared by more than two cells is seen within one slice only.
/// @param numbered whether BoundaryFacet::number and Boundary::num_all_facets are wanted; else they are those
/// of the slice.
/// @throws InputError on every rank, as find_boundary().
Boundary find_boundary_of_slices(const parallel::Communicator& comm, const BodyMesh& mesh, bool numbered,
                                 const std::string& where);

} // namespace recoil::mesh
