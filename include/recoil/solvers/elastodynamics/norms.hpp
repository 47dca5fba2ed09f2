#pragma once

#include <string>
#include <vector>

#include "recoil/solvers/elastodynamics/problem.hpp"

namespace recoil::solvers {

/// Norms of the displacement over the rest mesh, by the quadrature of the stiffness (order 1: one point per
/// cell).
struct DisplacementNorms {
  double l2 = 0;      ///< (int |u|^2)^1/2
  double h1_semi = 0; ///< (int |grad u|^2)^1/2
  double h1 = 0;      ///< (l2^2 + h1_semi^2)^1/2
  double linf = 0;    ///< largest |u| at a quadrature point
  double l8 = 0;      ///< (int |u|^8)^1/8
};

/// Norms of u. Collective.
template <int dim>
DisplacementNorms displacement_norms(const fem::FunctionSpace<dim>& space,
                                     const fem::CellGeometry<dim>& geometry, const linalg::Vector& u);

/// Rest cell with the smallest det(grad x) / det(grad X) at a quadrature point of degree 2k.
struct WorstCell {
  GlobalIndex cell = -1;   ///< input id over all bodies
  GlobalIndex source = -1; ///< index in the mesh file of the body
  int body = -1;
  double ratio = 1;
  std::array<double, 3> position{}; ///< rest position of its first vertex [m]
};

/// The `count` most compressed cells over all ranks, the worst one first; fewer if there are no more.
/// Collective.
template <int dim>
std::vector<WorstCell> worst_cells(const fem::FunctionSpace<dim>& space,
                                   const fem::CellGeometry<dim>& geometry, const linalg::Vector& u,
                                   std::size_t count);

/// "element 7 of 'ball' near (1, 2, 0)". Not collective.
std::string describe(const WorstCell& worst, const std::vector<std::string>& body_names);

} // namespace recoil::solvers
