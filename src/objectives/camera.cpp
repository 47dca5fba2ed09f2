#include "recoil/objectives/camera.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include <Eigen/Geometry>

#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
constexpr int spin = dim == 2 ? 1 : 3;

/// The velocities of q when it turns about each axis: e_j x q.
template <int dim>
Eigen::Matrix<double, dim, spin<dim>> turned(const Eigen::Matrix<double, dim, 1>& q) {
  Eigen::Matrix<double, dim, spin<dim>> result;
  if constexpr (dim == 2)
    result << -q[1], q[0];
  else
    result << 0, q[2], -q[1], -q[2], 0, q[0], q[1], -q[0], 0;
  return result;
}

template <int dim>
Eigen::Matrix<double, dim, dim> rotation_by(const Eigen::Matrix<double, spin<dim>, 1>& angles) {
  if constexpr (dim == 2) {
    return Eigen::Rotation2D<double>(angles[0]).toRotationMatrix();
  } else {
    const double angle = angles.norm();
    if (angle == 0) return Eigen::Matrix3d::Identity();
    return Eigen::AngleAxisd(angle, angles / angle).toRotationMatrix();
  }
}

template <int dim>
class ByCamera final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;
  using Spin = Eigen::Matrix<double, spin<dim>, 1>;
  using Coupling = Eigen::Matrix<double, spin<dim>, dim>;

public:
  ByCamera(std::unique_ptr<Observable<dim>> positions, CameraView<dim> view)
      : Observable<dim>(positions->comm(), dim, positions->points()), positions_(std::move(positions)),
        view_(std::move(view)) {}

  std::vector<Quantity> depends_on() const override { return positions_->depends_on(); }
  bool has_tangent() const override { return positions_->has_tangent(); }

  /// The pose, where anything was observed.
  int num_fitted_along(double time) const override {
    const bool is_observed = std::ranges::any_of(
        view_.tracks, [&](const Track<dim>& track) { return !track.at(time).inverse_sd.isZero(0); });
    return view_.is_fitted && is_observed ? spin<dim> + dim : 0;
  }

  std::vector<double> values(const ObservedState& state) override {
    look(state);
    std::vector<double> rows;
    for (std::size_t k = 0; k < seen_.size(); ++k)
      for (const double number : Point(seen_[k] + pose_.translation - rest(k))) rows.push_back(number);
    return rows;
  }

  /// dr = dq + S(q) dtheta + dc, dq = Q dx, where the normal equations give (dtheta, dc).
  std::vector<double> tangent(const ObservedState& state, std::span<const double> du,
                              std::span<const double> dv,
                              const parameters::PhysicalDirection<dim>& dq) override {
    std::vector<double> rows = positions_->tangent(state, du, dv, dq);
    look(state);
    for (std::size_t k = 0; k < seen_.size(); ++k) point(rows, k) = pose_.rotation * Point(point(rows, k));
    if (!is_found_) return rows;
    Spin by_spin = Spin::Zero();
    Point by_shift = Point::Zero();
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      by_spin += normal_row(k) * point(rows, k);
      by_shift += weights(k).cwiseProduct(Point(point(rows, k)));
    }
    sum(by_spin, by_shift);
    const auto [angles, shift] = solved(by_spin, by_shift);
    for (std::size_t k = 0; k < seen_.size(); ++k) point(rows, k) -= turned<dim>(seen_[k]) * angles + shift;
    return rows;
  }

  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double> dv, parameters::PhysicalGradient<dim>& g) override {
    look(state);
    std::vector<double> rows(y.begin(), y.end());
    if (is_found_) {
      Spin by_spin = Spin::Zero();
      Point by_shift = Point::Zero();
      for (std::size_t k = 0; k < seen_.size(); ++k) {
        by_spin += turned<dim>(seen_[k]).transpose() * point(rows, k);
        by_shift += point(rows, k);
      }
      sum(by_spin, by_shift);
      const auto [angles, shift] = solved(by_spin, by_shift);
      for (std::size_t k = 0; k < seen_.size(); ++k)
        point(rows, k) -= normal_row(k).transpose() * angles + weights(k).cwiseProduct(shift);
    }
    for (std::size_t k = 0; k < seen_.size(); ++k)
      point(rows, k) = pose_.rotation.transpose() * Point(point(rows, k));
    positions_->add_products(state, rows, du, dv, g);
  }

