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

/// Which boundary facets a load acts on.
struct FacetSelection {
  bool all = false;
  std::vector<std::int32_t> ids;
};

/// Loads whose nodal forces do not depend on the displacement: Phi = -f.F(t).u with the load factor f.
template <int dim>
class DeadLoad final : public Potential<dim> {
public:
  /// Adds the nodal forces [N] at a step to the owned entries.
  using Assemble = std::function<void(const StepContext&, std::span<double> force)>;

  DeadLoad(std::string name, const fem::FunctionSpace<dim>& space, Assemble assemble, bool changes);

  std::string_view name() const override { return name_; }
  void begin_step(const StepContext& context) override;
  double value(std::span<const double> u) const override;
  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override;
  void add_hessian(std::span<const double>, double, Projection, fem::ElementAssembler<dim>&) const override {}

private:
  std::string name_;
  Assemble assemble_;
  bool changes_, assembled_ = false;
  double load_factor_ = 1;
  std::vector<double> force_; ///< owned entries
};

/// F_a = int rho b phi_a dX for an acceleration b [m/s^2], by quadrature of degree 2k on the rest mesh.
template <int dim>
std::unique_ptr<DeadLoad<dim>> make_body_force(const fem::FunctionSpace<dim>& space,
                                               std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                                               Density density, LoadField<dim> acceleration);

/// F_a = int t phi_a dS for a traction t per rest area [Pa], by quadrature of degree 2k on the rest facets.
template <int dim>
std::unique_ptr<DeadLoad<dim>> make_traction(const fem::FunctionSpace<dim>& space, FacetSelection facets,
                                             LoadField<dim> traction);

/// A traction along the outward normal n of the shape at the start of the step, per rest area: F_a = int s n
/// phi_a dS.
/// @param magnitude s [Pa], positive pulls outwards.
template <int dim>
std::unique_ptr<DeadLoad<dim>> make_normal_traction(const fem::FunctionSpace<dim>& space,
                                                    std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                                                    FacetSelection facets,
                                                    std::function<double(const ExpressionPoint&)> magnitude);

} // namespace recoil::potentials
