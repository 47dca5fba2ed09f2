#include "recoil/adjoint/sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "recoil/base/error.hpp"

namespace recoil::adjoint {

namespace {

/// Names the nominal step and the time of `record` before `what` has happened there.
std::string at_step(const stepping::StepRecord& record, const std::string& what) {
  std::ostringstream text;
  text << "step " << record.nominal_step << " (t = " << record.time << "): " << what;
  return text.str();
}

/// Adds `solve`, one of the step of `record`, to `totals`. Empty, or where it has not converged the message
/// that `unknown` cannot be solved there: to users of a sweep that is a result, as states where no derivative
/// exists are found in this way. The same on all ranks.
std::string count_solve(const stepping::LinearSolve& solve, const stepping::StepRecord& record,
                        const std::string& unknown, const SweepOptions& options, SolveTotals& totals) {
  ++totals.solves;
  totals.linear_iterations += solve.iterations;
  totals.largest_relative_residual = std::max(totals.largest_relative_residual, solve.relative_residual);
  if (solve.converged) return "";
  std::ostringstream text;
  text << unknown << " cannot be solved: relative residual " << solve.relative_residual << " after "
       << solve.iterations << " iterations, " << options.relative_tolerance
       << " is asked for; the state may be a saddle or a fold, where gradients do not exist";
  return at_step(record, text.str());
}

std::string tangent_along(std::size_t direction) {
  return "the tangent along direction " + std::to_string(direction + 1);
}

} // namespace

/// The adjoint of one objective within one step.
struct ReverseSweep::Column {
  Column(Pending waiting, const std::shared_ptr<const linalg::VectorLayout>& layout)
      : pending(std::move(waiting)), by{linalg::Vector(layout), linalg::Vector(layout),
                                        linalg::Vector(layout)},
        p(layout), mu(layout) {}

