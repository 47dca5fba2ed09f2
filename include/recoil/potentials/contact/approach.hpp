#pragma once

#include <memory>
#include <vector>

#include "recoil/linalg/stencil_matrix.hpp"
#include "recoil/potentials/contact/barrier.hpp"

namespace recoil::potentials {

/// What a finite motion adds to the quadratic model of the barrier at the configuration that it starts from.
///
/// Each pair's gap is linear in the motion, g = d + n.(J p). Where the motion closes it, the barrier is
/// expanded about the gap that the pair is expected to end with instead of d, where its curvature is far
/// smaller or zero. fit() improves these gaps from a motion that was computed with the earlier ones: the new
/// gap is the one at which the barrier exerts the force that the model found.
template <int dim>
class Approach {
public:
  using Point = typename fem::CollisionSurface<dim>::Point;

  /// `pairs` as far apart as the motion may close, at the start of the motion; `barrier` must outlive it.
  Approach(const Barrier<dim>& barrier, std::shared_ptr<const ContactVertices<dim>> vertices,
           const std::vector<ContactPair<dim>>& pairs, double stiffness);

  const ContactVertices<dim>& vertices() const { return *vertices_; }

  /// Fits the expected gaps to a motion of vertices(). Returns for how many pairs on this rank the force has
  /// come to be another one, by more than a factor of two. Not collective.
  GlobalIndex fit(const std::vector<Point>& motion);

  /// Smallest gap that a pair on this rank is expected to be closed to; +infinity where none is. Not
  /// collective.
  double smallest_expected_gap() const;

  /// Gradient of the addition at `motion`, at all vertices here. Not collective.
  std::vector<Point> gradient(const std::vector<Point>& motion) const;
  /// H += its Hessian, without the rows and columns of prescribed components.
  void add_hessian(linalg::StencilMatrix& H) const;

  /// Where the vertices of lagged friction are expected to end.
  const std::vector<Point>& slid() const { return slid_; }
  void expect_slid(std::vector<Point> positions) { slid_ = std::move(positions); }

private:
  struct Stencil {
    int num_vertices;
    std::array<LocalIndex, 4> vertices;
    geometry::StencilVector<dim> slope; ///< dg/dx
    double gap, strength;               ///< d; stiffness times weight
    double expected;                    ///< gap that the barrier is expanded about; d where nothing is added
  };
  bool fit(Stencil& stencil, double gap) const;
  double gap_after(const Stencil& stencil, const std::vector<Point>& motion) const;
  double expected_gap(const Stencil& stencil, double force) const;

  const Barrier<dim>* barrier_;
  std::shared_ptr<const ContactVertices<dim>> vertices_;
  std::vector<Stencil> stencils_;
  std::vector<Point> slid_;
};

} // namespace recoil::potentials
