#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recoil/newton/manifold.hpp"
#include "recoil/stepping/step_record.hpp"

namespace recoil::stepping {

/// Position and velocity at the end of one internal step, ghosts included: a point of the solver's manifold
/// and a tangent vector. In finite elements u is the displacement [m] and v in m/s. `id` is the running
/// number of the internal state: 0 for the initial one, then one more for each accepted step or sub-step.
struct State {
  GlobalIndex id = 0;
  linalg::Vector u, v;
  /// Variables of the material that the next step depends on, too, in an order of the solver's own: those
  /// that this rank needs. Most solvers have none.
  std::vector<double> internal = {};
};

/// The last states a BDF step depends on, newest first, equally spaced in time. Keeps the storage of as many
/// states as the order; after that many pushes nothing is allocated.
class History {
public:
  /// A history of positions on `manifold`. @throws InputError unless 1 <= max_order <= 6.
  explicit History(int max_order,
                   std::shared_ptr<const newton::Manifold> manifold = std::make_shared<newton::Euclidean>());

  int max_order() const { return max_order_; }
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Makes copies of `u`, `v` and `internal` (not those of this history) the newest state and drops the
  /// oldest one beyond max_order(). Ids must grow.
  void push(GlobalIndex id, const linalg::Vector& u, const linalg::Vector& v,
            std::span<const double> internal = {});
  /// Keeps only the newest state, so that the order ramp starts again: before and after sub-steps, whose dt
  /// differs.
  void restart();
  /// Drops everything.
  void clear() { size_ = 0; }

  /// The states newest first. Pushing them oldest first into an empty history gives the same history, bit for
  /// bit: this is what a restart point holds.
  std::span<const State> states() const { return std::span(slots_).first(size_); }
  const State& newest() const;

  /// Coefficients of the next step: BDF of order min(size(), max_order()), which grows by one per step from a
  /// start or restart. Starting values that are exact count as states, and so skip the ramp. @throws
  /// InputError without a state.
  StepCoefficients next_coefficients() const;

  /// The record of the step that leads from here to state `id` with `coefficients`: predecessors from here,
  /// the rest as given. StepCoefficients{} marks a step without inertia, whose one predecessor is the newest
  /// state.
  StepRecord next_record(GlobalIndex id, GlobalIndex nominal_step, double time, double dt,
                         const StepCoefficients& coefficients) const;

  /// The parts of the next state known before it: u_bar = -sum_j a_j u_{i-j} and the inertial prediction
  /// u_tilde = u_bar - B sum_j a_j v_{i-j} with B = b dt, on owned and ghost entries. Sums run from the
  /// newest state to the oldest. `coefficients` may be of lower order than there are states, not of higher.
  /// On a manifold u_bar is the mean of the states with weights -a_j (Manifold::combine), from where u_tilde
  /// follows along -B a_j v_{i-j}. Communicates only where Manifold::move() does.
  void predict(const StepCoefficients& coefficients, double dt, linalg::Vector& u_bar,
               linalg::Vector& u_tilde) const;

  /// v = (u - u_bar) / B with B = b dt, the difference being that of the manifold: the velocity that belongs
  /// to `u` at the end of a step, on owned and ghost entries. No communication.
  void update_velocity(const StepCoefficients& coefficients, double dt, const linalg::Vector& u,
                       const linalg::Vector& u_bar, linalg::Vector& v) const;

private:
  std::shared_ptr<const newton::Manifold> manifold_;
  int max_order_, size_ = 0;
  std::vector<State> slots_;
};

} // namespace recoil::stepping
