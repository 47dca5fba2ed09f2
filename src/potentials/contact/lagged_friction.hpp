#pragma once

#include "recoil/geometry/friction_smoothing.hpp"
#include "recoil/potentials/contact/contact_pair.hpp"

namespace recoil::potentials {

/// Friction Phi = N f0(|w|), w = (I - n n') Gamma s, of one lagged term of the barrier with the coefficient
/// 1: the normal force N, the weights Gamma of the closest points and the normal n belong to the positions
/// `lagged` was taken at; the columns of s are the sliding of its vertices [Li et al. 2020, section 5].
template <int dim>
class LaggedFriction {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  LaggedFriction(const ContactPair<dim>& lagged, const geometry::StencilPoints<dim>& sliding, double eta)
      : lagged_(&lagged), vertex_sliding_(sliding), normal_(lagged.closest.separation.normalized()),
        sliding_(sliding * lagged.closest.weights), tangential_(tangential_part(sliding_)),
        f1_over_y_(geometry::friction_f1_over_y(tangential_.norm(), eta)),
        slope_over_y_(geometry::friction_f1_over_y_slope_over_y(tangential_.norm(), eta)) {}

  /// p . dPhi/dx with N = 1.
  double force_product(const geometry::StencilPoints<dim>& p) const {
    return f1_over_y_ * tangential_.dot(p * lagged_->closest.weights);
  }

  /// Derivative of p . dPhi/dx by the lagged positions at fixed sliding: through the normal force N, whose
  /// derivative by the distance is `slope`, the closest points and the normal.
  geometry::StencilVector<dim> lag_product(const geometry::StencilPoints<dim>& p, double N,
                                           double slope) const {
    const geometry::ClosestPoints<dim>& closest = lagged_->closest;
    const Point q = p * closest.weights;
    // p . dPhi/dx = N s(|w|) w.q has the derivatives by Gamma s, q and n:
    const double along = N * slope_over_y_ * tangential_.dot(q);
    const Point by_sliding = along * tangential_ + N * f1_over_y_ * tangential_part(q);
    const Point by_q = N * f1_over_y_ * tangential_;
    const Point by_normal = -normal_.dot(sliding_) * (along * tangential_ + N * f1_over_y_ * q) -
                            N * f1_over_y_ * normal_.dot(q) * sliding_;
    // dd = n.dc and dn = (I - n n') dc / d with c = Gamma z; a plane does not turn.
    Point by_separation = slope * force_product(p) * normal_;
    if (lagged_->num_vertices > 1)
      by_separation += tangential_part(by_normal) / std::sqrt(closest.distance_squared);

    geometry::StencilVector<dim> result;
    for (int i = 0; i < 4; ++i) result.template segment<dim>(dim * i) = closest.weights[i] * by_separation;
    if (closest.num_free == 0) return result;
    const auto parameters = geometry::closest_parameter_derivatives<dim>(closest, lagged_->points);
    for (int r = 0; r < closest.num_free; ++r) {
      const Eigen::Vector4d tangent = closest.tangents.col(r);
      const double by_parameter = by_sliding.dot(vertex_sliding_ * tangent) + by_q.dot(p * tangent) +
                                  by_separation.dot(lagged_->points * tangent);
      result += by_parameter * parameters.row(r).transpose();
    }
    return result;
  }

private:
  Point tangential_part(const Point& x) const { return x - normal_.dot(x) * normal_; }

  const ContactPair<dim>* lagged_;
  geometry::StencilPoints<dim> vertex_sliding_;
  Point normal_, sliding_, tangential_;
  double f1_over_y_, slope_over_y_;
};

} // namespace recoil::potentials
