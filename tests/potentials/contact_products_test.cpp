#include "potentials/contact_step.hpp"

namespace recoil::potentials {
namespace {

constexpr double tolerance = 1e-7;
/// Contact stiffness at the end of the step and factor of friction; of barrier alone, friction alone, both.
constexpr std::array<std::array<double, 2>, 3> factors{{{7, 0}, {0, 2}, {7, 2}}};

/// What a derivative is compared with: central differences, with several steps, of p . dB/dx and of
/// p . dPhi_f/dx.
template <class Value>
std::vector<std::array<double, 2>> differences(Value&& value) {
  std::vector<std::array<double, 2>> result;
  for (const double h : {1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8}) {
    const std::array<double, 2> plus = value(h), minus = value(-h);
    result.push_back({(plus[0] - minus[0]) / (2 * h), (plus[1] - minus[1]) / (2 * h)});
  }
  return result;
}

/// Relative error of `derivative`, best of the steps.
double relative_error(double derivative, const std::vector<std::array<double, 2>>& differences,
                      const std::array<double, 2>& factor) {
  double error = std::numeric_limits<double>::infinity();
  for (const auto& difference : differences) {
    const double expected = factor[0] * difference[0] + factor[1] * difference[1];
    EXPECT_NE(expected, 0);
    error = std::min(error, std::abs(derivative - expected) / std::abs(expected));
  }
  return error;
}

/// Largest of many, for the report of the test.
struct Largest {
  double value = 0;
  double operator()(double error) {
    value = std::max(value, error);
    return error;
  }
  ~Largest() { ::testing::Test::RecordProperty("largest_error", std::to_string(-std::log10(value))); }
};

template <class T>
class ContactProducts : public ::testing::Test {};
TYPED_TEST_SUITE(ContactProducts, Dimensions);

/// Kinds of terms, over all ranks.
enum Kind { plane, vertex_vertex, vertex_edge, vertex_face, edge_edge, mollified, negative, of_obstacle };
template <int dim>
std::array<GlobalIndex, 8> count_kinds(const ContactScene<dim>& scene,
                                       const std::vector<ContactPair<dim>>& pairs) {
  std::array<GlobalIndex, 8> count{};
  for (const auto& pair : pairs) {
    const int free = pair.closest.num_free;
    ++count[pair.num_vertices == 1                          ? plane
            : free == 0                                     ? vertex_vertex
            : free == 1                                     ? vertex_edge
            : pair.kind == geometry::StencilKind::edge_edge ? edge_edge
                                                            : vertex_face];
    count[mollified] += pair.mollifier.is_mollified;
    count[negative] += pair.weight < 0;
    count[of_obstacle] += pair.num_vertices > 1 && (pair.bodies[0] == 2 || pair.bodies[1] == 2);
  }
  for (GlobalIndex& n : count) n = scene.comm.sum(n);
  return count;
}

/// Numbers of lagged terms that stick and slip, over all ranks.
template <int dim>
std::array<GlobalIndex, 2> count_sliding(const ContactStep<dim>& step) {
  const ContactState<dim>& contact = step.scene.contact;
  linalg::Vector moved = step.now;
  moved.add(-1, step.previous);
  std::vector<double> obstacles = step.obstacles_now;
  for (std::size_t i = 0; i < obstacles.size(); ++i) obstacles[i] -= step.obstacles_previous[i];
  auto field = contact.surface().displacements(moved.local(), obstacles);
  field.resize(static_cast<std::size_t>(contact.surface().num_owned()));
  const auto at = contact.friction().vertices()->gather(field);
  std::array<GlobalIndex, 2> count{};
  for (const auto& stencil : contact.friction().stencils()) {
    typename ContactState<dim>::Point w = ContactState<dim>::Point::Zero();
    for (int i = 0; i < stencil.num_vertices; ++i)
      w += stencil.weights[i] * at[static_cast<std::size_t>(stencil.vertices[static_cast<std::size_t>(i)])];
    w -= stencil.normal.dot(w) * stencil.normal;
    ++count[w.norm() < contact.parameters().eps_v * ContactStep<dim>::dt ? 0 : 1];
  }
  return {step.scene.comm.sum(count[0]), step.scene.comm.sum(count[1])};
}

TYPED_TEST(ContactProducts, ScenesHaveEveryCase) {
  constexpr int dim = TypeParam::dim;
  for (const BarrierForm form : forms)
    for (const int order : {1, 2}) {
      ContactStep<dim> step(order, form);
      step.take();
      const auto sliding = count_sliding(step);
      EXPECT_GT(sliding[0], 2) << "stick";
      EXPECT_GT(sliding[1], 2) << "slip";
      for (const auto* pairs : {&step.scene.contact.pairs(), &step.scene.contact.friction().lagged_pairs()}) {
        const auto count = count_kinds(step.scene, *pairs);
        for (const Kind kind : {plane, vertex_edge, of_obstacle}) EXPECT_GT(count[kind], 1) << kind;
        for (const Kind kind : {vertex_face, edge_edge})
          EXPECT_EQ(count[kind] > 1, dim == 3) << kind << " " << count[kind];
        EXPECT_EQ(count[mollified] > 1, dim == 3 && !form.geometric) << count[mollified];
        EXPECT_EQ(count[negative] > 1, form.inclusion_exclusion) << count[negative];
        EXPECT_GT(count[vertex_vertex], 1);
      }
      EXPECT_EQ(step.scene.contact.num_intersections(), 0);
    }
}

TYPED_TEST(ContactProducts, HessianProductAgreesWithDifferences) {
  constexpr int dim = TypeParam::dim;
  Largest largest;
  for (const BarrierForm form : forms)
    for (const int order : {1, 2}) {
      ContactStep<dim> step(order, form);
      step.take();
      ContactState<dim>& contact = step.scene.contact;
      const linalg::Vector now = step.now;
      for (const auto& [stiffness, scale] : factors) {
        contact.update(now.local());
        const auto product = step.end_product(stiffness, scale);
        double best = std::numeric_limits<double>::infinity();
        for (const double h : {1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8}) {
          std::vector<typename ContactState<dim>::Point> change(product.size(),
                                                                ContactState<dim>::Point::Zero());
          for (const double sign : {1, -1}) {
            linalg::Vector u = now;
            u.add(sign * h, step.p);
            contact.update(u.local());
            const auto b = step.scene.barrier.gradient(), f = step.scene.friction.gradient();
            for (std::size_t v = 0; v < change.size(); ++v)
              change[v] += sign / (2 * h) * (stiffness * b[v] + scale * f[v]);
          }
          std::array<double, 2> sums{};
          for (std::size_t v = 0; v < change.size(); ++v) {
            sums[0] += (change[v] - product[v]).squaredNorm();
            sums[1] += product[v].squaredNorm();
          }
          step.scene.comm.sum(sums);
          EXPECT_GT(sums[1], 0);
          best = std::min(best, std::sqrt(sums[0] / sums[1]));
        }
        EXPECT_LT(largest(best), tolerance) << "order " << order << ", " << stiffness << " " << scale;
      }
    }
}

TYPED_TEST(ContactProducts, PreviousProductAgreesWithDifferences) {
  constexpr int dim = TypeParam::dim;
  Largest largest;
  for (const BarrierForm form : forms)
    for (const int order : {1, 2}) {
      ContactStep<dim> step(order, form);
      step.take();
      auto product = step.scene.friction.start_product(step.p.local());
      for (auto& entry : product) entry *= 2;
      const auto through_end = step.end_product(0, 2);
      const linalg::Vector still(step.scene.space.layout());
      const std::vector<double> obstacles_still(step.obstacles_now.size(), 0.0);
      // Bodies alone, obstacles alone, both.
      for (const int which : {1, 2, 3}) {
        const linalg::Vector d = (which & 1) != 0 ? step.scene.field(1, 31 + which) : still;
        const auto obstacles = (which & 2) != 0 ? step.obstacle_field(1, which) : obstacles_still;
        const auto found = differences([&](double h) {
          linalg::Vector u = step.previous;
          u.add(h, d);
          std::vector<double> at = step.obstacles_previous;
          for (std::size_t i = 0; i < at.size(); ++i) at[i] += h * obstacles[i];
          step.take(u, at);
          return step.values();
        });
        const double derivative = step.dot(product, d, obstacles);
        EXPECT_LT(largest(relative_error(derivative, found, {0, 2})), tolerance)
            << "order " << order << ", case " << which;
        // Neither part alone would do: through frames and normal forces, through the start of sliding.
        const double from_start = -step.dot(through_end, d, obstacles);
        EXPECT_GT(relative_error(derivative - from_start, found, {0, 2}), 1e-3);
        // Of adhesion frames alone are lagged, its normal forces are the same everywhere.
        EXPECT_GT(relative_error(from_start, found, {0, 2}), form.adhesion_peak ? 1e-5 : 1e-3);
      }
    }
}

TYPED_TEST(ContactProducts, CoefficientsOfFrictionAgreeWithDifferences) {
  constexpr int dim = TypeParam::dim;
  Largest largest;
  const std::array<std::array<std::int32_t, 2>, 4> pairs{{{0, 1}, {0, 2}, {1, 2}, {0, 3}}};
  for (const BarrierForm form : forms)
    for (const int order : {1, 2})
      for (const bool vanishing : {false, true}) {
        // Of all pairs of the four bodies.
        std::vector<double> coefficients(16, 0.0);
        if (!vanishing) coefficients = ContactScene<dim>::usual_friction();
        ContactStep<dim> step(order, form, {}, coefficients);
        step.take();
        const auto g = step.parameter_products({7, 2}, false);
        // Forces of adhesion are proportional to its strength.
        if (form.adhesion_peak) {
          const double by_strength =
              step.scene.comm.sum(g.numbers(parameters::quantities::adhesion_strength)[0]);
          const double expected = 2 * step.values()[1] / ContactStep<dim>::lagged_stiffness;
          EXPECT_NEAR(by_strength, expected, 1e-12 * std::abs(expected));
          EXPECT_EQ(by_strength == 0, vanishing);
        }
        for (const auto& [a, b] : pairs) {
          if (form.adhesion_peak && b != 1) continue;
          const std::size_t entry = step.scene.contact.parameters().friction.entry(a, b);
          const std::size_t place = static_cast<std::size_t>(4 * a + b);
          const auto& quantity = form.adhesion_peak ? parameters::quantities::tangential_adhesion
                                                    : parameters::quantities::friction;
          const double derivative = step.scene.comm.sum(g.numbers(quantity)[entry]);
          EXPECT_EQ(coefficients[place] == 0, vanishing);
          const auto found = differences([&](double h) {
            auto changed = coefficients;
            changed[place] += 1e4 * h;
            ContactStep<dim> other(order, form, {}, changed);
            other.take();
            return other.values();
          });
          EXPECT_LT(largest(relative_error(1e4 * derivative, found, {0, 2})), tolerance)
              << a << " " << b << " order " << order;
          EXPECT_GT(relative_error(1e4 * derivative * (1 + 1e-6), found, {0, 2}), tolerance);
        }
      }
}

TYPED_TEST(ContactProducts, ShapeAgreesWithDifferences) {
  constexpr int dim = TypeParam::dim;
  Largest largest;
  const std::array<RestMotion, 3> motions{{{1, 0, 1}, {0, 1, 2}, {1, 1, 4}}};
  for (const BarrierForm form : forms)
    for (const int order : {1, 2}) {
      ContactStep<dim> step(order, form);
      step.take();
      std::vector<parameters::PhysicalGradient<dim>> products;
      for (const auto& factor : factors) products.push_back(step.parameter_products(factor));
      for (const RestMotion& motion : motions) {
        const auto found = differences([&](double h) {
          ContactStep<dim> moved(order, form, {h * motion.mesh, h * motion.obstacles, motion.seed});
          moved.take();
          return moved.values();
        });
        for (std::size_t k = 0; k < factors.size(); ++k)
          EXPECT_LT(largest(relative_error(step.along(products[k], motion), found, factors[k])), tolerance)
              << "order " << order << ", factors " << k << ", motion " << motion.seed;
        if (order > 1) continue;
        // Positions at the end of the step alone would not do: areas and mollifiers feel the rest (there are
        // none in the geometric contact potential), and friction feels the start of the step.
        const linalg::Vector d = step.as_displacement(motion);
        const auto obstacles = step.obstacle_field(motion.obstacles, motion.seed);
        const double by_barrier = step.dot(step.end_product(7, 0), d, obstacles);
        const double by_friction = step.dot(step.end_product(0, 2), d, obstacles);
        if (form.area_weights || (dim == 3 && motion.mesh != 0 && !form.geometric)) {
          EXPECT_GT(relative_error(by_barrier, found, factors[0]), 1e-5) << motion.seed;
        }
        EXPECT_GT(relative_error(by_friction, found, factors[1]), 1e-3);
      }
    }
}

} // namespace
} // namespace recoil::potentials
