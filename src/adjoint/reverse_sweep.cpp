#include "recoil/adjoint/reverse_sweep.hpp"

#include <cmath>
#include <utility>

#include "adjoint/count_solve.hpp"
#include "recoil/base/error.hpp"

namespace recoil::adjoint {

/// The adjoint of one objective within one step.
struct ReverseSweep::Column {
  Column(Pending waiting, const std::shared_ptr<const linalg::VectorLayout>& layout)
      : pending(std::move(waiting)), du(layout), dv(layout), p(layout), mu(layout) {}

  Pending pending;
  linalg::Vector du, dv, p, mu;
};

ReverseSweep::ReverseSweep(const std::vector<stepping::StepRecord>& records, StateSource& states,
                           StateDerivatives& objectives, stepping::DifferentiableStep& step,
                           SweepOptions options)
    : records_(records), states_(states), objectives_(objectives), step_(step), options_(options),
      next_(std::ssize(records) - 1), pending_(objectives.num_objectives()) {
  RECOIL_ASSERT(!records.empty());
  for (std::size_t i = 0; i < records.size(); ++i)
    RECOIL_ASSERT(records[i].id == static_cast<GlobalIndex>(i));
}

void ReverseSweep::resume(GlobalIndex next, std::vector<PendingOfState> pending) {
  RECOIL_ASSERT(pending.size() == objectives_.num_objectives());
  next_ = next;
  pending_ = std::move(pending);
}

/// What later steps have left for state `id`, zero where they have left nothing.
ReverseSweep::Pending ReverseSweep::take_pending(std::size_t objective, GlobalIndex id,
                                                 const linalg::Vector& like) {
  Pending result;
  auto& waiting = pending_[objective];
  if (const auto found = waiting.find(id); found != waiting.end()) {
    result = std::move(found->second);
    waiting.erase(found);
  }
  if (!result.has_weights) {
    result.weighted_p = linalg::Vector(like.shared_layout());
    result.weighted_mu = linalg::Vector(like.shared_layout());
  }
  if (!result.has_previous) result.previous = linalg::Vector(like.shared_layout());
  return result;
}

/// Leaves the shares of this step in Ps, Ms and X of its predecessors.
void ReverseSweep::hand_back(std::size_t objective, const stepping::StepRecord& record,
                             const linalg::Vector& p, const linalg::Vector& mu, double B) {
  const auto predecessors = record.predecessors();
  for (std::size_t j = 0; j < predecessors.size(); ++j) {
    Pending& waiting = pending_[objective][predecessors[j]];
    if (static_cast<int>(j) < record.coefficients.order) {
      if (!std::exchange(waiting.has_weights, true)) {
        waiting.weighted_p = linalg::Vector(p.shared_layout());
        waiting.weighted_mu = linalg::Vector(p.shared_layout());
      }
      waiting.weighted_p.add(record.coefficients.a[j], p);
      waiting.weighted_mu.add(record.coefficients.a[j], mu);
    }
    if (j != 0) continue;
    linalg::Vector product(p.shared_layout());
    step_.multiply_previous(p, product);
    if (!std::exchange(waiting.has_previous, true)) waiting.previous = linalg::Vector(p.shared_layout());
    waiting.previous.add(B, product);
  }
}

std::string ReverseSweep::advance() {
  RECOIL_ASSERT(next_ >= 0);
  if (next_ > 0)
    if (const std::string failure = step_back(records_[next_]); !failure.empty()) return failure;
  if (next_ == 0) finish();
  --next_;
  return "";
}

std::string ReverseSweep::step_back(const stepping::StepRecord& record) {
  const stepping::State& now = states_.state(record.id);
  const stepping::State& previous = states_.state(record.predecessors().front());
  const bool inertia = record.coefficients.order > 0;
  const double B = record.coefficients.scaled_dt(record.dt);
  step_.linearize(record, now, previous);

  std::vector<Column> columns;
  for (std::size_t k = 0; k < objectives_.num_objectives(); ++k) {
    Column& column = columns.emplace_back(take_pending(k, record.id, now.v), now.v.shared_layout());
    objectives_.add(k, record, now, column.du, column.dv);
    linalg::Vector rhs(now.v.shared_layout());
    if (inertia) {
      step_.multiply_mass(column.pending.weighted_p, rhs);
      rhs.add(B, column.pending.weighted_mu);
      rhs.add(1, column.dv);
    }
    rhs.add(B, column.pending.previous);
    rhs.add(B, column.du);
    rhs.scale(-1);
    if (!std::isfinite(rhs.norm()))
      return at_step(record, "the derivative of the objective is not finite: its values are too large for "
                             "double precision");
    const std::string failure = count_solve(step_.solve(rhs, column.p, options_.relative_tolerance), record,
                                            "the adjoint", options_, totals_);
    if (!failure.empty()) return failure;
  }

  for (std::size_t k = 0; k < columns.size(); ++k) {
    Column& column = columns[k];
    step_.add_parameter_products(k, column.p, B);
    totals_.objective_correction += B * step_.gradient_product(column.p);
    linalg::Vector sum = column.p; // p + Ps
    if (inertia) {
      sum.add(1, column.pending.weighted_p);
      step_.add_mass_products(k, sum, now.v);
      step_.multiply_mass(sum, column.mu);
      // The inertia of the residuals, summed by states instead of steps: a step knows one predecessor only.
      totals_.objective_correction += column.mu.dot(now.v);
      column.mu.add(1, column.dv);
      column.mu.scale(1 / B);
    }
    if (step_.wants_prescribed_products()) {
      linalg::Vector multiplier(now.v.shared_layout());
      step_.multiply_stiffness(column.p, multiplier);
      multiplier.scale(B);
      multiplier.add(1, column.mu);
      multiplier.add(1, column.pending.weighted_mu);
      multiplier.add(1, column.pending.previous);
      multiplier.add(1, column.du);
      // -eta
      step_.add_prescribed_products(k, multiplier);
    }
    hand_back(k, record, column.p, column.mu, B);
  }
  ++totals_.steps;
  return "";
}

void ReverseSweep::finish() {
  const stepping::StepRecord& record = records_.front();
  const stepping::State& first = states_.state(0);
  for (std::size_t k = 0; k < objectives_.num_objectives(); ++k) {
    Column column(take_pending(k, 0, first.v), first.v.shared_layout());
    objectives_.add(k, record, first, column.du, column.dv);
    const Pending& pending = column.pending;
    // -mu_0 and -p_0
    linalg::Vector by_displacement = column.du, by_velocity(first.v.shared_layout());
    by_displacement.add(1, pending.weighted_mu);
    by_displacement.add(1, pending.previous);
    step_.multiply_mass(pending.weighted_p, by_velocity);
    totals_.objective_correction += by_velocity.dot(first.v);
    by_velocity.add(1, column.dv);
    step_.add_mass_products(k, pending.weighted_p, first.v);
    step_.add_initial_products(k, by_displacement, by_velocity);
  }
}

} // namespace recoil::adjoint
