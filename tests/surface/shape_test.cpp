#include <map>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "recoil/fem/collision_surface.hpp"
#include "recoil/surface/shape.hpp"
#include "support/box_mesh.hpp"
#include "surface/sheet.hpp"

namespace recoil::surface {
namespace shape_test {

template <class T>
class SurfaceShapeOf : public ::testing::Test {};
using Dimensions = ::testing::Types<Dimension<2>, Dimension<3>>;
TYPED_TEST_SUITE(SurfaceShapeOf, Dimensions);

template <int dim>
using Points = std::vector<Eigen::Matrix<double, dim, 1>>;

template <int dim>
Points<dim> bent(const Sheet<dim>& sheet) {
  using Point = Eigen::Matrix<double, dim, 1>;
  return sheet.moved(
      [](const Point& x, GlobalIndex id) -> Point { return folded<dim>(x, 0.4) + 0.01 * rough<dim>(id, 2); });
}

/// The area vector of a facet of the file.
template <int dim>
Eigen::Matrix<double, dim, 1> area_vector(const Points<dim>& x, const typename Sheet<dim>::Facet& facet) {
  const auto way = [&](std::size_t i) {
    return Eigen::Matrix<double, dim, 1>(x[static_cast<std::size_t>(facet[i])] -
                                         x[static_cast<std::size_t>(facet[0])]);
  };
  if constexpr (dim == 2)
    return {way(1)[1], -way(1)[0]};
  else
    return 0.5 * way(1).cross(way(2));
}

template <std::size_t n>
std::array<GlobalIndex, n> sorted(std::array<GlobalIndex, n> ids) {
  std::ranges::sort(ids);
  return ids;
}

TYPED_TEST(SurfaceShapeOf, AreasAndNormalsOfASheetAreThoseOfItsFile) {
  constexpr int dim = TypeParam::dim;
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Sheet<dim> sheet(comm, strip_obj(dim, 5));
  const Surface<dim> surface = surface_of_sheets(comm, sheet.share);
  const Points<dim> x = bent(sheet), at_rest = sheet.moved([](const auto&p, GlobalIndex) { return p; });
  const auto id = [&](LocalIndex v) { return surface.vertices()[static_cast<std::size_t>(v)].id; };

  std::map<std::array<GlobalIndex, dim>, Eigen::Matrix<double, dim, 1>> expected;
  Points<dim> sums(x.size(), Eigen::Matrix<double, dim, 1>::Zero());
  std::vector<double> areas(x.size(), 0.0);
  for (const auto& facet : sheet.facets()) {
    expected[sorted(facet)] = area_vector<dim>(x, facet);
    for (const GlobalIndex v : facet) {
      sums[static_cast<std::size_t>(v)] += area_vector<dim>(x, facet);
      areas[static_cast<std::size_t>(v)] += area_vector<dim>(at_rest, facet).norm() / dim;
    }
  }
  const auto positions = surface.positions(displacement_to(surface, x).local());
  const auto found = area_vectors(surface, positions);
  EXPECT_EQ(comm.sum(static_cast<GlobalIndex>(found.size())), std::ssize(expected));
  for (std::size_t f = 0; f < found.size(); ++f) {
    std::array<GlobalIndex, dim> ids{};
    std::ranges::transform(surface.facets()[f], ids.begin(), id);
    EXPECT_LT((found[f] - expected.at(sorted(ids))).norm(), 1e-14);
    EXPECT_EQ(surface.facet_sides()[f], 0);
  }
  const auto normals = vertex_normals(surface, positions);
  EXPECT_EQ(comm.sum(static_cast<GlobalIndex>(normals.size())), std::ssize(x));
  for (LocalIndex v = 0; v < surface.num_owned(); ++v) {
    const auto i = static_cast<std::size_t>(id(v));
    EXPECT_LT((normals[static_cast<std::size_t>(v)] - sums[i].normalized()).norm(), 1e-12);
    EXPECT_NEAR(surface.vertices()[static_cast<std::size_t>(v)].area, areas[i], 1e-14);
  }
}

/// All hinges of a file with their angles, by the ids of shared vertices and of the others.
template <int dim>
std::map<std::array<GlobalIndex, dim + 1>, double> hinges_of_file(const Sheet<dim>& sheet,
                                                                  const Points<dim>& x) {
  std::map<std::array<GlobalIndex, dim + 1>, double> result;
  const auto facets = sheet.facets();
  for (std::size_t a = 0; a < facets.size(); ++a)
    for (std::size_t b = 0; b < facets.size(); ++b) {
      std::vector<GlobalIndex> shared;
      const auto first = sorted(facets[a]), second = sorted(facets[b]);
      std::ranges::set_intersection(first, second, std::back_inserter(shared));
      if (std::ssize(shared) != dim - 1) continue;
      std::array<GlobalIndex, dim + 1> hinge{};
      std::ranges::copy(shared, hinge.begin());
      const auto other = [&](const auto& facet) {
        return *std::ranges::find_if(facet,
                                     [&](GlobalIndex v) { return std::ranges::count(shared, v) == 0; });
      };
      hinge[dim - 1] = other(first);
      hinge[dim] = other(second);
      if (hinge[dim - 1] > hinge[dim]) continue;
      // The angle between area vectors that point to one side, by its cosine.
      const auto corner = [&](std::size_t i) { return x[static_cast<std::size_t>(hinge[i])]; };
      if constexpr (dim == 2) {
        const Eigen::Vector2d in = (corner(0) - corner(1)).normalized(),
                              out = (corner(2) - corner(0)).normalized();
        const double turn = in[0] * out[1] - in[1] * out[0];
        result[hinge] = std::copysign(std::acos(in.dot(out)), turn);
      } else {
        const Eigen::Vector3d n = (corner(1) - corner(0)).cross(corner(2) - corner(0)).normalized(),
                              m = (corner(3) - corner(0)).cross(corner(1) - corner(0)).normalized();
        result[hinge] = std::copysign(std::acos(n.dot(m)), n.dot(corner(3) - corner(0)));
      }
    }
  return result;
}

template <int dim>
void expect_hinges_of_file(const std::string& text, GlobalIndex count) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Sheet<dim> sheet(comm, text);
  const Surface<dim> surface = surface_of_sheets(comm, sheet.share);
  const Points<dim> x = bent(sheet);
  const auto positions = surface.positions(displacement_to(surface, x).local());
  const auto expected = hinges_of_file(sheet, x);
  EXPECT_EQ(std::ssize(expected), count);
  const Hinges<dim> found = find_hinges(surface);
  const auto at =
      found.vertices.gather(std::span(positions).first(static_cast<std::size_t>(surface.num_owned())));
  EXPECT_EQ(comm.sum(static_cast<GlobalIndex>(found.hinges.size())), count);
  for (const Hinge<dim>& hinge : found.hinges) {
    std::array<GlobalIndex, dim + 1> ids{};
    Eigen::Matrix<double, dim, dim + 1> corners;
    for (std::size_t i = 0; i <= dim; ++i) {
      ids[i] = found.vertices[hinge[i]].id;
      corners.col(static_cast<Eigen::Index>(i)) = at[static_cast<std::size_t>(hinge[i])];
    }
    ASSERT_TRUE(expected.contains(ids));
    EXPECT_NEAR(fold_angle(corners), expected.at(ids), 1e-7);
    EXPECT_EQ(found.vertices[hinge[0]].address.rank, comm.rank());
  }
}

TEST(SurfaceShape, HingesOfSheetsAreThoseOfTheirFiles) {
  expect_hinges_of_file<2>(strip_obj(2, 5), 9);
  // 2 (11 - 1) (4 - 1) triangles with 3 sides each, of which 2 (10 + 3) lie at the border.
  expect_hinges_of_file<3>(strip_obj(3, 5), (3 * 60 - 26) / 2);
  // Three triangles at an edge, three edges at a vertex: every two of them are a hinge.
  expect_hinges_of_file<3>(
      "v 0 0 0\nv 1 0.1 0\nv 0.5 1 0\nv 0.4 -1 0.2\nv 0.3 0.1 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n", 3);
  expect_hinges_of_file<2>("v 0 0 0\nv 1 0.1 0\nv -0.5 1 0\nv -0.4 -1 0\nl 1 2\nl 1 3\nl 4 1\n", 3);
}

TYPED_TEST(SurfaceShapeOf, NormalsOfBodiesPointOutwards) {
  constexpr int dim = TypeParam::dim;
  const parallel::Communicator comm(MPI_COMM_WORLD);
  mesh::SimplexMesh whole;
  whole.dim = dim;
  if (comm.rank() == 0) {
    whole = test::box_mesh(dim, 3);
    test::shuffle_vertices(whole, 5);
  }
  const auto mesh = mesh::distribute<dim>(comm, whole);
  for (const int order : {1, 2}) {
    const fem::FunctionSpace<dim> space(mesh, {order});
    const std::vector<char> free(static_cast<std::size_t>(space.num_nodes()) * dim, 0);
    const Surface<dim> surface = fem::boundary_surface<dim>(space, free);
    const std::vector<double> u(free.size(), 0.0);
    const auto positions = surface.positions(u);
    const auto areas = area_vectors(surface, positions);
    double volume = 0;
    for (std::size_t f = 0; f < areas.size(); ++f)
      volume += areas[f].dot(positions[static_cast<std::size_t>(surface.facets()[f][0])]) / dim;
    EXPECT_NEAR(comm.sum(volume), 1, 1e-12);
    // A closed surface has two facets at every edge, or at every vertex in 2D.
    const auto num_facets = comm.sum(static_cast<GlobalIndex>(areas.size()));
    EXPECT_EQ(comm.sum(static_cast<GlobalIndex>(find_hinges(surface).hinges.size())), num_facets * dim / 2);
  }
}

TYPED_TEST(SurfaceShapeOf, AreasChangeWithRestPositions) {
  constexpr int dim = TypeParam::dim;
  using Point = Eigen::Matrix<double, dim, 1>;
  const parallel::Communicator comm(MPI_COMM_WORLD);
  Sheet<dim> sheet(comm, strip_obj(dim, 5));
  const Surface<dim> surface = surface_of_sheets(comm, sheet.share);
  Points<dim> motion;
  for (const GlobalIndex id : sheet.share.vertex_ids) motion.push_back(rough<dim>(id, 4));
  const auto field = surface.rest_changes(motion, {});
  const AreaField changes = surface.area_changes(field);

  // The sum of all areas of vertices, each with a number of its own.
  AreaField sum{std::vector<double>(static_cast<std::size_t>(surface.num_owned()), 0.0), {}};
  const auto number = [&](LocalIndex v) {
    return rough<1>(surface.vertices()[static_cast<std::size_t>(v)].id, 6)[0];
  };
  double direct = 0, transposed = 0;
  for (LocalIndex v = 0; v < surface.num_owned(); ++v) {
    sum.vertices[static_cast<std::size_t>(v)] = number(v);
    direct += number(v) * changes.vertices[static_cast<std::size_t>(v)];
  }
  Points<dim> by_vertex(motion.size(), Point::Zero()), none;
  surface.add_to_rest(surface.area_gradient(sum), by_vertex, none);
  for (std::size_t v = 0; v < motion.size(); ++v) transposed += by_vertex[v].dot(motion[v]);
  EXPECT_NEAR(comm.sum(direct), comm.sum(transposed), 1e-12);

  const auto area = [&](double step) {
    std::vector<Eigen::Vector3d> moved = sheet.raw.vertices;
    double total = 0;
    Points<dim> x;
    for (std::size_t v = 0; v < moved.size(); ++v)
      x.push_back(moved[v].template head<dim>() + step * rough<dim>(static_cast<GlobalIndex>(v), 4));
    for (const auto& facet : sheet.facets())
      for (const GlobalIndex v : facet) total += rough<1>(v, 6)[0] * area_vector<dim>(x, facet).norm() / dim;
    return total;
  };
  const double difference = (area(1e-5) - area(-1e-5)) / 2e-5;
  EXPECT_GT(std::abs(difference), 1e-3);
  EXPECT_NEAR(comm.sum(direct), difference, 1e-7);
}

/// Ranks own about the same, with few edges between them; small sheets leave some with nothing.
TEST(SheetsOnRanks, AreCutIntoConnectedParts) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Sheet<3> sheet(comm, strip_obj(3, 10));
  const Surface<3> surface = surface_of_sheets(comm, sheet.share);
  const double share = double(sheet.raw.vertices.size()) / comm.size();
  EXPECT_LT(surface.num_owned(), 1.2 * share);
  EXPECT_GT(surface.num_owned(), 0.8 * share);
  EXPECT_LT(surface.num_vertices() - surface.num_owned(), 40);
  EXPECT_EQ(surface.layout()->num_global, std::ssize(sheet.raw.vertices));

  const Sheet<3> small(comm, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const Surface<3> triangle = surface_of_sheets(comm, small.share);
  EXPECT_EQ(comm.sum(GlobalIndex{triangle.num_owned()}), 3);
  EXPECT_EQ(comm.sum(static_cast<GlobalIndex>(triangle.faces().size())), 1);
  EXPECT_EQ(comm.sum(static_cast<GlobalIndex>(find_hinges(triangle).hinges.size())), 0);
}

} // namespace shape_test
} // namespace recoil::surface
