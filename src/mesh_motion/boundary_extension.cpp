#include "recoil/mesh_motion/boundary_extension.hpp"

#include "mesh_motion/vertex_system.hpp"
#include "recoil/fem/cell_geometry.hpp"

namespace recoil::mesh_motion {

namespace {

// As exactly as rounding allows: gradients are compared with differences through the extension.
constexpr double tolerance = 1e-14;
constexpr double poisson_ratio = 0.3;

/// Element matrix over the volume, which the stiffness of the cell cancels.
template <int dim>
typename VertexSystem<dim>::ElementMatrix
element_matrix(Extension kind, const Eigen::Matrix<double, dim, dim + 1>& gradients) {
  using Block = Eigen::Matrix<double, dim, dim>;
  // Lame constants of a unit Young's modulus.
  constexpr double mu = 0.5 / (1 + poisson_ratio);
  constexpr double lambda = poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
  typename VertexSystem<dim>::ElementMatrix K;
  for (int a = 0; a <= dim; ++a)
    for (int b = 0; b <= dim; ++b) {
      const auto ga = gradients.col(a), gb = gradients.col(b);
      Block block = ga.dot(gb) * Block::Identity();
      if (kind == Extension::elastic)
        block = mu * block + lambda * ga * gb.transpose() + mu * gb * ga.transpose();
      K.template block<dim, dim>(dim * a, dim * b) = block;
    }
  return K;
}

} // namespace

template <int dim>
struct BoundaryExtension<dim>::State {
  State(const mesh::DistributedMesh<dim>& mesh, std::span<const char> leads) : system(mesh, leads) {}

  LocalIndex num_vertices() const { return system.space().mesh().num_vertices(); }
  LocalIndex node(LocalIndex vertex) const { return system.space().node_of_vertex(vertex); }
  bool leads(LocalIndex vertex) const { return system.held()[dim * std::size_t(node(vertex))] != 0; }

  VertexSystem<dim> system;
};

template <int dim>
BoundaryExtension<dim>::BoundaryExtension(const mesh::DistributedMesh<dim>& mesh, std::span<const char> leads,
                                          Extension kind)
    : state_(std::make_unique<State>(mesh, leads)) {
  const fem::CellGeometry<dim> geometry(mesh);
  state_->system.assemble([&](LocalIndex cell) {
    return element_matrix<dim>(kind, hat_gradients<dim>(geometry.inverse_edges[cell]));
  });
}

template <int dim>
BoundaryExtension<dim>::~BoundaryExtension() = default;

template <int dim>
void BoundaryExtension<dim>::extend(std::span<double> d) const {
  linalg::Vector leaders = state_->system.make_vector(), force = leaders, followers = leaders;
  const auto entries = leaders.write_local();
  for (LocalIndex vertex = 0; vertex < state_->num_vertices(); ++vertex)
    if (state_->leads(vertex))
      fem::node_block<dim>(entries, state_->node(vertex)) =
          fem::node_block<dim>(std::span<const double>(d), vertex);
  state_->system.multiply(leaders, force);
  force.scale(-1);
  state_->system.solve(std::move(force), followers, tolerance);
  for (LocalIndex vertex = 0; vertex < state_->num_vertices(); ++vertex)
    if (!state_->leads(vertex))
      fem::node_block<dim>(d, vertex) = fem::node_block<dim>(followers.local(), state_->node(vertex));
}

template <int dim>
void BoundaryExtension<dim>::extend_transposed(std::span<double> g) const {
  linalg::Vector followers = state_->system.make_vector(), response = followers, force = followers;
  const auto entries = followers.write_local();
  for (LocalIndex vertex = 0; vertex < state_->num_vertices(); ++vertex)
    if (!state_->leads(vertex)) {
      auto of_vertex = fem::node_block<dim>(g, vertex);
      fem::node_block<dim>(entries, state_->node(vertex)) = of_vertex;
      of_vertex.setZero();
    }
  state_->system.solve(std::move(followers), response, tolerance);
  state_->system.multiply(response, force);
  const LocalIndex num_owned = state_->system.space().mesh().num_owned_vertices;
  for (LocalIndex vertex = 0; vertex < num_owned; ++vertex)
    if (state_->leads(vertex))
      fem::node_block<dim>(g, vertex) -= fem::node_block<dim>(force.local(), state_->node(vertex));
}

template class BoundaryExtension<2>;
template class BoundaryExtension<3>;

} // namespace recoil::mesh_motion
