#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include "potentials/directions.hpp"
#include "potentials/potential_checks.hpp"
#include "recoil/parameters/cell_field.hpp"
#include "recoil/potentials/laws/law.hpp"

/// Products with derivatives by parameters against central differences, on distorted boxes. Every direction
/// is a rough function of ids that no partition changes.
namespace recoil::potentials {

/// In which direction the rest vertices move.
template <int dim>
Eigen::Matrix<double, dim, 1> vertex_direction(GlobalIndex id) {
  return rough_vector<dim>(id, 0.3);
}

/// A distorted box whose vertices have moved by h * vertex_direction.
template <int dim>
Body<dim> distorted_body(int order, double h = 0, std::optional<int> stiffness_degree = {}) {
  return Body<dim>(
      2, order,
      [h](GlobalIndex id) -> Eigen::Matrix<double, dim, 1> {
        return 0.05 * rough_vector<dim>(id, 2.1) + h * vertex_direction<dim>(id);
      },
      stiffness_degree);
}

template <int dim>
double vertex_change(const Body<dim>& body, const parameters::PhysicalGradient<dim>& g) {
  double change = 0;
  const auto& by_vertex = g.vectors(parameters::quantities::vertices);
  for (std::size_t i = 0; i < by_vertex.size(); ++i)
    change += by_vertex[i].dot(vertex_direction<dim>(body.mesh.vertex_ids[i]));
  return body.comm.sum(change);
}

/// Constants in the cells of one order, 1 + 0.3 rough numbers, changed by h * rough(cell id, constant, 7).
/// @param points_per_cell values in a cell differ by the point, their change does not.
template <std::size_t N, int dim>
parameters::CellField rough_constants(const Body<dim>& body, int order, double h = 0,
                                      int points_per_cell = 1) {
  parameters::CellField field;
  field.points_per_cell = points_per_cell;
  for (const LocalIndex cell : body.space.cells_of_order(order)) {
    const GlobalIndex id = body.mesh.cell_ids[static_cast<std::size_t>(cell)];
    for (int q = 0; q < points_per_cell; ++q) {
      std::array<double, N> values;
      for (std::size_t i = 0; i < N; ++i) values[i] = 1 + 0.3 * rough(id, i, 0.2 * q) + h * rough(id, i, 7);
      field.add(values);
    }
  }
  return field;
}

/// Change along the same direction, by the constants of these names.
template <int dim>
double cells_change(const Body<dim>& body, const parameters::PhysicalGradient<dim>& g,
                    const std::vector<std::string>& names) {
  double change = 0;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t cell = 0; cell < g.numbers(names[i]).size(); ++cell)
      change += g.numbers(names[i])[cell] * rough(body.mesh.cell_ids[cell], i, 7);
  return body.comm.sum(change);
}

template <int dim>
double viscosities_change(const Body<dim>& body, const parameters::PhysicalGradient<dim>& g) {
  return cells_change(body, g, {"psi", "phi"});
}

template <class Law, int dim>
double constants_change(const Body<dim>& body, const parameters::PhysicalGradient<dim>& g) {
  std::vector<std::string> names;
  for (const LawParameter& parameter : find_law(Law::name)->parameters) names.push_back(parameter.name);
  return cells_change(body, g, names);
}

/// Displacements u at the end and `previous` at the start of a step, small enough to invert nothing, with an
/// adjoint field p.
template <int dim>
struct StepFields {
  linalg::Vector u, previous, p;
  StepContext context;

  explicit StepFields(const Body<dim>& body)
      : u(body.field(amplitude(body), 1)), previous(body.field(amplitude(body), 4)), p(body.field(1, 17)) {
    context.time = 1.3;
    context.dt = 0.1;
    context.load_factor = 0.6;
    context.previous = previous.local();
  }
  StepFields(const StepFields&) = delete;
  StepFields& operator=(const StepFields&) = delete;

  static double amplitude(const Body<dim>& body) {
    return 0.02 / (body.space.max_order() * body.space.max_order());
  }
};

/// p . dPhi/du, the scalar whose derivatives the products are.
template <int dim>
double virtual_work(const Body<dim>& body, Potential<dim>& potential, const StepFields<dim>& fields) {
  potential.begin_step(fields.context);
  return total_gradient(body, potential, fields.u).dot(fields.p);
}

