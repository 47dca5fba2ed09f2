#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/linalg/block_sink.hpp"
#include "recoil/newton/objective.hpp"
#include "recoil/parameters/physical_gradient.hpp"

namespace recoil::potentials {

using newton::Projection;

/// What changes from step to step for the potentials of one time step.
struct StepContext {
  double time = 0; ///< at the end of the step [s]; 1 in statics
  double dt = 0;   ///< length of the step [s]; 0 in statics
  double load_factor =
      1; ///< scales loads and prescribed values; below 1 on the way of a repeated static solve
  std::span<const double> previous; ///< displacement at the start of the step, owned and ghost entries [m]
};

/// One term Phi of the energy, a function of the nodal displacements u (owned entries, then ghosts;
/// node-major, dim components [m]; ghosts current). The incremental potential of a time step is the sum of
/// these, each with a factor. Ranks give their shares of sums; update() is collective, and so may be what
/// follows it except value(): all ranks hold the same potentials and call them in the same order.
template <int dim>
class Potential {
public:
  virtual ~Potential() = default;
  virtual std::string_view name() const = 0;

  /// Tells the start of a step (or of its repetition). The spans in `context` must stay valid until the next
  /// call. May throw on this rank only: callers agree on that.
  virtual void begin_step(const StepContext&) {}
  /// Brings what Phi keeps of u (the pairs in contact) up to date. The functions below are for the u of the
  /// last call. Collective.
  virtual void update(std::span<const double> /*u*/) {}
  /// This rank's share of Phi [J] (per unit thickness in 2D); the sum over ranks is Phi. +infinity if u is
  /// infeasible here. Not collective.
  virtual double value(std::span<const double> u) const = 0;
  /// g += factor * dPhi/du on owned entries [N].
  virtual void add_gradient(std::span<const double> u, double factor, std::span<double> g) const = 0;
  /// H += factor * d2Phi/du2, rows of owned nodes. Not collective.
  virtual void add_hessian(std::span<const double> u, double factor, Projection projection,
                           const linalg::HessianSink& H) const = 0;
  /// y += factor * (d/du dPhi/du)' p on owned entries, prescribed ones included, without projection. `p` has
  /// ghosts.
  virtual void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                                   std::span<double> y) const = 0;
  /// Is d/du dPhi/du more than the symmetric matrix of add_hessian()? Then add_unsymmetric_product() gives
  /// the rest, transposed: y += factor * (d/du dPhi/du - H)' p.
  virtual bool has_unsymmetric_part() const { return false; }
  virtual void add_unsymmetric_product(std::span<const double> /*p*/, double /*factor*/,
                                       std::span<double> /*y*/) const {}
  /// This rank's share of the sum of squares of the rounding errors in the terms of value(u) [J^2], where
  /// they exceed that of the sum itself: rotated cells cancel energies of the size of their stiffness.
  virtual double squared_round_off(std::span<const double>) const { return 0; }
  /// Largest t in [0, 1] such that u + s du is feasible on this rank for all s < t, as far as this potential
  /// can tell. Not collective.
  virtual double max_step(std::span<const double>, std::span<const double>) const { return 1; }
  /// This rank's share of the work that obstacles, which are no nodes, do against the forces of Phi from the
  /// start of the step to u [J].
  virtual double obstacle_work() const { return 0; }

  /// y += factor * (d/du_previous dPhi/du)' p on owned entries: how the forces at the end of the step depend
  /// on the displacement at its start (StepContext::previous). `p` has ghosts.
  virtual void add_previous_product(std::span<const double> /*u*/, std::span<const double> /*p*/,
                                    double /*factor*/, std::span<double> /*y*/) const {}
  /// The physical quantities that Phi depends on besides the state.
  virtual std::vector<parameters::Quantity> quantities() const { return {}; }
  /// g += factor * p' d(dPhi/du)/dq for each of quantities() with an array, at fixed u and previous
  /// displacement; each cell and facet is counted by the owner of its cell. `p` has ghosts.
  virtual void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                                      parameters::PhysicalGradient<dim>& g) const = 0;

  // The tangent-linear products, of which those above are the transposes: y += factor * .. on owned entries;
  // `x` has ghosts.

  /// .. d/du_previous dPhi/du x.
  virtual void add_previous_tangent(std::span<const double> /*u*/, std::span<const double> /*x*/,
                                    double /*factor*/, std::span<double> /*y*/) const {}
  /// .. (d/du dPhi/du - H) x, with H of add_hessian().
  virtual void add_unsymmetric_tangent(std::span<const double> /*x*/, double /*factor*/,
                                       std::span<double> /*y*/) const {}
  /// .. d(dPhi/du)/dq dq for all of quantities() that change, at fixed u and previous displacement.
  virtual void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                                     double factor, std::span<double> y) const = 0;
};

/// A potential whose Hessian consists of element matrices of a space.
template <int dim>
class ElementPotential : public Potential<dim> {
public:
  /// `space` must outlive it.
  explicit ElementPotential(const fem::FunctionSpace<dim>& space) : space_(&space) {}

  const fem::FunctionSpace<dim>& space() const { return *space_; }
  /// Multiplies the element matrices one by one; nothing is assembled.
  void add_hessian_product(std::span<const double> u, std::span<const double> p, double factor,
                           std::span<double> y) const override;

private:
  const fem::FunctionSpace<dim>* space_;
};

} // namespace recoil::potentials
