#include "linalg/dissection.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "recoil/parallel/exchange.hpp"
#include "recoil/parallel/message.hpp"

namespace recoil::linalg {

namespace {

/// Nodes that are no longer cut: smaller fronts make less fill, larger ones less overhead.
constexpr std::size_t nodes_of_leaf = 12;
/// In thousandths: ranks wait for the largest part. Below them METIS's own choice makes shorter separators.
constexpr int imbalance_of_parts = 30, imbalance_inside = 200;

void sort_unique(std::vector<LocalIndex>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
}

std::vector<GlobalIndex> pick(std::span<const GlobalIndex> from, std::span<const GlobalIndex> places) {
  std::vector<GlobalIndex> result;
  for (const GlobalIndex place : places) result.push_back(from[place]);
  return result;
}

/// Lists of numbers whose receiver does not know how many they are.
void send_list(const parallel::Communicator& comm, int to, std::span<const idx_t> list) {
  const std::vector<double> length{1.0 * list.size()}, numbers(list.begin(), list.end());
  parallel::send(comm, to, length);
  parallel::send(comm, to, numbers);
}
std::vector<idx_t> receive_list(const parallel::Communicator& comm, int from) {
  std::vector<double> length(1);
  parallel::receive(comm, from, length);
  std::vector<double> numbers(static_cast<std::size_t>(length[0]));
  parallel::receive(comm, from, numbers);
  return {numbers.begin(), numbers.end()};
}

/// The tree of parts and the separators between them, numbered as a binary heap: the separator `place` lies
/// between 2 place + 1 and 2 place + 2, the parts are the last ones.
class PartTree {
public:
  PartTree(int num_parts, int num_ranks) : num_parts_(num_parts), num_ranks_(num_ranks) {}

  int num_places() const { return 2 * num_parts_ - 1; }
  bool is_part(int place) const { return place >= num_parts_ - 1; }
  int host(int place) const {
    while (!is_part(place)) place = 2 * place + 1;
    return static_cast<int>(std::int64_t{place - num_parts_ + 1} * num_ranks_ / num_parts_);
  }
  /// The places of a rank, the part first, each after what lies below it.
  std::vector<int> places_of(int rank) const {
    std::vector<int> places;
    for (int place = num_places() - 1; place >= 0; --place)
      if (host(place) == rank) places.push_back(place);
    return places;
  }
  static int depth(int place) { return place == 0 ? 0 : depth((place - 1) / 2) + 1; }

private:
  int num_parts_, num_ranks_;
};

/// Gives the nodes of the part of a graph their places, downwards from `place`.
void label(const PartTree& tree, const EliminationGraph& graph, std::span<const GlobalIndex> nodes, int place,
           std::vector<int>& labels) {
  for (const GlobalIndex node : nodes) labels[node] = place;
  if (tree.is_part(place)) return;
  const Bisection cut = bisect(graph, imbalance_of_parts);
  label(tree, restrict_to(graph, cut.left), pick(nodes, cut.left), 2 * place + 1, labels);
  label(tree, restrict_to(graph, cut.right), pick(nodes, cut.right), 2 * place + 2, labels);
}

/// The place of every node. Collective.
std::vector<int> label_all(const PartTree& tree, const parallel::Communicator& comm, idx_t num_nodes,
                           std::span<const Coupling> couplings) {
  const std::vector<Coupling> all =
      parallel::gather(comm, 0, std::vector<Coupling>(couplings.begin(), couplings.end()));
  std::vector<int> labels;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    labels.resize(num_nodes);
    std::vector<GlobalIndex> nodes(num_nodes);
    std::iota(nodes.begin(), nodes.end(), 0);
    label(tree, make_graph(num_nodes, all), nodes, 0, labels);
  });
  comm.broadcast(labels);
  return labels;
}

class Dissector {
public:
  Dissector(const parallel::Communicator& comm, int num_parts)
      : comm_(comm), tree_(num_parts, comm.size()), places_(tree_.places_of(comm.rank())) {}

