#include "solvers/fracture_modes/replicated_modes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "solvers/fracture_modes/cut_energies.hpp"

namespace recoil::solvers::fracture_modes {

/// Cuts of least energy that are not almost the same.
void ReplicatedModes::choose_cuts(std::vector<Field>& chosen) {
  constexpr double alike = 0.9;
  constexpr std::size_t most_tried = 100;
  const std::vector<CutEnergy> energies = cut_energies(search_.pool(), search_.modes());
  for (std::size_t k = 0; k < std::min(energies.size(), most_tried); ++k) {
    if (std::ssize(chosen) >= options_.cut_starts) return;
    Field field = indicator(search_.pool(), energies[k].cut);
    if (!search_.make_feasible(field)) continue;
    const bool is_known = std::ranges::any_of(chosen, [&](const Field& other) {
      double product = 0;
      for (std::size_t p = 0; p < field.size(); ++p) product += graph_.masses[p] * field[p] * other[p];
      return std::abs(product) > alike;
    });
    if (!is_known) chosen.push_back(std::move(field));
  }
}

std::vector<Field> ReplicatedModes::choose_starts(const std::vector<Field>& more_starts) {
  std::vector<Field> chosen;
  choose_cuts(chosen);
  const auto add = [&](Field field) {
    if (search_.make_feasible(field)) chosen.push_back(std::move(field));
  };
  const std::size_t next = search_.pool().component_masses().size() + modes_.size();
  for (std::size_t i = next; i < std::min(starts_.size(), next + options_.eigenvector_starts); ++i)
    add(starts_[i]);
  std::seed_seq seed{options_.seed, static_cast<std::uint32_t>(searches_)};
  std::mt19937 random(seed);
  for (int i = 0; i < options_.random_starts; ++i) {
    Field field(graph_.size(), 0.0);
    // Uniform, as the distributions of the standard library differ between its implementations.
    for (const Field& start : starts_) {
      const double factor = double(random()) / 0x1p31 - 1;
      for (std::size_t p = 0; p < field.size(); ++p) field[p] += factor * start[p];
    }
    if (starts_.empty())
      for (double& value : field) value = double(random()) / 0x1p31 - 1;
    add(std::move(field));
  }
  for (const Field& field : dropped_) add(field);
  for (const Field& field : more_starts) add(field);
  return chosen;
}

/// Sends what one rank has found, and the cuts that it has added, to all.
void ReplicatedModes::share(FoundMode& found, std::vector<Cut>& cuts, int root) {
  comm_.broadcast(found.field, root);
  std::vector<double> numbers{found.energy, found.gap, double(found.iterations)};
  comm_.broadcast(numbers, root);
  found.energy = numbers[0];
  found.gap = numbers[1];
  found.iterations = static_cast<int>(numbers[2]);
  std::vector<int> members, sizes;
  std::vector<double> weights;
  for (const Cut& cut : cuts) {
    members.insert(members.end(), cut.members.begin(), cut.members.end());
    sizes.push_back(static_cast<int>(cut.members.size()));
    weights.push_back(cut.weight);
  }
  comm_.broadcast(members, root);
  comm_.broadcast(sizes, root);
  comm_.broadcast(weights, root);
  cuts.clear();
  auto member = members.begin();
  for (std::size_t c = 0; c < sizes.size(); member += sizes[c++])
    cuts.push_back({{member, member + sizes[c]}, weights[c], {}});
}

/// Descents from as many starts at a time as there are ranks, so that none but the last wait.
FoundMode ReplicatedModes::best_descent(const std::vector<Field>& starts,
                                        const std::function<void(double)>& observe) {
  constexpr double none = std::numeric_limits<double>::max();
  const std::size_t old_cuts = search_.pool().cuts().size();
  while (descents_ < std::ssize(starts)) {
    const int wave = std::min<int>(comm_.size(), static_cast<int>(std::ssize(starts)) - descents_);
    std::vector<double> energies(wave, 0.0);
    FoundMode found;
    std::vector<Cut> cuts;
    parallel::collectively(comm_, [&] {
      if (comm_.rank() >= wave) return;
      found = search_.descend(starts[descents_ + comm_.rank()]);
      energies[comm_.rank()] = found.field.empty() ? none : found.energy;
      const auto& all = search_.pool().cuts();
      cuts.assign(all.begin() + old_cuts, all.end());
      search_.pool().truncate(old_cuts); // so that a descent does not depend on those before it
    });
    comm_.sum(energies);
    const int least = static_cast<int>(std::ranges::min_element(energies) - energies.begin());
    if (energies[least] != none && (best_.field.empty() || energies[least] < best_.energy)) {
      share(found, cuts, least);
      found.start = descents_ + least;
      best_ = std::move(found);
      cuts_of_best_ = std::move(cuts);
    }
    descents_ += wave;
    if (observe) observe(double(descents_) / double(starts.size() + 1));
  }
  for (Cut& cut : cuts_of_best_) search_.pool().add(std::move(cut));
  cuts_of_best_.clear();
  descents_ = 0;
  return std::exchange(best_, {});
}

/// The bound by cuts: a single cut with less energy than the mode is a better start.
FoundMode ReplicatedModes::below_cuts(FoundMode mode) {
  constexpr double tolerance = 1e-9;
  constexpr int most_attempts = 20;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    search_.add_level_sets(mode.field, 1000);
    const std::vector<CutEnergy> energies = cut_energies(search_.pool(), search_.modes());
    if (energies.empty() || energies.front().energy >= mode.energy * (1 - tolerance)) break;
    Field field = indicator(search_.pool(), energies.front().cut);
    if (!search_.make_feasible(field)) break;
    FoundMode found = search_.descend(field);
    if (found.field.empty() || found.energy >= mode.energy) break;
    found.start = mode.start;
    mode = std::move(found);
  }
  search_.make_feasible(mode.field);
  mode.energy = discontinuity_energy(graph_, mode.field);
  return mode;
}