  Pending pending;
  StatePartials by;
  linalg::Vector p, mu;
};

ReverseSweep::ReverseSweep(const std::vector<stepping::StepRecord>& records, StateSource& states,
                           StateDerivatives& objectives, stepping::DifferentiableStep step,
                           SweepOptions options)
    : records_(records), states_(states), objectives_(objectives), step_(step), options_(options),
      next_(std::ssize(records) - 1), pending_(objectives.num_objectives()) {
  RECOIL_ASSERT(!records.empty());
  for (GlobalIndex i = 0; i < std::ssize(records); ++i) RECOIL_ASSERT(records[i].id == i);
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
void ReverseSweep::hand_back(stepping::BdfEquations& step, std::size_t objective,
                             const stepping::StepRecord& record, const Column& column) {
  const linalg::Vector &p = column.p, &mu = column.mu;
  const auto predecessors = record.predecessors();
  for (int j = 0; j < std::ssize(predecessors); ++j) {
    Pending& waiting = pending_[objective][predecessors[j]];
    if (j < record.coefficients.order) {
      if (!std::exchange(waiting.has_weights, true)) {
        waiting.weighted_p = linalg::Vector(p.shared_layout());
        waiting.weighted_mu = linalg::Vector(p.shared_layout());
      }
      waiting.weighted_p.add(record.coefficients.a[j], p);
      waiting.weighted_mu.add(record.coefficients.a[j], mu);
    }
    if (j != 0) continue;
    linalg::Vector product(p.shared_layout());
    step.multiply_previous(p, product);
    if (!std::exchange(waiting.has_previous, true)) waiting.previous = linalg::Vector(p.shared_layout());
    waiting.previous.add(record.coefficients.scaled_dt(record.dt), product);
    waiting.previous.add(1, column.by.previous_u);
  }
}

std::string ReverseSweep::advance() {
  RECOIL_ASSERT(next_ >= 0);
  if (next_ > 0) {
    const std::string failure =
        std::visit([&](auto* step) { return step_back(records_[next_], *step); }, step_);
    if (!failure.empty()) return failure;
  }
  if (next_ == 0) std::visit([&](auto* step) { finish(*step); }, step_);
  --next_;
  return "";
}

/// Solves for the adjoint p of a step.
std::string ReverseSweep::solve(stepping::StepEquations& step, const stepping::StepRecord& record,
                                const linalg::Vector& rhs, linalg::Vector& p) {
  if (!std::isfinite(rhs.norm()))
    return at_step(record, "the derivative of the objective is not finite: its values are too large for "
                           "double precision");
  return count_solve(step.solve(rhs, p, options_.relative_tolerance), record, "the adjoint", options_,
                     totals_);
}

std::string ReverseSweep::step_back(const stepping::StepRecord& record, stepping::BdfReverseStep& step) {
  const stepping::State& now = states_.state(record.id);
  const stepping::State& previous = states_.state(record.predecessors().front());
  const bool inertia = record.coefficients.order > 0;
  const double B = record.coefficients.scaled_dt(record.dt);
  step.linearize(record, now, previous);

  std::vector<Column> columns;
  for (std::size_t k = 0; k < objectives_.num_objectives(); ++k) {
    Column& column = columns.emplace_back(take_pending(k, record.id, now.v), now.v.shared_layout());
    objectives_.add(k, {record, now, previous}, column.by);
    linalg::Vector rhs(now.v.shared_layout());
    if (inertia) {
      step.multiply_mass(column.pending.weighted_p, rhs);
      rhs.add(B, column.pending.weighted_mu);
      rhs.add(1, column.by.v);
    }
    rhs.add(B, column.pending.previous);
    rhs.add(B, column.by.u);
    rhs.scale(-1);
    const std::string failure = solve(step, record, rhs, column.p);
    if (!failure.empty()) return failure;
  }

  for (std::size_t k = 0; k < columns.size(); ++k) {
    Column& column = columns[k];
    step.add_parameter_products(k, column.p, B);
    totals_.objective_correction += B * step.gradient_product(column.p);
    linalg::Vector sum = column.p; // p + Ps
    if (inertia) {
      sum.add(1, column.pending.weighted_p);
      step.add_mass_products(k, sum, now.v);
      step.multiply_mass(sum, column.mu);
      // The inertia of the residuals, summed by states instead of steps: a step knows one predecessor only.
      totals_.objective_correction += column.mu.dot(now.v);
      column.mu.add(1, column.by.v);
      column.mu.scale(1 / B);
    }
    if (step.wants_prescribed_products()) {
      linalg::Vector multiplier(now.v.shared_layout());
      step.multiply_stiffness(column.p, multiplier);
      multiplier.scale(B);
      multiplier.add(1, column.mu);
      multiplier.add(1, column.pending.weighted_mu);
      multiplier.add(1, column.pending.previous);
      multiplier.add(1, column.by.u);
      // -eta
      step.add_prescribed_products(k, multiplier);
    }
    hand_back(step, k, record, column);
  }
  ++totals_.steps;
  return "";
}

std::string ReverseSweep::step_back(const stepping::StepRecord& record, stepping::MapReverseStep& step) {
  const stepping::State& now = states_.state(record.id);
  const stepping::State& previous = states_.state(record.predecessors().front());
  step.linearize(record, now, previous);

  struct Swept {
    linalg::Vector by_u, p; ///< P' nu + W' sigma + X + dJ/du
    std::vector<double> sigma;
    Pending left; ///< for the state before
  };
  std::vector<Swept> all;
  for (std::size_t k = 0; k < objectives_.num_objectives(); ++k) {
    Column column(take_pending(k, record.id, now.v), now.v.shared_layout());
    objectives_.add(k, {record, now, previous}, column.by);
    linalg::Vector nu = std::move(column.pending.weighted_p), by_u = std::move(column.pending.previous);
    nu.add(1, column.by.v);
    by_u.add(1, column.by.u);
    std::vector<double> sigma = std::move(column.pending.internal);
    sigma.resize(now.internal.size(), 0.0);
    const linalg::Vector zero(now.v.shared_layout());
    Pending left{zero, zero, std::move(column.by.previous_u),
                 true, true, std::move(column.by.previous_internal)};
    left.internal.resize(previous.internal.size(), 0.0);
    step.add_velocity_transposed(nu, by_u, left.previous, left.weighted_p);
    step.add_internal_transposed(sigma, by_u, left.internal);
    linalg::Vector rhs = by_u;
    rhs.scale(-1);
    const std::string failure = solve(step, record, rhs, column.p);
    if (!failure.empty()) return failure;
    all.push_back({std::move(by_u), std::move(column.p), std::move(sigma), std::move(left)});
  }

  for (std::size_t k = 0; k < all.size(); ++k) {
    Swept& swept = all[k];
    step.add_parameter_products(k, swept.p, 1);
    step.add_internal_products(k, swept.sigma);
    totals_.objective_correction += step.gradient_product(swept.p);
    if (step.wants_prescribed_products()) {
      linalg::Vector multiplier(now.v.shared_layout());
      step.multiply_stiffness(swept.p, multiplier);
      multiplier.add(1, swept.by_u);
      step.add_prescribed_products(k, multiplier);
    }
    step.add_start_transposed(swept.p, swept.left.previous, swept.left.weighted_p);
    step.add_internal_start_transposed(swept.p, swept.left.internal);
    pending_[k].insert_or_assign(previous.id, std::move(swept.left));
  }
  ++totals_.steps;
  return "";
}

void ReverseSweep::add_initial_velocity(stepping::BdfReverseStep& step, std::size_t objective,
                                        const linalg::Vector& v, const Pending& pending,
                                        linalg::Vector& by_velocity) {
  step.multiply_mass(pending.weighted_p, by_velocity);
  totals_.objective_correction += by_velocity.dot(v);
  step.add_mass_products(objective, pending.weighted_p, v);
}

void ReverseSweep::add_initial_velocity(stepping::MapReverseStep&, std::size_t, const linalg::Vector&,
                                        const Pending& pending, linalg::Vector& by_velocity) {
  by_velocity.add(1, pending.weighted_p);
}

template <class Step>
void ReverseSweep::finish(Step& step) {
  const stepping::StepRecord& record = records_.front();
  const stepping::State& first = states_.state(0);
  for (std::size_t k = 0; k < objectives_.num_objectives(); ++k) {
    Column column(take_pending(k, 0, first.v), first.v.shared_layout());
    objectives_.add(k, {record, first, first}, column.by);
    const Pending& pending = column.pending;
    // -mu_0 and -p_0
    linalg::Vector by_displacement = column.by.u, by_velocity(first.v.shared_layout());
    by_displacement.add(1, column.by.previous_u);
    by_displacement.add(1, pending.weighted_mu);
    by_displacement.add(1, pending.previous);
    add_initial_velocity(step, k, first.v, pending, by_velocity);
    by_velocity.add(1, column.by.v);
    step.add_initial_products(k, by_displacement, by_velocity);
  }
}

TangentSweep::TangentSweep(stepping::TangentStep step, StateTangents& tangents, int history,
                           SweepOptions options)
    : step_(step), tangents_(tangents), history_(history), options_(options) {
  RECOIL_ASSERT(history >= 1);
}

std::string TangentSweep::advance(const stepping::StepRecord& record, const linalg::Vector& u,
                                  const linalg::Vector& v, std::span<const double> internal) {
  RECOIL_ASSERT(record.id == (kept_.empty() ? 0 : kept_.back().state.id + 1));
  Kept now{{record.id, u, v, {internal.begin(), internal.end()}}, {}};
  if (kept_.empty())
    for (std::size_t k = 0; k < num_directions(); ++k) {
      now.changes.push_back(change_of_start(k, v));
      now.changes.back().ds.assign(internal.size(), 0.0);
    }
  else if (const std::string failure =
               std::visit([&](auto* step) { return step_to(now, record, *step); }, step_);
           !failure.empty())
    return failure;
  show(now, kept_.empty() ? now : kept(record.predecessors().front()), record);
  kept_.push_back(std::move(now));
  if (std::ssize(kept_) > history_) kept_.pop_front();
  return "";
}

stepping::TangentProducts& TangentSweep::products() const {
  return std::visit([](auto* step) -> stepping::TangentProducts& { return *step; }, step_);
}

TangentSweep::Change TangentSweep::change_of_start(std::size_t direction, const linalg::Vector& like) {
  Change change{linalg::Vector(like.shared_layout()), linalg::Vector(like.shared_layout())};
  products().initial_tangent(direction, change.du, change.dv);
  return change;
}

void TangentSweep::show(const Kept& now, const Kept& previous, const stepping::StepRecord& record) {
  for (std::size_t k = 0; k < now.changes.size(); ++k)
    tangents_.see(k, {record, now.state, previous.state},
                  {now.changes[k].du, now.changes[k].dv, previous.changes[k].du, previous.changes[k].ds});
}

/// Finds the changes of a state from those of its predecessors.
template <class Step>
std::string TangentSweep::step_to(Kept& now, const stepping::StepRecord& record, Step& step) {
  step.linearize(record, now.state, kept(record.predecessors().front()).state);
  for (std::size_t k = 0; k < step.num_directions(); ++k)
    if (const std::string failure = solve(k, record, now.state, step, now.changes.emplace_back());
        !failure.empty())
      return failure;
  ++totals_.steps;
  return "";
}

/// Solves for the change of free entries.
std::string TangentSweep::solve_free(std::size_t direction, const stepping::StepRecord& record,
                                     const linalg::Vector& rhs, linalg::Vector& du) {
  if (!std::isfinite(rhs.norm()))
    return at_step(record, tangent_along(direction) + " is not finite: its values are too large for double "
                                                      "precision");
  return count_solve(products().solve(rhs, du, options_.relative_tolerance), record, tangent_along(direction),
                     options_, totals_);
}

std::string TangentSweep::solve(std::size_t direction, const stepping::StepRecord& record,
                                const stepping::State&, stepping::MapTangentStep& step, Change& change) {
  const Change& before = kept(record.predecessors().front()).changes[direction];
  const auto layout = before.du.shared_layout();
  linalg::Vector prescribed(layout), rhs(layout), product(layout);
  step.prescribed_tangent(direction, prescribed);
  step.parameter_tangent(direction, rhs);
  step.multiply_start(before.du, before.dv, product);
  step.add_internal_start(before.ds, product);
  rhs.add(1, product);
  if (prescribed.norm() != 0) {
    step.multiply_stiffness(prescribed, product);
    rhs.add(1, product);
  }
  rhs.scale(-1);
  change = {linalg::Vector(layout), linalg::Vector(layout)};
  const std::string failure = solve_free(direction, record, rhs, change.du);
  change.du.add(1, prescribed);
  step.multiply_velocity(change.du, before.du, before.dv, change.dv);
  change.ds.assign(before.ds.size(), 0.0);
  step.add_internal(before.ds, change.du, change.ds);
  step.add_internal_tangent(direction, change.ds);
  return failure;
}

std::string TangentSweep::solve(std::size_t direction, const stepping::StepRecord& record,
                                const stepping::State& now, stepping::BdfTangentStep& step, Change& change) {
  const bool inertia = record.coefficients.order > 0;
  const double B = record.coefficients.scaled_dt(record.dt);
  linalg::Vector prescribed(now.v.shared_layout());
  step.prescribed_tangent(direction, prescribed);
  const Change past = weighted_past(direction, record);
  linalg::Vector rhs = forces(step, direction, record, prescribed);
  if (inertia) {
    rhs.scale(B * B);
    linalg::Vector product(rhs.shared_layout()), moved = prescribed, v_sum = now.v;
    for (int j = 0; j < record.coefficients.order; ++j)
      v_sum.add(record.coefficients.a[j], kept(record.predecessors()[j]).state.v);
    step.mass_tangent(direction, v_sum, product);
    rhs.add(B, product);
    moved.add(1, past.du);
    moved.add(B, past.dv);
    step.multiply_mass(moved, product);
    rhs.add(1, product);
  }
  rhs.scale(-1);
  change = {linalg::Vector(rhs.shared_layout()), linalg::Vector(rhs.shared_layout())};
  const std::string failure = solve_free(direction, record, rhs, change.du);
  change.du.add(1, prescribed);
  if (inertia) {
    change.dv.add(1 / B, change.du);
    change.dv.add(1 / B, past.du);
  }
  return failure;
}

/// U and V.
TangentSweep::Change TangentSweep::weighted_past(std::size_t direction,
                                                 const stepping::StepRecord& record) const {
  const auto layout = kept_.back().state.v.shared_layout();
  Change sum{linalg::Vector(layout), linalg::Vector(layout)};
  for (int j = 0; j < record.coefficients.order; ++j) {
    const Change& change = kept(record.predecessors()[j]).changes[direction];
    sum.du.add(record.coefficients.a[j], change.du);
    sum.dv.add(record.coefficients.a[j], change.dv);
  }
  return sum;
}

/// How the forces change before the free entries follow: K dg + K_- du_{p_1} + dG/dq dq.
linalg::Vector TangentSweep::forces(stepping::BdfTangentStep& step, std::size_t direction,
                                    const stepping::StepRecord& record, const linalg::Vector& prescribed) {
  linalg::Vector sum(prescribed.shared_layout()), product(prescribed.shared_layout());
  step.parameter_tangent(direction, sum);
  step.multiply_previous(kept(record.predecessors().front()).changes[direction].du, product);
  sum.add(1, product);
  // Most directions move nothing that is prescribed.
  if (prescribed.norm() == 0) return sum;
  step.multiply_stiffness(prescribed, product);
  sum.add(1, product);
  return sum;
}

const TangentSweep::Kept& TangentSweep::kept(GlobalIndex id) const {
  const GlobalIndex place = id - kept_.front().state.id;
  RECOIL_ASSERT(place >= 0 && place < std::ssize(kept_));
  return kept_[place];
}

} // namespace recoil::adjoint
