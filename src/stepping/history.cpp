#include "recoil/stepping/history.hpp"

#include <algorithm>

#include "recoil/base/error.hpp"

namespace recoil::stepping {

History::History(int max_order) : max_order_(max_order) {
  static_cast<void>(bdf_coefficients(max_order)); // refuses orders that do not exist
  slots_.resize(static_cast<std::size_t>(max_order));
}

void History::push(GlobalIndex id, const linalg::Vector& u, const linalg::Vector& v) {
  RECOIL_ASSERT(empty() || id > newest().id);
  std::rotate(slots_.begin(), slots_.end() - 1, slots_.end());
  State& slot = slots_.front();
  slot.id = id;
  slot.u = u;
  slot.v = v;
  size_ = std::min(size_ + 1, max_order_);
}

void History::restart() { size_ = std::min(size_, 1); }

const State& History::newest() const {
  RECOIL_ASSERT(!empty());
  return slots_.front();
}

StepCoefficients History::next_coefficients() const {
  return bdf_coefficients(ramp_order(max_order_, size_));
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
  for (std::size_t j = 0; j < static_cast<std::size_t>(record.num_predecessors); ++j)
    record.predecessor_ids[j] = slots_[j].id;
  return record;
}

void History::predict(const StepCoefficients& coefficients, double dt, linalg::Vector& u_bar,
                      linalg::Vector& u_tilde) const {
  RECOIL_ASSERT(coefficients.order >= 1 && coefficients.order <= size_);
  const auto order = static_cast<std::size_t>(coefficients.order);
  const double scaled_dt = coefficients.scaled_dt(dt);
  u_bar.fill(0);
  for (std::size_t j = 0; j < order; ++j) u_bar.add(-coefficients.a[j], slots_[j].u);
  u_tilde.copy_from(u_bar);
  for (std::size_t j = 0; j < order; ++j) u_tilde.add(-scaled_dt * coefficients.a[j], slots_[j].v);
}

void update_velocity(const StepCoefficients& coefficients, double dt, const linalg::Vector& u,
                     const linalg::Vector& u_bar, linalg::Vector& v) {
  RECOIL_ASSERT(coefficients.order >= 1);
  const double scaled_dt = coefficients.scaled_dt(dt);
  const auto now = u.local(), before = u_bar.local();
  const auto velocity = v.write_local();
  for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] = (now[i] - before[i]) / scaled_dt;
}

} // namespace recoil::stepping
