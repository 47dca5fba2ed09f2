#include "app/study/objectives/match_meshes.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "recoil/io/block_layout.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::app {

namespace {

using checkpoint::DrawnCell;

template <int dim>
using Point = std::array<double, dim>;

/// A cell with the positions of its nodes; plain, so that it can travel as bytes.
template <int dim>
struct PlacedCell {
  DrawnCell nodes;
  std::array<Point<dim>, DrawnCell().size()> positions;

  int size() const { return static_cast<int>(std::ranges::find(nodes, -1) - nodes.begin()); }
  Point<dim> centre() const {
    Point<dim> centre{};
    for (int a = 0; a < size(); ++a)
      for (std::size_t i = 0; i < dim; ++i) centre[i] += positions[a][i] / size();
    return centre;
  }
};

template <int dim>
bool is_near(const Point<dim>& a, const Point<dim>& b, double tolerance) {
  for (std::size_t i = 0; i < dim; ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance)) return false;
  return true;
}

/// The cells of this rank's block with the positions of their nodes, which other ranks may hold. Collective.
template <int dim>
std::vector<PlacedCell<dim>> place(const parallel::Communicator& comm, const MeshRows<dim>& mesh) {
  std::vector<GlobalIndex> wanted;
  for (const DrawnCell& cell : mesh.cells)
    for (const GlobalIndex node : cell)
      if (node >= 0) wanted.push_back(node);
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());

  std::vector<std::vector<GlobalIndex>> questions(comm.size());
  for (const GlobalIndex node : wanted)
    questions[io::rank_of_row(node, mesh.num_nodes, comm.size())].push_back(node);
  const GlobalIndex begin = io::block_begin(mesh.num_nodes, comm.rank(), comm.size());
  std::vector<std::vector<Point<dim>>> answers;
  for (const auto& asked : parallel::exchange(comm, questions)) {
    auto& own = answers.emplace_back();
    for (const GlobalIndex node : asked)
      std::copy_n(mesh.coordinates.begin() + (node - begin) * dim, dim, own.emplace_back().begin());
  }
  std::unordered_map<GlobalIndex, Point<dim>> position;
  const auto received = parallel::exchange(comm, answers);
  for (std::size_t rank = 0; rank < questions.size(); ++rank)
    for (std::size_t k = 0; k < questions[rank].size(); ++k) position[questions[rank][k]] = received[rank][k];

  std::vector<PlacedCell<dim>> placed;
  for (const DrawnCell& cell : mesh.cells) {
    placed.push_back({cell, {}});
    for (std::size_t a = 0; a < cell.size() && cell[a] >= 0; ++a)
      placed.back().positions[a] = position.at(cell[a]);
  }
  return placed;
}

/// Cells that are the same have centres in one bucket of a grid, or in two whose border runs between them.
template <int dim>
class Buckets {
public:
  explicit Buckets(double tolerance) : tolerance_(tolerance), width_(1e4 * tolerance) {}

  std::uint64_t of(const Point<dim>& centre) const {
    std::uint64_t code = 0;
    for (const double x : centre)
      code = (code ^ static_cast<std::int64_t>(std::floor(x / width_))) * 0x9e3779b97f4a7c15ULL;
    return code ^ (code >> 32);
  }
  /// All that may hold the centre of the same cell.
  std::set<std::uint64_t> around(const Point<dim>& centre) const {
    std::set<std::uint64_t> codes;
    for (int corner = 0; corner < 1 << dim; ++corner) {
      Point<dim> moved = centre;
      for (std::size_t i = 0; i < dim; ++i) moved[i] += (corner >> i & 1) != 0 ? tolerance_ : -tolerance_;
      codes.insert(of(moved));
    }
    return codes;
  }

private:
  double tolerance_, width_;
};

struct NodePair {
  GlobalIndex node, other;
};

/// Adds the nodes of two cells pairwise, if the cells are the same.
template <int dim>
bool pair_nodes(const PlacedCell<dim>& cell, const PlacedCell<dim>& other, double tolerance,
                std::vector<NodePair>& pairs) {
  if (cell.size() != other.size()) return false;
  std::vector<NodePair> found;
  for (int a = 0; a < cell.size(); ++a)
    for (int b = 0; b < cell.size(); ++b)
      if (is_near<dim>(cell.positions[a], other.positions[b], tolerance))
        found.push_back({cell.nodes[a], other.nodes[b]});
  if (std::ssize(found) != cell.size()) return false;
  pairs.insert(pairs.end(), found.begin(), found.end());
  return true;
}

