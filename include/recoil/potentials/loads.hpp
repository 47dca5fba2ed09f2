#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/fem/dirichlet.hpp"
#include "recoil/potentials/mass.hpp"
#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

/// A vector field of rest position and time.
template <int dim>
struct LoadField {
  std::function<Eigen::Matrix<double, dim, 1>(const ExpressionPoint&)> value;
  bool time_dependent = false; ///< false: evaluated once
};

/// An acceleration [m/s^2] in a local cell, of rest position and time.
template <int dim>
struct AccelerationField {
  std::function<Eigen::Matrix<double, dim, 1>(LocalIndex cell, const ExpressionPoint&)> value;
  bool time_dependent = false; ///< false: evaluated once
};

/// Which boundary facets a load acts on.
struct FacetSelection {
  bool all = false;
  std::vector<std::int32_t> ids;
};

/// How the nodal forces F of a dead load are made.
template <int dim>
class NodalForces {
public:
  virtual ~NodalForces() = default;
  /// Adds F at a step [N] to the owned entries.
  virtual void add(const StepContext& context, std::span<double> force) const = 0;
  /// y += factor * (dF/du_previous)' p on owned entries; p has ghosts.
  virtual void add_previous_product(const StepContext&, std::span<const double> /*p*/, double /*factor*/,
                                    std::span<double> /*y*/) const {}
  /// What F depends on.
  virtual std::vector<parameters::Quantity> quantities() const = 0;
  /// g += factor * p' dF/dq, as Potential::add_parameter_products.
  virtual void add_parameter_products(const StepContext& context, std::span<const double> p, double factor,
                                      parameters::PhysicalGradient<dim>& g) const = 0;
  // The transposes: y += factor * .. on owned entries; x has ghosts.
  /// .. dF/du_previous x.
  virtual void add_previous_tangent(const StepContext&, std::span<const double> /*x*/, double /*factor*/,
                                    std::span<double> /*y*/) const {}
  /// .. dF/dq dq.
  virtual void add_parameter_tangent(const StepContext& context, const parameters::PhysicalDirection<dim>& dq,
                                     double factor, std::span<double> y) const = 0;
};

/// Loads whose nodal forces do not depend on the displacement: Phi = -f F(t).u with the load factor f.
template <int dim>
class DeadLoad final : public Potential<dim> {
public:
  /// @param changes false: the forces are made once, at the first step.
  DeadLoad(std::string name, const fem::FunctionSpace<dim>& space,
           std::unique_ptr<const NodalForces<dim>> forces, bool changes);

  std::string_view name() const override { return name_; }
  void begin_step(const StepContext& context) override;
  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  void add_hessian(std::span<const double>, double, Projection, const linalg::HessianSink&) const override {}
  void add_hessian_product(std::span<const double>, std::span<const double>, double,
                           std::span<double>) const override {}
  void add_previous_product(std::span<const double> u, std::span<const double> p, double factor,
                            std::span<double> y) const override;
  std::vector<parameters::Quantity> quantities() const override { return forces_->quantities(); }
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override;
  void add_previous_tangent(std::span<const double> u, std::span<const double> x, double factor,
                            std::span<double> y) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override;

private:
  std::string name_;
  std::unique_ptr<const NodalForces<dim>> forces_;
  bool changes_, assembled_ = false;
  StepContext context_;
  std::vector<double> force_; ///< owned entries
};

// The derivatives of dead loads by rest positions hold the value of a field (density, acceleration, traction,
// magnitude) at every quadrature point: they are complete where the fields do not depend on position. Those
// by a field are by a change of it that is uniform in the cell or on the facet.

/// F_a = int rho b phi_a dX for an acceleration b [m/s^2], by quadrature of degree 2k on the rest mesh.
template <int dim>
std::unique_ptr<DeadLoad<dim>> make_body_force(const fem::FunctionSpace<dim>& space,
                                               std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                                               Density density, AccelerationField<dim> acceleration);

/// A factor per component, over time; empty: 1.
template <int dim>
using LoadHistory = std::function<Eigen::Matrix<double, dim, 1>(double time)>;

/// F_a = int t phi_a dS for a traction t per rest area [Pa], by quadrature of degree 2k on the rest facets.
/// @param traction t without the factors of `history`, which PhysicalGradient::traction is by.
template <int dim>
std::unique_ptr<DeadLoad<dim>> make_traction(const fem::FunctionSpace<dim>& space, FacetSelection facets,
                                             LoadField<dim> traction, LoadHistory<dim> history = {});

/// Of which shape the normals of a traction are: of the rest shape, or of that at the start of the step.
enum class LoadNormals { rest, step_start };

/// A traction along an outward normal n, per rest area: F_a = int s n phi_a dS. The derivative by s is put
/// into PhysicalGradient::pressure.
/// @param magnitude s [Pa], positive pulls outwards.
template <int dim>
std::unique_ptr<DeadLoad<dim>>
make_normal_traction(const fem::FunctionSpace<dim>& space,
                     std::shared_ptr<const fem::CellGeometry<dim>> geometry, FacetSelection facets,
                     std::function<double(const ExpressionPoint&)> magnitude, LoadNormals normals);

/// Follower pressure: force p n per deformed area along the outward normal, positive pulls outwards. Its
/// potential is -f p V with the load factor f and V = 1/dim int x.n da, the volume that the chosen facets
/// enclose (up to a constant for a surface whose rim does not move). V is integrated on the curved facets
/// themselves, exactly.
///
/// On an open surface whose rim may move p n is no gradient: its Jacobian has an unsymmetric part, which acts
/// on the nodes of the rim alone. V is then the volume that the surface sweeps on the straight way from its
/// shape at the start of the step, whose gradient is the force p n but at the rim, where it differs by that
/// part times half of the step's motion: by the first power of the length of the step.
///
/// The derivatives of its energy by quantities::pressure are the products with the force of each facet's own
/// volume f dV/dx, which is f p n da only in the sum over the facets.
///
/// @param pressure p at a time [Pa]; the same on all facets, or there is no potential.
/// @param prescribed one flag per local entry.
/// @param has_steps false: a rim that `prescribed` does not hold in all components is refused, since no
/// shorter step comes closer to p n.
/// @throws InputError on every rank, with `where`, for a rim that is refused. Collective.
template <int dim>
std::unique_ptr<Potential<dim>>
make_pressure(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
              FacetSelection facets, std::function<double(double time)> pressure,
              std::span<const char> prescribed, bool has_steps, const std::string& where);

} // namespace recoil::potentials
