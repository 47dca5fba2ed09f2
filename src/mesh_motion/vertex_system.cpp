#include "mesh_motion/vertex_system.hpp"

#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::mesh_motion {

namespace {
constexpr int max_linear_iterations = 1000;
} // namespace

template <int dim>
VertexSystem<dim>::VertexSystem(const mesh::DistributedMesh<dim>& mesh, std::span<const char> held)
    : space_(linear_space(mesh)), held_(space_.num_nodes() * std::size_t{dim}), whole_(space_), free_(space_),
      solver_(space_.layout(), {.dimension = dim, .prefix = "recoil_mesh_motion_"}) {
  for (LocalIndex vertex = 0; vertex < mesh.num_vertices(); ++vertex)
    std::fill_n(held_.begin() + std::ptrdiff_t{dim} * space_.node_of_vertex(vertex), dim, held[vertex]);
  free_.matrix.choose_identity_rows(held_);
}

template <int dim>
void VertexSystem<dim>::solve(linalg::Vector b, linalg::Vector& x, double relative_tolerance) {
  const auto entries = b.write_owned();
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (held_[i] != 0) entries[i] = 0;
  const auto modes = [this] {
    linalg::Vector positions(space_.layout());
    const auto to = positions.write_local();
    for (LocalIndex node = 0; node < space_.num_nodes(); ++node)
      fem::node_block<dim>(to, node) = space_.node_positions()[node];
    return linalg::rigid_body_modes(positions, held_);
  };
  solver_.update(free_.matrix, modes);
  const linalg::LinearResult result = solver_.solve(b, x, relative_tolerance, max_linear_iterations);
  if (result.outcome != linalg::LinearOutcome::converged && result.relative_residual > 1e-8)
    throw Error(ExitCode::no_solution,
                fmt::format("the motion of the vertices inside a body cannot be solved for: the residual is "
                            "{:.1e} after {} iterations",
                            result.relative_residual, result.iterations));
}

template class VertexSystem<2>;
template class VertexSystem<3>;

} // namespace recoil::mesh_motion
