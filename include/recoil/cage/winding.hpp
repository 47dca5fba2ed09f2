#pragma once

#include "recoil/cage/facet_mesh.hpp"

namespace recoil::cage {

/// The generalised winding number of a surface, w(q) = sum over its facets of the signed (solid) angle under
/// which q sees them / (4 pi, in 2D 2 pi) [Jacobson et al. 2013]: 1 inside and 0 outside of a closed one,
/// between these where it has holes. Facets far away count as one dipole [Barill et al. 2018]: nodes of a
/// tree farther than five times their radius.
template <int dim>
class WindingTree {
public:
  explicit WindingTree(const FacetMesh<dim>& surface);

  /// w at q; within 0.01 of the exact sum.
  double at(const Point<dim>& q) const;
  /// Whether |w(q)| > 1/2; a surface turned inside out encloses the same points.
  bool encloses(const Point<dim>& q) const { return std::abs(at(q)) > 0.5; }

private:
  using Corners = std::array<Point<dim>, dim>;
  struct Node {
    Point<dim> centre, dipole; ///< mean of the facets by area, sum of area times normal
    double radius;
    std::int32_t begin, end; ///< of its facets
    std::int32_t second;     ///< its second child, 0 for leaves; the first one follows it
  };
  std::int32_t build(std::int32_t begin, std::int32_t end);

  std::vector<Corners> facets_;
  std::vector<Node> nodes_;
};

/// The exact sum w(q) for one facet.
template <int dim>
double winding(const std::array<Point<dim>, dim>& facet, const Point<dim>& q);

} // namespace recoil::cage
