#include "recoil/fem/function_space.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "fem/entity_nodes.hpp"
#include "recoil/base/error.hpp"
#include "recoil/geometry/morton.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::fem {

namespace {

/// Name of a node that every rank understands.
struct NodeName {
  std::array<GlobalIndex, 4> ids; ///< sorted input ids of the vertices of its entity, -1 = unused
  std::int64_t inside;            ///< number within the entity
};

struct NodeNumbers {
  GlobalIndex global, canonical;
};

template <int dim>
void check_orders(const mesh::DistributedMesh<dim>& mesh, const std::vector<int>& body_orders) {
  std::string conflict;
  std::vector<std::int32_t> body_of_vertex(mesh.vertices.size(), -1);
  for (std::size_t cell = 0; cell < mesh.cells.size() && conflict.empty(); ++cell)
    for (const LocalIndex vertex : mesh.cells[cell]) {
      std::int32_t& body = body_of_vertex[vertex];
      const std::int32_t other = mesh.cell_body[cell];
      if (body >= 0 && body_orders[body] != body_orders[other])
        conflict = "<discr_order>: the bodies '" + mesh.body_names[body] + "' and '" +
                   mesh.body_names[other] +
                   "' share a vertex but have different orders; give them the same order";
      body = other;
    }
  parallel::agree(*mesh.comm, static_cast<int>(ExitCode::bad_input), conflict);
}

/// Owner, position and name of every node in provisional numbering.
template <int dim>
struct NodeList {
  std::vector<int> owner;
  std::vector<Eigen::Matrix<double, dim, 1>> positions;
  std::vector<NodeName> names;
  std::vector<GlobalIndex> canonical; ///< number of owned nodes, else -1
};

template <int dim>
NodeList<dim> list_nodes(const mesh::DistributedMesh<dim>& mesh, const EntityNodes<dim>& nodes) {
  const std::vector<GlobalIndex> first_canonical = number_canonically(mesh, nodes);
  NodeList<dim> list;
  list.owner = mesh.vertex_owner;
  list.positions = mesh.vertices;
  for (const GlobalIndex id : mesh.vertex_ids) list.names.push_back({{id, -1, -1, -1}, 0});
  list.canonical = mesh.vertex_ids;
  list.owner.resize(nodes.num_nodes);
  list.positions.resize(list.owner.size());
  list.names.resize(list.owner.size());
  list.canonical.resize(list.owner.size(), -1);
  for (std::size_t e = 0; e < nodes.entities.size(); ++e) {
    const Entity& entity = nodes.entities[e];
    for (int k = 0; k < nodes_inside(entity.dimension, entity.order); ++k) {
      const std::size_t node = entity.first_node + k;
      list.owner[node] = mesh.vertex_owner[entity.vertices[0]];
      list.names[node] = {entity.ids, k};
      if (first_canonical[e] >= 0) list.canonical[node] = first_canonical[e] + k;
    }
  }
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    const auto begin = nodes.cell_offsets[cell];
    const auto count = nodes.cell_offsets[cell + 1] - begin;
    int order = 1;
    while (num_lagrange_nodes(dim, order) < count) ++order;
    const auto& lattice = FunctionSpace<dim>::basis(order).lattice();
    for (int i = dim + 1; i < count; ++i) {
      Eigen::Matrix<double, dim, 1> position = Eigen::Matrix<double, dim, 1>::Zero();
      for (std::size_t corner = 0; corner <= dim; ++corner)
        position += lattice.multi_index(i)[corner] * mesh.vertices[mesh.cells[cell][corner]];
      list.positions[nodes.cell_nodes[begin + i]] = position / order;
    }
  }
  return list;
}

