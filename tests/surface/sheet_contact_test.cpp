#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/geometry/predicates.hpp"
#include "recoil/linalg/stencil_matrix.hpp"
#include "recoil/potentials/contact/contact_potentials.hpp"
#include "support/derivatives.hpp"
#include "surface/sheet.hpp"

namespace recoil::surface {
namespace {

using geometry::StencilKind;
using potentials::BarrierForm;
using potentials::ContactPair;

template <class T>
class SheetContactOf : public ::testing::Test {};
using Dimensions = ::testing::Types<Dimension<2>, Dimension<3>>;
TYPED_TEST_SUITE(SheetContactOf, Dimensions);

constexpr double dhat = 0.06, gap = 0.05;

/// A folded sheet with contact: no volume mesh, no scene.
template <int dim>
struct FoldedSheet {
  using Point = Eigen::Matrix<double, dim, 1>;

  parallel::Communicator comm;
  Sheet<dim> sheet;
  std::vector<Point> positions; ///< by id
  potentials::ContactState<dim> contact;
  potentials::BarrierPotential<dim> barrier{contact};
  linalg::Vector u;

  explicit FoldedSheet(MPI_Comm ranks, BarrierForm form = BarrierForm::plain)
      : comm(ranks), sheet(comm, strip_obj(dim, 10)), positions(fold(sheet)),
        contact(std::make_unique<const Surface<dim>>(surface_of_sheets(comm, sheet.share)), parameters(form)),
        u(displacement_to(contact.surface(), positions)) {
    contact.update(u.local());
  }

  static std::vector<Point> fold(const Sheet<dim>& sheet) {
    return sheet.moved([](const Point& x, GlobalIndex id) -> Point {
      return folded<dim>(x, gap) + 0.002 * rough<dim>(id, 1);
    });
  }
  static potentials::ContactParameters<dim> parameters(BarrierForm form) {
    potentials::ContactParameters<dim> result;
    result.dhat = dhat;
    result.form = form;
    return result;
  }

