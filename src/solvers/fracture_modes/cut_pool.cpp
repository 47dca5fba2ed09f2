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
      link_ids_(2 * graph.links.size()), marks_(graph.size(), 0), least_(least) {
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
    link_ids_[next[graph.links[k].a]++] = k;
    link_ids_[next[graph.links[k].b]++] = k;
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
std::vector<CutPool::Part> CutPool::split(std::span<const char> set, bool at_faults) const {
  std::vector<char> seen(set.size(), 0);
  std::vector<Part> parts;
  for (int first = 0; first < std::ssize(set); ++first) {
    if (seen[first] != 0) continue;
    Part& part = parts.emplace_back(std::vector<int>{first}, 0.0);
    seen[first] = 1;
    for (std::size_t next = 0; next < part.members.size(); ++next) {
      const int p = part.members[next];
      part.mass += graph_->masses[p];
      for (int k = link_starts_[p]; k < link_starts_[p + 1]; ++k) {
        if (at_faults && faults_[link_ids_[k]] != 0) continue;
        const PieceGraph::Link& link = graph_->links[link_ids_[k]];
        const int q = link.a == p ? link.b : link.a;
        if (seen[q] != 0 || set[q] != set[p]) continue;
        seen[q] = 1;
        part.members.push_back(q);
      }
    }
  }
  return parts;
}

bool CutPool::is_small(const Part& part, bool at_faults) const {
  const int piece = part.members.front(), component = component_[piece];
  if (at_faults)
    return std::ssize(part.members) < of_left_[left_[piece]] && part.mass < least_masses_[left_[piece]];
  return part.members.size() < pieces_of_component_[component].size() &&
         part.mass < least_.side * component_masses_[component] * (1 - rounding);
}

bool CutPool::has_small_parts(const Cut& cut) const {
  if (!(least_.part > 0)) return false;
  std::vector<char> set(graph_->size(), 0);
  for (const int p : cut.members) set[p] = 1;
  return std::ranges::any_of(split(set, true), [&](const Part& part) { return is_small(part, true); });
}

/// Small parts change sides unless a smaller one beside them does; false where none is small.
bool CutPool::absorb_small_parts(std::vector<char>& set, bool at_faults) const {
  const std::vector<Part> parts = split(set, at_faults);
  std::vector<int> part_of(set.size());
  for (int i = 0; i < std::ssize(parts); ++i)
    for (const int p : parts[i].members) part_of[p] = i;
  const auto is_smaller = [&](int i, int j) {
    return parts[i].mass < parts[j].mass || (parts[i].mass == parts[j].mass && i < j);
  };
  std::vector<char> changes(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) changes[i] = is_small(parts[i], at_faults) ? 1 : 0;
  const std::vector<char> small = changes;
  for (std::size_t k = 0; k < faults_.size(); ++k) {
    const int i = part_of[graph_->links[k].a], j = part_of[graph_->links[k].b];
    if ((!at_faults || faults_[k] == 0) && i != j && small[i] != 0 && small[j] != 0)
      changes[is_smaller(i, j) ? j : i] = 0;
  }
  bool any = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (changes[i] == 0) continue;
    any = true;
    for (const int p : parts[i].members) set[p] = set[p] == 0 ? 1 : 0;
  }
  return any;
}

int CutPool::add(std::span<const char> set) {
  std::vector<char> sides(set.begin(), set.end());
  constexpr int most_rounds = 50; // what one rule moves the other one might move back
  for (int round = 0, quiet = 0; quiet < 2; ++round) {
    if (round == most_rounds) return 0;
    quiet = absorb_small_parts(sides, round % 2 == 0) ? 0 : quiet + 1;
  }
  int added = 0;
  for (const Part& part : split(sides, false))
    if (add_part(part.members)) ++added;
  return added;
}

bool CutPool::add_part(const std::vector<int>& part) {
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
