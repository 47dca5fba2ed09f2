#include "recoil/objectives/observable.hpp"

#include <algorithm>
#include <iterator>

namespace recoil::objectives {

namespace {

/// What all objectives of one observable have from it.
template <int dim>
class OfObservable : public Objective<dim> {
public:
  OfObservable(std::string_view name, std::unique_ptr<Observable<dim>> observable)
      : observable_(std::move(observable)), name_(name) {}

  std::string_view name() const override { return name_; }
  std::vector<Quantity> depends_on() const override { return observable_->depends_on(); }
  bool depends_on_step() const override { return observable_->depends_on_step(); }

protected:
  std::unique_ptr<Observable<dim>> observable_;

private:
  std::string_view name_;
};

template <int dim>
class Square : public OfObservable<dim> {
public:
  using OfObservable<dim>::OfObservable;

  bool is_least_squares() const override { return observable_->has_tangent(); }
  std::size_t num_residuals() const override { return observable_->num_values(); }
  double value(const ObservedState& state) override {
    double sum = 0;
    for (const double r : residuals(state)) sum += r * r;
    return observable_->comm().sum(sum);
  }
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double> dv,
                       parameters::PhysicalGradient<dim>& g) override {
    observable_->add_square_derivatives(state, factor, du, dv, g);
  }
  std::vector<double> residuals(const ObservedState& state) override { return observable_->values(state); }
  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double> dv,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    return observable_->tangent(state, du, dv, dq);
  }
  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double> dv, parameters::PhysicalGradient<dim>& g) override {
    observable_->add_products(state, y, du, dv, g);
  }
  std::vector<double> previous_tangent(const ObservedState& state,
                                       std::span<const double> previous_du) override {
    return observable_->previous_tangent(state, previous_du);
  }
  void add_previous_products(const ObservedState& state, std::span<const double> y,
                             std::span<double> previous_du) override {
    observable_->add_previous_products(state, y, previous_du);
  }

protected:
  using OfObservable<dim>::observable_;
};

template <int dim, int width>
class TrackMisfit final : public Square<dim> {
  using Square<dim>::observable_;
  using Point = Eigen::Matrix<double, width, 1>;

public:
  TrackMisfit(std::string_view name, std::unique_ptr<Observable<dim>> observable, Comparison<width> compared)
      : Square<dim>(name, std::move(observable)), compared_(std::move(compared)) {
    RECOIL_ASSERT(observable_->width() == width);
    compared_.names.components.resize(width);
    for (const Track<width>& track : compared_.tracks)
      RECOIL_ASSERT(track.is_load_curve == (compared_.travel != nullptr));
  }

  void check_time(double time) const override {
    for (const Track<width>& track : compared_.tracks) track.at(abscissa(time));
  }
  bool has_deviations() const override {
    return std::ranges::all_of(compared_.tracks, &Track<width>::has_sd);
  }
  std::vector<double> observation_times() const override {
    std::vector<double> all;
    for (const Track<width>& track : compared_.tracks)
      if (!track.is_load_curve) std::ranges::copy(track.observation_times(), std::back_inserter(all));
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
  }
  ObservationNames observation_names() const override { return compared_.names; }
  int num_fitted_along(double time) const override { return observable_->num_fitted_along(time); }
  std::vector<ResidualLabel> residual_labels(double time) const override {
    std::vector<ResidualLabel> labels;
    for (const std::int32_t point : observable_->points()) {
      const auto observed = target(point, time);
      for (int i = 0; i < width; ++i)
        labels.push_back({point, i, time, observed.inverse_sd[i] != 0,
                          compared_.tracks[point].line_at(abscissa(time)), observed.position[i],
                          observed.inverse_sd[i]});
    }
    return labels;
  }
  std::optional<ComparedForce> compared_force(double time, double residual) const override {
    if (compared_.measured != Measured::force) return {};
    const auto observed = target(0, time);
    return ComparedForce{observed.position[0], observed.position[0] + residual / observed.inverse_sd[0]};
  }

