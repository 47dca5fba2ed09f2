#include "recoil/fem/pieces.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace recoil::fem {

namespace {

/// Sets of nodes that cells connect on a rank.
class NodeSets {
public:
  explicit NodeSets(std::size_t size) : parents_(size) { std::iota(parents_.begin(), parents_.end(), 0); }
  std::size_t root(std::size_t node) {
    while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
    return node;
  }
  void join(std::size_t a, std::size_t b) { parents_[root(a)] = root(b); }

private:
  std::vector<std::size_t> parents_;
};

} // namespace

/// Every node gets the smallest canonical number of its piece: by sets on a rank, by ghosts between ranks.
template <int dim>
Pieces find_pieces(const FunctionSpace<dim>& space) {
  NodeSets sets(space.num_nodes());
  for (LocalIndex cell = 0; cell < space.mesh().num_cells(); ++cell)
    for (const LocalIndex node : space.cell_nodes(cell)) sets.join(node, space.cell_nodes(cell)[0]);
  linalg::Vector labels(space.layout());
  {
    auto values = labels.write_local();
    for (LocalIndex node = 0; node < space.num_nodes(); ++node)
      values[std::size_t{dim} * node] = double(space.canonical_ids()[node]);
  }
  for (bool changed = true; changed;) {
    auto values = labels.write_local();
    std::vector<double> smallest(space.num_nodes(), std::numeric_limits<double>::infinity());
    for (LocalIndex node = 0; node < space.num_nodes(); ++node) {
      double& label = smallest[sets.root(node)];
      label = std::min(label, values[std::size_t{dim} * node]);
    }
    changed = false;
    for (LocalIndex node = 0; node < space.num_nodes(); ++node) {
      double& label = values[std::size_t{dim} * node];
      const double least = smallest[sets.root(node)];
      changed = changed || least < label;
      label = least;
    }
    labels.update_ghosts();
    changed = space.comm().any(changed);
  }
  std::vector<GlobalIndex> roots, bodies;
  std::vector<int> body_of(space.num_nodes(), 0);
  for (LocalIndex cell = 0; cell < space.mesh().num_cells(); ++cell)
    for (const LocalIndex node : space.cell_nodes(cell)) body_of[node] = space.mesh().cell_body[cell];
  const auto label_of = [&](LocalIndex node) { return GlobalIndex(labels.local()[std::size_t{dim} * node]); };
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node) {
    if (label_of(node) != space.canonical_ids()[node]) continue;
    roots.push_back(label_of(node));
    bodies.push_back(body_of[node]);
  }
  roots = space.comm().all_gather_parts(roots);
  bodies = space.comm().all_gather_parts(bodies);
  std::map<GlobalIndex, int> body_of_root;
  for (std::size_t k = 0; k < roots.size(); ++k) body_of_root[roots[k]] = int(bodies[k]);
  Pieces pieces;
  std::map<GlobalIndex, std::size_t> number;
  for (const auto& [root, body] : body_of_root) {
    number[root] = pieces.body.size();
    pieces.body.push_back(body);
  }
  for (LocalIndex node = 0; node < space.num_nodes(); ++node)
    pieces.of_node.push_back(number.at(label_of(node)));
  return pieces;
}

template Pieces find_pieces(const FunctionSpace<2>&);
template Pieces find_pieces(const FunctionSpace<3>&);

} // namespace recoil::fem