  double energy(const linalg::Vector& at) {
    contact.update(at.local());
    return comm.sum(barrier.value(at.local()));
  }
  linalg::Vector gradient(const linalg::Vector& at) {
    contact.update(at.local());
    linalg::Vector g(contact.surface().layout());
    barrier.add_gradient(at.local(), 1, g.write_owned());
    return g;
  }
  linalg::Vector along(double seed) const {
    return displacement_to(contact.surface(), sheet.moved([&](const Point& x, GlobalIndex id) -> Point {
      return x + rough<dim>(id, seed);
    }));
  }
};

/// Two primitives by the ids of their vertices: the kind, then each primitive ascending, edges by their first
/// vertex.
using PairIds = std::array<GlobalIndex, 5>;

PairIds pair_ids(StencilKind kind, std::array<GlobalIndex, 4> ids) {
  const int first = geometry::num_first_points(kind), all = geometry::num_points(kind);
  std::sort(ids.begin(), ids.begin() + first);
  std::sort(ids.begin() + first, ids.begin() + all);
  if (kind == StencilKind::edge_edge && ids[0] > ids[2]) ids = {ids[2], ids[3], ids[0], ids[1]};
  PairIds result{static_cast<GlobalIndex>(kind), -1, -1, -1, -1};
  std::copy_n(ids.begin(), all, result.begin() + 1);
  return result;
}

/// All pairs closer than dhat, tried one by one.
template <int dim>
std::vector<PairIds> brute_force(const FoldedSheet<dim>& at) {
  std::vector<PairIds> result;
  const auto add = [&](StencilKind kind, const std::array<GlobalIndex, 4>& ids) {
    geometry::StencilPoints<dim> points = geometry::StencilPoints<dim>::Zero();
    for (std::size_t i = 0; i < static_cast<std::size_t>(geometry::num_points(kind)); ++i) {
      points.col(static_cast<Eigen::Index>(i)) = at.positions[static_cast<std::size_t>(ids[i])];
      for (std::size_t j = 0; j < i; ++j)
        if (ids[i] == ids[j]) return;
    }
    if (geometry::distance_squared<dim>(kind, points) < dhat * dhat) result.push_back(pair_ids(kind, ids));
  };
  for (GlobalIndex v = 0; v < std::ssize(at.positions); ++v)
    for (const auto& facet : at.sheet.facets())
      if constexpr (dim == 2)
        add(StencilKind::vertex_edge, {v, facet[0], facet[1], -1});
      else
        add(StencilKind::vertex_face, {v, facet[0], facet[1], facet[2]});
  if constexpr (dim == 3) {
    const auto edges = at.sheet.edges();
    for (std::size_t a = 0; a < edges.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        add(StencilKind::edge_edge, {edges[a][0], edges[a][1], edges[b][0], edges[b][1]});
  }
  std::ranges::sort(result);
  return result;
}

/// The pairs of all ranks.
template <int dim>
std::vector<PairIds> pairs_of(const FoldedSheet<dim>& at) {
  std::vector<GlobalIndex> here;
  for (const ContactPair<dim>& pair : at.contact.pairs()) {
    if (pair.continues) continue;
    std::array<GlobalIndex, 4> ids{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(geometry::num_points(pair.kind)); ++i)
      ids[i] = (*at.contact.vertices())[pair.vertices[i]].id;
    const PairIds found = pair_ids(pair.kind, ids);
    here.insert(here.end(), found.begin(), found.end());
  }
  const std::vector<GlobalIndex> all = at.comm.all_gather_parts(here);
  std::vector<PairIds> result(all.size() / 5);
  for (std::size_t i = 0; i < all.size(); ++i) result[i / 5][i % 5] = all[i];
  std::ranges::sort(result);
  return result;
}

TYPED_TEST(SheetContactOf, PairsAreThoseOfBruteForce) {
  const FoldedSheet<TypeParam::dim> at(MPI_COMM_WORLD);
  const auto expected = brute_force(at);
  EXPECT_EQ(pairs_of(at), expected);
  const auto count = [&](StencilKind kind) {
    return std::ranges::count(expected, static_cast<GlobalIndex>(kind),
                              [](const auto& pair) { return pair[0]; });
  };
  if (TypeParam::dim == 2) {
    EXPECT_GT(count(StencilKind::vertex_edge), 15);
  } else {
    EXPECT_GT(count(StencilKind::vertex_face), 100);
    EXPECT_GT(count(StencilKind::edge_edge), 500);
  }
  EXPECT_EQ(at.contact.num_intersections(), 0);
}

TYPED_TEST(SheetContactOf, DerivativesAgreeWithDifferences) {
  for (const BarrierForm form : {BarrierForm::plain, BarrierForm::convergent}) {
    FoldedSheet<TypeParam::dim> at(MPI_COMM_WORLD, form);
    const linalg::Vector d = at.along(42);
    const double slope = at.gradient(at.u).dot(d);
    linalg::Vector curvature(at.contact.surface().layout()), product = curvature;
    linalg::StencilMatrix H(at.contact.surface().layout());
    H.begin();
    at.barrier.add_hessian(at.u.local(), 1, newton::Projection::none, {nullptr, &H});
    H.finish();
    H.multiply(d, curvature);
    at.barrier.add_hessian_product(at.u.local(), d.local(), 1, product.write_owned());
    product.add(-1, curvature);
    EXPECT_LT(product.norm(), 1e-12 * curvature.norm());
    constexpr std::array steps{1e-4, 1e-5, 1e-6, 1e-7};
    const auto errors = test::derivative_errors([&](const auto& x) { return at.energy(x); },
                                                [&](const auto& x) { return at.gradient(x); }, slope,
                                                curvature, at.u, d, steps);
    EXPECT_GT(std::abs(slope), 0);
    EXPECT_LT(errors.slope, 1e-6 * std::abs(slope));
    EXPECT_GT(curvature.norm(), 0);
    EXPECT_LT(errors.curvature, 1e-6 * curvature.norm());
  }
}

TYPED_TEST(SheetContactOf, ValuesDoNotDependOnTheNumberOfRanks) {
  for (const BarrierForm form : {BarrierForm::plain, BarrierForm::convergent,
                                 BarrierForm{false, false, false, true, potentials::GeometricAngles()}}) {
    FoldedSheet<TypeParam::dim> together(MPI_COMM_WORLD, form), alone(MPI_COMM_SELF, form);
    const double energy = alone.energy(alone.u);
    EXPECT_GT(energy, 0);
    EXPECT_NEAR(together.energy(together.u), energy, 1e-12 * energy);
    const double norm = alone.gradient(alone.u).norm();
    EXPECT_NEAR(together.gradient(together.u).norm(), norm, 1e-12 * norm);
  }
}

/// Pairs of an edge and a face, or of two edges in 2D, that intersect, tried one by one.
template <int dim>
GlobalIndex count_by_brute_force(const Sheet<dim>& sheet,
                                 const std::vector<Eigen::Matrix<double, dim, 1>>& x) {
  GlobalIndex count = 0;
  const auto at = [&](GlobalIndex v) { return x[static_cast<std::size_t>(v)]; };
  const auto edges = sheet.edges();
  const auto apart = [](const auto& a, const auto& b) { return std::ranges::find_first_of(a, b) == a.end(); };
  for (const auto& e : edges)
    if constexpr (dim == 2) {
      for (const auto& f : edges)
        count += e < f && apart(e, f) && geometry::segments_intersect(at(e[0]), at(e[1]), at(f[0]), at(f[1]));
    } else {
      for (const auto& f : sheet.facets())
        count += apart(e, f) &&
                 geometry::segment_triangle_intersect(at(e[0]), at(e[1]), at(f[0]), at(f[1]), at(f[2]));
    }
  return count;
}

TYPED_TEST(SheetContactOf, StepsEndBeforeTheSheetMeetsItself) {
  constexpr int dim = TypeParam::dim;
  using Point = Eigen::Matrix<double, dim, 1>;
  FoldedSheet<dim> at(MPI_COMM_WORLD);
  // The upper layer goes down through the lower one, no end of an edge onto another.
  const auto motion = at.sheet.moved([](const Point& x, GlobalIndex id) -> Point {
    return x + (x[0] > 1.2 ? Point(-0.17 * Point::Unit(dim - 1) + 0.01 * rough<dim>(id, 3))
                           : Point(Point::Zero()));
  });
  linalg::Vector d = displacement_to(at.contact.surface(), motion);
  const double step = at.contact.max_step(at.u.local(), d.local(), {});
  EXPECT_GT(step, 0.05);
  EXPECT_LT(step, 0.5);
  linalg::Vector end = at.u;
  end.add(step, d);
  at.contact.update(end.local());
  EXPECT_EQ(at.contact.num_intersections(), 0);
  EXPECT_GT(at.contact.min_distance(), 0);

  end.add(1 - step, d);
  std::vector<Point> x = at.positions;
  for (std::size_t v = 0; v < x.size(); ++v)
    x[v] += motion[v] - at.sheet.raw.vertices[v].template head<dim>();
  std::vector<std::string> first;
  const auto expected = count_by_brute_force(at.sheet, x);
  const auto& surface = at.contact.surface();
  EXPECT_EQ(potentials::count_intersections<dim>(surface, surface.positions(end.local()), &first), expected);
  EXPECT_GT(expected, 0);
  EXPECT_THAT(first.at(0), ::testing::HasSubstr("of 'sheet' near"));
}

TYPED_TEST(SheetContactOf, SheetsAndObstaclesCollide) {
  constexpr int dim = TypeParam::dim;
  const auto make = [](MPI_Comm ranks) { return parallel::Communicator(ranks); };
  std::vector<double> energies;
  for (const parallel::Communicator& comm : {make(MPI_COMM_WORLD), make(MPI_COMM_SELF)}) {
    const Sheet<dim> sheet(comm, strip_obj(dim, 6));
    mesh::SurfaceMesh plate;
    plate.name = "plate";
    plate.vertices = {{-1, -0.04, 0}, {3, -0.05, 0}, {0.3, -0.045, 0}};
    if (dim == 2) {
      plate.edges = {{0, 2}, {2, 1}};
    } else {
      plate.vertices = {{-1, -1, -0.04}, {3, -1, -0.05}, {3, 3, -0.04}, {-1, 3, -0.03}};
      plate.triangles = {{0, 1, 2}, {0, 2, 3}};
    }
    const auto obstacles = mesh::distribute_obstacles<dim>(
        comm, comm.rank() == 0 ? std::vector{plate} : std::vector<mesh::SurfaceMesh>());
    potentials::ContactParameters<dim> parameters;
    parameters.dhat = dhat;
    potentials::ContactState<dim> contact(
        std::make_unique<const Surface<dim>>(
            joined(surface_of_sheets(comm, sheet.share), surface_of_obstacles(comm, obstacles))),
        parameters);
    const Surface<dim>& surface = contact.surface();
    EXPECT_EQ(surface.body_name(0), "sheet");
    EXPECT_EQ(surface.body_name(1), "plate");
    EXPECT_FALSE(surface.is_obstacle(0));
    EXPECT_TRUE(surface.is_obstacle(1));
    const linalg::Vector flat(surface.layout());
    contact.update(flat.local());
    EXPECT_EQ(contact.num_intersections(), 0);
    const auto with_plate = potentials::pairs_with(contact.pairs(), 1);
    EXPECT_GT(comm.sum(static_cast<GlobalIndex>(with_plate->size())), 10);
    energies.push_back(comm.sum(contact.barrier().value(*with_plate)));
  }
  EXPECT_GT(energies[1], 0);
  EXPECT_NEAR(energies[0], energies[1], 1e-12 * energies[1]);
}

} // namespace
} // namespace recoil::surface