/// Its derivatives.
template <int dim>
parameters::PhysicalGradient<dim> products(const Body<dim>& body, Potential<dim>& potential,
                                           bool wants_shape = true) {
  const StepFields<dim> fields(body);
  potential.begin_step(fields.context);
  auto quantities = potential.quantities();
  if (!wants_shape) std::erase(quantities, parameters::quantities::vertices);
  parameters::PhysicalGradient<dim> g(body.space, quantities);
  // In two parts: products are added.
  potential.add_parameter_products(fields.u.local(), fields.p.local(), -0.5, g);
  potential.add_parameter_products(fields.u.local(), fields.p.local(), 1.5, g);
  return g;
}

/// Error of `derivative` = df/dh at 0, relative to it, at the best of several steps of central differences of
/// fourth order.
template <class Function>
double relative_error(double derivative, Function f) {
  double error = std::numeric_limits<double>::infinity();
  for (const double h : {1e-2, 2e-3, 4e-4, 8e-5})
    error = std::min(error, std::abs((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h) - derivative));
  return error / std::abs(derivative);
}

/// Keeps the largest error of a test in its report.
class ParameterProducts : public ::testing::Test {
protected:
  std::optional<int> stiffness_degree; ///< of the quadrature, as in FunctionSpace

  void expect_small(double error, const std::string& what) {
    EXPECT_LT(error, 1e-8) << what;
    largest_ = std::max(largest_, error);
  }
  /// Transposed products, whose numbers differ by rounding errors only.
  void expect_equal(double a, double b, const std::string& what) {
    EXPECT_NE(b, 0) << what;
    const double difference = std::abs(a - b) / std::abs(b);
    EXPECT_LT(difference, 1e-12) << what;
    largest_difference_ = std::max(largest_difference_, difference);
  }
  void TearDown() override {
    record("largest_relative_error", largest_);
    record("largest_difference_of_transposed_products", largest_difference_);
  }

  /// Derivative by the rest vertices. `make(body)` builds the potential on a body.
  template <int dim, class Make>
  void check_shape(int order, Make make) {
    const Body<dim> body = distorted_body<dim>(order, 0, stiffness_degree);
    const auto potential = make(body);
    expect_small(relative_error(vertex_change(body, products<dim>(body, *potential)),
                                [&](double h) {
                                  const Body<dim> moved = distorted_body<dim>(order, h, stiffness_degree);
                                  const StepFields<dim> fields(moved);
                                  return virtual_work<dim>(moved, *make(moved), fields);
                                }),
                 std::string(potential->name()) + " by vertices, order " + std::to_string(order));
    EXPECT_NO_THROW(products<dim>(body, *potential, false)) << "rest positions are not wanted";
    check_tangent<dim>(body, *potential);
    if (order <= 2) check_shape_tangent<dim>(order, make);
  }

  /// p . (tangent-linear product) = (transposed product) . dq.
  template <int dim>
  void check_tangent(const Body<dim>& body, Potential<dim>& potential) {
    const auto g = products<dim>(body, potential);
    const StepFields<dim> fields(body);
    potential.begin_step(fields.context);
    for (const auto& quantities : alone_and_together(potential.quantities())) {
      parameters::PhysicalDirection<dim> dq(body.space, quantities);
      fill_roughly(dq, quantities, entry_ids(body.space));
      linalg::Vector y(body.space.layout());
      for (const double factor : {-0.5, 1.5})
        potential.add_parameter_tangent(fields.u.local(), dq, factor, y.write_owned());
      if (dim == 2 && names(quantities) == " c2") {
        EXPECT_EQ(y.norm(), 0) << "I2 does not change in two dimensions";
        continue;
      }
      double change = 0;
      for (const auto& quantity : quantities) change += derivative_along(g, dq, quantity);
      expect_equal(y.dot(fields.p), body.comm.sum(change),
                   std::string(potential.name()) + " by" + names(quantities));
    }
  }

