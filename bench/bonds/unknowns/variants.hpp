#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bonds/unknowns/newton.hpp"

namespace recoil::bench {

/// A way to solve a step from the start x.
struct Variant {
  std::string name;
  std::unique_ptr<Unknowns> unknowns;
  /// `solution` is the minimum, for ways that cannot judge for themselves how far they are from it.
  std::function<void(Unknowns&, Points& x, const Points& solution, Effort&)> solve;
  double tolerance = 0;     ///< the distance from the minimum that it must keep, in radii
  bool may_give_up = false; ///< after its largest number of iterations
};

/// All that are compared, on one problem.
class Variants {
public:
  /// `problem` must outlive it. @param max_descent iterations of first-order optimisation at most.
  /// @param only_projected Rules::only_projected; then all may give up.
  Variants(const solvers::BondedParticles& problem, int max_descent, bool only_projected);
  Variants(const Variants&) = delete;

  /// Starts a step of length dt from `from` with inertia about `target`.
  void begin_step(const Points& from, const Points& target, double dt);
  /// Recoil's unknowns come first.
  std::vector<Variant>& all() { return all_; }

private:
  void add_quaternions(const StepEnergy& energy, const std::string& suffix, double penalty_error,
                       const Rules& rules);

  StepEnergy degree_zero_, bilinear_;
  std::vector<Variant> all_;
};

} // namespace recoil::bench
