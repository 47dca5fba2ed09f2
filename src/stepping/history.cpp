#include "recoil/stepping/history.hpp"

#include <algorithm>
#include <string>

#include "recoil/base/error.hpp"

namespace recoil::stepping {

namespace {

// BDF-m over a common denominator: [Hairer, Wanner, Solving ODEs II, section V.1], scaled so that u_i has
// coefficient 1.
struct Fractions {
  std::array<double, max_bdf_order> a;
  double b, denominator;
};
constexpr std::array<Fractions, max_bdf_order> table{{
    {{-1, 0, 0, 0, 0, 0}, 1, 1},
    {{-4, 1, 0, 0, 0, 0}, 2, 3},
    {{-18, 9, -2, 0, 0, 0}, 6, 11},
    {{-48, 36, -16, 3, 0, 0}, 12, 25},
    {{-300, 300, -200, 75, -12, 0}, 60, 137},
    {{-360, 450, -400, 225, -72, 10}, 60, 147},
}};

} // namespace

StepCoefficients bdf_coefficients(int order) {
  if (order < 1 || order > max_bdf_order)
    throw InputError("BDF order " + std::to_string(order) + " does not exist; use 1 to 6");
  const Fractions& row = table[order - 1];
  StepCoefficients coefficients;
  coefficients.order = order;
  for (std::size_t j = 0; j < row.a.size(); ++j) coefficients.a[j] = row.a[j] / row.denominator;
  coefficients.b = row.b / row.denominator;
  return coefficients;
}

History::History(int max_order, std::shared_ptr<const newton::Manifold> manifold)
    : manifold_(std::move(manifold)), max_order_(max_order) {
  bdf_coefficients(max_order); // refuses orders that do not exist
  slots_.resize(max_order);
}

void History::push(GlobalIndex id, const linalg::Vector& u, const linalg::Vector& v,
                   std::span<const double> internal) {
  RECOIL_ASSERT(empty() || id > newest().id);
  std::rotate(slots_.begin(), slots_.end() - 1, slots_.end());
  State& slot = slots_.front();
  slot.id = id;
  slot.u = u;
  slot.v = v;
  slot.internal.assign(internal.begin(), internal.end());
  size_ = std::min(size_ + 1, max_order_);
}

void History::restart() { size_ = std::min(size_, 1); }

const State& History::newest() const {
  RECOIL_ASSERT(!empty());
  return slots_.front();
}

StepCoefficients History::next_coefficients() const {
  if (empty()) throw InputError("a BDF step needs at least one state behind it, there are 0");
  return bdf_coefficients(size_);
}

StepRecord History::next_record(GlobalIndex id, GlobalIndex nominal_step, double time, double dt,
                                const StepCoefficients& coefficients) const {
  RECOIL_ASSERT(!empty() && coefficients.order <= size_);
  StepRecord record;
  record.id = id;
  record.nominal_step = nominal_step;
  record.time = time;
  record.dt = dt;
  record.coefficients = coefficients;
  record.num_predecessors = std::max(coefficients.order, 1);
  for (int j = 0; j < record.num_predecessors; ++j) record.predecessor_ids[j] = slots_[j].id;
  return record;
}

void History::predict(const StepCoefficients& coefficients, double dt, linalg::Vector& u_bar,
                      linalg::Vector& u_tilde) const {
  RECOIL_ASSERT(coefficients.order >= 1 && coefficients.order <= size_);
  const std::size_t order = coefficients.order;
  const double scaled_dt = coefficients.scaled_dt(dt);
  std::array<double, max_bdf_order> weights{};
  std::array<const linalg::Vector*, max_bdf_order> points{};
  for (std::size_t j = 0; j < order; ++j) {
    weights[j] = -coefficients.a[j];
    points[j] = &slots_[j].u;
  }
  manifold_->combine(std::span(weights).first(order), std::span(points).first(order), u_bar);
  u_tilde.copy_from(u_bar);
  for (std::size_t j = 0; j < order; ++j)
    manifold_->move(u_tilde, -scaled_dt * coefficients.a[j], slots_[j].v);
}

void History::update_velocity(const StepCoefficients& coefficients, double dt, const linalg::Vector& u,
                              const linalg::Vector& u_bar, linalg::Vector& v) const {
  RECOIL_ASSERT(coefficients.order >= 1);
  const double scaled_dt = coefficients.scaled_dt(dt);
  manifold_->difference(u_bar, u, v);
  for (double& velocity : v.write_local()) velocity /= scaled_dt;
}

} // namespace recoil::stepping
