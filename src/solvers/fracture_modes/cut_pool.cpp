#include "solvers/fracture_modes/cut_pool.hpp"

#include <algorithm>
#include <utility>

#include "recoil/base/union_find.hpp"

namespace recoil::solvers::fracture_modes {

namespace {
constexpr double rounding = 1e-9; ///< of sums of masses

double sum_over(const Cut& cut, const std::vector<double>& row) {
  double sum = 0;
  for (const int p : cut.members) sum += row[p];
  return sum;
}
} // namespace

std::size_t CutPool::HashOfMembers::operator()(const std::vector<int>& members) const {
  std::size_t hash = members.size();
  for (const int member : members)
    hash = (hash ^ static_cast<std::size_t>(member)) * 0x9e3779b97f4a7c15u + (hash >> 29);
  return hash;
}

CutPool::CutPool(const PieceGraph& graph, LeastShares least)
    : graph_(&graph), component_(components(graph)), link_starts_(graph.size() + 1, 0),
      link_ids_(2 * graph.links.size()), neighbours_(2 * graph.links.size()), marks_(graph.size(), 0),
      least_(least) {
  for (int p = 0; p < graph.size(); ++p) {
    if (component_[p] == std::ssize(component_masses_)) {
      component_masses_.push_back(0);
      pieces_of_component_.emplace_back();
    }
    component_masses_[component_[p]] += graph.masses[p];
    pieces_of_component_[component_[p]].push_back(p);
  }
  for (const PieceGraph::Link& link : graph.links) {
    ++link_starts_[link.a + 1];
    ++link_starts_[link.b + 1];
  }
  for (int p = 0; p < graph.size(); ++p) link_starts_[p + 1] += link_starts_[p];
  std::vector<int> next(link_starts_.begin(), link_starts_.end() - 1);
  for (int k = 0; k < std::ssize(graph.links); ++k) {
    const auto [a, b, weight] = graph.links[k];
    neighbours_[next[a]] = b;
    link_ids_[next[a]++] = k;
    neighbours_[next[b]] = a;
    link_ids_[next[b]++] = k;
  }
  set_faults(std::vector<char>(graph.links.size(), 0));
}

void CutPool::set_faults(std::vector<char> faults) {
  faults_ = std::move(faults);
  UnionFind<int> sets(graph_->size());
  for (std::size_t k = 0; k < faults_.size(); ++k)
    if (faults_[k] == 0) sets.unite(graph_->links[k].a, graph_->links[k].b);
  left_ = sets.numbers();
  of_left_.clear();
  std::vector<int> components;
  for (int p = 0; p < graph_->size(); ++p) {
    if (left_[p] == std::ssize(of_left_)) {
      of_left_.push_back(0);
      components.push_back(component_[p]);
    }
    ++of_left_[left_[p]];
  }
  least_masses_.clear();
  for (const int c : components) least_masses_.push_back(least_.part * component_masses_[c] * (1 - rounding));
  for (std::size_t c = 0; c < cuts_.size(); ++c) usable_[c] = has_small_parts(cuts_[c]) ? 0 : 1;
}

/// The connected parts of a set and of the rest; faults part them, too, if these count.
CutPool::Parts CutPool::split(std::span<const char> set, bool at_faults) const {
  Parts parts{{}, {0}, {}, std::vector<int>(set.size(), -1)};
  parts.members.reserve(set.size());
  for (int first = 0; first < std::ssize(set); ++first) {
    if (parts.part_of[first] >= 0) continue;
    const int part = static_cast<int>(parts.masses.size());
    double mass = 0;
    parts.part_of[first] = part;
    parts.members.push_back(first);
    for (std::size_t next = parts.starts.back(); next < parts.members.size(); ++next) {
      const int p = parts.members[next];
      mass += graph_->masses[p];
      for (int k = link_starts_[p]; k < link_starts_[p + 1]; ++k) {
        const int q = neighbours_[k];
        if (parts.part_of[q] >= 0 || set[q] != set[p] || (at_faults && faults_[link_ids_[k]] != 0)) continue;
        parts.part_of[q] = part;
        parts.members.push_back(q);
      }
    }
    parts.starts.push_back(static_cast<int>(parts.members.size()));
    parts.masses.push_back(mass);
  }
  return parts;
}

bool CutPool::is_small(const Parts& parts, int part, bool at_faults) const {
  const std::span<const int> members = parts.of(part);
  const int piece = members.front(), component = component_[piece];
  if (at_faults)
    return std::ssize(members) < of_left_[left_[piece]] && parts.masses[part] < least_masses_[left_[piece]];
  return members.size() < pieces_of_component_[component].size() &&
         parts.masses[part] < least_.side * component_masses_[component] * (1 - rounding);
}

bool CutPool::has_small_parts(const Cut& cut) const {
  if (!(least_.part > 0)) return false;
  std::vector<char> set(graph_->size(), 0);
  for (const int p : cut.members) set[p] = 1;
  const Parts parts = split(set, true);
  for (int part = 0; part < parts.count(); ++part)
    if (is_small(parts, part, true)) return true;
  return false;
}

/// Small parts of `set` and the rest change sides unless a smaller one beside them does; false where none is
/// small.
bool CutPool::absorb_small_parts(std::vector<char>& set, const Parts& parts, bool at_faults) const {
  const auto is_smaller = [&](int i, int j) {
    return parts.masses[i] < parts.masses[j] || (parts.masses[i] == parts.masses[j] && i < j);
  };
  std::vector<char> small(parts.count());
  for (int i = 0; i < parts.count(); ++i) small[i] = is_small(parts, i, at_faults) ? 1 : 0;
  if (std::ranges::find(small, 1) == small.end()) return false;
  std::vector<char> changes = small;
  for (std::size_t k = 0; k < faults_.size(); ++k) {
    const int i = parts.part_of[graph_->links[k].a], j = parts.part_of[graph_->links[k].b];
    if ((!at_faults || faults_[k] == 0) && i != j && small[i] != 0 && small[j] != 0)
      changes[is_smaller(i, j) ? j : i] = 0;
  }
  for (int i = 0; i < parts.count(); ++i)
    if (changes[i] != 0)
      for (const int p : parts.of(i)) set[p] = set[p] == 0 ? 1 : 0;
  return true;
}

int CutPool::add(std::span<const char> set) {
  std::vector<char> sides(set.begin(), set.end());
  Parts parts;
  constexpr int most_rounds = 50; // what one rule moves the other one might move back
  for (int round = 0, quiet = 0; quiet < 2; ++round) {
    if (round == most_rounds) return 0;
    const bool at_faults = round % 2 == 0;
    Parts present = split(sides, at_faults);
    quiet = absorb_small_parts(sides, present, at_faults) ? 0 : quiet + 1;
    if (!at_faults) parts = std::move(present); // of the final sides, once both rules are quiet
  }
  int added = 0;
  for (int part = 0; part < parts.count(); ++part)
    if (add_part(parts.of(part))) ++added;
  return added;
}

bool CutPool::add_part(std::span<const int> part) {
  const std::vector<int>& whole = pieces_of_component_[component_[part.front()]];
  if (part.size() == whole.size()) return false;
  Cut cut;
  for (const int p : part) marks_[p] = 1;
  for (const int p : part)
    for (int k = link_starts_[p]; k < link_starts_[p + 1]; ++k) {
      const PieceGraph::Link& link = graph_->links[link_ids_[k]];
      if (marks_[link.a] != marks_[link.b]) cut.weight += link.weight;
    }
  // Of halves that are equally large, that without the first piece.
  const bool take_rest =
      2 * part.size() > whole.size() || (2 * part.size() == whole.size() && marks_[whole.front()] != 0);
  for (const int p : whole)
    if ((marks_[p] == 0) == take_rest) cut.members.push_back(p);
  for (const int p : part) marks_[p] = 0;
  return insert(std::move(cut), true);
}

bool CutPool::add(Cut cut) {
  const bool is_usable = !has_small_parts(cut);
  return insert(std::move(cut), is_usable);
}

bool CutPool::insert(Cut cut, bool is_usable) {
  if (!known_.insert(cut.members).second) return false;
  cut.sums.clear();
  for (const auto& row : rows_) cut.sums.push_back(sum_over(cut, row));
  cuts_.push_back(std::move(cut));
  usable_.push_back(is_usable ? 1 : 0);
  return true;
}

void CutPool::truncate(std::size_t count) {
  while (cuts_.size() > count) {
    known_.erase(cuts_.back().members);
    cuts_.pop_back();
    usable_.pop_back();
  }
}

void CutPool::add_row(std::vector<double> row) {
  for (Cut& cut : cuts_) cut.sums.push_back(0);
  rows_.emplace_back();
  set_last_row(std::move(row));
}

void CutPool::keep_rows(std::size_t count) {
  rows_.resize(count);
  for (Cut& cut : cuts_) cut.sums.resize(count);
}

void CutPool::set_last_row(std::vector<double> row) {
  rows_.back() = std::move(row);
  for (Cut& cut : cuts_) cut.sums.back() = sum_over(cut, rows_.back());
}

void CutPool::center(std::span<double> field) const {
  std::vector<double> means(component_masses_.size(), 0.0);
  for (std::size_t p = 0; p < field.size(); ++p) means[component_[p]] += graph_->masses[p] * field[p];
  for (std::size_t c = 0; c < means.size(); ++c) means[c] /= component_masses_[c];
  for (std::size_t p = 0; p < field.size(); ++p) field[p] -= means[component_[p]];
}

} // namespace recoil::solvers::fracture_modes