private:
  static Eigen::Map<Point> point(std::vector<double>& rows, std::size_t k) {
    return Eigen::Map<Point>(rows.data() + dim * k);
  }
  const Point& rest(std::size_t k) const { return view_.rest[this->points()[k]]; }
  const Point& weights(std::size_t k) const { return weights_[k]; }
  /// The derivative of S(q)' W r by dq: S(q)' W - S(W r)'.
  Coupling normal_row(std::size_t k) const {
    return turned<dim>(seen_[k]).transpose() * weights_[k].asDiagonal() -
           turned<dim>(weights_[k].cwiseProduct(misfit(k))).transpose();
  }
  /// r = q + c - x_0 - y.
  Point misfit(std::size_t k) const { return seen_[k] + pose_.translation - rest(k) - observed_[k]; }

  /// Takes the points to where the camera sees them, in the pose of the state.
  void look(const ObservedState& state) {
    const std::vector<double> x = positions_->values(state);
    seen_.resize(this->points().size());
    weights_.resize(seen_.size());
    observed_.resize(seen_.size());
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      const auto sample = view_.tracks[this->points()[k]].at(state.time);
      observed_[k] = sample.position;
      weights_[k] = sample.inverse_sd.cwiseAbs2();
      seen_[k] = view_.pose.rotation * Eigen::Map<const Point>(x.data() + dim * k);
    }
    pose_ = view_.pose;
    is_found_ = view_.is_fitted && find_pose(state.time);
  }

  /// The method of Gauss and Newton, which finds the least misfit from any pose that is off by less than half
  /// a turn, then Newton's; false where nothing was observed.
  bool find_pose(double time) {
    double size = 1;
    for (int iteration = 0; iteration < max_iterations; ++iteration) {
      if (!build_normal_equations(time, size < 0.1)) return false;
      const auto [angles, shift] = solved(spin_residual_, shift_residual_);
      size = angles.norm();
      const Eigen::Matrix<double, dim, dim> turn = rotation_by<dim>(Spin(-angles));
      for (Point& q : seen_) q = turn * q;
      pose_.rotation = turn * pose_.rotation;
      pose_.translation -= shift;
      if (size < 1e-14) return build_normal_equations(time, true);
    }
    throw InputError("the pose of the camera at t = " + std::to_string(time) + " is not found in " +
                     std::to_string(max_iterations) +
                     " iterations; give `camera_rotation` closer to what it is");
  }

  /// @param exact with the second derivative of the misfit, not only with that of r.
  bool build_normal_equations(double time, bool exact) {
    using Spins = Eigen::Matrix<double, spin<dim>, spin<dim>>;
    Spins spins = Spins::Zero();
    coupling_.setZero();
    spin_residual_.setZero();
    shift_residual_.setZero();
    Point weight = Point::Zero();
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      const auto S = turned<dim>(seen_[k]);
      const Coupling SW = S.transpose() * weights_[k].asDiagonal();
      const Point r = misfit(k);
      spins += (exact ? normal_row(k) : SW) * S;
      coupling_ += SW;
      spin_residual_ += SW * r;
      shift_residual_ += weights_[k].cwiseProduct(r);
      weight += weights_[k];
    }
    sum_all({{spins.data(), static_cast<std::size_t>(spins.size())},
             {coupling_.data(), static_cast<std::size_t>(coupling_.size())},
             {spin_residual_.data(), static_cast<std::size_t>(spin_residual_.size())},
             {shift_residual_.data(), dim},
             {weight.data(), dim}});
    if (weight.isZero(0)) return false;
    inverse_weight_ = weight.cwiseInverse();
    const Spins schur = spins - coupling_ * inverse_weight_.asDiagonal() * coupling_.transpose();
    const double scale = spins.diagonal().cwiseAbs().maxCoeff();
    if (weight.minCoeff() <= 0 || std::abs(schur.determinant()) <= std::pow(1e-10 * scale, spin<dim>))
      throw InputError("too little was observed at t = " + std::to_string(time) +
                       " for the pose of the camera: it takes " +
                       (dim == 2 ? "two points" : "three points that lie on no line"));
    inverse_schur_ = schur.inverse();
    return true;
  }

  /// H^-1 b.
  std::pair<Spin, Point> solved(const Spin& by_spin, const Point& by_shift) const {
    const Spin angles = inverse_schur_ * (by_spin - coupling_ * inverse_weight_.cwiseProduct(by_shift));
    return {angles, inverse_weight_.cwiseProduct(by_shift - coupling_.transpose() * angles)};
  }
  void sum(Spin& by_spin, Point& by_shift) const {
    sum_all({{by_spin.data(), static_cast<std::size_t>(by_spin.size())}, {by_shift.data(), dim}});
  }
  /// Sums over ranks, all at once.
  void sum_all(const std::vector<std::span<double>>& parts) const {
    std::vector<double> all;
    for (const auto part : parts) all.insert(all.end(), part.begin(), part.end());
    this->comm().sum(all);
    auto from = all.begin();
    for (const auto part : parts) {
      std::copy_n(from, part.size(), part.begin());
      from += static_cast<std::ptrdiff_t>(part.size());
    }
  }

  static constexpr int max_iterations = 100;

  std::unique_ptr<Observable<dim>> positions_;
  CameraView<dim> view_;
  // Of the state that was looked at last.
  CameraPose<dim> pose_;
  bool is_found_ = false;                        ///< the pose is one of the state
  std::vector<Point> seen_, observed_, weights_; ///< of this rank's points: Q x, y and 1 / sd^2
  Spin spin_residual_;                           ///< sum S(q)' W r
  Point shift_residual_, inverse_weight_;        ///< sum W r, 1 / sum W
  Coupling coupling_;                            ///< sum S(q)' W
  Eigen::Matrix<double, spin<dim>, spin<dim>> inverse_schur_;
};

} // namespace

template <int dim>
Eigen::Matrix<double, dim, dim> camera_rotation(const std::vector<double>& angles) {
  return rotation_by<dim>(Eigen::Map<const Eigen::Matrix<double, spin<dim>, 1>>(angles.data()));
}
template Eigen::Matrix2d camera_rotation<2>(const std::vector<double>&);
template Eigen::Matrix3d camera_rotation<3>(const std::vector<double>&);

template <int dim>
std::unique_ptr<Observable<dim>> observe_by_camera(std::unique_ptr<Observable<dim>> positions,
                                                   CameraView<dim> view) {
  return std::make_unique<ByCamera<dim>>(std::move(positions), std::move(view));
}

template std::unique_ptr<Observable<2>> observe_by_camera(std::unique_ptr<Observable<2>>, CameraView<2>);
template std::unique_ptr<Observable<3>> observe_by_camera(std::unique_ptr<Observable<3>>, CameraView<3>);

} // namespace recoil::objectives