  Dissection dissect(idx_t num_nodes, std::span<const Coupling> couplings);

private:
  void number_separators();
  void send_couplings(std::span<const Coupling> couplings);
  void cut_part();
  int cut(const EliminationGraph& graph, std::span<const GlobalIndex> nodes, int depth);
  void add_separators();
  void number_outside();
  void number_couplings();
  void find_borders();
  LocalIndex local_of(idx_t position) const {
    return size_of_part_ +
           static_cast<LocalIndex>(std::ranges::lower_bound(outside_, position) - outside_.begin());
  }
  LocalIndex local_number(idx_t node) const {
    return !places_.empty() && labels_[node] == places_[0] ? numbers_[node] : local_of(numbers_[node]);
  }

  const parallel::Communicator& comm_;
  PartTree tree_;
  std::vector<int> places_; ///< of this rank
  std::vector<int> labels_; ///< places of all nodes
  /// Of a node of a separator its position in the order of elimination of all separators, which is that of
  /// the heap reversed; of one of the part of this rank its local number.
  std::vector<idx_t> numbers_;
  LocalIndex size_of_part_ = 0;
  std::vector<std::vector<idx_t>> received_; ///< positions in the borders from the other ranks
  std::vector<idx_t> outside_;               ///< positions of the local numbers beyond the part, ascending
  Dissection result_;
};

Dissection Dissector::dissect(idx_t num_nodes, std::span<const Coupling> couplings) {
  labels_ = label_all(tree_, comm_, num_nodes, couplings);
  number_separators();
  send_couplings(couplings);
  parallel::collectively(comm_, [&] { cut_part(); });
  if (places_.empty()) return std::move(result_);
  add_separators();
  number_outside();
  number_couplings();
  find_borders();
  return std::move(result_);
}

/// A place comes after all that lie below it, which have larger numbers in the heap.
void Dissector::number_separators() {
  std::vector<idx_t> counts(tree_.num_places()), starts(counts.size());
  for (const int place : labels_) ++counts[place];
  for (std::size_t place = starts.size() - 1; place > 0; --place)
    starts[place - 1] = starts[place] + counts[place];
  numbers_.resize(labels_.size());
  for (std::size_t node = 0; node < labels_.size(); ++node) numbers_[node] = starts[labels_[node]]++;
}

void Dissector::send_couplings(std::span<const Coupling> couplings) {
  std::vector<int> host_of_place(tree_.num_places());
  for (int place = 0; place < tree_.num_places(); ++place) host_of_place[place] = tree_.host(place);
  std::vector<std::vector<Coupling>> outgoing(comm_.size());
  for (const Coupling& coupling : couplings) {
    // Of two places that couple one lies below the other.
    const int host = host_of_place[std::max(labels_[coupling.row], labels_[coupling.column])];
    result_.hosts.push_back(host);
    outgoing[host].push_back(coupling);
  }
  result_.couplings = parallel::exchange(comm_, outgoing);
}

void Dissector::cut_part() {
  if (places_.empty()) return;
  std::vector<GlobalIndex> nodes;
  std::vector<idx_t> number(labels_.size());
  for (std::size_t node = 0; node < labels_.size(); ++node) {
    if (labels_[node] != places_[0]) continue;
    number[node] = static_cast<idx_t>(nodes.size());
    nodes.push_back(static_cast<GlobalIndex>(node));
  }
  std::vector<Coupling> inside;
  for (const auto& part : result_.couplings)
    for (const auto& [row, column] : part)
      if (labels_[row] == places_[0] && labels_[column] == places_[0])
        inside.push_back({number[row], number[column]});
  size_of_part_ = static_cast<LocalIndex>(nodes.size());
  cut(make_graph(size_of_part_, inside), nodes, PartTree::depth(places_[0]));
  for (LocalIndex k = 0; k < size_of_part_; ++k) numbers_[result_.nodes[k]] = k;
}