/// Numbers of ghost nodes, asked of their owners by name. Collective.
template <int dim>
std::vector<NodeNumbers> ask_owners(const mesh::DistributedMesh<dim>& mesh, const EntityNodes<dim>& nodes,
                                    const NodeList<dim>& list, const std::vector<LocalIndex>& local_number,
                                    GlobalIndex offset) {
  const parallel::Communicator& comm = *mesh.comm;
  std::vector<std::vector<NodeName>> questions(comm.size());
  for (std::size_t node = 0; node < list.owner.size(); ++node)
    if (list.owner[node] != comm.rank()) questions[list.owner[node]].push_back(list.names[node]);
  std::unordered_map<GlobalIndex, LocalIndex> vertex_of_id;
  for (LocalIndex vertex = 0; vertex < mesh.num_owned_vertices; ++vertex)
    vertex_of_id[mesh.vertex_ids[vertex]] = vertex;
  const auto find = [&](const NodeName& name) -> std::size_t {
    const auto dimension = 3 - std::count(name.ids.begin(), name.ids.end(), GlobalIndex{-1});
    if (dimension == 0) return vertex_of_id.at(name.ids[0]);
    const auto found = std::lower_bound(nodes.entities.begin(), nodes.entities.end(), name,
                                        [&](const Entity& e, const NodeName& n) {
                                          return std::tuple(std::ptrdiff_t{e.dimension}, e.ids) <
                                                 std::tuple(std::ptrdiff_t{dimension}, n.ids);
                                        });
    RECOIL_ASSERT(found != nodes.entities.end() && found->ids == name.ids);
    return found->first_node + name.inside;
  };
  const auto asked = parallel::exchange(comm, questions);
  std::vector<std::vector<NodeNumbers>> replies(asked.size());
  for (std::size_t rank = 0; rank < asked.size(); ++rank)
    for (const NodeName& name : asked[rank]) {
      const std::size_t node = find(name);
      replies[rank].push_back({offset + local_number[node], list.canonical[node]});
    }
  const auto answers = parallel::exchange(comm, replies);
  std::vector<NodeNumbers> numbers(list.owner.size(), {-1, -1});
  std::vector<std::size_t> next(answers.size(), 0);
  for (std::size_t node = 0; node < list.owner.size(); ++node)
    if (list.owner[node] != comm.rank()) {
      const std::size_t rank = list.owner[node];
      numbers[node] = answers[rank][next[rank]++];
    }
  return numbers;
}

} // namespace

template <int dim>
const LagrangeBasis<dim>& FunctionSpace<dim>::basis(int order) {
  static const std::array<LagrangeBasis<dim>, LagrangeBasis<dim>::max_order> bases{
      LagrangeBasis<dim>(1), LagrangeBasis<dim>(2), LagrangeBasis<dim>(3), LagrangeBasis<dim>(4)};
  return bases[order - 1];
}

template <int dim>
FunctionSpace<dim>::FunctionSpace(const mesh::DistributedMesh<dim>& mesh, std::vector<int> body_orders,
                                  std::optional<int> stiffness_degree)
    : mesh_(&mesh), body_orders_(std::move(body_orders)), stiffness_degree_(stiffness_degree),
      max_order_(*std::max_element(body_orders_.begin(), body_orders_.end())) {
  check_orders(mesh, body_orders_);
  number_nodes();
  build_graph();
  collect_facets();
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) cells_of_order_[order(cell)].push_back(cell);
}

