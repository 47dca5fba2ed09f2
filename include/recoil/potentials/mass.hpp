#pragma once

#include <functional>
#include <span>
#include <vector>

#include "recoil/base/expression.hpp"
#include "recoil/fem/cell_geometry.hpp"
#include "recoil/fem/function_space.hpp"
#include "recoil/linalg/block_matrix.hpp"
#include "recoil/parameters/physical_gradient.hpp"

namespace recoil::potentials {

/// How the density is known: at a point of a local cell, [kg/m^3] (2D: [kg/m^2]).
using Density = std::function<double(LocalIndex cell, const ExpressionPoint& rest_position)>;

enum class MassLumping { consistent, row_sum };

/// Mass matrix M_ab = int rho phi_a phi_b dX, the same for every component: one number per entry of the
/// space's node graph, rows of owned nodes. Quadrature is exact to degree 2k for constant density.
template <int dim>
class MassMatrix {
public:
  /// @param lumping row_sum puts the row sums on the diagonal (order 1 only: higher orders give zero or
  /// negative masses). Not collective.
  MassMatrix(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
             const Density& density, MassLumping lumping);

  /// The multiple `diagonal` of the identity.
  MassMatrix(const fem::FunctionSpace<dim>& space, double diagonal);

  /// Entries in the order of the node graph [kg].
  std::span<const double> entries() const { return entries_; }
  /// y = M x on owned entries; x has ghosts. Not collective.
  void multiply(std::span<const double> x, std::span<double> y) const;
  /// This rank's share of x' M y.
  double product(std::span<const double> x, std::span<const double> y) const;

private:
  const fem::FunctionSpace<dim>* space_;
  std::vector<double> entries_;
};

/// g += factor * p' (dM/dq) a for density and rest positions, with M as built from the same arguments; each
/// cell is counted by its owner. By the density of a cell (a uniform change of it): int p.a dX; by the
/// vertices: rho (p.a) grad xi^b, where every quadrature point keeps its density: complete
/// if the density does not depend on position inside a cell. p and a have ghosts. Not collective.
template <int dim>
void add_mass_parameter_products(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
                                 const Density& density, MassLumping lumping, std::span<const double> p,
                                 std::span<const double> a, double factor,
                                 parameters::PhysicalGradient<dim>& g);

/// Positive lumped volumes of the owned nodes (density 1) [m^dim]: row sums for order 1, else the diagonal of
/// the consistent matrix scaled to each cell's volume [Hinton, Rock, Zienkiewicz 1976]. Not collective.
template <int dim>
std::vector<double> lumped_volumes(const fem::FunctionSpace<dim>& space,
                                   const fem::CellGeometry<dim>& geometry);

} // namespace recoil::potentials
