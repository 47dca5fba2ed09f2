#include "potentials/contact_step.hpp"
#include "potentials/directions.hpp"

namespace recoil::potentials {
namespace {

template <class T>
class ContactTangents : public ::testing::Test {
protected:
  void TearDown() override {
    record("largest_difference_of_transposed_products", largest_difference_);
    record("largest_relative_error", largest_error_);
  }
  /// Of transposed products.
  void expect_equal(double a, double b, const std::string& what) {
    EXPECT_NE(b, 0) << what;
    EXPECT_LT(std::abs(a - b), 1e-12 * std::abs(b)) << what;
    largest_difference_ = std::max(largest_difference_, std::abs(a - b) / std::abs(b));
  }
  /// `tangent` = d value(h)/dh at 0, by the best of several central differences; entries of this rank.
  template <class Value>
  void expect_derivative(const parallel::Communicator& comm, const linalg::Vector& tangent, Value value,
                         const std::string& what) {
    double error = std::numeric_limits<double>::infinity();
    for (const double h : {1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8}) {
      std::vector<double> change = value(h);
      const std::vector<double> back = value(-h);
      for (std::size_t i = 0; i < change.size(); ++i) change[i] = (change[i] - back[i]) / (2 * h);
      error = std::min(error, relative_difference(comm, change, owned_entries(tangent)));
    }
    EXPECT_LT(error, 1e-7) << what;
    largest_error_ = std::max(largest_error_, error);
  }

private:
  static void record(const std::string& name, double value) {
    ::testing::Test::RecordProperty(name, std::to_string(std::log10(value)));
  }
  double largest_difference_ = 0, largest_error_ = 0;
};
TYPED_TEST_SUITE(ContactTangents, Dimensions);

constexpr double factor = 1.7;

template <int dim>
EntryIds ids_of(const ContactScene<dim>& scene) {
  EntryIds ids = entry_ids(scene.space);
  ids[parameters::Place::obstacle_vertex] = scene.obstacles.vertex_ids;
  const auto& surface = scene.contact.surface();
  for (LocalIndex v = 0; v < surface.num_owned(); ++v)
    ids[parameters::Place::surface_vertex].push_back(surface.vertices()[static_cast<std::size_t>(v)].id);
  for (std::size_t i = 0; i < scene.contact.parameters().friction.values.size(); ++i)
    ids[parameters::Place::coefficient].push_back(static_cast<GlobalIndex>(i));
  ids[parameters::Place::scene] = {0};
  return ids;
}

template <int dim>
parameters::PhysicalDirection<dim> direction(const ContactScene<dim>& scene,
                                             const std::vector<parameters::Quantity>& quantities) {
  return {scene.space, quantities, static_cast<std::size_t>(scene.contact.surface().num_owned()),
          scene.obstacles.num_vertices(), scene.contact.parameters().friction.values.size()};
}

template <int dim>
std::size_t num_surface_nodes(const ContactScene<dim>& scene) {
  LocalIndex count = 0;
  const auto& surface = scene.contact.surface();
  while (count < surface.num_owned() && surface.node(count) >= 0) ++count;
  return static_cast<std::size_t>(count);
}

template <int dim>
void take(ContactStep<dim>& step, LaggedAt at) {
  step.take(step.previous, step.obstacles_previous, at);
}

TYPED_TEST(ContactTangents, OfParametersAreTransposes) {
  constexpr int dim = TypeParam::dim;
  for (const BarrierForm form : forms)
    for (const int order : {1, 2})
      for (const LaggedAt at : {LaggedAt::start, LaggedAt::end}) {
        ContactStep<dim> step(order, form);
        take(step, at);
        ContactScene<dim>& scene = step.scene;
        for (const Potential<dim>* potential :
             {static_cast<Potential<dim>*>(&scene.barrier), static_cast<Potential<dim>*>(&scene.friction)}) {
          parameters::PhysicalGradient<dim> g(scene.space, potential->quantities(),
                                              scene.obstacles.num_vertices(),
                                              scene.contact.parameters().friction.values.size());
          potential->add_parameter_products(step.now.local(), step.p.local(), factor, g);
          for (const auto& quantities : alone_and_together(potential->quantities())) {
            auto dq = direction<dim>(scene, quantities);
            fill_roughly(dq, quantities, ids_of(scene));
            linalg::Vector y(scene.space.layout());
            potential->add_parameter_tangent(step.now.local(), dq, factor, y.write_owned());
            double change = 0;
            for (const auto& quantity : quantities)
              change += derivative_along(g, dq, quantity, num_surface_nodes(scene));
            this->expect_equal(y.dot(step.p), scene.comm.sum(change),
                               std::string(potential->name()) + " by" + names(quantities) + ", order " +
                                   std::to_string(order));
          }
        }
      }
}

TYPED_TEST(ContactTangents, OfStatesAreTransposes) {
  constexpr int dim = TypeParam::dim;
  for (const BarrierForm form : forms)
    for (const int order : {1, 2})
      for (const LaggedAt at : {LaggedAt::start, LaggedAt::end}) {
        ContactStep<dim> step(order, form);
        take(step, at);
        const FrictionPotential<dim>& friction = step.scene.friction;
        const linalg::Vector x = step.scene.field(1, 31);
        linalg::Vector product(step.scene.space.layout()), tangent = product;
        friction.add_previous_product(step.now.local(), step.p.local(), factor, product.write_owned());
        friction.add_previous_tangent(step.now.local(), x.local(), factor, tangent.write_owned());
        this->expect_equal(tangent.dot(step.p), product.dot(x), "previous");
        product.fill(0);
        tangent.fill(0);
        friction.add_unsymmetric_product(step.p.local(), factor, product.write_owned());
        friction.add_unsymmetric_tangent(x.local(), factor, tangent.write_owned());
        if (at == LaggedAt::end)
          this->expect_equal(tangent.dot(step.p), product.dot(x), "unsymmetric part");
        else
          EXPECT_EQ(tangent.norm(), 0);
      }
}

TYPED_TEST(ContactTangents, OfShapeAgreesWithDifferences) {
  constexpr int dim = TypeParam::dim;
  for (const BarrierForm form : forms)
    for (const int order : {1, 2}) {
      ContactStep<dim> step(order, form);
      step.take();
      const RestMotion motion{1, 1, 4};
      auto dq = direction<dim>(step.scene,
                               {parameters::quantities::vertices, parameters::quantities::obstacle_vertices});
      auto& vertices = dq.vectors(parameters::quantities::vertices);
      for (std::size_t v = 0; v < vertices.size(); ++v)
        vertices[v] = RestMotion::direction<dim>(step.scene.mesh.vertex_ids[v], motion.seed);
      auto& obstacles = dq.vectors(parameters::quantities::obstacle_vertices);
      for (std::size_t v = 0; v < obstacles.size(); ++v)
        obstacles[v] = RestMotion::direction<dim>(step.scene.obstacles.vertex_ids[v], motion.seed);
      for (const auto& [stiffness, scale] : {std::array{7.0, 0.0}, std::array{0.0, 2.0}}) {
        linalg::Vector y(step.scene.space.layout());
        step.scene.barrier.add_parameter_tangent(step.now.local(), dq, stiffness, y.write_owned());
        step.scene.friction.add_parameter_tangent(step.now.local(), dq, scale, y.write_owned());
        this->expect_derivative(
            step.scene.comm, y,
            [&, stiffness = stiffness, scale = scale](double h) {
              ContactStep<dim> moved(order, form, {h, h, motion.seed});
              moved.take();
              linalg::Vector g(moved.scene.space.layout());
              moved.scene.barrier.add_gradient(moved.now.local(), stiffness, g.write_owned());
              moved.scene.friction.add_gradient(moved.now.local(), scale, g.write_owned());
              return owned_entries(g);
            },
            stiffness > 0 ? "barrier" : "friction");
      }
    }
}

TYPED_TEST(ContactTangents, OfFrictionBothEndsOfTheStepAgreeWithDifferences) {
  constexpr int dim = TypeParam::dim;
  for (const BarrierForm form : forms)
    for (const LaggedAt at : {LaggedAt::start, LaggedAt::end}) {
      ContactStep<dim> step(1, form);
      const linalg::Vector x = step.scene.field(1, 31), previous = step.previous, now = step.now;
      const auto force = [&](double h_previous, double h_now) {
        step.previous = previous;
        step.previous.add(h_previous, x);
        step.now = now;
        step.now.add(h_now, x);
        take(step, at);
        linalg::Vector g(step.scene.space.layout());
        step.scene.friction.add_gradient(step.now.local(), 1, g.write_owned());
        return owned_entries(g);
      };
      force(0, 0);
      const FrictionPotential<dim>& friction = step.scene.friction;
      linalg::Vector by_previous(step.scene.space.layout()), by_now = by_previous;
      friction.add_previous_tangent(now.local(), x.local(), 1, by_previous.write_owned());
      friction.add_hessian_product(now.local(), x.local(), 1, by_now.write_owned());
      friction.add_unsymmetric_product(x.local(), -1, by_now.write_owned());
      friction.add_unsymmetric_tangent(x.local(), 1, by_now.write_owned());
      this->expect_derivative(
          step.scene.comm, by_previous, [&](double h) { return force(h, 0); }, "by the start");
      this->expect_derivative(
          step.scene.comm, by_now, [&](double h) { return force(0, h); }, "by the end");
    }
}

} // namespace
} // namespace recoil::potentials
