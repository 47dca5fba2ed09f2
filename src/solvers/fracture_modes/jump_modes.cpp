#include "solvers/fracture_modes/jump_modes.hpp"

#include <functional>
#include <utility>

#include "solvers/fracture_modes/jump_search.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

/// Between fields on the nodes of a search and those on the owned nodes of the distributed problem. Both
/// directions are collective.
struct Transfer {
  std::function<std::vector<double>(const std::vector<double>& owned, int width)> to_search;
  std::function<std::vector<double>(const std::vector<double>& values)> to_owned;
};

SearchState::Field stored_field(const Transfer& transfer, const FoundField& found) {
  return {transfer.to_owned(found.values), found.energy, found.gap, found.iterations, found.start};
}

FoundField restored_field(const Transfer& transfer, const SearchState::Field& field, int dim) {
  return {
      transfer.to_search(field.values, dim), field.energy, field.gap, field.iterations, field.start, true};
}

SearchState stored_state(const Transfer& transfer, const JumpSearchState& state) {
  SearchState stored;
  for (const FoundField& mode : state.modes) stored.modes.push_back(stored_field(transfer, mode));
  for (const FoundField& field : state.dropped) stored.dropped.push_back(stored_field(transfer, field));
  stored.searches = state.searches;
  stored.descents = state.descents;
  if (state.best.exists) stored.best.push_back(stored_field(transfer, state.best));
  return stored;
}

JumpSearchState restored_state(const Transfer& transfer, const SearchState& state, int dim) {
  JumpSearchState restored;
  for (const auto& mode : state.modes) restored.modes.push_back(restored_field(transfer, mode, dim));
  for (const auto& field : state.dropped) restored.dropped.push_back(restored_field(transfer, field, dim));
  restored.searches = state.searches;
  restored.descents = state.descents;
  if (!state.best.empty()) restored.best = restored_field(transfer, state.best.front(), dim);
  return restored;
}

VectorModes search_modes(const JumpProblem& whole, const JumpProblem& searched,
                         const parallel::Communicator* team, const Transfer& transfer,
                         const std::vector<std::vector<double>>& starts,
                         const std::vector<std::vector<double>>& cut_sources,
                         const VectorModeOptions& options, const SearchObserver& observe,
                         const SearchState* from) {
  std::vector<std::vector<double>> fields, sources;
  for (const auto& start : starts) fields.push_back(transfer.to_search(start, whole.dim));
  for (const auto& source : cut_sources) sources.push_back(transfer.to_search(source, 1));
  JumpSearch search(searched, team, std::move(fields), sources, options);
  if (from != nullptr) search.resume(restored_state(transfer, *from, whole.dim));
  std::function<void(double)> tell;
  if (observe)
    tell = [&](double part) {
      SearchProgress progress{static_cast<int>(search.modes().size()), part, {}, [&] {
                                return stored_state(transfer, search.state());
                              }};
      for (const FoundField& mode : search.modes()) progress.energies.push_back(mode.energy);
      observe(progress);
    };
  const int most_searches = 4 * options.count + 20; // with those that are done again for dropped modes
  while (search.searches() < most_searches && std::ssize(search.modes()) < options.count) {
    if (!search.find_next(tell)) break;
    if (tell) tell(0);
  }
  VectorModes result;
  result.constants = zero_modes(whole);
  for (const FoundField& mode : search.modes())
    result.modes.push_back({linalg::Vector(whole.layout, transfer.to_owned(mode.values)), mode.energy,
                            mode.gap, mode.iterations, mode.start});
  return result;
}

} // namespace

VectorModes find_jump_modes(const JumpProblem& problem, bool replicated,
                            const std::vector<std::vector<double>>& starts,
                            const std::vector<std::vector<double>>& cut_sources,
                            const VectorModeOptions& options, const SearchObserver& observe,
                            const SearchState* from) {
  if (!replicated) {
    const Transfer same{[](const std::vector<double>& owned, int) { return owned; },
                        [](const std::vector<double>& values) { return values; }};
    return search_modes(problem, problem, nullptr, same, starts, cut_sources, options, observe, from);
  }
  const ReplicatedProblem all = replicate(problem);
  const Transfer transfer{
      [&](const std::vector<double>& owned, int width) { return gather_field(problem, owned, width); },
      [&](const std::vector<double>& values) { return owned_part(problem, all.problem.ids, values); }};
  return search_modes(problem, all.problem, &problem.comm(), transfer, starts, cut_sources, options, observe,
                      from);
}

} // namespace recoil::solvers::fracture_modes
