#pragma once

#include <algorithm>
#include <cmath>

#include "recoil/linalg/linear_solver.hpp"

namespace recoil::linalg {

/// Decides when what a solver has prepared for one matrix is renewed for the next one: interpolation, coarse
/// operators and smoothers of multigrid, factors, exact solves of stiff terms. It sees the course of the
/// solves, not their matrices; what it decides is the same on every rank.
///
/// A hierarchy of an earlier matrix is kept until the iterations that it costs more than when it was new
/// would pay for another, and is replaced within a solve that takes far more.
///
/// The hierarchy of a reference matrix (LinearSolver::begin_with_reference()) outlives sequences. The first
/// of them measures what it takes. One that takes more by what new operators cost for each of its matrices,
/// or by a share that is noticed, has later ones begin with new operators, and one that does so even then
/// ends its use, as does the loss of its interpolation. Sequences with stiff terms, which renew operators
/// where they come and move, are measured apart, unless the reference does without the terms.
class RefreshPolicy {
public:
  /// What renewing coarse operators and smoothers costs, in iterations (docs/performance.md).
  static constexpr double refresh_in_iterations = 8;
  /// Iterations above those expected after which a solve is broken off, in refreshes.
  static constexpr double patience_in_refreshes = 3;
  /// Share of the stiff nodes that may be other ones before multigrid takes them into a new interpolation,
  /// which costs as much as some fifteen iterations.
  static constexpr double tolerated_change = 0.125;
  /// What renewing the interpolation costs beyond coarse operators and smoothers, in iterations.
  static constexpr double interpolation_in_iterations = 16;
  /// Share of iterations that a sequence may take more with the hierarchy of a reference: slow solves make
  /// Newton's method take more iterations, too.
  static constexpr double tolerated_excess = 0.25;

  /// @param is_free whether renewing operators and smoothers costs next to nothing: then that is done for
  /// every matrix, and no solve is broken off.
  explicit RefreshPolicy(bool is_free = false) : is_free_(is_free) {}

  /// The next matrix is the first of a sequence (those of a time step), of which nothing may depend on
  /// earlier ones.
  void begin_sequence() {
    record_ = record();
    begins_ = true;
    holds_reference_ = starts_from_reference_ = meets_stiff_terms_ = false;
    iterations_ = digits_ = 0;
    matrices_ = 0;
  }
  /// There are stiff terms in this sequence.
  void meet_stiff_terms() { meets_stiff_terms_ = !holds_reference_alone(); }
  bool sequence_begins() const { return begins_; }
  void matrix_changed() {
    changed_ = true;
    ++matrices_;
  }

  /// What the next solve has to renew first.
  Renewal due() const {
    if (begins_) return Renewal::everything;
    if (!changed_) return Renewal::nothing;
    return is_free_ || is_slow_ ? Renewal::operators : Renewal::stiff_terms;
  }
  void renewed(Renewal what) {
    if (what >= Renewal::operators) {
      is_new_ = true;
      has_reference_operators_ = false;
    }
    begins_ = changed_ = starts_from_reference_ = false;
  }

  /// With what the solves of this sequence have shown.
  HierarchyRecord record() const {
    HierarchyRecord judged = record_;
    if (iterations_ == 0 || judged.at_start == Renewal::everything) return judged;
    double& measured =
        meets_stiff_terms_ ? judged.iterations_per_digit_with_stiff_terms : judged.iterations_per_digit;
    if (measured == 0) {
      measured = iterations_ / digits_;
      return judged;
    }
    // Stiff terms take part in operators, which are new then. What they cost without the reference is not
    // known: not more than when they were first met, or than the body without them, is a sign of health.
    const bool renews = meets_stiff_terms_ || judged.at_start == Renewal::operators;
    const double rate = std::max(measured, meets_stiff_terms_ ? judged.iterations_per_digit : 0),
                 expected = rate * digits_, matrices = std::max(matrices_, 1),
                 cost = renews ? interpolation_in_iterations : refresh_in_iterations;
    // What is renewed for the first of many matrices serves the last ones less, too, and one more for each
    // of them is no sign of anything.
    if (iterations_ - expected > std::min(matrices * cost, tolerated_excess * expected + matrices))
      judged.at_start = renews ? Renewal::everything : Renewal::operators;
    return judged;
  }
  /// Goes on with what another solver, or this one before, has learned; a hierarchy at hand is not used.
  void restore(const HierarchyRecord& record) {
    record_ = record;
    has_reference_interpolation_ = holds_reference_ = false;
    iterations_ = digits_ = 0;
  }
  /// Whether sequences may begin with the hierarchy of a reference.
  bool may_use_reference() const { return record_.at_start < Renewal::everything; }
  /// Whether this sequence has the hierarchy of a reference that leaves stiff terms out.
  bool holds_reference_alone() const { return holds_reference_ && is_alone_; }
  /// Whether the hierarchy at hand is none of the reference named `key`, or no longer. `renews`: operators
  /// will be new in any case.
  bool needs_reference(double key, bool renews = false) const {
    return !has_interpolation_of(key) ||
           (!renews && record_.at_start < Renewal::operators && !has_reference_operators_);
  }
  bool has_interpolation_of(double key) const { return has_reference_interpolation_ && record_.key == key; }
  /// The hierarchy at hand has just been set up from the reference named `key`.
  void took_reference(double key) {
    if (record_.key != key) record_.iterations_per_digit = record_.iterations_per_digit_with_stiff_terms = 0;
    record_.key = key;
    has_reference_interpolation_ = has_reference_operators_ = true;
  }
  /// The hierarchy of the reference serves for the sequence that begins; `alone`: it has no part of stiff
  /// terms.
  void hold_reference(bool renews = false, bool alone = true) {
    begins_ = false;
    is_alone_ = alone;
    changed_ = holds_reference_ = starts_from_reference_ = true;
    is_slow_ = renews || record_.at_start >= Renewal::operators;
    // What has not been measured is not judged.
    is_new_ = record_.iterations_per_digit == 0;
    iterations_per_digit_ = record_.iterations_per_digit;
  }
  /// Whether what comes next is the first of a sequence that begins with a reference: nothing but that may be
  /// left of earlier sequences.
  bool starts_from_reference() const { return starts_from_reference_; }
  void give_reference_up() { record_.at_start = Renewal::everything; }
  /// Multigrid serves badly: this sequence and later ones are to do without.
  void prefer_factors() { record_.prefers_factors = true; }
  bool prefers_factors() const { return record_.prefers_factors; }

