#pragma once

#include <memory>

#include "recoil/linalg/vector.hpp"

namespace recoil::newton {

/// The space that iterates live on: how to go from a point along a tangent direction. Gradients, directions
/// and Hessians live in the tangent space, whose number of unknowns per node may differ from that of the
/// points.
class Manifold {
public:
  virtual ~Manifold() = default;

  /// Layout of tangent vectors at points with the layout of `x`. Default: the same.
  virtual std::shared_ptr<const linalg::VectorLayout> tangent_layout(const linalg::Vector& x) const {
    return x.shared_layout();
  }

  /// Sets the owned entries of `result` to the retraction R_x(s d); R_x(0) = x, dR_x/ds(0) = d. `result` has
  /// the layout of `x` and is another object. No communication.
  virtual void retract(const linalg::Vector& x, const linalg::Vector& d, double s,
                       linalg::Vector& result) const = 0;
};

/// R_x(s d) = x + s d.
class Euclidean final : public Manifold {
public:
  void retract(const linalg::Vector& x, const linalg::Vector& d, double s,
               linalg::Vector& result) const override;
};

} // namespace recoil::newton
