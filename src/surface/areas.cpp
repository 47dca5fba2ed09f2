#include <Eigen/Geometry>

#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/surface/surface.hpp"

namespace recoil::surface {

namespace {

/// Asks the owner of a vertex for its coefficient in an AreaField (`other` = -1) or for that of the edge from
/// it to the vertex with the id `other`.
struct AreaQuestion {
  GlobalIndex other;
  LocalIndex vertex;
};

/// Tells the owner how much an area changes.
struct AreaChange {
  AreaQuestion area;
  double value;
};

double area_coefficient(const AreaField& sum, const AreaQuestion& question) {
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

template <int dim>
Eigen::Matrix<double, dim, dim> rest_corners(const std::vector<SurfaceVertex<dim>>& vertices,
                                             const std::array<LocalIndex, dim>& facet) {
  Eigen::Matrix<double, dim, dim> corners;
  for (std::size_t i = 0; i < dim; ++i)
    corners.col(i) = Eigen::Map<const Eigen::Matrix<double, dim, 1>>(vertices[facet[i]].rest.data());
  return corners;
}

} // namespace

template <int dim>
std::vector<typename Surface<dim>::Point> Surface<dim>::area_gradient(const AreaField& sum) const {
  RECOIL_ASSERT(std::ssize(sum.vertices) == num_owned());
  const int own = comm().rank();
  std::vector<std::vector<AreaQuestion>> questions(comm().size());
  for (const auto& facet : facets())
    for_each_area_of<dim>(facet, vertices(), [&](int rank, const AreaQuestion& question) {
      if (rank != own) questions[rank].push_back(question);
    });
  const auto asked = parallel::exchange(comm(), questions);
  std::vector<std::vector<double>> replies(asked.size());
  for (std::size_t rank = 0; rank < asked.size(); ++rank)
    for (const AreaQuestion& question : asked[rank]) replies[rank].push_back(area_coefficient(sum, question));
  const auto answers = parallel::exchange(comm(), replies);

  std::vector<Point> gradient(vertices().size(), Point::Zero());
  std::vector<std::size_t> next(answers.size(), 0);
  for (const auto& facet : facets()) {
    double coefficient = 0;
    for_each_area_of<dim>(facet, vertices(), [&](int rank, const AreaQuestion& question) {
      const std::size_t r = rank;
      coefficient += rank == own ? area_coefficient(sum, question) : answers[r][next[r]++];
    });
    if (coefficient == 0) continue;
    const Eigen::Matrix<double, dim, dim> of_facet =
        coefficient / dim * measure_gradient(rest_corners<dim>(vertices(), facet));
    for (std::size_t i = 0; i < dim; ++i) gradient[facet[i]] += of_facet.col(i);
  }
  return gradient;
}

template <int dim>
AreaField Surface<dim>::area_changes(const std::vector<Point>& field) const {
  RECOIL_ASSERT(field.size() == vertices().size());
  const int own = comm().rank();
  AreaField changes{std::vector<double>(num_owned(), 0.0), {}};
  const auto add = [&](const AreaChange& change) {
    const auto& [other, vertex] = change.area;
    (other < 0 ? changes.vertices[vertex] : changes.edges[{vertex, other}]) += change.value;
  };
  std::vector<std::vector<AreaChange>> elsewhere(comm().size());
  for (const auto& facet : facets()) {
    Eigen::Matrix<double, dim, dim> motion;
    for (std::size_t i = 0; i < dim; ++i) motion.col(i) = field[facet[i]];
    const double value =
        measure_gradient(rest_corners<dim>(vertices(), facet)).cwiseProduct(motion).sum() / dim;
    for_each_area_of<dim>(facet, vertices(), [&](int rank, const AreaQuestion& area) {
      if (rank == own)
        add({area, value});
      else
        elsewhere[rank].push_back({area, value});
    });
  }
  for (const auto& from_rank : parallel::exchange(comm(), elsewhere))
    for (const AreaChange& change : from_rank) add(change);
  return changes;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<Eigen::Matrix<double, dim, 1>> Surface<dim>::area_gradient(const AreaField&) const;   \
  template AreaField Surface<dim>::area_changes(const std::vector<Eigen::Matrix<double, dim, 1>>&) const;
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::surface
