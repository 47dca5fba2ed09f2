#include "fem/entity_nodes.hpp"

#include <algorithm>
#include <tuple>

#include "recoil/geometry/simplex_lattice.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::fem {

namespace {

/// One occurrence of an entity in a cell.
struct Occurrence {
  std::array<LocalIndex, 4> vertices;
  LocalIndex cell;
  std::int16_t entity, order;
};

template <int dim>
std::vector<Occurrence> find_occurrences(const mesh::DistributedMesh<dim>& mesh,
                                         std::span<const int> body_orders, int dimension) {
  std::vector<Occurrence> found;
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    const auto& vertices = mesh.cells[cell];
    const int order = body_orders[mesh.cell_body[cell]];
    if (nodes_inside(dimension, order) == 0) continue;
    for (int entity = 0; entity < geometry::SimplexLattice<dim>::num_entities(dimension); ++entity) {
      Occurrence occurrence{
          {-1, -1, -1, -1}, cell, static_cast<std::int16_t>(entity), static_cast<std::int16_t>(order)};
      std::size_t next = 0;
      for (const int corner : geometry::SimplexLattice<dim>::entity_vertices(dimension, entity))
        occurrence.vertices[next++] = vertices[corner];
      found.push_back(occurrence);
    }
  }
  return found;
}

template <int dim>
std::array<GlobalIndex, 4> input_ids(const mesh::DistributedMesh<dim>& mesh,
                                     const std::array<LocalIndex, 4>& vertices) {
  std::array<GlobalIndex, 4> ids{-1, -1, -1, -1};
  for (std::size_t i = 0; i < 4; ++i)
    if (vertices[i] >= 0) ids[i] = mesh.vertex_ids[vertices[i]];
  return ids;
}

/// For vertices with global ids in 0..num_global-1, each named by one rank: the sum of the counts of all
/// smaller ids. Collective.
std::vector<GlobalIndex> exclusive_sums(const parallel::Communicator& comm, std::span<const GlobalIndex> ids,
                                        std::span<const GlobalIndex> counts, GlobalIndex num_global) {
  struct Item {
    GlobalIndex id, value;
  };
  const GlobalIndex per_rank = std::max<GlobalIndex>(1, (num_global + comm.size() - 1) / comm.size());
  std::vector<std::vector<Item>> to_blocks(comm.size());
  for (std::size_t i = 0; i < ids.size(); ++i) to_blocks[ids[i] / per_rank].push_back({ids[i], counts[i]});
  auto items = parallel::exchange(comm, to_blocks);
  const GlobalIndex first = std::min(num_global, per_rank * comm.rank()),
                    last = std::min(num_global, first + per_rank);
  std::vector<GlobalIndex> sums(last - first + 1, 0);
  for (const auto& list : items)
    for (const Item& item : list) sums[item.id - first + 1] = item.value;
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  const GlobalIndex before = comm.exclusive_scan(sums.back());
  for (auto& list : items)
    for (Item& item : list) item.value = before + sums[item.id - first];
  const auto answers = parallel::exchange(comm, items);
  std::vector<GlobalIndex> result(ids.size());
  std::vector<std::size_t> next(answers.size(), 0);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t rank = ids[i] / per_rank;
    result[i] = answers[rank][next[rank]++].value;
  }
  return result;
}

} // namespace

int nodes_inside(int dimension, int order) {
  int count = 1;
  for (int i = 1; i <= dimension; ++i) count = count * (order - i) / i;
  return order > dimension ? count : 0;
}

template <int dim>
EntityNodes<dim> number_entity_nodes(const mesh::DistributedMesh<dim>& mesh,
                                     std::span<const int> body_orders) {
  EntityNodes<dim> result;
  std::array<const geometry::SimplexLattice<dim>*, 5> lattices{};
  static const geometry::SimplexLattice<dim> p1(1), p2(2), p3(3), p4(4);
  lattices = {nullptr, &p1, &p2, &p3, &p4};

  result.cell_offsets.assign(mesh.cells.size() + 1, 0);
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell)
    result.cell_offsets[cell + 1] =
        result.cell_offsets[cell] + lattices[body_orders[mesh.cell_body[cell]]]->size();
  result.cell_nodes.resize(result.cell_offsets.back());
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell)
    std::copy(mesh.cells[cell].begin(), mesh.cells[cell].end(),
              result.cell_nodes.begin() + result.cell_offsets[cell]);

  result.num_nodes = mesh.num_vertices();
  for (int dimension = 1; dimension <= dim; ++dimension) {
    std::vector<Occurrence> found = find_occurrences(mesh, body_orders, dimension);
    const auto ids_of = [&](const Occurrence& occurrence) { return input_ids(mesh, occurrence.vertices); };
    std::sort(found.begin(), found.end(), [&](const Occurrence& a, const Occurrence& b) {
      if (a.vertices == b.vertices) return a.cell < b.cell;
      return ids_of(a) < ids_of(b);
    });
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Occurrence& here = found[i];
      const int inside = nodes_inside(dimension, here.order);
      if (i == 0 || here.vertices != found[i - 1].vertices) {
        result.entities.push_back({here.vertices, ids_of(here), dimension, here.order, result.num_nodes});
        result.num_nodes += inside;
      }
      const auto slot =
          result.cell_offsets[here.cell] + lattices[here.order]->first_point(dimension, here.entity);
      for (int k = 0; k < inside; ++k) result.cell_nodes[slot + k] = result.entities.back().first_node + k;
    }
  }
  return result;
}

template <int dim>
std::vector<GlobalIndex> number_canonically(const mesh::DistributedMesh<dim>& mesh,
                                            const EntityNodes<dim>& nodes) {
  const parallel::Communicator& comm = *mesh.comm;
  std::vector<GlobalIndex> first(nodes.entities.size(), -1);
  GlobalIndex base = mesh.num_vertices_global;
  for (int dimension = 1; dimension <= dim; ++dimension) {
    // An entity belongs to the owner of its first vertex, so that vertex's rank knows all entities counted
    // for it.
    const auto owned_entities = [&](auto&& act) {
      for (std::size_t i = 0; i < nodes.entities.size(); ++i)
        if (nodes.entities[i].dimension == dimension &&
            nodes.entities[i].vertices[0] < mesh.num_owned_vertices)
          act(i, nodes.entities[i].vertices[0], nodes_inside(dimension, nodes.entities[i].order));
    };
    std::vector<GlobalIndex> counts(mesh.num_owned_vertices, 0);
    owned_entities([&](std::size_t, std::size_t vertex, int inside) { counts[vertex] += inside; });
    const std::span owned_ids(mesh.vertex_ids.data(), counts.size());
    std::vector<GlobalIndex> next = exclusive_sums(comm, owned_ids, counts, mesh.num_vertices_global);
    GlobalIndex total = 0;
    for (const GlobalIndex count : counts) total += count;
    owned_entities([&](std::size_t i, std::size_t vertex, int inside) {
      first[i] = base + next[vertex];
      next[vertex] += inside;
    });
    base += comm.sum(total);
  }
  return first;
}

template EntityNodes<2> number_entity_nodes(const mesh::DistributedMesh<2>&, std::span<const int>);
template EntityNodes<3> number_entity_nodes(const mesh::DistributedMesh<3>&, std::span<const int>);
template std::vector<GlobalIndex> number_canonically(const mesh::DistributedMesh<2>&, const EntityNodes<2>&);
template std::vector<GlobalIndex> number_canonically(const mesh::DistributedMesh<3>&, const EntityNodes<3>&);

} // namespace recoil::fem