bool ReplicatedModes::find_next(const std::vector<Field>& more_starts,
                                const std::function<void(double)>& observe) {
  FoundMode best = best_descent(choose_starts(more_starts), observe);
  ++searches_;
  if (best.field.empty()) return false;
  insert(below_cuts(std::move(best)));
  return true;
}

PieceSearchState ReplicatedModes::state() const {
  const auto& cuts = search_.pool().cuts();
  PieceSearchState state{modes_,    dropped_, searches_,
                         descents_, best_,    {cuts.begin() + cuts_of_starts_, cuts.end()}};
  state.cuts.insert(state.cuts.end(), cuts_of_best_.begin(), cuts_of_best_.end());
  state.cuts_of_best = static_cast<int>(cuts_of_best_.size());
  return state;
}

void ReplicatedModes::resume(PieceSearchState state) {
  for (FoundMode& mode : state.modes) add_mode(std::move(mode));
  dropped_ = std::move(state.dropped);
  searches_ = state.searches;
  descents_ = state.descents;
  best_ = std::move(state.best);
  for (std::size_t c = 0; c < state.cuts.size(); ++c)
    if (c + state.cuts_of_best < state.cuts.size())
      search_.pool().add(std::move(state.cuts[c]));
    else
      cuts_of_best_.push_back(std::move(state.cuts[c]));
}

void ReplicatedModes::insert(FoundMode mode) {
  constexpr double tolerance = 1e-9;
  const auto place = std::ranges::find_if(
      modes_, [&](const FoundMode& other) { return other.energy > mode.energy * (1 + tolerance); });
  if (place == modes_.end()) return add_mode(std::move(mode));
  const std::vector<FoundMode> later(place, modes_.end());
  modes_.erase(place, modes_.end());
  search_.keep_modes(modes_.size());
  FoundMode again = search_.descend(mode.field);
  if (!again.field.empty()) again = below_cuts(std::move(again));
  if (again.field.empty() || again.energy >= mode.energy * (1 - tolerance)) {
    // Fewer conditions have not helped the mode, and more do not change that the others are fixed points.
    mode.gap = std::max(mode.gap, again.gap);
    add_mode(std::move(mode));
    for (const FoundMode& other : later) add_mode(other);
    return;
  }
  again.start = mode.start;
  for (const FoundMode& other : later) dropped_.push_back(other.field);
  // It may have less energy than modes before, too.
  insert(std::move(again));
}

void ReplicatedModes::add_mode(FoundMode mode) {
  search_.add_mode(mode.field);
  modes_.push_back(std::move(mode));
}

} // namespace recoil::solvers::fracture_modes
