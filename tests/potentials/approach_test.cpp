#include <gtest/gtest.h>

#include "recoil/potentials/contact/approach.hpp"
#include "support/contact_scene.hpp"

namespace recoil::potentials {
namespace {

constexpr double stiffness = 7;

template <class T>
class ApproachOf : public ::testing::Test {};
TYPED_TEST_SUITE(ApproachOf, Dimensions);

/// The floor of a scene on its way up to the boxes.
template <int dim>
std::vector<double> rise(const ContactState<dim>& contact, double height) {
  std::vector<double> motion(contact.obstacle_displacement().size(), 0.0);
  for (std::size_t i = 1; i < motion.size(); i += dim) motion[i] = height;
  return motion;
}

/// H p of what an approach adds to the matrix of the barrier.
template <int dim>
linalg::Vector added_product(ContactScene<dim>& scene, const Approach<dim>& approach,
                             const linalg::Vector& p) {
  linalg::StencilMatrix with(scene.space.layout()), without(scene.space.layout());
  with.begin();
  scene.barrier.add_hessian({}, stiffness, Projection::per_element, {nullptr, &with});
  approach.add_hessian(0, with);
  with.finish();
  scene.assemble_hessian(stiffness, 0, newton::Projection::per_element, without);
  linalg::Vector product(p.shared_layout()), other(p.shared_layout());
  with.multiply(p, product);
  without.multiply(p, other);
  product.add(-1, other);
  return product;
}

template <int dim>
linalg::Vector added_gradient(const Approach<dim>& approach, const linalg::Vector& motion,
                              const std::vector<double>& obstacles) {
  linalg::Vector g(motion.shared_layout());
  approach.add_gradient(0, motion.local(), obstacles, g.write_owned());
  return g;
}

TYPED_TEST(ApproachOf, AddsNothingWhereNothingComesCloser) {
  constexpr int dim = TypeParam::dim;
  ContactScene<dim> scene(MPI_COMM_WORLD);
  const linalg::Vector u = scene.close_together(), still(scene.space.layout());
  scene.contact.start_step(u.local());
  const std::vector<double> down = rise(scene.contact, -0.01);
  Approach<dim> approach(scene.contact, u.local(), still.local(), down, stiffness);
  EXPECT_EQ(approach.fit(still.local(), down), 0);
  EXPECT_TRUE(std::isinf(approach.smallest_expected_gap()));
  EXPECT_EQ(added_gradient(approach, still, down).norm(), 0);
  EXPECT_EQ(added_product(scene, approach, scene.field(1, 4)).norm(), 0);
}

TYPED_TEST(ApproachOf, GivesPairsThatTheMotionClosesTheForceOfTheGapThatTheyWillHave) {
  constexpr int dim = TypeParam::dim;
  ContactScene<dim> scene(MPI_COMM_WORLD);
  const linalg::Vector u = scene.close_together(), still(scene.space.layout());
  scene.contact.start_step(u.local());
  const std::vector<double> up = rise(scene.contact, 0.08);
  Approach<dim> approach(scene.contact, u.local(), still.local(), up, stiffness);
  EXPECT_GT(approach.fit(still.local(), up), 0);
  const double first = approach.smallest_expected_gap();
  EXPECT_GT(first, 0);
  EXPECT_LE(first, 0.5 * scene.contact.parameters().dhat);

  // The floor pushes the boxes away from itself.
  const linalg::Vector g = added_gradient(approach, still, up);
  double force = 0;
  for (std::size_t i = 1; i < g.owned().size(); i += dim) force -= g.owned()[i];
  EXPECT_GT(scene.comm.sum(force), 0);

  // Gradients are affine in the motion, with the matrix as their slope.
  linalg::Vector motion = scene.field(0.01, 9);
  linalg::Vector change = added_gradient(approach, motion, up);
  change.add(-1, g);
  const linalg::Vector product = added_product(scene, approach, motion);
  const double size = product.norm();
  change.add(-1, product);
  EXPECT_GT(product.dot(motion), 0);
  EXPECT_LT(change.norm(), 1e-10 * size);

  // What the model finds to be pressed harder is expected to come closer.
  approach.fit(still.local(), up);
  EXPECT_LT(approach.smallest_expected_gap(), first);
  // Boxes that go out of the way are pressed no more.
  linalg::Vector away = still;
  for (std::size_t i = 1; i < away.write_owned().size(); i += dim) away.write_owned()[i] = 0.2;
  away.update_ghosts();
  EXPECT_GT(approach.fit(away.local(), up), 0);
  EXPECT_TRUE(std::isinf(approach.smallest_expected_gap()));
}

} // namespace
} // namespace recoil::potentials
