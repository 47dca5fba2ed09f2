#include "recoil/objectives/robust_loss.hpp"

#include "recoil/base/error.hpp"
#include "recoil/objectives/robust_objective.hpp"

namespace recoil::objectives {

namespace {

/// log(1 + u) / u.
double log_share(double u) { return u == 0 ? 1 : std::log1p(u) / u; }

/// t / r of a soft loss with s / k^2 = u, without cancellation at 0.
double soft_share(double u) { return std::sqrt(2 / (std::sqrt(1 + u) + 1)); }

template <int dim>
class RobustObjective final : public Objective<dim> {
public:
  RobustObjective(const parallel::Communicator& comm, std::unique_ptr<Objective<dim>> objective,
                  const RobustLoss& loss)
      : comm_(comm), objective_(std::move(objective)), loss_(loss) {}

  std::string_view name() const override { return objective_->name(); }
  std::vector<Quantity> depends_on() const override { return objective_->depends_on(); }
  void check_time(double time) const override { objective_->check_time(time); }
  std::vector<double> observation_times() const override { return objective_->observation_times(); }

  double value(const ObservedState& state) override {
    double sum = 0;
    for (const double r : residuals(state)) sum += r * r;
    return comm_.sum(sum);
  }
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double> dv,
                       parameters::PhysicalGradient<dim>& g) override {
    std::vector<double> y = residuals(state);
    for (double& entry : y) entry *= 2 * factor;
    add_residual_products(state, y, du, dv, g);
  }

  bool is_least_squares() const override { return true; }
  bool has_deviations() const override { return true; }
  std::optional<RobustLoss> loss() const override { return loss_; }
  std::size_t num_residuals() const override { return objective_->num_residuals(); }
  ObservationNames observation_names() const override { return objective_->observation_names(); }
  std::vector<ResidualLabel> residual_labels(double time) const override {
    return objective_->residual_labels(time);
  }
  int num_fitted_along(double time) const override { return objective_->num_fitted_along(time); }
  std::optional<ComparedForce> compared_force(double time, double residual) const override {
    return objective_->compared_force(time, loss_.misfit(residual));
  }

  std::vector<double> residuals(const ObservedState& state) override {
    std::vector<double> rows = objective_->residuals(state);
    for (double& r : rows) r = loss_.residual(r);
    return rows;
  }

  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double> dv,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    find_slopes(state);
    return times_slopes(objective_->residual_tangent(state, du, dv, dq));
  }
  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double> dv, parameters::PhysicalGradient<dim>& g) override {
    find_slopes(state);
    objective_->add_residual_products(state, times_slopes({y.begin(), y.end()}), du, dv, g);
  }

  bool depends_on_step() const override { return objective_->depends_on_step(); }
  std::vector<double> previous_tangent(const ObservedState& state,
                                       std::span<const double> previous_du) override {
    return times_slopes(objective_->previous_tangent(state, previous_du));
  }
  void add_previous_products(const ObservedState& state, std::span<const double> y,
                             std::span<double> previous_du) override {
    objective_->add_previous_products(state, times_slopes({y.begin(), y.end()}), previous_du);
  }

private:
  void find_slopes(const ObservedState& state) {
    slopes_ = objective_->residuals(state);
    for (double& r : slopes_) r = loss_.slope(r);
  }
  std::vector<double> times_slopes(std::vector<double> rows) const {
    // Objectives that know nothing of the start of a step have no rows there.
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] *= slopes_[i];
    return rows;
  }

  const parallel::Communicator& comm_;
  std::unique_ptr<Objective<dim>> objective_;
  RobustLoss loss_;
  std::vector<double> slopes_; ///< dt/dr at the state that the last call with derivatives was for
};

} // namespace

double RobustLoss::residual(double r) const {
  const double u = (r / width) * (r / width);
  switch (type) {
  case Type::soft_l1:
    return r * soft_share(u);
  case Type::cauchy:
    return r * std::sqrt(log_share(u));
  default:
    return std::abs(r) <= width ? r : std::copysign(std::sqrt(width * (2 * std::abs(r) - width)), r);
  }
}

double RobustLoss::slope(double r) const {
  const double u = (r / width) * (r / width);
  switch (type) {
  case Type::soft_l1:
    return 1 / (std::sqrt(1 + u) * soft_share(u));
  case Type::cauchy:
    return 1 / ((1 + u) * std::sqrt(log_share(u)));
  default:
    return std::abs(r) <= width ? 1 : std::sqrt(width / (2 * std::abs(r) - width));
  }
}

double RobustLoss::misfit(double t) const {
  const double u = (t / width) * (t / width); // rho / k^2
  switch (type) {
  case Type::soft_l1:
    return t * std::sqrt(1 + u / 4);
  case Type::cauchy:
    return std::copysign(width * std::sqrt(std::expm1(u)), t);
  default:
    return std::abs(t) <= width ? t : std::copysign((t * t + width * width) / (2 * width), t);
  }
}

template <int dim>
std::unique_ptr<Objective<dim>> make_robust(const parallel::Communicator& comm,
                                            std::unique_ptr<Objective<dim>> objective,
                                            const RobustLoss& loss) {
  if (!objective->is_least_squares())
    throw InputError("a loss takes the place of the squares of data, and an objective of type " +
                     std::string(objective->name()) + " is no sum of them; leave it out");
  if (!objective->has_deviations())
    throw InputError("a loss is in standard deviations of the data, and these have none; give the file a "
                     "column `sd`, or leave the loss out");
  return std::make_unique<RobustObjective<dim>>(comm, std::move(objective), loss);
}

template std::unique_ptr<Objective<2>> make_robust(const parallel::Communicator&,
                                                   std::unique_ptr<Objective<2>>, const RobustLoss&);
template std::unique_ptr<Objective<3>> make_robust(const parallel::Communicator&,
                                                   std::unique_ptr<Objective<3>>, const RobustLoss&);

} // namespace recoil::objectives
