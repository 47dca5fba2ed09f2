#include <cmath>

#include <gtest/gtest.h>

#include "support/contact_scene.hpp"

namespace recoil::potentials {
namespace {

template <int dim>
using Scene = ContactScene<dim>;

template <class T>
class ContactOf : public ::testing::Test {};
TYPED_TEST_SUITE(ContactOf, Dimensions);

TYPED_TEST(ContactOf, BarrierDerivativesAgreeWithDifferences) {
  for (const BarrierForm form : {BarrierForm::plain, BarrierForm::convergent, BarrierForm{false, true, false},
                                 BarrierForm{false, false, true}, BarrierForm{true, true, true}})
    for (const int order : {1, 2}) check_barrier_derivatives<TypeParam::dim>(form, order);
}

TYPED_TEST(ContactOf, FrictionDerivativesAgreeWithDifferences) {
  for (const BarrierForm form :
       {BarrierForm::plain, BarrierForm::convergent, BarrierForm{true, true, true}}) {
    Scene<TypeParam::dim> scene(MPI_COMM_WORLD, 1, form);
    const linalg::Vector start = scene.close_together();
    scene.contact.start_step(start.local());
    scene.contact.update(start.local());
    // Smoothing length 1e-3: sliding by up to 5e-3 sticks at some pairs and slips at others.
    scene.contact.lag_friction(3.0, 1.0);
    EXPECT_GT(scene.comm.sum(static_cast<GlobalIndex>(scene.contact.friction().stencils().size())), 5);
    linalg::Vector u = start;
    u.add(1, scene.field(0.0012, 7));
    check_derivatives(scene, u, 0.0, 2.0);
  }
}

TYPED_TEST(ContactOf, ValuesDoNotDependOnTheNumberOfRanks) {
  constexpr int dim = TypeParam::dim;
  for (const int order : {1, 2})
    for (const BarrierForm form : {BarrierForm::plain, BarrierForm::convergent}) {
      Scene<dim> together(MPI_COMM_WORLD, order, form), alone(MPI_COMM_SELF, order, form);
      const linalg::Vector u = together.close_together(), v = alone.close_together();
      together.contact.start_step(u.local());
      alone.contact.start_step(v.local());
      for (auto* scene : {&together, &alone}) {
        scene->contact.update((scene == &together ? u : v).local());
        scene->contact.lag_friction(1.0, 1.0);
      }
      linalg::Vector u1 = u, v1 = v;
      u1.add(1, together.field(0.001, 3));
      v1.add(1, alone.field(0.001, 3));
      expect_same_contact(together, u1, alone, v1);
      EXPECT_EQ(together.contact.num_intersections(), 0);
      const std::vector<double> at_rest(together.contact.obstacle_displacement().size(), 0.0),
          alone_at_rest(alone.contact.obstacle_displacement().size(), 0.0);
      linalg::Vector d = together.field(0.3, 11), e = alone.field(0.3, 11);
      const double step = together.contact.max_step(u1.local(), d.local(), at_rest);
      // Edge pairs may come in another order, which changes rounding.
      EXPECT_NEAR(step, alone.contact.max_step(v1.local(), e.local(), alone_at_rest), 1e-12);
      EXPECT_GT(step, 0);
      EXPECT_LT(step, 1);
      // All of the way does intersect, the share that is allowed does not.
      d.scale(step);
      u1.add(1, d);
      together.contact.update(u1.local());
      EXPECT_EQ(together.contact.num_intersections(), 0);
      u1.add(1 / step - 1, d);
      together.contact.update(u1.local());
      EXPECT_GT(together.contact.num_intersections(), 0);
    }
}

/// All pairs of primitives, tested one by one; on one rank.
template <int dim>
double brute_force(const Scene<dim>& scene, const linalg::Vector& u, GlobalIndex& count) {
  const auto& surface = scene.contact.surface();
  const auto x = surface.positions(u.local(), scene.contact.obstacle_displacement());
  const double dhat = scene.contact.parameters().dhat;
  double sum = 0;
  count = 0;
  const auto add = [&](geometry::StencilKind kind, std::vector<LocalIndex> vertices) {
    const int first = geometry::num_first_points(kind);
    geometry::StencilPoints<dim> points = geometry::StencilPoints<dim>::Zero(), rest = points;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const auto v = static_cast<std::size_t>(vertices[i]);
      points.col(static_cast<Eigen::Index>(i)) = x[v];
      for (int k = 0; k < dim; ++k)
        rest(k, static_cast<Eigen::Index>(i)) = surface.vertices()[v].rest[static_cast<std::size_t>(k)];
      for (std::size_t j = 0; j < i; ++j)
        if (vertices[j] == vertices[i]) return;
    }
    if (surface.node(vertices[0]) < 0 && surface.node(vertices[static_cast<std::size_t>(first)]) < 0) return;
    const double y = geometry::distance_squared<dim>(kind, points);
    if (y >= dhat * dhat) return;
    double m = 1;
    if constexpr (dim == 3)
      if (kind == geometry::StencilKind::edge_edge)
        m = geometry::edge_edge_mollifier(points, geometry::edge_edge_mollifier_eps(rest)).value;
    sum += m * geometry::log_barrier(y, dhat * dhat).value;
    ++count;
  };
  for (LocalIndex v = 0; v < surface.num_owned(); ++v) {
    if constexpr (dim == 2)
      for (const auto& e : surface.edges()) add(geometry::StencilKind::vertex_edge, {v, e[0], e[1]});
    else
      for (const auto& f : surface.faces()) add(geometry::StencilKind::vertex_face, {v, f[0], f[1], f[2]});
    for (const auto& plane : scene.contact.parameters().planes) {
      const double d = plane.normal.dot(x[static_cast<std::size_t>(v)] - plane.point);
      if (surface.node(v) < 0 || d >= dhat) continue;
      sum += geometry::log_barrier(d * d, dhat * dhat).value;
      ++count;
    }
  }
  if constexpr (dim == 3)
    for (std::size_t a = 0; a < surface.edges().size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        add(geometry::StencilKind::edge_edge,
            {surface.edges()[a][0], surface.edges()[a][1], surface.edges()[b][0], surface.edges()[b][1]});
  return sum;
}

TYPED_TEST(ContactOf, FindsWhatBruteForceFinds) {
  for (const int order : {1, 2}) {
    Scene<TypeParam::dim> scene(MPI_COMM_SELF, order);
    const linalg::Vector u = scene.close_together();
    GlobalIndex count = 0;
    const double expected = brute_force(scene, u, count);
    EXPECT_NEAR(scene.energy(u, 1, 0), expected, 1e-12 * expected);
    EXPECT_EQ(scene.contact.num_pairs(), count);
  }
}

TYPED_TEST(ContactOf, SurfaceOfHigherOrderRunsThroughItsNodes) {
  constexpr int dim = TypeParam::dim;
  for (const int order : {1, 2, 3}) {
    const Scene<dim> scene(MPI_COMM_WORLD, order);
    const auto& surface = scene.contact.surface();
    GlobalIndex edges = 0, faces = 0;
    double area = 0;
    for (const auto& edge : surface.edges()) edges += surface.node(edge[0]) >= 0;
    for (const auto& face : surface.faces()) faces += surface.node(face[0]) >= 0;
    for (LocalIndex v = 0; v < surface.num_owned(); ++v)
      if (surface.node(v) >= 0) area += surface.vertices()[static_cast<std::size_t>(v)].area;
    const GlobalIndex n = 3 * order, bodies = 2;
    EXPECT_EQ(scene.comm.sum(edges), bodies * (dim == 2 ? 4 * n : 6 * 3 * n * n));
    EXPECT_EQ(scene.comm.sum(faces), bodies * (dim == 2 ? 0 : 6 * 2 * n * n));
    EXPECT_NEAR(scene.comm.sum(area), dim == 2 ? 2 * 4 : 2 * 6, 1e-12);
  }
}

TYPED_TEST(ContactOf, PrescribedComponentsHaveNoRows) {
  constexpr int dim = TypeParam::dim;
  const Scene<dim> sizes(MPI_COMM_WORLD);
  std::vector<char> prescribed(static_cast<std::size_t>(sizes.space.num_nodes()) * dim, 0);
  for (std::size_t i = 0; i < prescribed.size(); i += dim) prescribed[i] = 1;
  Scene<dim> scene(MPI_COMM_WORLD, 1, BarrierForm::plain, prescribed);
  const linalg::Vector u = scene.close_together();
  scene.contact.update(u.local());
  linalg::StencilMatrix H(scene.space.layout());
  scene.assemble_hessian(1, 1, newton::Projection::per_element, H);
  linalg::Vector d = scene.field(1, 5), y(scene.space.layout());
  H.multiply(d, y);
  double fixed = 0, free = 0;
  for (std::size_t i = 0; i < y.owned().size(); ++i) (i % dim == 0 ? fixed : free) += std::abs(y.owned()[i]);
  EXPECT_EQ(scene.comm.sum(fixed), 0);
  EXPECT_GT(scene.comm.sum(free), 0);
  EXPECT_GE(y.dot(d), 0) << "projected";
}

TYPED_TEST(ContactOf, ObstaclesMoveAndTakeForces) {
  constexpr int dim = TypeParam::dim;
  Scene<dim> scene(MPI_COMM_WORLD);
  const linalg::Vector u = scene.close_together();
  scene.contact.update(u.local());
  const double before = scene.contact.min_distance();
  // Forces on bodies, obstacles and through the plane add up to nothing but the plane's.
  const auto field = scene.barrier.gradient();
  std::array<double, dim> sum{};
  for (const auto& g : field)
    for (std::size_t i = 0; i < dim; ++i) sum[i] += g[static_cast<Eigen::Index>(i)];
  scene.comm.sum(sum);
  EXPECT_LT(std::abs(sum[0]), 1) << "of the plane";
  EXPECT_NEAR(sum[1], 0, 1e-14);
  std::vector<double> up(scene.contact.obstacle_displacement().size(), 0.0);
  for (std::size_t i = 1; i < up.size(); i += dim) up[i] = 0.015;
  const linalg::Vector still(scene.space.layout());
  EXPECT_EQ(scene.contact.max_step(u.local(), still.local(), up), 1);
  scene.contact.start_step(u.local());
  scene.contact.set_obstacle_displacement(up);
  scene.contact.update(u.local());
  EXPECT_LT(scene.contact.min_distance(), before);
  const double work = scene.comm.sum(scene.barrier.obstacle_work());
  EXPECT_GT(work, 0);
  for (std::size_t i = 1; i < up.size(); i += dim) up[i] = 0.2;
  EXPECT_LT(scene.contact.max_step(u.local(), still.local(), up), 1);
}

} // namespace
} // namespace recoil::potentials
