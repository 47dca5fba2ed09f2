#pragma once

#include <functional>
#include <span>
#include <vector>

#include "recoil/base/expression.hpp"
#include "recoil/fem/cell_geometry.hpp"
#include "recoil/linalg/block_matrix.hpp"
#include "recoil/potentials/potential.hpp"

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
  /// negative masses). `space` and `geometry` must outlive it. Not collective.
  MassMatrix(const fem::FunctionSpace<dim>& space, const fem::CellGeometry<dim>& geometry,
             const Density& density, MassLumping lumping);

  /// The multiple `diagonal` of the identity, which depends on no parameter.
  MassMatrix(const fem::FunctionSpace<dim>& space, double diagonal);

  /// Entries in the order of the node graph [kg].
  std::span<const double> entries() const { return entries_; }
  /// y += factor * M x on owned entries; x has ghosts. Not collective.
  void add_product(std::span<const double> x, double factor, std::span<double> y) const;
  /// y = M x.
  void multiply(std::span<const double> x, std::span<double> y) const;
  /// This rank's share of x' M y.
  double product(std::span<const double> x, std::span<const double> y) const;

  /// g += factor * p' (dM/dq) a for density and rest positions; each cell is counted by its owner. By the
  /// density of a cell (a uniform change of it): int p.a dX; by the vertices: rho (p.a) grad xi^b, where
  /// every quadrature point keeps its density: complete if the density does not depend on position inside a
  /// cell. p and a have ghosts. Not collective.
  void add_parameter_products(std::span<const double> p, std::span<const double> a, double factor,
                              parameters::PhysicalGradient<dim>& g) const;
  /// Adds the change along dq, the transpose of add_parameter_products(): y += factor * (dM/dq dq) x on owned
  /// entries; x has ghosts. Not collective.
  void add_parameter_tangent(std::span<const double> x, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const;

  const fem::FunctionSpace<dim>& space() const { return *space_; }
  const Density& density() const { return density_; }

private:
  const fem::FunctionSpace<dim>* space_;
  const fem::CellGeometry<dim>* geometry_ = nullptr;
  Density density_; ///< empty: the entries depend on no parameter
  MassLumping lumping_ = MassLumping::consistent;
  std::vector<double> entries_;
};

/// The inertia of a time step, 1/2 (u - u~)' M (u - u~), whose gradient is the scaled inertial force M (u -
/// u~) [the predictor u~ of stepping::History::predict].
template <int dim>
class Inertia final : public ElementPotential<dim> {
public:
  /// Both must outlive it.
  Inertia(const MassMatrix<dim>& mass, const linalg::Vector& predictor)
      : ElementPotential<dim>(mass.space()), mass_(&mass), predictor_(&predictor) {}

  std::string_view name() const override { return "inertia"; }
  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override;
  std::vector<parameters::Quantity> quantities() const override {
    return {parameters::quantities::density, parameters::quantities::vertices};
  }
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override;

private:
  std::vector<double> from_predictor(std::span<const double> u) const;

  const MassMatrix<dim>* mass_;
  const linalg::Vector* predictor_;
};

/// Positive lumped volumes of the owned nodes (density 1) [m^dim]: row sums for order 1, else the diagonal of
/// the consistent matrix scaled to each cell's volume [Hinton, Rock, Zienkiewicz 1976]. Not collective.
template <int dim>
std::vector<double> lumped_volumes(const fem::FunctionSpace<dim>& space,
                                   const fem::CellGeometry<dim>& geometry);

} // namespace recoil::potentials
