#include "recoil/solvers/fracture_modes/fracture_modes.hpp"

#include <cmath>
#include <utility>

#include "solvers/fracture_modes/element_fields.hpp"
#include "solvers/fracture_modes/multilevel_modes.hpp"
#include "solvers/fracture_modes/replicated_modes.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

/// 1 / sqrt(mass) on one component each.
std::vector<linalg::Vector> constants(const ElementGraph& graph) {
  const GatheredPieces components = gather_pieces(graph, std::vector<char>(graph.faces.size(), 1));
  std::vector<linalg::Vector> result;
  for (int c = 0; c < components.graph.size(); ++c) {
    Field constant(components.graph.size(), 0.0);
    constant[c] = 1 / std::sqrt(components.graph.masses[c]);
    result.push_back(on_elements(graph, components, constant));
  }
  return result;
}

/// Searches that a number of modes may take, with those that are done again for dropped ones.
int most_searches(const ModeOptions& options) { return 4 * options.count + 20; }

SearchState state_on_elements(const ElementGraph& graph, const GatheredPieces& pieces,
                              const PieceSearchState& of_pieces) {
  SearchState state;
  for (const FoundMode& mode : of_pieces.modes) state.modes.push_back(stored(graph, pieces, mode));
  for (const Field& field : of_pieces.dropped) state.dropped.push_back(stored(graph, pieces, {field}));
  state.searches = of_pieces.searches;
  state.descents = of_pieces.descents;
  if (!of_pieces.best.field.empty()) state.best.push_back(stored(graph, pieces, of_pieces.best));
  state.cuts_of_best = of_pieces.cuts_of_best;
  for (const Cut& cut : of_pieces.cuts) state.cut_weights.push_back(cut.weight);
  const std::size_t words = state.words_of_cuts(), num_owned = graph.layout->num_owned;
  std::vector<std::uint64_t> bits(words * pieces.graph.size(), 0);
  for (std::size_t k = 0; k < of_pieces.cuts.size(); ++k)
    for (const int p : of_pieces.cuts[k].members) bits[p * words + k / 64] |= std::uint64_t{1} << (k % 64);
  for (std::size_t e = 0; e < num_owned; ++e)
    for (std::size_t word = 0; word < words; ++word)
      state.cut_bits.push_back(static_cast<std::int64_t>(bits[pieces.of_local[e] * words + word]));
  return state;
}

/// The words of each piece, of which all elements have the same. Collective.
std::vector<std::uint64_t> bits_on_pieces(const ElementGraph& graph, const GatheredPieces& pieces,
                                          const SearchState& state) {
  const std::size_t words = state.words_of_cuts();
  std::vector<std::uint64_t> bits(words * pieces.graph.size(), 0);
  // Halves of a word are numbers that doubles have exactly.
  for (std::size_t half = 0; half < 2 * words; ++half) {
    std::vector<double> part;
    for (LocalIndex e = 0; e < graph.layout->num_owned; ++e) {
      const auto word = static_cast<std::uint64_t>(state.cut_bits[e * words + half / 2]);
      part.push_back(double(half % 2 == 0 ? word & 0xffffffffu : word >> 32));
    }
    const std::vector<double> on_each = value_on_pieces(graph, pieces, part);
    for (int p = 0; p < pieces.graph.size(); ++p)
      bits[p * words + half / 2] |= static_cast<std::uint64_t>(on_each[p]) << (half % 2 == 0 ? 0 : 32);
  }
  return bits;
}

PieceSearchState state_on_pieces(const ElementGraph& graph, const GatheredPieces& pieces,
                                 const SearchState& state) {
  PieceSearchState of_pieces;
  for (const auto& field : state.modes) of_pieces.modes.push_back(restored(graph, pieces, field));
  for (const auto& field : state.dropped) of_pieces.dropped.push_back(restored(graph, pieces, field).field);
  of_pieces.searches = state.searches;
  of_pieces.descents = state.descents;
  if (!state.best.empty()) of_pieces.best = restored(graph, pieces, state.best.front());
  of_pieces.cuts_of_best = state.cuts_of_best;
  const std::size_t words = state.words_of_cuts();
  const std::vector<std::uint64_t> bits = bits_on_pieces(graph, pieces, state);
  for (std::size_t k = 0; k < state.cut_weights.size(); ++k) {
    Cut cut;
    cut.weight = state.cut_weights[k];
    for (int p = 0; p < pieces.graph.size(); ++p)
      if ((bits[p * words + k / 64] >> (k % 64) & 1) != 0) cut.members.push_back(p);
    of_pieces.cuts.push_back(std::move(cut));
  }
  return of_pieces;
}

/// Calls the observer of find_modes() for either kind of search.
template <class Search, class MakeState>
std::function<void(double)> observer_of(const SearchObserver& observe, const Search& search,
                                        MakeState make_state) {
  if (!observe) return {};
  return [&observe, &search, make_state](double part) {
    SearchProgress progress{static_cast<int>(search.modes().size()), part, {}, make_state};
    for (const auto& mode : search.modes()) progress.energies.push_back(mode.energy);
    observe(progress);
  };
}

/// All elements on every rank.
void find_replicated(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                     const ModeOptions& options, const SearchObserver& observe, const SearchState* from,
                     FractureModes& result) {
  const GatheredPieces pieces = gather_pieces(graph, closed_faces(graph));
  std::vector<Field> fields;
  for (const auto& start : starts) fields.push_back(on_pieces(graph, pieces, start));
  ReplicatedModes search(graph.comm(), pieces.graph, std::move(fields), options);
  if (from != nullptr) search.resume(state_on_pieces(graph, pieces, *from));
  const auto tell =
      observer_of(observe, search, [&] { return state_on_elements(graph, pieces, search.state()); });
  while (search.searches() < most_searches(options) && std::ssize(search.modes()) < options.count) {
    if (!search.find_next({}, tell)) break;
    if (tell) tell(0);
  }
  for (const FoundMode& mode : search.modes())
    result.modes.push_back(
        {on_elements(graph, pieces, mode.field), mode.energy, mode.gap, mode.iterations, mode.start});
}

void find_multilevel(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                     const ModeOptions& options, const SearchObserver& observe, const SearchState* from,
                     FractureModes& result) {
  MultilevelModes search(graph, starts, options);
  if (from != nullptr) search.resume(*from);
  const auto tell = observer_of(observe, search, [&] { return search.state(); });
  while (search.searches() < most_searches(options) && std::ssize(search.modes()) < options.count) {
    if (!search.find_next(tell)) break;
    if (tell) tell(0);
  }
  result.modes = search.modes();
}

} // namespace

FractureModes find_modes(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                         const ModeOptions& options, const SearchObserver& observe, const SearchState* from) {
  FractureModes result;
  result.constants = constants(graph);
  (graph.layout->num_global <= options.replicated_elements ? find_replicated : find_multilevel)(
      graph, starts, options, observe, from, result);
  return result;
}

} // namespace recoil::solvers::fracture_modes