/// The pairs of nodes of all cells that are the same in both meshes, on the ranks that met them. None unless
/// every cell has one partner. Collective.
template <int dim>
std::optional<std::vector<NodePair>> pairs_of_cells(const parallel::Communicator& comm,
                                                    const MeshRows<dim>& mesh, const MeshRows<dim>& other,
                                                    double tolerance) {
  const Buckets<dim> buckets(tolerance);
  const std::size_t size = comm.size();
  std::vector<std::vector<PlacedCell<dim>>> sent(size), probes(size);
  for (const auto& cell : place(comm, other)) sent[buckets.of(cell.centre()) % size].push_back(cell);
  for (const auto& cell : place(comm, mesh)) {
    std::set<std::size_t> ranks;
    for (const std::uint64_t code : buckets.around(cell.centre())) ranks.insert(code % size);
    for (const std::size_t rank : ranks) probes[rank].push_back(cell);
  }
  const auto candidates = parallel::exchange(comm, sent);
  std::unordered_map<std::uint64_t, std::vector<const PlacedCell<dim>*>> of_bucket;
  for (const auto& part : candidates)
    for (const auto& cell : part) of_bucket[buckets.of(cell.centre())].push_back(&cell);

  std::vector<NodePair> pairs;
  GlobalIndex matched = 0;
  for (const auto& part : parallel::exchange(comm, probes))
    for (const auto& cell : part)
      for (const std::uint64_t code : buckets.around(cell.centre()))
        if (const auto found = of_bucket.find(code); found != of_bucket.end())
          for (const PlacedCell<dim>* candidate : found->second)
            matched += pair_nodes(cell, *candidate, tolerance, pairs) ? 1 : 0;
  if (comm.sum(matched) != mesh.num_cells) return std::nullopt;
  return pairs;
}

/// What `pairs` say of the nodes of this rank's block, -1 where nothing; none where they contradict each
/// other on some rank. Collective.
std::optional<std::vector<GlobalIndex>> collect(const parallel::Communicator& comm,
                                                const std::vector<NodePair>& pairs, GlobalIndex num_nodes) {
  std::vector<std::vector<NodePair>> sent(comm.size());
  for (const NodePair& pair : pairs) sent[io::rank_of_row(pair.node, num_nodes, comm.size())].push_back(pair);
  const GlobalIndex begin = io::block_begin(num_nodes, comm.rank(), comm.size());
  const GlobalIndex end = io::block_begin(num_nodes, comm.rank() + 1, comm.size());
  std::vector<GlobalIndex> others(end - begin, -1);
  bool contradict = false;
  for (const auto& part : parallel::exchange(comm, sent))
    for (const NodePair& pair : part) {
      GlobalIndex& other = others[pair.node - begin];
      contradict = contradict || (other >= 0 && other != pair.other);
      other = pair.other;
    }
  return comm.any(contradict || std::ranges::count(others, -1) > 0) ? std::nullopt : std::optional(others);
}

} // namespace

template <int dim>
std::optional<std::vector<GlobalIndex>> match_nodes(const parallel::Communicator& comm,
                                                    const MeshRows<dim>& mesh, const MeshRows<dim>& other,
                                                    double tolerance) {
  if (mesh.num_nodes != other.num_nodes || mesh.num_cells != other.num_cells) return std::nullopt;
  const auto pairs = pairs_of_cells(comm, mesh, other, tolerance);
  if (!pairs) return std::nullopt;
  // One partner for every node, of either mesh.
  std::vector<NodePair> reversed;
  for (const NodePair& pair : *pairs) reversed.push_back({pair.other, pair.node});
  if (!collect(comm, reversed, mesh.num_nodes)) return std::nullopt;
  return collect(comm, *pairs, mesh.num_nodes);
}

template std::optional<std::vector<GlobalIndex>> match_nodes(const parallel::Communicator&,
                                                             const MeshRows<2>&, const MeshRows<2>&, double);
template std::optional<std::vector<GlobalIndex>> match_nodes(const parallel::Communicator&,
                                                             const MeshRows<3>&, const MeshRows<3>&, double);

} // namespace recoil::app