  /// dJ = 2 r' dr.
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double> dv,
                       parameters::PhysicalGradient<dim>& g) override {
    std::vector<double> y = residuals(state);
    for (double& entry : y) entry *= 2 * factor;
    add_residual_products(state, y, du, dv, g);
  }
  std::vector<double> residuals(const ObservedState& state) override {
    check_time(state.time); // on all ranks, not where the point is
    std::vector<double> rows = observable_->values(state);
    for_each_point(state, std::span(rows), [](auto row, const auto& observed) {
      row = (row - observed.position).cwiseProduct(observed.inverse_sd).eval();
    });
    return rows;
  }
  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double> dv,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    check_time(state.time);
    return scaled(state, observable_->tangent(state, du, dv, dq));
  }
  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double> dv, parameters::PhysicalGradient<dim>& g) override {
    check_time(state.time);
    observable_->add_products(state, scaled(state, {y.begin(), y.end()}), du, dv, g);
  }
  std::vector<double> previous_tangent(const ObservedState& state,
                                       std::span<const double> previous_du) override {
    if (!observable_->depends_on_step()) return {};
    return scaled(state, observable_->previous_tangent(state, previous_du));
  }
  void add_previous_products(const ObservedState& state, std::span<const double> y,
                             std::span<double> previous_du) override {
    if (observable_->depends_on_step())
      observable_->add_previous_products(state, scaled(state, {y.begin(), y.end()}), previous_du);
  }

private:
  double abscissa(double time) const { return compared_.travel ? compared_.travel(time) : time; }
  typename Track<width>::Sample target(std::int32_t point, double time) const {
    return compared_.tracks[point].at(abscissa(time));
  }
  /// act(row, what was observed) for the row of each of this rank's points.
  template <class Act>
  void for_each_point(const ObservedState& state, std::span<double> rows, Act act) const {
    const auto& points = observable_->points();
    for (std::size_t k = 0; k < points.size(); ++k)
      act(Eigen::Map<Point>(rows.data() + width * k), target(points[k], state.time));
  }
  /// Rows in standard deviations.
  std::vector<double> scaled(const ObservedState& state, std::vector<double> rows) const {
    for_each_point(state, std::span(rows),
                   [](auto row, const auto& observed) { row.array() *= observed.inverse_sd.array(); });
    return rows;
  }

  Comparison<width> compared_;
};

template <int dim>
class Component final : public OfObservable<dim> {
  using OfObservable<dim>::observable_;

public:
  Component(std::string_view name, std::unique_ptr<Observable<dim>> observable, int i, double factor)
      : OfObservable<dim>(name, std::move(observable)), i_(i), factor_(factor) {}

  double value(const ObservedState& state) override {
    const std::vector<double> values = observable_->values(state);
    return factor_ * observable_->comm().sum(values.empty() ? 0.0 : values[i_]);
  }
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double> dv,
                       parameters::PhysicalGradient<dim>& g) override {
    std::vector<double> y(observable_->num_values(), 0.0);
    if (!y.empty()) y[i_] = factor * factor_;
    observable_->add_products(state, y, du, dv, g);
  }

private:
  int i_;
  double factor_;
};

} // namespace

template <int dim, int width>
std::unique_ptr<Objective<dim>> make_misfit(std::string_view name,
                                            std::unique_ptr<Observable<dim>> observable,
                                            Comparison<width> comparison) {
  return std::make_unique<TrackMisfit<dim, width>>(name, std::move(observable), std::move(comparison));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_square(std::string_view name,
                                            std::unique_ptr<Observable<dim>> observable) {
  return std::make_unique<Square<dim>>(name, std::move(observable));
}

template <int dim>
std::unique_ptr<Objective<dim>>
make_component(std::string_view name, std::unique_ptr<Observable<dim>> observable, int i, double factor) {
  if (i < 0 || i >= observable->width())
    throw InputError(std::string(name) + ": axis " + std::to_string(i) + "; there are axes 0 to " +
                     std::to_string(observable->width() - 1));
  return std::make_unique<Component<dim>>(name, std::move(observable), i, factor);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_misfit(std::string_view, std::unique_ptr<Observable<dim>>,   \
                                                       Comparison<1>);                                       \
  template std::unique_ptr<Objective<dim>> make_misfit(std::string_view, std::unique_ptr<Observable<dim>>,   \
                                                       Comparison<dim>);                                     \
  template std::unique_ptr<Objective<dim>> make_square(std::string_view, std::unique_ptr<Observable<dim>>);  \
  template std::unique_ptr<Objective<dim>> make_component(std::string_view,                                  \
                                                          std::unique_ptr<Observable<dim>>, int, double);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