  /// Change of dPhi/du with the rest vertices against differences.
  template <int dim, class Make>
  void check_shape_tangent(int order, Make make) {
    const Body<dim> body = distorted_body<dim>(order, 0, stiffness_degree);
    const StepFields<dim> fields(body);
    const auto potential = make(body);
    potential->begin_step(fields.context);
    parameters::PhysicalDirection<dim> dq(body.space, std::array{parameters::quantities::vertices});
    auto& vertices = dq.vectors(parameters::quantities::vertices);
    for (std::size_t v = 0; v < vertices.size(); ++v)
      vertices[v] = vertex_direction<dim>(body.mesh.vertex_ids[v]);
    linalg::Vector y(body.space.layout());
    potential->add_parameter_tangent(fields.u.local(), dq, 1, y.write_owned());
    const auto gradient = [&](double h) {
      const Body<dim> moved = distorted_body<dim>(order, h, stiffness_degree);
      const StepFields<dim> moved_fields(moved);
      const auto moved_potential = make(moved);
      moved_potential->begin_step(moved_fields.context);
      return owned_entries(total_gradient(moved, *moved_potential, moved_fields.u));
    };
    double error = std::numeric_limits<double>::infinity();
    for (const double h : {1e-2, 2e-3, 4e-4, 8e-5}) {
      const auto far = gradient(2 * h), near = gradient(h), back = gradient(-h), far_back = gradient(-2 * h);
      std::vector<double> change(near.size());
      for (std::size_t i = 0; i < change.size(); ++i)
        change[i] = (8 * (near[i] - back[i]) - (far[i] - far_back[i])) / (12 * h);
      error = std::min(error, relative_difference(body.comm, change, owned_entries(y)));
    }
    expect_small(error,
                 std::string(potential->name()) + " tangent by vertices, order " + std::to_string(order));
  }

  /// Derivative by constants. `make(body, h)` builds the potential with changed constants, `change(body, g)`
  /// is the derivative in that direction.
  template <int dim, class Make, class Change>
  void check_constants(int order, Make make, Change change, const std::string& what) {
    const Body<dim> body = distorted_body<dim>(order, 0, stiffness_degree);
    const StepFields<dim> fields(body);
    const auto potential = make(body, 0.0);
    expect_small(relative_error(change(body, products<dim>(body, *potential)),
                                [&](double h) { return virtual_work<dim>(body, *make(body, h), fields); }),
                 std::string(potential->name()) + " by " + what + ", order " + std::to_string(order));
  }

  /// Derivative by the displacement at the start of the step.
  template <int dim, class Make>
  void check_previous(int order, Make make) {
    const Body<dim> body = distorted_body<dim>(order, 0, stiffness_degree);
    StepFields<dim> fields(body);
    const auto potential = make(body);
    potential->begin_step(fields.context);
    const linalg::Vector previous = fields.previous, factors = body.field(0.5, 5);
    // The cross product of two rough fields in 2D is the same at all nodes, that with this one is not.
    linalg::Vector d = body.field(StepFields<dim>::amplitude(body), 23);
    const auto entries = d.write_owned();
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] *= 1 + factors.owned()[i];
    d.update_ghosts();
    linalg::Vector y(body.space.layout());
    potential->add_previous_product(fields.u.local(), fields.p.local(), -0.5, y.write_owned());
    potential->add_previous_product(fields.u.local(), fields.p.local(), 1.5, y.write_owned());
    linalg::Vector tangent(body.space.layout());
    for (const double factor : {-0.5, 1.5})
      potential->add_previous_tangent(fields.u.local(), d.local(), factor, tangent.write_owned());
    expect_equal(tangent.dot(fields.p), y.dot(d),
                 std::string(potential->name()) + " by previous displacement");
    expect_small(relative_error(y.dot(d),
                                [&](double h) {
                                  fields.previous.copy_from(previous);
                                  fields.previous.add(h, d);
                                  fields.context.previous = fields.previous.local();
                                  return virtual_work<dim>(body, *potential, fields);
                                }),
                 std::string(potential->name()) + " by previous displacement, order " +
                     std::to_string(order));
  }

private:
  static void record(const std::string& name, double value) {
    std::ostringstream text;
    text << value;
    RecordProperty(name, text.str());
  }

  double largest_ = 0, largest_difference_ = 0;
};

} // namespace recoil::potentials