template <int dim>
void FunctionSpace<dim>::number_nodes() {
  EntityNodes<dim> nodes = number_entity_nodes(*mesh_, body_orders_);
  NodeList<dim> list = list_nodes(*mesh_, nodes);
  const int rank = comm().rank();
  std::vector<std::size_t> order;
  for (std::size_t node = 0; node < list.owner.size(); ++node)
    if (list.owner[node] == rank) order.push_back(node);
  const LocalIndex num_owned = order.size();
  std::vector<std::uint64_t> codes(list.positions.size());
  for (std::size_t node = 0; node < codes.size(); ++node)
    codes[node] = geometry::morton_code<dim>(list.positions[node], mesh_->min_corner, mesh_->max_corner);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(codes[a], list.canonical[a]) < std::tuple(codes[b], list.canonical[b]);
  });
  std::vector<LocalIndex> local_number(list.owner.size(), -1);
  for (LocalIndex i = 0; i < num_owned; ++i) local_number[order[i]] = i;

  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = &comm();
  layout->block_size = dim;
  layout->num_owned = num_owned;
  layout->offset = comm().exclusive_scan(GlobalIndex{num_owned});
  layout->num_global = comm().sum(GlobalIndex{num_owned});
  const std::vector<NodeNumbers> ghosts = ask_owners(*mesh_, nodes, list, local_number, layout->offset);
  for (std::size_t node = 0; node < list.owner.size(); ++node)
    if (list.owner[node] != rank) order.push_back(node);
  std::sort(order.begin() + num_owned, order.end(),
            [&](std::size_t a, std::size_t b) { return ghosts[a].global < ghosts[b].global; });
  for (LocalIndex i = num_owned; i < std::ssize(order); ++i) {
    local_number[order[i]] = i;
    layout->ghosts.push_back(ghosts[order[i]].global);
  }
  for (const std::size_t node : order) {
    positions_.push_back(list.positions[node]);
    canonical_ids_.push_back(list.owner[node] == rank ? list.canonical[node] : ghosts[node].canonical);
  }
  offsets_ = std::move(nodes.cell_offsets);
  cell_nodes_ = std::move(nodes.cell_nodes);
  for (LocalIndex& node : cell_nodes_) node = local_number[node];
  node_of_vertex_.assign(local_number.begin(), local_number.begin() + mesh_->num_vertices());
  layout_ = std::move(layout);
}

template <int dim>
void FunctionSpace<dim>::build_graph() {
  const LocalIndex num_owned = layout_->num_owned;
  std::vector<std::int64_t> begin(num_owned + 1, 0);
  for (const LocalIndex node : cell_nodes_)
    if (node < num_owned) ++begin[node + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<LocalIndex> cells(begin.back());
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for (LocalIndex cell = 0; cell < mesh_->num_cells(); ++cell)
    for (const LocalIndex node : cell_nodes(cell))
      if (node < num_owned) cells[next[node]++] = cell;

  auto graph = std::make_shared<linalg::NodeGraph>();
  graph->offsets.assign(num_owned + 1, 0);
  std::vector<LocalIndex> last_row(num_nodes(), -1);
  const auto global = [&](LocalIndex node) { return layout_->global(node); };
  for (LocalIndex row = 0; row < num_owned; ++row) {
    const auto row_begin = std::ssize(graph->neighbours);
    for (auto k = begin[row]; k < begin[row + 1]; ++k)
      for (const LocalIndex node : cell_nodes(cells[k]))
        if (last_row[node] != row) {
          last_row[node] = row;
          graph->neighbours.push_back(node);
        }
    std::sort(graph->neighbours.begin() + row_begin, graph->neighbours.end(),
              [&](LocalIndex a, LocalIndex b) { return global(a) < global(b); });
    graph->offsets[row + 1] = std::ssize(graph->neighbours);
  }
  graph_ = std::move(graph);
}

template <int dim>
void FunctionSpace<dim>::collect_facets() {
  for (LocalIndex cell = 0; cell < mesh_->num_cells(); ++cell)
    for (int facet = 0; facet <= dim; ++facet) {
      const std::int32_t id = mesh_->facet_ids[cell][facet];
      if (id != mesh::interior_facet) boundary_facets_.push_back({cell, facet, id});
    }
  std::stable_sort(boundary_facets_.begin(), boundary_facets_.end(), [&](const auto& a, const auto& b) {
    return mesh_->cell_ids[a.cell] < mesh_->cell_ids[b.cell];
  });
}

template class FunctionSpace<2>;
template class FunctionSpace<3>;

} // namespace recoil::fem
