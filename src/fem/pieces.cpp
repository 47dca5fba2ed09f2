#include "recoil/fem/pieces.hpp"

#include <map>

#include "recoil/linalg/components.hpp"

namespace recoil::fem {

template <int dim>
Pieces find_pieces(const FunctionSpace<dim>& space) {
  std::vector<std::array<LocalIndex, 2>> links;
  for (LocalIndex cell = 0; cell < space.mesh().num_cells(); ++cell)
    for (const LocalIndex node : space.cell_nodes(cell)) links.push_back({node, space.cell_nodes(cell)[0]});
  const auto layout = std::make_shared<linalg::VectorLayout>(*space.layout());
  layout->block_size = 1;
  const std::vector<GlobalIndex> labels =
      linalg::smallest_ids_of_components(layout, space.canonical_ids(), links);
  std::vector<GlobalIndex> roots, bodies;
  std::vector<int> body_of(space.num_nodes(), 0);
  for (LocalIndex cell = 0; cell < space.mesh().num_cells(); ++cell)
    for (const LocalIndex node : space.cell_nodes(cell)) body_of[node] = space.mesh().cell_body[cell];
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node) {
    if (labels[node] != space.canonical_ids()[node]) continue;
    roots.push_back(labels[node]);
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
    pieces.of_node.push_back(number.at(labels[node]));
  return pieces;
}

template Pieces find_pieces(const FunctionSpace<2>&);
template Pieces find_pieces(const FunctionSpace<3>&);

} // namespace recoil::fem
