#include "recoil/app/study/remesh/shape_path.hpp"

#include <vector>

#include <Eigen/LU>

#include "recoil/fem/collision_surface.hpp"
#include "recoil/geometry/inversion.hpp"
#include "recoil/potentials/contact/contact_search.hpp"

namespace recoil::app {

namespace {

// A path may end closer to contact than a step would, by this share of dhat.
constexpr double smallest_gap = 1e-3;

template <int dim>
bool inverts(const mesh::DistributedMesh<dim>& from, const mesh::DistributedMesh<dim>& to) {
  using Matrix = Eigen::Matrix<double, dim, dim>;
  Matrix edges, end;
  for (const auto& cell : from.cells) {
    for (int i = 0; i < dim; ++i) {
      edges.col(i) = from.vertices[cell[i + 1]] - from.vertices[cell[0]];
      end.col(i) = to.vertices[cell[i + 1]] - to.vertices[cell[0]];
    }
    // Cells of meshes have either orientation.
    const Matrix change = (end - edges) * edges.inverse();
    if (geometry::inversion_free_step<dim>(Matrix::Identity(), change) < 1) return true;
  }
  return false;
}

/// Intersections of the rest surfaces of a mesh: of every body with itself, and where there is contact with
/// the others and with obstacles.
template <int dim>
GlobalIndex num_rest_intersections(DiscreteScene<dim>& scene, const fem::FunctionSpace<dim>& space) {
  const std::vector<char> free(space.num_nodes() * std::size_t{dim}, 0);
  const auto surface = fem::collision_surface<dim>(space, scene.obstacles(), free);
  const std::vector<double> u(free.size(), 0.0), obstacles(scene.obstacles().vertices.size() * dim, 0.0);
  collide::GroupFilter meet;
  if (!scene.solver().problem().contact) meet = [](std::int32_t a, std::int32_t b) { return a == b; };
  return potentials::count_intersections<dim>(*surface, surface->positions(u, obstacles), nullptr, meet);
}

/// Whether surfaces in contact meet on the straight path of the nodes to those of the space `end`.
template <int dim>
bool meets_on_way(DiscreteScene<dim>& from, const fem::FunctionSpace<dim>& end) {
  const fem::FunctionSpace<dim>& space = from.space();
  const auto& contact = from.solver().problem().contact;
  if (!contact) return false;
  linalg::Vector motion(space.layout());
  const auto entries = motion.write_local();
  // The numbers of nodes depend on their places.
  for (LocalIndex cell = 0; cell < from.mesh().num_cells(); ++cell) {
    const auto now = space.cell_nodes(cell), then = end.cell_nodes(cell);
    for (std::size_t i = 0; i < now.size(); ++i)
      fem::node_block<dim>(entries, now[i]) = end.node_positions()[then[i]] - space.node_positions()[now[i]];
  }
  const std::vector<double> at_rest(contact->obstacle_displacement().size(), 0.0);
  return contact->max_step(from.solver().history().newest().u.local(), motion.local(), at_rest,
                           smallest_gap * contact->parameters().dhat) < 1;
}

} // namespace

template <int dim>
ShapePath follow_shape_path(DiscreteScene<dim>& from, const mesh::DistributedMesh<dim>& to) {
  const fem::FunctionSpace<dim>& space = from.space();
  if (space.comm().any(inverts(from.mesh(), to))) return {"an element inverts"};
  const fem::FunctionSpace<dim> end(to, space.body_orders());
  if (meets_on_way(from, end)) return {"surfaces meet"};
  // Meshes may overlap from the start where there is no contact.
  const GlobalIndex intersections = num_rest_intersections(from, end);
  if (intersections > 0 && intersections > num_rest_intersections(from, space))
    return {"rest surfaces intersect", intersections};
  return {"", intersections};
}

template ShapePath follow_shape_path(DiscreteScene<2>&, const mesh::DistributedMesh<2>&);
template ShapePath follow_shape_path(DiscreteScene<3>&, const mesh::DistributedMesh<3>&);

} // namespace recoil::app
