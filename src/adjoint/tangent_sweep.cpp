#include "recoil/adjoint/tangent_sweep.hpp"

#include <cmath>
#include <utility>

#include "adjoint/count_solve.hpp"
#include "recoil/base/error.hpp"

namespace recoil::adjoint {

namespace {
std::string tangent_along(std::size_t direction) {
  return "the tangent along direction " + std::to_string(direction + 1);
}
} // namespace

TangentSweep::TangentSweep(stepping::TangentStep& step, StateTangents& tangents, int history,
                           SweepOptions options)
    : step_(step), tangents_(tangents), history_(history), options_(options) {
  RECOIL_ASSERT(history >= 1);
}

std::string TangentSweep::advance(const stepping::StepRecord& record, const linalg::Vector& u,
                                  const linalg::Vector& v) {
  RECOIL_ASSERT(record.id == (kept_.empty() ? 0 : kept_.back().state.id + 1));
  Kept now{{record.id, u, v}, {}};
  if (kept_.empty())
    for (std::size_t k = 0; k < step_.num_directions(); ++k) now.changes.push_back(change_of_start(k, v));
  else if (const std::string failure = step_to(now, record); !failure.empty())
    return failure;
  for (std::size_t k = 0; k < now.changes.size(); ++k)
    tangents_.see(k, record, now.state, now.changes[k].du, now.changes[k].dv);
  kept_.push_back(std::move(now));
  if (std::ssize(kept_) > history_) kept_.pop_front();
  return "";
}

TangentSweep::Change TangentSweep::change_of_start(std::size_t direction, const linalg::Vector& like) {
  Change change{linalg::Vector(like.shared_layout()), linalg::Vector(like.shared_layout())};
  step_.initial_tangent(direction, change.du, change.dv);
  return change;
}

/// Finds the changes of a state from those of its predecessors.
std::string TangentSweep::step_to(Kept& now, const stepping::StepRecord& record) {
  step_.linearize(record, now.state, kept(record.predecessors().front()).state);
  linalg::Vector v_sum = now.state.v;
  for (int j = 0; j < record.coefficients.order; ++j)
    v_sum.add(record.coefficients.a[j], kept(record.predecessors()[j]).state.v);
  for (std::size_t k = 0; k < step_.num_directions(); ++k)
    if (const std::string failure = solve(k, record, v_sum, now.changes.emplace_back()); !failure.empty())
      return failure;
  ++totals_.steps;
  return "";
}

/// `v_sum`: v_i + sum_j a_j v_{p_j}.
std::string TangentSweep::solve(std::size_t direction, const stepping::StepRecord& record,
                                const linalg::Vector& v_sum, Change& change) {
  const bool inertia = record.coefficients.order > 0;
  const double B = record.coefficients.scaled_dt(record.dt);
  linalg::Vector prescribed(v_sum.shared_layout());
  step_.prescribed_tangent(direction, prescribed);
  const Change past = weighted_past(direction, record);
  linalg::Vector rhs = forces(direction, record, prescribed);
  if (inertia) {
    rhs.scale(B * B);
    linalg::Vector product(rhs.shared_layout()), moved = prescribed;
    step_.mass_tangent(direction, v_sum, product);
    rhs.add(B, product);
    moved.add(1, past.du);
    moved.add(B, past.dv);
    step_.multiply_mass(moved, product);
    rhs.add(1, product);
  }
  rhs.scale(-1);
  if (!std::isfinite(rhs.norm()))
    return at_step(record, tangent_along(direction) + " is not finite: its values are too large for double "
                                                      "precision");

  change = {linalg::Vector(rhs.shared_layout()), linalg::Vector(rhs.shared_layout())};
  const std::string failure = count_solve(step_.solve(rhs, change.du, options_.relative_tolerance), record,
                                          tangent_along(direction), options_, totals_);
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
linalg::Vector TangentSweep::forces(std::size_t direction, const stepping::StepRecord& record,
                                    const linalg::Vector& prescribed) {
  linalg::Vector sum(prescribed.shared_layout()), product(prescribed.shared_layout());
  step_.parameter_tangent(direction, sum);
  step_.multiply_previous(kept(record.predecessors().front()).changes[direction].du, product);
  sum.add(1, product);
  // Most directions move nothing that is prescribed.
  if (prescribed.norm() == 0) return sum;
  step_.multiply_stiffness(prescribed, product);
  sum.add(1, product);
  return sum;
}

const TangentSweep::Kept& TangentSweep::kept(GlobalIndex id) const {
  const GlobalIndex place = id - kept_.front().state.id;
  RECOIL_ASSERT(place >= 0 && place < std::ssize(kept_));
  return kept_[place];
}

} // namespace recoil::adjoint
