#include "recoil/fem/dirichlet.hpp"

#include <algorithm>
#include <cmath>

#include "recoil/base/lookup.hpp"

namespace recoil::fem {

bool selects(bool all, std::span<const std::int32_t> ids, std::int32_t facet_id) {
  // Id 0 and negative ids never carry a boundary condition.
  if (facet_id <= 0 || facet_id == mesh::unselected_facet) return false;
  return all || holds(ids, facet_id);
}

template <int dim>
DirichletDofs<dim>::DirichletDofs(const FunctionSpace<dim>& space, std::vector<DirichletCondition> conditions)
    : space_(&space), conditions_(std::move(conditions)) {
  const std::size_t num_entries = space.num_nodes() * dim;
  std::vector<std::int64_t> condition_of(num_entries, -1);
  const auto prescribe = [&](LocalIndex node, std::int32_t id) {
    // The first entry that names the id decides.
    const auto found = std::find_if(conditions_.begin(), conditions_.end(), [id](const auto& condition) {
      return selects(condition.all, condition.ids, id);
    });
    if (found == conditions_.end()) return;
    for (std::size_t i = 0; i < dim; ++i)
      if (found->components[i]) condition_of[node * dim + i] = found - conditions_.begin();
  };
  for (const BoundaryFacet& facet : space.boundary_facets()) {
    const auto nodes = space.cell_nodes(facet.cell);
    for (const int node : space.basis(space.order(facet.cell)).facet_nodes(facet.facet))
      prescribe(nodes[node], facet.id);
  }
  const auto& mesh = space.mesh();
  for (LocalIndex vertex = 0; vertex < mesh.num_vertices(); ++vertex) {
    const auto found = std::ranges::find_if(conditions_, [&](const auto& condition) {
      return condition.vertices.contains(mesh.vertex_ids[vertex]);
    });
    if (found == conditions_.end()) continue;
    const auto& given = found->vertices.at(mesh.vertex_ids[vertex]);
    const std::size_t first = space.node_of_vertex(vertex) * dim;
    for (std::size_t i = 0; i < dim; ++i)
      if (!std::isnan(given[i])) condition_of[first + i] = found - conditions_.begin();
  }
  for (LocalIndex vertex = 0; vertex < mesh.num_vertices(); ++vertex)
    prescribe(space.node_of_vertex(vertex), mesh.vertex_point_id[vertex]);

  // Facets of a ghost node may lie on cells that only its owner holds.
  linalg::Vector marks(space.layout());
  auto values = marks.write_local();
  for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node)
    for (int i = 0; i < dim; ++i) {
      const std::int64_t condition = condition_of[node * dim + i];
      if (condition < 0) continue;
      values[node * dim + i] = 1;
      dofs_.push_back({node, i, condition});
    }
  marks.update_ghosts();
  flags_.resize(num_entries);
  std::transform(marks.local().begin(), marks.local().end(), flags_.begin(),
                 [](double mark) { return mark != 0; });
  num_global_ = space.comm().sum(std::ssize(dofs_));
}

template <int dim>
double DirichletDofs<dim>::value(const Dof& dof, double time) const {
  const DirichletCondition& condition = conditions_[dof.condition];
  const std::size_t node = dof.node;
  const GlobalIndex id = space_->canonical_ids()[node];
  if (!condition.vertices.empty()) // the canonical number of a node at a vertex is that of the vertex
    return condition.vertices.at(id)[dof.component];
  if (condition.nodal_value) return condition.nodal_value(dof.component, id, time);
  return condition.value(dof.component, expression_point<dim>(space_->node_positions()[node], time));
}

template <int dim>
void DirichletDofs<dim>::set_values(double time, double factor, linalg::Vector& u) const {
  auto values = u.write_local();
  parallel::collectively(space_->comm(), [&] {
    for (const Dof& dof : dofs_) values[dof.node * dim + dof.component] = factor * value(dof, time);
  });
  u.update_ghosts();
}

template <int dim>
void DirichletDofs<dim>::clear(std::span<double> g) const {
  for (const Dof& dof : dofs_) g[dof.node * dim + dof.component] = 0;
}

template class DirichletDofs<2>;
template class DirichletDofs<3>;

} // namespace recoil::fem
