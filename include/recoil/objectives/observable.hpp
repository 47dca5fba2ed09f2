#pragma once

#include <functional>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "recoil/base/error.hpp"
#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/observations.hpp"

namespace recoil::objectives {

/// What can be seen of a state: `width` numbers for each of some points, and their derivatives by the state
/// and by physical quantities. A solver says what can be seen of its states; objectives are functions of
/// that, and know no solver. Values, products and tangents are collective.
template <int dim>
class Observable {
public:
  /// @param points numbers of the points whose values this rank has, each on one rank. `comm` must outlive
  /// it.
  Observable(const parallel::Communicator& comm, int width, std::vector<std::int32_t> points)
      : comm_(&comm), width_(width), points_(std::move(points)) {}
  virtual ~Observable() = default;

  const parallel::Communicator& comm() const { return *comm_; }
  int width() const { return width_; }
  const std::vector<std::int32_t>& points() const { return points_; }
  std::size_t num_values() const { return width_ * points_.size(); }

  /// The quantities that values depend on, as Objective::depends_on().
  virtual std::vector<Quantity> depends_on() const = 0;
  /// This rank's values, point by point.
  virtual std::vector<double> values(const ObservedState& state) = 0;
  /// du += (d values/du)' y and so on, as Objective::add_residual_products().
  virtual void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                            std::span<double> dv, parameters::PhysicalGradient<dim>& g) = 0;
  /// The derivatives of |values|^2, times `factor`; overridden where that is faster without products.
  virtual void add_square_derivatives(const ObservedState& state, double factor, std::span<double> du,
                                      std::span<double> dv, parameters::PhysicalGradient<dim>& g) {
    std::vector<double> y = values(state);
    for (double& entry : y) entry *= 2 * factor;
    add_products(state, y, du, dv, g);
  }
  /// Whether there are tangents, without which no objective of it is a sum of squares.
  virtual bool has_tangent() const { return true; }
  /// The change of the values along du, dv and dq, as Objective::residual_tangent().
  virtual std::vector<double> tangent(const ObservedState& /*state*/, std::span<const double> /*du*/,
                                      std::span<const double> /*dv*/,
                                      const parameters::PhysicalDirection<dim>& /*dq*/) {
    RECOIL_ASSERT(false);
    return {};
  }
  /// How many numbers are fitted to what is observed at `time`, as Objective::num_fitted_along().
  virtual int num_fitted_along(double /*time*/) const { return 0; }
  /// Whether values depend on the start of the step, with derivatives as Objective has them.
  virtual bool depends_on_step() const { return false; }
  virtual std::vector<double> previous_tangent(const ObservedState& /*state*/,
                                               std::span<const double> /*previous_du*/) {
    return {};
  }
  virtual void add_previous_products(const ObservedState& /*state*/, std::span<const double> /*y*/,
                                     std::span<double> /*previous_du*/) {}

protected:
  /// The only point, on the first rank.
  static std::vector<std::int32_t> one_point(const parallel::Communicator& comm) {
    return std::vector<std::int32_t>(comm.rank() == 0 ? 1 : 0, 0);
  }
  /// The numbers of `size` points that no other rank knows.
  static std::vector<std::int32_t> count(std::size_t size) {
    std::vector<std::int32_t> points(size);
    std::iota(points.begin(), points.end(), 0);
    return points;
  }
  /// The values of one_point(), of numbers that all ranks have.
  template <class Numbers>
  std::vector<double> on_first(const Numbers& numbers) const {
    return {numbers.data(), numbers.data() + num_values()};
  }
  /// The entries that belong to one_point(), on all ranks. Collective.
  std::vector<double> on_all(std::span<const double> y) const {
    std::vector<double> all(width_, 0.0);
    std::ranges::copy(y, all.begin());
    comm_->sum(all);
    return all;
  }

private:
  const parallel::Communicator* comm_;
  int width_;
  std::vector<std::int32_t> points_;
};

/// Where a load curve, over a displacement in place of time, is looked at in the state at a time [m].
using Travel = std::function<double(double time)>;

/// What the points of an observable are compared with.
template <int width>
struct Comparison {
  ObservationNames names;
  std::vector<Track<width>> tracks; ///< one per point, on every rank
  Measured measured = Measured::length;
  Travel travel = nullptr; ///< null but for load curves
};

/// J = sum over points of |x - y(time)|^2 / sd(time)^2, x the values of the observable. Not collective.
template <int dim, int width>
std::unique_ptr<Objective<dim>>
make_misfit(std::string_view name, std::unique_ptr<Observable<dim>> observable, Comparison<width> comparison);

/// J = |x|^2, x all values of the observable: a sum of squares where it has tangents. Not collective.
template <int dim>
std::unique_ptr<Objective<dim>> make_square(std::string_view name,
                                            std::unique_ptr<Observable<dim>> observable);

/// J = factor x_i, x_i a value of the only point of the observable. Not collective. @throws InputError for
/// one that it does not have.
template <int dim>
std::unique_ptr<Objective<dim>>
make_component(std::string_view name, std::unique_ptr<Observable<dim>> observable, int i, double factor = 1);

} // namespace recoil::objectives
