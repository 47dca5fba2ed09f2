#include "recoil/objectives/polygon_target.hpp"

#include <limits>
#include <string>

#include <unsupported/Eigen/BVH>

#include "objectives/csv_reader.hpp"
#include "objectives/surface_misfit.hpp"
#include "recoil/base/error.hpp"
#include "recoil/geometry/closest_points.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
using Face = std::array<Eigen::Matrix<double, dim, 1>, dim>;

/// The first primitive is the point, the second one the face.
template <int dim>
constexpr auto point_to_face =
    dim == 2 ? geometry::StencilKind::vertex_edge : geometry::StencilKind::vertex_face;

template <int dim>
geometry::StencilPoints<dim> stencil(const Eigen::Matrix<double, dim, 1>& x, const Face<dim>& face) {
  geometry::StencilPoints<dim> points = geometry::StencilPoints<dim>::Zero();
  points.col(0) = x;
  for (int i = 0; i < dim; ++i) points.col(i + 1) = face[i];
  return points;
}

PolygonFaces<2> read_segments(const parallel::Communicator& comm, const std::filesystem::path& path,
                              const UnitSystem& units) {
  CsvReader reader(comm, path, units);
  reader.expect({{"x", ColumnKind::length}, {"y", ColumnKind::length}}, {});
  const std::size_t x = reader.find("x"), y = reader.find("y");
  PolygonFaces<2> segments;
  Eigen::Vector2d before;
  for (bool is_first = true; reader.next(); is_first = false) {
    const Eigen::Vector2d vertex(reader.number(x), reader.number(y));
    if (!is_first && vertex == before)
      reader.fail("the vertex is the one before it again; leave one of them out");
    if (!is_first) segments.push_back({before, vertex});
    before = vertex;
  }
  if (segments.empty()) reader.fail("a polygon needs at least two vertices");
  return segments;
}

PolygonFaces<3> read_triangles(const parallel::Communicator& comm, const std::filesystem::path& path) {
  auto corners = parallel::collectively(comm, [&] {
    std::vector<double> all;
    if (comm.rank() != 0) return all;
    const mesh::RawMesh mesh = mesh::read_mesh(path);
    if (mesh.triangles.empty())
      throw InputError(path.string() + ": there are no triangles; a surface in 3D is made of them");
    for (const auto& triangle : mesh.triangles)
      for (const std::int32_t vertex : triangle)
        all.insert(all.end(), mesh.vertices[vertex].begin(), mesh.vertices[vertex].end());
    return all;
  });
  comm.broadcast(corners);
  PolygonFaces<3> triangles(corners.size() / 9);
  const double* next = corners.data();
  for (auto& triangle : triangles)
    for (Eigen::Vector3d& corner : triangle) {
      corner = Eigen::Map<const Eigen::Vector3d>(next);
      next += 3;
    }
  return triangles;
}

/// What a search of the tree asks, with the closest face so far.
template <int dim>
struct ClosestFace {
  using Scalar = double;

  double minimumOnVolume(const Eigen::AlignedBox<double, dim>& box) const {
    return box.squaredExteriorDistance(x);
  }
  double minimumOnObject(int face) {
    const double distance = geometry::distance_squared<dim>(point_to_face<dim>, stencil<dim>(x, faces[face]));
    if (distance < closest) {
      closest = distance;
      number = face;
    }
    return distance;
  }

  Eigen::Matrix<double, dim, 1> x;
  const PolygonFaces<dim>& faces;
  double closest = std::numeric_limits<double>::infinity();
  int number = 0;
};

} // namespace

template <int dim>
PolygonFaces<dim> read_polygon(const parallel::Communicator& comm, const std::filesystem::path& path,
                               const UnitSystem& units) {
  if constexpr (dim == 2)
    return read_segments(comm, path, units);
  else
    return read_triangles(comm, path);
}

template <int dim>
struct Polygon<dim>::Tree {
  explicit Tree(const PolygonFaces<dim>& faces) {
    std::vector<int> numbers;
    std::vector<Eigen::AlignedBox<double, dim>> boxes;
    for (const auto& face : faces) {
      numbers.push_back(static_cast<int>(numbers.size()));
      for (boxes.emplace_back(); const Point& corner : face) boxes.back().extend(corner);
    }
    boxes_of_faces.init(numbers.begin(), numbers.end(), boxes.begin(), boxes.end());
  }

  Eigen::KdBVH<double, dim, int> boxes_of_faces;
};

template <int dim>
Polygon<dim>::Polygon(PolygonFaces<dim> faces)
    : faces_(std::move(faces)), tree_(std::make_unique<const Tree>(faces_)) {
  RECOIL_ASSERT(!faces_.empty());
}

template <int dim>
Polygon<dim>::~Polygon() = default;

template <int dim>
typename Polygon<dim>::Sample Polygon<dim>::at(const Point& x) const {
  ClosestFace<dim> search{x, faces_};
  Eigen::BVMinimize(tree_->boxes_of_faces, search);
  const auto points = stencil<dim>(x, faces_[search.number]);
  const auto closest = geometry::closest_points<dim>(point_to_face<dim>, points);
  // c = sum Gamma_i(xi) z_i: by x itself, and by the parameters of the closest point that follow it.
  Sample sample{closest.separation, Eigen::Matrix<double, dim, dim>::Identity()};
  sample.gradient += points * closest.tangents *
                     geometry::closest_parameter_derivatives<dim>(closest, points).template leftCols<dim>();
  return sample;
}

template <int dim>
std::unique_ptr<Objective<dim>> make_polygon_target(Region<dim> region,
                                                    std::shared_ptr<const Polygon<dim>> polygon,
                                                    potentials::FacetSelection facets) {
  return make_surface_misfit<dim>("polygon_target", region, facets, std::move(polygon));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template class Polygon<dim>;                                                                               \
  template PolygonFaces<dim> read_polygon<dim>(const parallel::Communicator&, const std::filesystem::path&,  \
                                               const UnitSystem&);                                           \
  template std::unique_ptr<Objective<dim>> make_polygon_target(                                              \
      Region<dim>, std::shared_ptr<const Polygon<dim>>, potentials::FacetSelection);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
