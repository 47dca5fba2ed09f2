#pragma once

#include <array>
#include <span>
#include <vector>

namespace recoil::geometry {

/// Equispaced lattice of a reference simplex with vertices 0..dim: the points with barycentric coordinates
/// alpha / order, alpha a multi-index of dim + 1 non-negative integers that sum to the order.
///
/// Lattice points are grouped by the sub-simplex ("entity") that contains them in its interior: vertices,
/// edges, faces, interior; entities of one dimension in lexicographic order of their vertex tuples ((0,1),
/// (0,2), .. (1,2), ..), the points of one entity by descending multi-index, so along an edge from its first
/// to its second vertex. A lattice restricted to a facet is the facet's own lattice (facet_nodes). Order 0
/// has one point with multi-index zero.
template <int dim>
class SimplexLattice {
public:
  using MultiIndex = std::array<int, dim + 1>;

  /// @param order 0..12.
  explicit SimplexLattice(int order);

  int order() const { return order_; }
  int size() const { return multi_indices_.size(); }
  const MultiIndex& multi_index(int point) const { return multi_indices_[point]; }
  /// The point with the multi-index `alpha`, whose entries must sum to the order.
  int index(const MultiIndex& alpha) const { return lookup_[key(alpha)]; }

  /// Number of sub-simplices of dimension `entity_dim` (0: vertices .. dim: the simplex itself).
  static int num_entities(int entity_dim);
  /// Vertices of a sub-simplex, ascending; entity_dim + 1 of them.
  static std::span<const int> entity_vertices(int entity_dim, int entity);
  /// Lattice points inside each entity of dimension `entity_dim`.
  int points_per_entity(int entity_dim) const;
  /// First lattice point of an entity; its points_per_entity points follow each other.
  int first_point(int entity_dim, int entity) const;
  /// Points on the facet opposite to vertex `facet`, in the order of SimplexLattice<dim - 1> on its ascending
  /// vertices.
  std::vector<int> facet_points(int facet) const;

private:
  int key(const MultiIndex& alpha) const {
    int k = 0;
    for (int i = 1; i <= dim; ++i) k = k * (order_ + 1) + alpha[i];
    return k;
  }

  int order_;
  std::vector<MultiIndex> multi_indices_;
  std::vector<int> lookup_;
};

extern template class SimplexLattice<1>;
extern template class SimplexLattice<2>;
extern template class SimplexLattice<3>;

} // namespace recoil::geometry
