#include "solvers/fracture_modes/multilevel_modes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "solvers/fracture_modes/replicated_modes.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

constexpr int bits_of_index = 19; ///< of a cell of the lattice of seeds along each axis

/// A cell of a lattice; cells that hold elements have indices from 1.
using Cell = std::array<std::int64_t, 3>;

/// The cell itself or one of those around it, for k from 0 to 26.
Cell neighbour(const Cell& cell, int k) {
  return {cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1};
}

std::vector<GlobalIndex> sorted_unique(std::vector<GlobalIndex> list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::int64_t packed(const Cell& index) {
  std::int64_t key = 0;
  for (const std::int64_t i : index) key = (key << bits_of_index) | i;
  return key;
}

/// A mode that is constant on pieces, with equal values where only rounding differs.
std::vector<double> with_equal_values(std::vector<double> field) {
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

FoundMode found(const ElementGraph& graph, const GatheredPieces& pieces, const FractureMode& mode) {
  return {with_equal_values(value_on_pieces(graph, pieces, mode.field.owned())), mode.energy, mode.gap,
          mode.iterations, mode.start};
}

SearchState::Field stored_mode(const FractureMode& mode) {
  const auto owned = mode.field.owned();
  return {{owned.begin(), owned.end()}, mode.energy, mode.gap, mode.iterations, mode.start};
}

FractureMode restored_mode(const ElementGraph& graph, const SearchState::Field& field) {
  return {linalg::Vector(graph.layout, field.values), field.energy, field.gap, field.iterations, field.start};
}

/// Whether a list of modes comes before another one: its first energy that differs is less.
bool is_lower(const std::vector<FractureMode>& modes, const std::vector<FractureMode>& others) {
  constexpr double tolerance = 1e-9;
  for (std::size_t i = 0; i < std::min(modes.size(), others.size()); ++i)
    if (std::abs(modes[i].energy - others[i].energy) > tolerance * others[i].energy)
      return modes[i].energy < others[i].energy;
  return false;
}

} // namespace

MultilevelModes::MultilevelModes(const ElementGraph& graph, const std::vector<std::vector<double>>& starts,
                                 const ModeOptions& options)
    : graph_(graph), starts_(starts), options_(options), divided_(graph.layout) {
  const parallel::Communicator& comm = graph.comm();
  for (int i = 0; i < 3; ++i) {
    double low = std::numeric_limits<double>::max();
    for (const Eigen::Vector3d& centre : graph.centres) low = std::min(low, centre[i]);
    low_corner_[i] = comm.min(low);
  }
  margin_ = find_margin();
  choose_classes();
}

Cell MultilevelModes::cell_of(LocalIndex element, double spacing) const {
  Cell cell;
  for (int i = 0; i < 3; ++i)
    cell[i] = static_cast<std::int64_t>((graph_.centres[element][i] - low_corner_[i]) / spacing) + 1;
  return cell;
}

/// The size of the cells of a lattice of which a few times as many hold elements as there are coarse pieces.
double MultilevelModes::find_margin() const {
  const parallel::Communicator& comm = graph_.comm();
  double extent = 0;
  for (const Eigen::Vector3d& centre : graph_.centres)
    extent = std::max(extent, (centre - low_corner_).maxCoeff());
  extent = comm.max(extent);
  const auto count = [&](double spacing) {
    std::vector<GlobalIndex> keys;
    for (LocalIndex e = 0; e < graph_.layout->num_owned; ++e) keys.push_back(packed(cell_of(e, spacing)));
    return std::ssize(sorted_unique(comm.all_gather_parts(sorted_unique(std::move(keys)))));
  };
  const GlobalIndex wanted = std::min(4 * options_.coarse_pieces, graph_.layout->num_global / 4);
  double spacing = extent;
  while (spacing > extent * 0x1p-16 && count(spacing) < wanted) spacing *= 0.8;
  return spacing;
}

/// A number for each local element that two elements share if all starts, in `classes` intervals of their
/// range, are in the same ones.
std::vector<std::uint64_t> MultilevelModes::classes_of_starts(int classes) const {
  const parallel::Communicator& comm = graph_.comm();
  std::vector<std::uint64_t> code(graph_.centres.size(), 0);
  for (const auto& start : starts_) {
    const linalg::Vector field(graph_.layout, start);
    double low = std::numeric_limits<double>::max(), high = -low;
    for (const double value : start) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    low = comm.min(low);
    high = comm.max(high);
    if (!(high - low > 1e-6 * std::max(std::abs(high), std::abs(low)))) continue; // constant
    for (std::size_t e = 0; e < code.size(); ++e) {
      const double part = (field.local()[e] - low) / (high - low);
      code[e] = code[e] * 0x100000001b3u + static_cast<std::uint64_t>(part * classes);
    }
  }
  return code;
}

/// Coarse pieces: as many classes as make about the number that is wanted.
void MultilevelModes::choose_classes() {
  for (int classes = 4; classes <= 256; classes += std::max(1, classes / 4)) {
    codes_ = classes_of_starts(classes);
    if (current_pieces().graph.size() >= options_.coarse_pieces) break;
  }
}

GatheredPieces MultilevelModes::current_pieces() const {
  const auto divided = divided_.local();
  std::vector<char> joined(graph_.faces.size(), 0);
  for (std::size_t f = 0; f < joined.size(); ++f) {
    const auto [a, b] = std::pair(graph_.faces[f].a, graph_.faces[f].b);
    joined[f] = divided[a] == 0 && divided[b] == 0 && codes_[a] == codes_[b] ? 1 : 0;
  }
  for (const auto* list : {&modes_, &tentative_})
    for (const FractureMode& mode : *list)
      for (std::size_t f = 0; f < joined.size(); ++f)
        if (mode.field.local()[graph_.faces[f].a] != mode.field.local()[graph_.faces[f].b]) joined[f] = 0;
  return gather_pieces(graph_, closed_faces(graph_, joined));
}

/// The first of the tentative modes that is not among the others.
const FractureMode& MultilevelModes::newest() const {
  for (std::size_t i = 0; i + 1 < tentative_.size(); ++i)
    if (i >= modes_.size() || tentative_[i].energy != modes_[i].energy) return tentative_[i];
  return tentative_.back();
}

/// The modes with one more, on these pieces: from all starts, or from what is known of it.
std::vector<FractureMode> MultilevelModes::search(const GatheredPieces& pieces) {
  std::vector<Field> fields, known;
  ModeOptions options = options_;
  if (tentative_.empty()) {
    for (const auto& start : starts_) fields.push_back(on_pieces(graph_, pieces, start));
  } else {
    known.push_back(found(graph_, pieces, newest()).field);
    options.cut_starts = options.eigenvector_starts = options.random_starts = 0;
  }
  options.seed += 7919u * static_cast<std::uint32_t>(searches_);
  ReplicatedModes modes(graph_.comm(), pieces.graph, std::move(fields), options);
  for (const FractureMode& mode : modes_) modes.add_mode(found(graph_, pieces, mode));
  if (!modes.find_next(known)) return {};
  std::vector<FractureMode> result;
  for (const FoundMode& mode : modes.modes())
    result.push_back(
        {on_elements(graph_, pieces, mode.field), mode.energy, mode.gap, mode.iterations, mode.start});
  return result;
}

/// Divides what is nearer to the fault of the newest mode than the margin into single elements; false where
/// it is so already. The fault then has room to move on both sides: along borders of pieces, which are rough,
/// it would be held.
bool MultilevelModes::divide_along_fault() {
  const auto field = newest().field.local();
  std::vector<GlobalIndex> cells;
  for (const ElementFace& face : graph_.faces)
    if (face.counted && field[face.a] != field[face.b])
      for (const LocalIndex e : {face.a, face.b}) cells.push_back(packed(cell_of(e, margin_)));
  cells = sorted_unique(graph_.comm().all_gather_parts(sorted_unique(std::move(cells))));
  bool changed = false;
  const auto divided = divided_.write_owned();
  for (LocalIndex e = 0; e < std::ssize(divided); ++e) {
    if (divided[e] != 0) continue;
    const Cell cell = cell_of(e, margin_);
    for (int k = 0; k < 27 && divided[e] == 0; ++k)
      if (std::ranges::binary_search(cells, packed(neighbour(cell, k)))) divided[e] = 1;
    changed = changed || divided[e] != 0;
  }
  divided_.update_ghosts();
  return graph_.comm().any(changed);
}

bool MultilevelModes::find_next(const std::function<void(double)>& observe) {
  for (;;) {
    const GatheredPieces pieces = current_pieces();
    std::vector<FractureMode> better = search(pieces);
    const bool is_start = tentative_.empty();
    if (is_start && better.empty()) {
      ++searches_;
      return false;
    }
    if (is_start || is_lower(better, tentative_)) tentative_ = std::move(better);
    if (!divide_along_fault()) break;
    if (observe) observe(0.5);
  }
  modes_ = std::move(tentative_);
  tentative_.clear();
  divided_.fill(0);
  ++searches_;
  return true;
}

SearchState MultilevelModes::state() const {
  SearchState state;
  state.searches = searches_;
  for (const FractureMode& mode : modes_) state.modes.push_back(stored_mode(mode));
  for (const FractureMode& mode : tentative_) state.tentative.push_back(stored_mode(mode));
  for (const double flag : divided_.owned()) state.divided.push_back(flag != 0 ? 1 : 0);
  return state;
}

void MultilevelModes::resume(const SearchState& state) {
  searches_ = state.searches;
  for (const auto& field : state.modes) modes_.push_back(restored_mode(graph_, field));
  for (const auto& field : state.tentative) tentative_.push_back(restored_mode(graph_, field));
  divided_ = linalg::Vector(graph_.layout, std::vector<double>(state.divided.begin(), state.divided.end()));
}

} // namespace recoil::solvers::fracture_modes
