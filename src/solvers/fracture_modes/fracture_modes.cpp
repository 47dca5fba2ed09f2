#include "recoil/solvers/fracture_modes/fracture_modes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recoil/solvers/fracture_modes/piece_graph.hpp"
#include "solvers/fracture_modes/jump_admm.hpp"
#include "solvers/fracture_modes/replicated_modes.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

linalg::Vector on_elements(const ElementGraph& graph, const GatheredPieces& pieces, const Field& field) {
  linalg::Vector vector(graph.layout);
  const auto values = vector.write_local();
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = field[pieces.of_local[e]];
  return vector;
}

/// Means over pieces by mass.
Field on_pieces(const ElementGraph& graph, const GatheredPieces& pieces, std::span<const double> of_owned) {
  Field field = sum_over_pieces(graph, pieces, of_owned);
  for (std::size_t p = 0; p < field.size(); ++p) field[p] /= pieces.graph.masses[p];
  return field;
}

/// A mode that is constant on pieces, with equal values where only the rounding of the means differs.
Field mode_on_pieces(const ElementGraph& graph, const GatheredPieces& pieces, const linalg::Vector& mode) {
  Field field = on_pieces(graph, pieces, mode.owned());
  std::vector<int> order(field.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int p) { return field[p]; });
  const double close = 1e-12 * std::max(std::abs(field[order.front()]), std::abs(field[order.back()]));
  double value = field[order.front()];
  for (const int p : order) {
    if (field[p] - value > close) value = field[p];
    field[p] = value;
  }
  return field;
}

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

/// Faces along which elements stay together: those that must, or all that are not `open`.
std::vector<char> closed_faces(const ElementGraph& graph, std::span<const char> open = {}) {
  std::vector<char> closed;
  for (std::size_t f = 0; f < graph.faces.size(); ++f)
    closed.push_back(graph.faces[f].breakable && (open.empty() || open[f] != 0) ? 0 : 1);
  return closed;
}

std::vector<FractureMode> as_modes(const ElementGraph& graph, const GatheredPieces& pieces,
                                   const std::vector<FoundMode>& found) {
  std::vector<FractureMode> modes;
  for (const FoundMode& mode : found)
    modes.push_back(
        {on_elements(graph, pieces, mode.field), mode.energy, mode.gap, mode.iterations, mode.start});
  return modes;
}

/// Searches that a number of modes may take, with those that are done again for dropped ones.
int most_searches(const ModeOptions& options) { return 4 * options.count + 20; }

/// All elements on every rank.
void find_replicated(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                     const ModeOptions& options, FractureModes& result) {
  const GatheredPieces pieces = gather_pieces(graph, closed_faces(graph));
  std::vector<Field> fields;
  for (const auto& start : starts) fields.push_back(on_pieces(graph, pieces, start));
  ReplicatedModes search(graph.comm(), pieces.graph, std::move(fields), options);
  for (int k = 0; k < most_searches(options) && std::ssize(search.modes()) < options.count; ++k)
    if (!search.find_next()) break;
  result.modes = as_modes(graph, pieces, search.modes());
}

/// Candidates for faults by the method of multipliers on the elements of all ranks; the pieces between them,
/// which are few, on every rank.
class DistributedModes {
public:
  DistributedModes(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                   const ModeOptions& options, FractureModes& result)
      : graph_(graph), starts_(starts), options_(options), result_(result), admm_(graph),
        open_(graph.faces.size(), 0) {
    for (const linalg::Vector& constant : result.constants) admm_.add_orthogonal(constant);
    for (std::size_t i = result.constants.size(); i < starts.size(); ++i)
      open_faults(linalg::Vector(graph.layout, starts[i]));
  }

