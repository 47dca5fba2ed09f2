#include "recoil/app/scene/scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

/// PolyFEM rounds times to milliseconds.
/// What times of a list are rounded to: PolyFEM's 1 ms, in finer lists a share of the least distance of
/// neighbours, which would else be taken for one another.
double time_grain(const std::vector<double>& times) {
  constexpr double grain = 1e-3, share = 1e-3;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i] != times[i - 1]) least = std::min(least, std::abs(times[i] - times[i - 1]));
  return least < 2 * grain ? share * least : grain;
}

bool is_same_time(double a, double b, double grain) { return std::round(a / grain) == std::round(b / grain); }

bool lists(const std::vector<double>& times, double t) {
  const double grain = time_grain(times);
  return std::ranges::any_of(times, [&](double listed) { return is_same_time(listed, t, grain); });
}

/// The value of a per-time list, with the `time_reference` and start of its entry.
template <class Entry>
double evaluate_list(const Entry& entry, const std::vector<Expression>& per_time,
                     const ExpressionPoint& point) {
  struct Listed {
    double time, value;
  };
  const double grain = time_grain(entry.time_reference);
  Listed before{entry.start_time, 0}, after{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t i = 0; i < entry.time_reference.size(); ++i) {
    ExpressionPoint then = point;
    then.t = entry.time_reference[i];
    if (is_same_time(then.t, point.t, grain)) return per_time[i](point);
    if (then.t < point.t && then.t >= before.time) before = {then.t, per_time[i](then)};
    if (then.t > point.t && then.t < after.time) after = {then.t, per_time[i](then)};
  }
  if (point.t <= entry.start_time) return 0;
  if (std::isinf(after.time))
    throw InputError(entry.where, "`time_reference` has no entry for t = " + std::to_string(point.t) +
                                      " or later; every time step must be in it, times rounded to 1e-3 s");
  return before.value + (point.t - before.time) / (after.time - before.time) * (after.value - before.value);
}

} // namespace

double TimeFactor::operator()(double t) const {
  switch (kind) {
  case Kind::none:
    return 1;
  case Kind::linear:
    return t;
  case Kind::linear_ramp:
    return std::min(std::max(t - from, 0.0), to - from);
  case Kind::piecewise_constant:
  case Kind::piecewise_linear:
    break;
  }
  if (t < points.front()) return values.front();
  if (t >= points.back()) return values.back();
  const std::size_t next = std::ranges::upper_bound(points, t) - points.begin(), last = next - 1;
  if (kind == Kind::piecewise_constant) return values[last];
  const double part = (t - points[last]) / (points[next] - points[last]);
  return values[last] + part * (values[next] - values[last]);
}

double time_factor(const std::vector<TimeFactor>& factors, int c, double t) {
  if (factors.empty()) return 1;
  return factors.size() == 1 ? factors.front()(t) : factors[c](t);
}

bool DirichletEntry::is_listed(double t) const { return lists(time_reference, t); }

double DirichletEntry::evaluate(int c, const ExpressionPoint& point) const {
  const auto& component = value[c];
  return time_factor(interpolation, c, point.t) * (component.per_time.empty()
                                                       ? component.value(point)
                                                       : evaluate_list(*this, component.per_time, point));
}

bool PressureEntry::is_listed(double t) const { return lists(time_reference, t); }

double PressureEntry::evaluate(const ExpressionPoint& point) const {
  return per_time.empty() ? value(point) : evaluate_list(*this, per_time, point);
}

std::vector<Expression> PressureEntry::formulas() const {
  return per_time.empty() ? std::vector<Expression>{value} : per_time;
}

std::optional<double> constant_of(const MaterialValue& value) {
  const auto* formula = std::get_if<Expression>(&value);
  return formula && formula->is_constant() ? std::optional((*formula)({})) : std::nullopt;
}

std::vector<const Region*> InitialConditions::regions() const {
  std::vector<const Region*> all;
  for (const auto* fields : {&velocity, &solution, &acceleration})
    for (const InitialField& field : *fields) all.push_back(&field.region);
  for (const AngularVelocity& spin : angular_velocity) all.push_back(&spin.region);
  return all;
}

bool contains(const Region& region, const std::string& body, int volume_id) {
  return holds(region.ids, volume_id) || holds(region.bodies, body);
}

std::vector<std::string> deformable_names(const Scene& scene) {
  std::vector<std::string> names;
  for (const auto& spec : scene.geometry)
    if (!spec.is_obstacle) names.push_back(spec.name);
  return names;
}

std::vector<std::string> obstacle_names(const Scene& scene) {
  std::vector<std::string> names;
  for (const auto& spec : scene.geometry)
    if (spec.is_obstacle) names.push_back(spec.name);
  for (const auto& plane : scene.planes) names.push_back(plane.name);
  return names;
}

} // namespace recoil::app
