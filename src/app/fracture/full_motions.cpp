#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "app/fracture/search_modes.hpp"
#include "recoil/solvers/fracture_modes/full_modes.hpp"
#include "recoil/solvers/fracture_modes/piece_graph.hpp"

namespace recoil::app {

namespace {

namespace fm = solvers::fracture_modes;

std::shared_ptr<const linalg::VectorLayout> layout_of_rows(const fm::ElementGraph& graph, int numbers) {
  auto layout = std::make_shared<linalg::VectorLayout>(*graph.layout);
  layout->block_size = numbers;
  return layout;
}

/// Input ids of the vertices of each local element of the graph, dim + 1 each. The ghosts of a mesh are
/// others.
template <int dim>
linalg::Vector vertices_of_elements(const mesh::DistributedMesh<dim>& mesh, const fm::ElementGraph& graph) {
  std::vector<double> owned;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    for (const LocalIndex vertex : mesh.cells[cell]) owned.push_back(double(mesh.vertex_ids[vertex]));
  return {layout_of_rows(graph, dim + 1), owned};
}

/// The largest jump of a field of corners between two elements, at the vertices that both have.
template <int dim>
double jump_between(const linalg::Vector& vertices, const fm::ElementFace& face,
                    std::span<const double> field) {
  using Map = Eigen::Map<const Eigen::Matrix<double, dim, 1>>;
  constexpr std::size_t corners = dim + 1;
  const std::size_t a = std::size_t(face.a) * corners, b = std::size_t(face.b) * corners;
  double largest = 0;
  for (std::size_t i = a; i < a + corners; ++i)
    for (std::size_t j = b; j < b + corners; ++j)
      if (vertices.local()[i] == vertices.local()[j])
        largest = std::max(largest, (Map(field.data() + i * dim) - Map(field.data() + j * dim)).norm());
  return largest;
}

/// Means of the corners of owned elements, element by element.
template <int dim>
std::vector<double> means_of_corners(const fm::ElementGraph& graph, const linalg::Vector& corners) {
  const auto num_owned = static_cast<std::size_t>(graph.layout->num_owned);
  std::vector<double> means(num_owned * dim, 0.0);
  for (std::size_t e = 0; e < num_owned; ++e)
    for (std::size_t i = 0; i < (dim + 1) * dim; ++i)
      means[e * dim + i % dim] += corners.local()[e * (dim + 1) * dim + i] / (dim + 1);
  return means;
}

/// Means by mass of a motion over pieces, on owned elements.
template <int dim>
std::vector<double> means_over_pieces(const fm::ElementGraph& graph, const fm::GatheredPieces& pieces,
                                      const std::vector<double>& motion) {
  const auto num_owned = static_cast<std::size_t>(graph.layout->num_owned);
  std::vector<double> result(motion.size());
  for (std::size_t i = 0; i < dim; ++i) {
    std::vector<double> moments(num_owned);
    for (std::size_t e = 0; e < num_owned; ++e) moments[e] = graph.masses[e] * motion[e * dim + i];
    const std::vector<double> sums = fm::sum_over_pieces(graph, pieces, moments);
    for (std::size_t e = 0; e < num_owned; ++e) {
      const int piece = pieces.of_local[e];
      result[e * dim + i] = sums[piece] / pieces.graph.masses[piece];
    }
  }
  return result;
}

} // namespace

template <int dim>
fm::VectorModes motions_of_pieces(const mesh::DistributedMesh<dim>& mesh, const fm::ElementGraph& graph,
                                  const fm::FullModes& modes) {
  constexpr double least_jump = 1e-3;
  const linalg::Vector vertices = vertices_of_elements(mesh, graph);
  const auto layout = layout_of_rows(graph, dim);
  fm::VectorModes result;
  for (const fm::FullMode& mode : modes.modes) {
    double largest = 0;
    for (const double value : mode.field.owned()) largest = std::max(largest, std::abs(value));
    largest = graph.comm().max(largest);
    std::vector<char> closed;
    for (const fm::ElementFace& face : graph.faces)
      closed.push_back(jump_between<dim>(vertices, face, mode.field.local()) <= least_jump * largest ? 1 : 0);
    const fm::GatheredPieces pieces = fm::gather_pieces(graph, closed);
    const std::vector<double> motion =
        means_over_pieces<dim>(graph, pieces, means_of_corners<dim>(graph, mode.field));
    result.modes.push_back(
        {linalg::Vector(layout, motion), mode.energy, mode.gap, mode.iterations, mode.start});
  }
  return result;
}

template <int dim>
std::vector<linalg::Vector> mean_motions(const fm::ElementGraph& graph, const fm::FullModes& modes) {
  const auto layout = layout_of_rows(graph, dim);
  std::vector<linalg::Vector> result;
  for (const fm::FullMode& mode : modes.modes)
    result.emplace_back(layout, means_of_corners<dim>(graph, mode.field));
  return result;
}

template fm::VectorModes motions_of_pieces(const mesh::DistributedMesh<2>&, const fm::ElementGraph&,
                                           const fm::FullModes&);
template fm::VectorModes motions_of_pieces(const mesh::DistributedMesh<3>&, const fm::ElementGraph&,
                                           const fm::FullModes&);
template std::vector<linalg::Vector> mean_motions<2>(const fm::ElementGraph&, const fm::FullModes&);
template std::vector<linalg::Vector> mean_motions<3>(const fm::ElementGraph&, const fm::FullModes&);

} // namespace recoil::app