  /// False where there is no other mode.
  bool find_next() {
    candidates_.clear();
    bool has_start = false;
    const std::size_t first = result_.constants.size() + result_.modes.size();
    for (std::size_t i = first; i < std::min(starts_.size(), first + options_.eigenvector_starts); ++i)
      has_start = open_faults(linalg::Vector(graph_.layout, starts_[i])) || has_start;
    if (!has_start) return false;
    std::vector<FractureMode> best;
    for (int round = 0; round < options_.refinements; ++round) {
      std::vector<FractureMode> modes = search_pieces(best);
      if (modes.empty() || (round > 0 && !is_lower(modes, best))) break;
      best = std::move(modes);
      if (round + 1 < options_.refinements) open_faults(newest(best).field);
    }
    if (best.empty()) return false;
    std::size_t kept = 0;
    while (kept < std::min(best.size(), result_.modes.size()) &&
           best[kept].energy == result_.modes[kept].energy)
      ++kept;
    result_.modes = std::move(best);
    admm_.keep_orthogonal(result_.constants.size() + kept);
    for (std::size_t i = kept; i < result_.modes.size(); ++i) admm_.add_orthogonal(result_.modes[i].field);
    return true;
  }

private:
  /// Opens the faces across which the solution around `c`, made orthogonal and normal, jumps; false where
  /// nothing is left of c.
  bool open_faults(linalg::Vector c) {
    const double before = std::sqrt(mass_product(graph_, c.local(), c.local()));
    const auto take_out = [&](const linalg::Vector& field) {
      c.add(-mass_product(graph_, c.local(), field.local()), field);
    };
    for (int sweep = 0; sweep < 2; ++sweep) {
      for (const linalg::Vector& constant : result_.constants) take_out(constant);
      for (const FractureMode& mode : result_.modes) take_out(mode.field);
    }
    const double norm = std::sqrt(mass_product(graph_, c.local(), c.local()));
    if (!(norm > 1e-8 * before)) return false;
    c.scale(1 / norm);
    const JumpAdmm::Outcome outcome = admm_.solve(c, options_.admm_tolerance, options_.admm_iterations);
    for (std::size_t f = 0; f < open_.size(); ++f)
      if (outcome.closed[f] == 0) open_[f] = 1;
    candidates_.push_back(outcome.v);
    return true;
  }

  /// Whether a list of modes comes before another one: its first energy that differs is less.
  static bool is_lower(const std::vector<FractureMode>& modes, const std::vector<FractureMode>& others) {
    constexpr double tolerance = 1e-9;
    for (std::size_t i = 0; i < std::min(modes.size(), others.size()); ++i)
      if (std::abs(modes[i].energy - others[i].energy) > tolerance * others[i].energy)
        return modes[i].energy < others[i].energy;
    return false;
  }

  /// The first of `modes` that is not among the result.
  const FractureMode& newest(const std::vector<FractureMode>& modes) const {
    for (std::size_t i = 0; i + 1 < modes.size(); ++i)
      if (i >= result_.modes.size() || modes[i].energy != result_.modes[i].energy) return modes[i];
    return modes.back();
  }

  /// The modes with one more, on the pieces between open faces; starts are the candidates and what is `known`
  /// of the new list.
  std::vector<FractureMode> search_pieces(const std::vector<FractureMode>& known) {
    const GatheredPieces pieces = gather_pieces(graph_, closed_faces(graph_, open_));
    std::vector<Field> fields, more;
    for (const auto& start : starts_) fields.push_back(on_pieces(graph_, pieces, start));
    for (const linalg::Vector& candidate : candidates_)
      more.push_back(on_pieces(graph_, pieces, candidate.owned()));
    if (!known.empty()) more.push_back(mode_on_pieces(graph_, pieces, newest(known).field));
    ReplicatedModes search(graph_.comm(), pieces.graph, std::move(fields), options_);
    for (const FractureMode& mode : result_.modes)
      search.add_mode(
          {mode_on_pieces(graph_, pieces, mode.field), mode.energy, mode.gap, mode.iterations, mode.start});
    if (!search.find_next(more)) return {};
    return as_modes(graph_, pieces, search.modes());
  }

  const ElementGraph& graph_;
  const std::vector<std::vector<double>>& starts_;
  const ModeOptions& options_;
  FractureModes& result_;
  JumpAdmm admm_;
  std::vector<char> open_;                 ///< per face, whether a fault of some candidate runs along it
  std::vector<linalg::Vector> candidates_; ///< solutions for the mode that is looked for
};

} // namespace

FractureModes find_modes(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                         const ModeOptions& options) {
  FractureModes result;
  result.constants = constants(graph);
  if (graph.layout->num_global <= options.replicated_elements) {
    find_replicated(graph, starts, options, result);
    return result;
  }
  DistributedModes search(graph, starts, options, result);
  for (int k = 0; k < most_searches(options) && std::ssize(result.modes) < options.count; ++k)
    if (!search.find_next()) break;
  return result;
}

} // namespace recoil::solvers::fracture_modes
