#pragma once

#include <memory>
#include <span>

#include "recoil/linalg/vector.hpp"

namespace recoil::newton {

/// The space that positions live on: how to go from a point along a tangent direction, and back. Gradients,
/// directions, velocities and Hessians live in the tangent space, whose number of unknowns per node may
/// differ from that of the points. The defaults make all of it from retract() and difference().
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

  /// Sets owned and ghost entries of `d` to the direction that leads from `x` to `y`: R_x(d) = y, with R_x
  /// one to one where two positions of a step may lie. No communication.
  virtual void difference(const linalg::Vector& x, const linalg::Vector& y, linalg::Vector& d) const = 0;

  /// x <- R_x(s d), ghosts included. Default: retract(). Collective.
  virtual void move(linalg::Vector& x, double s, const linalg::Vector& d) const;

  /// The mean of `points` with `weights`, which add up to 1, ghosts included: R_{x_1}(sum_j w_j d_j) with
  /// R_{x_1}(d_j) = x_j. Collective.
  virtual void combine(std::span<const double> weights, std::span<const linalg::Vector* const> points,
                       linalg::Vector& result) const;
};

/// R_x(s d) = x + s d. Sums run in the order given; nothing communicates.
class Euclidean final : public Manifold {
public:
  void retract(const linalg::Vector& x, const linalg::Vector& d, double s,
               linalg::Vector& result) const override;
  void difference(const linalg::Vector& x, const linalg::Vector& y, linalg::Vector& d) const override;
  void move(linalg::Vector& x, double s, const linalg::Vector& d) const override { x.add(s, d); }
  void combine(std::span<const double> weights, std::span<const linalg::Vector* const> points,
               linalg::Vector& result) const override;
};

} // namespace recoil::newton
