#include <Eigen/Geometry>

#include "recoil/base/error.hpp"
#include "recoil/fem/collision_surface.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::fem {

namespace {

/// Asks the owner of a vertex for its coefficient in an AreaSum (`other` = -1) or for that of the edge from
/// it to the vertex with the id `other`.
struct AreaQuestion {
  GlobalIndex other;
  LocalIndex vertex;
};

double area_coefficient(const AreaSum& sum, const AreaQuestion& question) {
  if (question.other < 0) return sum.vertices[question.vertex];
  const auto found = sum.edges.find({question.vertex, question.other});
  return found == sum.edges.end() ? 0 : found->second;
}

/// Calls visit(rank, question) for every area that has 1/dim of the facet's. The vertices of the facet ascend
/// in id.
template <int dim, class Visit>
void for_each_area_of(const std::array<LocalIndex, dim>& facet,
                      const std::vector<SurfaceVertex<dim>>& vertices, Visit&& visit) {
  const auto at = [&](std::size_t i) -> const SurfaceVertex<dim>& { return vertices[facet[i]]; };
  for (std::size_t i = 0; i < dim; ++i) {
    const auto& [rank, index] = at(i).address;
    visit(rank, AreaQuestion{-1, index});
    if constexpr (dim == 3)
      for (std::size_t j = i + 1; j < dim; ++j) visit(rank, AreaQuestion{at(j).id, index});
  }
}

/// Derivative of the measure of a facet by its corners, the columns; zero if it has none.
Eigen::Matrix2d measure_gradient(const Eigen::Matrix2d& corners) {
  const Eigen::Vector2d direction = (corners.col(1) - corners.col(0)).normalized();
  Eigen::Matrix2d gradient;
  gradient << -direction, direction;
  return gradient;
}
Eigen::Matrix3d measure_gradient(const Eigen::Matrix3d& corners) {
  const Eigen::Vector3d normal =
      (corners.col(1) - corners.col(0)).cross(corners.col(2) - corners.col(0)).normalized();
  Eigen::Matrix3d gradient;
  for (int i = 0; i < 3; ++i)
    gradient.col(i) = 0.5 * normal.cross(corners.col((i + 2) % 3) - corners.col((i + 1) % 3));
  return gradient;
}

} // namespace

template <int dim>
std::vector<typename CollisionSurface<dim>::Point>
CollisionSurface<dim>::area_gradient(const AreaSum& sum) const {
  RECOIL_ASSERT(std::ssize(sum.vertices) == num_owned_);
  const std::vector<std::array<LocalIndex, dim>>* facets;
  if constexpr (dim == 2)
    facets = &edges_;
  else
    facets = &faces_;
  const int own = comm().rank();
  std::vector<std::vector<AreaQuestion>> questions(comm().size());
  for (const auto& facet : *facets)
    for_each_area_of<dim>(facet, vertices_, [&](int rank, const AreaQuestion& question) {
      if (rank != own) questions[rank].push_back(question);
    });
  const auto asked = parallel::exchange(comm(), questions);
  std::vector<std::vector<double>> replies(asked.size());
  for (std::size_t rank = 0; rank < asked.size(); ++rank)
    for (const AreaQuestion& question : asked[rank]) replies[rank].push_back(area_coefficient(sum, question));
  const auto answers = parallel::exchange(comm(), replies);

  std::vector<Point> gradient(vertices_.size(), Point::Zero());
  std::vector<std::size_t> next(answers.size(), 0);
  for (const auto& facet : *facets) {
    double coefficient = 0;
    for_each_area_of<dim>(facet, vertices_, [&](int rank, const AreaQuestion& question) {
      const std::size_t r = rank;
      coefficient += rank == own ? area_coefficient(sum, question) : answers[r][next[r]++];
    });
    if (coefficient == 0) continue;
    Eigen::Matrix<double, dim, dim> corners;
    for (std::size_t i = 0; i < dim; ++i)
      corners.col(i) = Eigen::Map<const Point>(vertices_[facet[i]].rest.data());
    const Eigen::Matrix<double, dim, dim> of_facet = coefficient / dim * measure_gradient(corners);
    for (std::size_t i = 0; i < dim; ++i) gradient[facet[i]] += of_facet.col(i);
  }
  return gradient;
}

template <int dim>
void CollisionSurface<dim>::add_to_rest(const std::vector<Point>& field, std::span<Point> mesh_vertices,
                                        std::span<Point> obstacle_vertices) const {
  RECOIL_ASSERT(field.size() == vertices_.size());
  std::vector<const Point*> of_node(space_->num_nodes(), nullptr);
  for (std::size_t v = 0; v < field.size(); ++v)
    if (nodes_[v] >= 0)
      of_node[nodes_[v]] = &field[v];
    else
      obstacle_vertices[obstacle_vertices_[v]] += field[v];
  for (const BoundaryFacet& facet : space_->boundary_facets()) {
    const LagrangeBasis<dim>& basis = space_->basis(space_->order(facet.cell));
    const auto& cell = space_->mesh().cells[facet.cell];
    for (const int node : basis.facet_nodes(facet.facet)) {
      const LocalIndex local = space_->cell_nodes(facet.cell)[node];
      // Every node once, in whichever cell comes first.
      const Point* value = std::exchange(of_node[local], nullptr);
      if (value == nullptr) continue;
      for (std::size_t i = 0; i <= dim; ++i)
        mesh_vertices[cell[i]] += static_cast<double>(basis.multi_index(node)[i]) / basis.order() * *value;
    }
  }
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<Eigen::Matrix<double, dim, 1>> CollisionSurface<dim>::area_gradient(const AreaSum&)   \
      const;                                                                                                 \
  template void CollisionSurface<dim>::add_to_rest(const std::vector<Eigen::Matrix<double, dim, 1>>&,        \
                                                   std::span<Eigen::Matrix<double, dim, 1>>,                 \
                                                   std::span<Eigen::Matrix<double, dim, 1>>) const;
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::fem
