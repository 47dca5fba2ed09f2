#pragma once

#include <functional>

#include "discs/discs.hpp"
#include "recoil/stepping/differentiable_step.hpp"

namespace recoil::discs {

/// A recorded step for both sweeps. Its products and the changes of parameters along directions are the same
/// on all ranks. K and K_- are symmetric.
class DiscStep final : public stepping::BdfReverseStep, public stepping::BdfTangentStep {
public:
  using Add = std::function<void(std::size_t parameter, double share)>;

  /// @param add takes what the gradient of the only objective grows by; empty for a tangent sweep.
  DiscStep(const Parameters& q, Add add, std::vector<Parameters> directions = {})
      : q_(q), add_(std::move(add)), directions_(std::move(directions)) {}

private:
  void linearize(const stepping::StepRecord& record, const stepping::State& now,
                 const stepping::State& previous) override {
    B_ = record.coefficients.scaled_dt(record.dt);
    potentials_ = std::make_unique<Potentials>(q_, gather(now.u));
    const VectorXd way = Plane::difference(gather(previous.u), gather(now.u));
    potentials_->gradient += q_[drag] / record.dt * way;
    potentials_->hessian.diagonal().array() += q_[drag] / record.dt;
    potentials_->by_parameter.col(drag) += way / record.dt;
    by_previous_ = -q_[drag] / record.dt;
  }
  void multiply_mass(const Vector& x, Vector& y) override {
    set(q_[mass] * unit_mass().cwiseProduct(gather(x)), y);
  }
  stepping::LinearSolve solve(const Vector& b, Vector& x, double) override {
    MatrixXd matrix = B_ * B_ * potentials_->hessian;
    matrix.diagonal() += q_[mass] * unit_mass();
    set(linalg::solve_definite(matrix, gather(b)), x);
    return {true, 1, 0};
  }
  double gradient_product(const Vector& p) override { return gather(p).dot(potentials_->gradient); }
  void multiply_stiffness(const Vector& x, Vector& y) override { set(potentials_->hessian * gather(x), y); }
  void multiply_previous(const Vector& x, Vector& y) override {
    y.copy_from(x);
    y.scale(by_previous_);
  }
  bool wants_prescribed_products() const override { return false; }
  void add_parameter_products(std::size_t, const Vector& p, double factor) override {
    const VectorXd shares = factor * (potentials_->by_parameter.transpose() * gather(p));
    for (std::size_t k = 0; k < num_parameters; ++k) add_(k, shares[Eigen::Index(k)]);
  }
  void add_mass_products(std::size_t, const Vector& p, const Vector& x) override {
    add_(mass, gather(p).cwiseProduct(unit_mass()).dot(gather(x)));
  }
  void add_prescribed_products(std::size_t, const Vector&) override {}
  void add_initial_products(std::size_t, const Vector&, const Vector& z) override {
    const VectorXd by_v = gather(z);
    for (int i = 0; i < num_discs; ++i) add_(start_speed, by_v.segment<3>(3 * i).dot(DiscSolver::speed(i)));
  }
  std::size_t num_directions() const override { return directions_.size(); }
  void parameter_tangent(std::size_t direction, Vector& y) override {
    set(potentials_->by_parameter * change(direction), y);
  }
  void mass_tangent(std::size_t direction, const Vector& x, Vector& y) override {
    set(change(direction)[mass] * unit_mass().cwiseProduct(gather(x)), y);
  }
  void prescribed_tangent(std::size_t, Vector& y) override { y.fill(0); }
  void initial_tangent(std::size_t direction, Vector& y, Vector& z) override {
    y.fill(0);
    VectorXd v(3 * num_discs);
    for (int i = 0; i < num_discs; ++i)
      v.segment<3>(3 * i) = change(direction)[start_speed] * DiscSolver::speed(i);
    set(v, z);
  }
  Eigen::Map<const VectorXd> change(std::size_t direction) const {
    return {directions_[direction].data(), num_parameters};
  }
  static void set(const VectorXd& all, Vector& y) {
    scatter(all, y);
    y.update_ghosts();
  }

  Parameters q_;
  Add add_;
  std::vector<Parameters> directions_;
  std::unique_ptr<Potentials> potentials_;
  double B_ = 0, by_previous_ = 0;
};

} // namespace recoil::discs
