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

  /// dPhi/dx with N = 1, a column per vertex.
  geometry::StencilPoints<dim> force() const {
    return f1_over_y_ * tangential_ * lagged_->closest.weights.transpose();
  }

  /// Derivative of dPhi/dx (rows) by the lagged positions (columns) at fixed sliding: through the normal
  /// force N, whose derivative by the distance is `slope`, the closest points and the normal.
  geometry::StencilMatrix<dim> by_lagged_positions(double N, double slope) const {
    using Block = Eigen::Matrix<double, dim, dim>;
    const geometry::ClosestPoints<dim>& closest = lagged_->closest;
    // f = N s(|w|) w is shared among the vertices by Gamma. Its derivatives by Gamma s and c = Gamma z, with
    // dd = n.dc and dn = (I - n n') dc / d; a plane does not turn.
    const Point f = N * f1_over_y_ * tangential_;
    const Block T = Block::Identity() - normal_ * normal_.transpose();
    const Block by_tangential =
        N * (f1_over_y_ * Block::Identity() + slope_over_y_ * tangential_ * tangential_.transpose());
    Block by_separation = slope * f1_over_y_ * tangential_ * normal_.transpose();
    if (lagged_->num_vertices > 1) {
      const Block by_normal =
          -normal_.dot(sliding_) * by_tangential - N * f1_over_y_ * normal_ * sliding_.transpose();
      by_separation += by_normal * T / std::sqrt(closest.distance_squared);
    }
    geometry::StencilMatrix<dim> result;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        result.template block<dim, dim>(dim * i, dim * j) =
            closest.weights[i] * closest.weights[j] * by_separation;
    if (closest.num_free == 0) return result;
    // Gamma changes with the parameters of the closest points.
    const auto parameters = geometry::closest_parameter_derivatives<dim>(closest, lagged_->points);
    for (int r = 0; r < closest.num_free; ++r) {
      const Eigen::Vector4d tangent = closest.tangents.col(r);
      const Point by_parameter =
          by_tangential * (T * (vertex_sliding_ * tangent)) + by_separation * (lagged_->points * tangent);
      geometry::StencilVector<dim> forces;
      for (int i = 0; i < 4; ++i)
        forces.template segment<dim>(dim * i) = closest.weights[i] * by_parameter + tangent[i] * f;
      result += forces * parameters.row(r);
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
