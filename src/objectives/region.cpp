#include "recoil/objectives/region.hpp"

#include <algorithm>
#include <numeric>

#include "recoil/base/error.hpp"

namespace recoil::objectives {

template <int dim>
Region<dim> make_region(const fem::FunctionSpace<dim>& space,
                        std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                        std::vector<std::int32_t> bodies) {
  const mesh::DistributedMesh<dim>& mesh = space.mesh();
  const std::int32_t num_bodies = mesh.body_names.size();
  if (bodies.empty()) {
    bodies.resize(mesh.body_names.size());
    std::iota(bodies.begin(), bodies.end(), 0);
  }
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  for (const std::int32_t body : bodies)
    if (body < 0 || body >= num_bodies)
      throw InputError("an objective asks for body " + std::to_string(body) + ", but the scene has " +
                       std::to_string(num_bodies) + " bodies");
  Region<dim> region{&space, std::move(geometry), std::move(bodies), {}};
  std::vector<double> count(mesh.body_names.size(), 0.0);
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    const std::int32_t body = mesh.cell_body[cell];
    region.cells.push_back(std::binary_search(region.bodies.begin(), region.bodies.end(), body) ? 1 : 0);
    if (region.owns(cell)) ++count[body];
  }
  space.comm().sum(count);
  for (const std::int32_t body : region.bodies)
    if (count[body] == 0)
      throw InputError("an objective asks for body '" + mesh.body_names[body] + "', which has no cells");
  return region;
}

template Region<2> make_region(const fem::FunctionSpace<2>&, std::shared_ptr<const fem::CellGeometry<2>>,
                               std::vector<std::int32_t>);
template Region<3> make_region(const fem::FunctionSpace<3>&, std::shared_ptr<const fem::CellGeometry<3>>,
                               std::vector<std::int32_t>);

} // namespace recoil::objectives