  /// Iterations after which a solve is broken off; at most `most`.
  int iteration_limit(double relative_tolerance, int most) const {
    if (is_free_ || is_new_) return most;
    const double patience = patience_in_refreshes * refresh_in_iterations;
    return static_cast<int>(std::min(expected(relative_tolerance) + patience, 1.0 * most));
  }
  /// Whether a solve that has come out so is to be repeated with renewed operators.
  bool gives_up(const LinearResult& result) const {
    return !is_new_ && result.outcome != LinearOutcome::converged &&
           result.outcome != LinearOutcome::indefinite;
  }
  /// The first solve after a renewal says how many iterations later ones may take.
  void solved(const LinearResult& result, double relative_tolerance) {
    if (holds_reference_) {
      iterations_ += result.iterations;
      digits_ += digits(relative_tolerance);
    }
    is_slow_ = result.outcome != LinearOutcome::converged ||
               (!is_new_ && result.iterations - expected(relative_tolerance) > refresh_in_iterations);
    if (is_new_) iterations_per_digit_ = result.iterations / digits(relative_tolerance);
    is_new_ = false;
  }

  /// The preconditioner is a new object, without an interpolation.
  void created() {
    if (holds_reference_ && !begins_) give_reference_up();
    holds_reference_ = has_reference_interpolation_ = false;
    interpolation_ = Interpolation::none;
  }
  /// Notes that the preconditioner has been set up, with an interpolation from the present matrix if it had
  /// none.
  void set_up() {
    interpolation_ =
        has_interpolation() ? Interpolation::of_an_earlier_matrix : Interpolation::of_this_matrix;
  }
  /// An interpolation from a matrix found to be indefinite would spoil the preconditioner of better ones.
  void found_indefinite() {
    if (interpolation_ == Interpolation::of_this_matrix)
      interpolation_ = Interpolation::of_an_indefinite_matrix;
  }
  bool has_interpolation() const { return interpolation_ != Interpolation::none; }
  bool is_unsound() const { return interpolation_ == Interpolation::of_an_indefinite_matrix; }
  /// Whether the interpolation is to follow the stiff nodes: `changed` of `num_nodes` are other ones than it
  /// was built with.
  static bool has_moved(double changed, double num_nodes) { return changed > tolerated_change * num_nodes; }

private:
  static double digits(double relative_tolerance) { return -std::log10(relative_tolerance); }
  double expected(double relative_tolerance) const {
    return iterations_per_digit_ * digits(relative_tolerance);
  }

  enum class Interpolation { none, of_this_matrix, of_an_earlier_matrix, of_an_indefinite_matrix };

  bool is_free_ = false;
  bool begins_ = true, changed_ = true;
  bool is_new_ = true, is_slow_ = false; ///< the hierarchy, or the factors
  double iterations_per_digit_ = 0;      ///< of the first solve with it
  Interpolation interpolation_ = Interpolation::none;

  HierarchyRecord record_;
  bool has_reference_interpolation_ = false, has_reference_operators_ = false; ///< the hierarchy at hand
  bool starts_from_reference_ = false;
  bool holds_reference_ = false, is_alone_ = true, meets_stiff_terms_ = false; ///< in this sequence
  double iterations_ = 0, digits_ = 0; ///< of the solves of this sequence with it
  int matrices_ = 0;                   ///< of this sequence
};

} // namespace recoil::linalg