/// Returns the front that comes last, -1 without nodes.
int Dissector::cut(const EliminationGraph& graph, std::span<const GlobalIndex> nodes, int depth) {
  if (nodes.empty()) return -1;
  Front front;
  front.depth = depth;
  std::vector<GlobalIndex> own(nodes.begin(), nodes.end());
  if (nodes.size() > nodes_of_leaf) {
    const Bisection parts = bisect(graph, imbalance_inside);
    front.children[0] = cut(restrict_to(graph, parts.left), pick(nodes, parts.left), depth + 1);
    front.children[1] = cut(restrict_to(graph, parts.right), pick(nodes, parts.right), depth + 1);
    own = pick(nodes, parts.separator);
  }
  front.begin = static_cast<LocalIndex>(result_.nodes.size());
  front.size = static_cast<LocalIndex>(own.size());
  result_.nodes.insert(result_.nodes.end(), own.begin(), own.end());
  result_.fronts.push_back(std::move(front));
  return static_cast<int>(result_.fronts.size()) - 1;
}

void Dissector::add_separators() {
  for (std::size_t k = 1; k < places_.size(); ++k) {
    const int place = places_[k];
    Front front;
    front.depth = PartTree::depth(place);
    front.begin = static_cast<LocalIndex>(result_.nodes.size());
    for (std::size_t node = 0; node < labels_.size(); ++node)
      if (labels_[node] == place) result_.nodes.push_back(static_cast<idx_t>(node));
    front.size = static_cast<LocalIndex>(result_.nodes.size()) - front.begin;
    if (!result_.fronts.empty()) front.children[0] = static_cast<int>(result_.fronts.size()) - 1;
    front.sender = tree_.host(2 * place + 2);
    result_.fronts.push_back(std::move(front));
    received_.push_back(receive_list(comm_, result_.fronts.back().sender));
  }
  if (const int last = places_.back(); last != 0) result_.receiver = tree_.host((last - 1) / 2);
}

/// Numbers what fronts of this rank meet beyond its part: its separators, and those above them.
void Dissector::number_outside() {
  const auto add = [&](idx_t node) {
    if (labels_[node] != places_[0]) outside_.push_back(numbers_[node]);
  };
  for (const idx_t node : result_.nodes) add(node);
  for (const auto& part : result_.couplings)
    for (const auto& [row, column] : part) {
      add(row);
      add(column);
    }
  for (const auto& border : received_) outside_.insert(outside_.end(), border.begin(), border.end());
  sort_unique(outside_);
}

void Dissector::number_couplings() {
  for (auto& part : result_.couplings)
    for (auto& [row, column] : part) {
      row = local_number(row);
      column = local_number(column);
    }
}

void Dissector::find_borders() {
  std::vector<int> front_of(result_.nodes.size());
  for (int k = 0; k < std::ssize(result_.fronts); ++k)
    std::fill_n(front_of.begin() + result_.fronts[k].begin, result_.fronts[k].size, k);
  for (const auto& part : result_.couplings)
    for (const auto& [row, column] : part) {
      Front& front = result_.fronts[front_of[std::min(row, column)]];
      if (const LocalIndex later = std::max(row, column); later >= front.end()) front.border.push_back(later);
    }
  auto received = received_.begin();
  for (Front& front : result_.fronts) {
    const auto take = [&](std::span<const LocalIndex> border) {
      std::ranges::copy_if(border, std::back_inserter(front.border),
                           [&](LocalIndex node) { return node >= front.end(); });
    };
    for (const int child : front.children)
      if (child >= 0) take(result_.fronts[child].border);
    if (front.sender >= 0) {
      for (const idx_t position : *received++) front.received.push_back(local_of(position));
      take(front.received);
    }
    sort_unique(front.border);
  }
  if (result_.receiver < 0) return;
  std::vector<idx_t> border;
  if (!result_.fronts.empty())
    for (const LocalIndex node : result_.fronts.back().border)
      border.push_back(outside_[node - size_of_part_]);
  send_list(comm_, result_.receiver, border);
}

} // namespace

Dissection dissect(const parallel::Communicator& comm, idx_t num_nodes, std::span<const Coupling> couplings,
                   int num_parts) {
  return Dissector(comm, num_parts).dissect(num_nodes, couplings);
}

} // namespace recoil::linalg
