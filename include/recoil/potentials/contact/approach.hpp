#pragma once

#include <memory>
#include <vector>

#include "recoil/potentials/contact/contact_state.hpp"

namespace recoil::potentials {

/// A quadratic model of contact for a finite motion of nodes and obstacles.
///
/// Each pair's gap is linear in the motion, g = d + n.(J p). Where the motion closes it, the barrier is
/// expanded about the gap that the pair is expected to end with instead of d, where its curvature is far
/// smaller or zero. fit() improves these gaps from a motion that was computed with the earlier ones: the new
/// gap is the one at which the barrier exerts the force that the model found. Lagged friction is expanded
/// about the sliding that it is expected to end with. Everything is collective unless it says otherwise.
template <int dim>
class Approach {
public:
  using Point = typename surface::Surface<dim>::Point;

  /// Models the pairs that (d, obstacle_motion) from (u, obstacles) and motions of free vertices that are not
  /// longer may close; none is expected to close yet. Updates `state`, which must outlive it, to u.
  /// `adhesive` has friction of its own, with the same surface, and may be null.
  Approach(ContactState<dim>& state, std::span<const double> u, std::span<const double> d,
           std::span<const double> obstacle_motion, double stiffness,
           const ContactState<dim>* adhesive = nullptr);

  /// Fits the expected gaps to the motion (d, obstacle_motion). Returns for how many pairs, over all ranks,
  /// the force has come to be another one, by more than a factor of two.
  GlobalIndex fit(std::span<const double> d, std::span<const double> obstacle_motion);
  /// Fits the expected sliding to the motion; none is expected before the first call.
  void fit_sliding(std::span<const double> d, std::span<const double> obstacle_motion);
  /// Smallest gap that a pair is expected to be closed to, over all ranks; +infinity where none is.
  double smallest_expected_gap() const;

  /// H += what the model adds to the projected Hessian of the barrier, and scale times the secants of
  /// friction. Not collective.
  void add_hessian(double scale, linalg::StencilSink& H) const;
  /// y += the gradient that goes with this matrix at the motion (d, obstacle_motion), at owned nodes.
  void add_gradient(double scale, std::span<const double> d, std::span<const double> obstacle_motion,
                    std::span<double> y) const;

private:
  struct Stencil {
    int num_vertices;
    std::array<LocalIndex, 4> vertices;
    geometry::StencilVector<dim> slope; ///< dg/dx
    double gap, strength;               ///< d; stiffness times weight
    double expected;                    ///< gap that the barrier is expanded about; d where nothing is added
  };
  const Barrier<dim>& barrier() const { return state_->barrier(); }
  /// The force of a pair of strength 1 at a distance [m].
  typename Barrier<dim>::NormalForce force_at(double gap) const {
    return barrier().force_per_weight(gap * gap);
  }
  bool fit(Stencil& stencil, double gap) const;
  double gap_after(const Stencil& stencil, const std::vector<Point>& motion) const;
  double expected_gap(const Stencil& stencil, double force) const;

  std::vector<Point> gradient(const std::vector<Point>& motion) const;

  ContactState<dim>* state_;
  std::shared_ptr<const surface::StencilVertices<dim>> vertices_;
  std::vector<Stencil> stencils_;
  /// Lagged friction, and where its vertices are expected to end.
  struct Sliding {
    const ContactState<dim>* state;
    std::vector<Point> end;
  };
  std::vector<Sliding> sliding_;
};

} // namespace recoil::potentials
