#pragma once

#include <memory>
#include <vector>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/parameters/cell_field.hpp"
#include "recoil/potentials/laws/law.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

/// Stress and energy at one quadrature point.
template <int dim>
struct PointStress {
  SquareMatrix<dim> cauchy; ///< [Pa]
  double energy_density;    ///< per rest volume [J/m^3]
  double weight;            ///< quadrature weight on the rest mesh [m^dim]
};

/// What an integrand of stresses may depend on at a point.
template <int dim>
struct PointState {
  SquareMatrix<dim> F;   ///< deformation gradient
  SquareMatrix<dim> P;   ///< first Piola-Kirchhoff stress [Pa]
  double energy_density; ///< W per rest volume [J/m^3]
  bool small_strain;     ///< of a law of linear theory, whose Cauchy stress is P itself
};

/// A scalar function j(F, P, W) of the state of a point.
template <int dim>
class PointFunction {
public:
  struct Derivatives {
    SquareMatrix<dim> by_F = SquareMatrix<dim>::Zero(); ///< at fixed P and W
    SquareMatrix<dim> by_P = SquareMatrix<dim>::Zero();
    double by_W = 0;
  };
  virtual ~PointFunction() = default;
  virtual double value(const PointState<dim>& point) const = 0;
  virtual Derivatives derivatives(const PointState<dim>& point) const = 0;
};

/// Elastic energy that can also be looked at point by point.
template <int dim>
class ElasticPotential : public ElementPotential<dim> {
public:
  using ElementPotential<dim>::ElementPotential;

  /// The local cells that the potential covers, all of one order.
  virtual const std::vector<LocalIndex>& cells() const = 0;
  /// Stress at every quadrature point of the `index`-th of cells(). @pre u feasible.
  virtual std::vector<PointStress<dim>> stress(std::span<const double> u, std::size_t index) const = 0;

  /// This rank's share of J = int j dX over the selected cells: one flag per local cell of the mesh, empty =
  /// all. By the quadrature of the energy.
  virtual double integrate(std::span<const double> u, const PointFunction<dim>& j,
                           std::span<const char> selected) const = 0;
  /// g += factor * dJ/du on owned entries.
  virtual void add_integral_gradient(std::span<const double> u, const PointFunction<dim>& j,
                                     std::span<const char> selected, double factor,
                                     std::span<double> g) const = 0;
  /// g += factor * dJ/dq at fixed u: constants of the law and rest positions of the vertices.
  virtual void add_integral_parameter_products(std::span<const double> u, const PointFunction<dim>& j,
                                               std::span<const char> selected, double factor,
                                               parameters::PhysicalGradient<dim>& g) const = 0;
};

/// The hyperelastic energy sum_q w_q W(I + grad u(x_q)) of a law over `cells`, which must all have order
/// `order`. u is infeasible where a cell is inverted, unless the law is one of linear theory.
/// Derivatives by the constants of a cell are by a change that is the same at all its points; those by rest
/// positions let every point keep its constants.
/// @param law one of laws().
/// @param constants one set per cell, or per quadrature point (FunctionSpace::stiffness_degree), in the order
/// of LawInfo::parameters.
template <int dim>
std::unique_ptr<ElasticPotential<dim>> make_elastic(const LawInfo& law, const fem::FunctionSpace<dim>& space,
                                                    std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                                                    int order, std::vector<LocalIndex> cells,
                                                    parameters::CellField constants);

} // namespace recoil::potentials
