#include "recoil/objectives/composition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

std::string shown(double value) { return fmt::format("{:.12g}", value); }

std::vector<double> weights_of(const WholeTime&, std::span<const double> times) {
  if (times.size() < 2)
    throw InputError("an integral over time needs at least two states; use \"final\" in statics");
  std::vector<double> weights(times.size(), 0.0);
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const double half = 0.5 * (times[i + 1] - times[i]);
    weights[i] += half;
    weights[i + 1] += half;
  }
  return weights;
}

std::vector<double> weights_of(const FinalState&, std::span<const double> times) {
  std::vector<double> weights(times.size(), 0.0);
  weights.back() = 1;
  return weights;
}

std::vector<double> weights_of(const ChosenSteps& chosen, std::span<const double> times) {
  if (chosen.steps.empty()) throw InputError("the list of steps is empty");
  std::vector<double> weights(times.size(), 0.0);
  for (const GlobalIndex step : chosen.steps) {
    if (step < 0 || step >= std::ssize(times))
      throw InputError("step " + std::to_string(step) + " does not exist; there are steps 0 to " +
                       std::to_string(times.size() - 1));
    weights[step] += 1;
  }
  return weights;
}

std::vector<double> weights_of(const ChosenTimes& chosen, std::span<const double> times) {
  if (chosen.times.empty()) throw InputError("the list of times is empty");
  std::vector<double> weights(times.size(), 0.0);
  const double tolerance = time_tolerance(times);
  for (const double time : chosen.times) {
    const auto after = std::upper_bound(times.begin(), times.end(), time);
    if (!(time >= times.front() - tolerance && time <= times.back() + tolerance))
      throw InputError(
          fmt::format("time {:.12g} s lies outside of the simulated interval, {:.12g} s to {:.12g} s", time,
                      times.front(), times.back()));
    // On a state, to rounding, it is that state alone: its neighbour may lie where nothing was observed.
    const auto near = std::find_if(times.begin(), times.end(),
                                   [&](double state) { return std::abs(state - time) <= tolerance; });
    if (near != times.end()) {
      weights[near - times.begin()] += 1;
      continue;
    }
    const std::size_t i = after - times.begin() - 1;
    const double share = (time - times[i]) / (times[i + 1] - times[i]);
    weights[i] += 1 - share;
    weights[i + 1] += share;
  }
  return weights;
}

} // namespace

std::vector<double> state_weights(const TimeSelection& selection, std::span<const double> times) {
  RECOIL_ASSERT(!times.empty());
  return std::visit([&](const auto& chosen) { return weights_of(chosen, times); }, selection);
}

Composition::Composition(std::vector<Term> terms, std::span<const double> times)
    : terms_(std::move(terms)), num_states_(times.size()) {
  for (const Term& term : terms_) try {
      if (!std::isfinite(term.weight)) throw InputError("its weight is not a finite number");
      if (!std::isfinite(term.power) || term.power == 0) throw InputError("its power must not be zero");
      weights_.push_back(state_weights(term.time, times));
      values_.emplace_back(times.size(), std::numeric_limits<double>::quiet_NaN());
    } catch (const InputError& error) {
      throw InputError(term.where, error.what());
    }
}

void Composition::set(std::size_t term, std::size_t state, double value) { values_[term][state] = value; }

double Composition::sum(std::size_t term) const {
  double sum = 0;
  for (std::size_t i = 0; i < num_states_; ++i)
    if (weights_[term][i] != 0) sum += weights_[term][i] * values_[term][i];
  return sum;
}

double Composition::value(std::size_t term) const {
  const double sum = this->sum(term), power = terms_[term].power;
  if ((sum < 0 && power != std::floor(power)) || (sum == 0 && power < 0))
    throw InputError(terms_[term].where, "the sum over time is " + shown(sum) + ", whose power " +
                                             shown(power) + " is not defined; take power 1");
  return terms_[term].weight * std::pow(sum, power);
}

double Composition::value() const {
  double total = 0;
  for (std::size_t term = 0; term < terms_.size(); ++term) total += value(term);
  return total;
}

double Composition::factor(std::size_t term, std::size_t state) const {
  const Term& t = terms_[term];
  if (weights_[term][state] == 0 || t.weight == 0) return 0;
  const double linear = t.weight * weights_[term][state];
  if (t.power == 1) return linear;
  value(term); // refuses sums without a power
  const double sum = this->sum(term);
  if (sum == 0 && t.power < 1)
    throw InputError(t.where, "the sum over time is zero, where the power " + shown(t.power) +
                                  " has no derivative; take power 1");
  return linear * t.power * std::pow(sum, t.power - 1);
}

std::string Composition::obstacle_to_squares(std::size_t term) const {
  const Term& t = terms_[term];
  if (t.power != 1) return "its sum over time is raised to the power " + shown(t.power);
  if (t.weight < 0) return "its weight is negative, " + shown(t.weight);
  return "";
}

bool Composition::counts_once(std::size_t term) const {
  return terms_[term].weight == 1 && terms_[term].power == 1 &&
         std::ranges::all_of(weights_[term], [](double w) { return w == 0 || w == 1; });
}

double Composition::residual_factor(std::size_t term, std::size_t state) const {
  return std::sqrt(terms_[term].weight * weights_[term][state]);
}

} // namespace recoil::objectives
