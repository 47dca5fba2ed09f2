#include "recoil/fem/linear_functions.hpp"

namespace recoil::fem {

template <int dim>
std::shared_ptr<const linalg::CoarseSpace> linear_functions(const FunctionSpace<dim>& space,
                                                            std::span<const char> constrained) {
  const auto& mesh = space.mesh();
  // A cell and a place in it for every owned node: all cells around it give the same means.
  struct Place {
    LocalIndex cell = -1;
    int node = 0;
  };
  std::vector<Place> places(space.num_owned_nodes());
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    const auto nodes = space.cell_nodes(cell);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i] < space.num_owned_nodes() && places[nodes[i]].cell < 0)
        places[nodes[i]] = {cell, static_cast<int>(i)};
  }
  auto coarse = std::make_shared<linalg::CoarseSpace>();
  coarse->constrained.assign(constrained.begin(), constrained.end());
  coarse->offsets.push_back(0);
  for (const Place& place : places) {
    const int order = space.order(place.cell);
    const auto& index = FunctionSpace<dim>::basis(order).multi_index(place.node);
    for (std::size_t corner = 0; corner <= dim; ++corner) {
      if (index[corner] == 0) continue;
      coarse->nodes.push_back(space.node_of_vertex(mesh.cells[place.cell][corner]));
      coarse->weights.push_back(1.0 * index[corner] / order);
    }
    coarse->offsets.push_back(std::ssize(coarse->nodes));
  }
  return coarse;
}

template std::shared_ptr<const linalg::CoarseSpace> linear_functions<2>(const FunctionSpace<2>&,
                                                                        std::span<const char>);
template std::shared_ptr<const linalg::CoarseSpace> linear_functions<3>(const FunctionSpace<3>&,
                                                                        std::span<const char>);

} // namespace recoil::fem
