#pragma once

#include <array>
#include <vector>

namespace recoil::fem {

/// Splits a cell of the given order into order^dim linear cells on its lattice, each with the orientation of
/// the cell itself (positive in reference coordinates). Edgewise subdivision [Edelsbrunner, Grayson 2000]: on
/// a facet it is the subdivision of the facet, so neighbours with sorted vertices agree. Entries are local
/// node numbers.
template <int dim>
std::vector<std::array<int, dim + 1>> subdivide_cell(int order);

/// Splits the facet opposite to vertex `facet` into order^(dim - 1) linear facets oriented like its ascending
/// vertices (fem::outward_sign). Entries are local node numbers of the cell.
template <int dim>
std::vector<std::array<int, dim>> subdivide_facet(int order, int facet);

/// For each node of the VTK/XDMF cell (triangle, quadratic triangle, tetrahedron, quadratic tetrahedron), our
/// local node number. `mirrored` exchanges the last two vertices, for cells with negative determinant.
/// @throws InputError for orders above 2 (subdivide those).
std::vector<int> vtk_nodes(int dim, int order, bool mirrored = false);

} // namespace recoil::fem
