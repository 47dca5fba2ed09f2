#include "potentials/parameter_checks.hpp"
#include "recoil/potentials/loads.hpp"
#include "recoil/potentials/mass.hpp"

namespace recoil::potentials {
namespace {

template <int dim>
using Vector = Eigen::Matrix<double, dim, 1>;

/// Barycentric coordinates of a point in a cell.
template <int dim>
Eigen::Matrix<double, dim + 1, 1> barycentric(const Body<dim>& body, LocalIndex cell,
                                              const ExpressionPoint& point) {
  const auto& corners = body.mesh.cells[static_cast<std::size_t>(cell)];
  const Vector<dim> X = Eigen::Vector3d(point.x, point.y, point.z).head<dim>();
  Eigen::Matrix<double, dim + 1, 1> lambda;
  lambda.template tail<dim>() = body.geometry->inverse_edges[static_cast<std::size_t>(cell)] *
                                (X - body.mesh.vertices[static_cast<std::size_t>(corners[0])]);
  lambda[0] = 1 - lambda.template tail<dim>().sum();
  return lambda;
}

/// The id of the boundary facet under a point.
template <int dim>
GlobalIndex facet_at(const Body<dim>& body, const ExpressionPoint& point) {
  for (const fem::BoundaryFacet& facet : body.space.boundary_facets()) {
    auto lambda = barycentric(body, facet.cell, point);
    if (std::abs(lambda[facet.facet]) > 1e-9) continue;
    lambda[facet.facet] = 1;
    if (lambda.minCoeff() > 0) return facet_id(body.space, facet);
  }
  throw std::logic_error("no facet here");
}

template <int dim>
Density rough_density(const Body<dim>& body, double h) {
  return [&body, h](LocalIndex cell, const ExpressionPoint&) {
    const GlobalIndex id = body.mesh.cell_ids[static_cast<std::size_t>(cell)];
    return 1 + 0.3 * rough(id, 0, 0) + h * rough(id, 0, 7);
  };
}

template <int dim>
double density_change(const Body<dim>& body, const parameters::PhysicalGradient<dim>& g) {
  return cells_change(body, g, {"rho"});
}

/// Change along rough vectors of cells or facets; `id(i)`.
template <int dim, class Id>
double vector_change(const Body<dim>& body, const std::vector<Vector<dim>>& entries, Id id) {
  double change = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) change += entries[i].dot(rough_vector<dim>(id(i), 9));
  return body.comm.sum(change);
}

/// Nothing is counted twice: facets of ghost cells have no entries.
template <int dim>
void expect_owned_facets_only(const Body<dim>& body, const auto& by_facet) {
  const auto& facets = body.space.boundary_facets();
  for (std::size_t i = 0; i < facets.size(); ++i)
    if (facets[i].cell >= body.mesh.num_owned_cells) {
      EXPECT_TRUE(by_facet[i] == 0 * by_facet[i]);
    }
}

class LoadProducts : public ParameterProducts {
protected:
  template <int dim>
  void check_body_force(int order) {
    const auto make = [](const Body<dim>& body, double h_density, double h_acceleration) {
      AccelerationField<dim> field;
      field.time_dependent = true;
      field.value = [&body, h_acceleration](LocalIndex cell, const ExpressionPoint& point) -> Vector<dim> {
        const Vector<dim> uniform = point.t * Vector<dim>::LinSpaced(0.4, -2.1);
        if (h_acceleration == 0) return uniform;
        return uniform +
               h_acceleration * rough_vector<dim>(body.mesh.cell_ids[static_cast<std::size_t>(cell)], 9);
      };
      return make_body_force<dim>(body.space, body.geometry, rough_density(body, h_density), field);
    };
    check_constants<dim>(
        order, [&](const Body<dim>& body, double h) { return make(body, h, 0); },
        [](const Body<dim>& body, const auto& g) { return density_change(body, g); }, "density");
    check_constants<dim>(
        order, [&](const Body<dim>& body, double h) { return make(body, 0, h); },
        [](const Body<dim>& body, const auto& g) {
          return vector_change<dim>(body, g.vectors(parameters::quantities::acceleration),
                                    [&](std::size_t i) { return body.mesh.cell_ids[i]; });
        },
        "acceleration");
    check_shape<dim>(order, [&](const Body<dim>& body) { return make(body, 0, 0); });
  }

  template <int dim>
  void check_traction(int order) {
    const auto history = [](double time) -> Vector<dim> { return time * Vector<dim>::LinSpaced(0.5, 1.5); };
    const auto make = [&](const Body<dim>& body, double h) {
      LoadField<dim> field;
      field.time_dependent = true;
      field.value = [&body, h](const ExpressionPoint& point) -> Vector<dim> {
        const Vector<dim> uniform = point.t * Vector<dim>::LinSpaced(0.7, -1.2);
        if (h == 0) return uniform;
        return uniform + h * rough_vector<dim>(facet_at(body, point), 9);
      };
      return make_traction<dim>(body.space, {false, {1, 4}}, field, history);
    };
    check_constants<dim>(
        order, make,
        [&](const Body<dim>& body, const auto& g) {
          // By the traction at the time of the step, to which the history is a factor.
          auto tractions = g.vectors(parameters::quantities::traction);
          for (Vector<dim>& by_traction : tractions)
            by_traction.array() *= history(StepFields<dim>(body).context.time).array();
          expect_owned_facets_only<dim>(body, tractions);
          return vector_change<dim>(body, tractions, [&](std::size_t i) {
            return facet_id(body.space, body.space.boundary_facets()[i]);
          });
        },
        "traction");
    check_shape<dim>(order, [&](const Body<dim>& body) { return make(body, 0); });
  }

  template <int dim>
  void check_normal_traction(int order, LoadNormals normals) {
    const auto make = [normals](const Body<dim>& body, double h) {
      return make_normal_traction<dim>(
          body.space, body.geometry, {false, {2, 3}},
          [&body, h](const ExpressionPoint& point) {
            return 1.7 * point.t + (h == 0 ? 0 : h * rough(facet_at(body, point), 0, 9));
          },
          normals);
    };
    check_constants<dim>(
        order, make,
        [](const Body<dim>& body, const auto& g) {
          const auto& pressures = g.numbers(parameters::quantities::pressure);
          expect_owned_facets_only<dim>(body, pressures);
          double change = 0;
          for (std::size_t i = 0; i < pressures.size(); ++i)
            change += pressures[i] * rough(facet_id(body.space, body.space.boundary_facets()[i]), 0, 9);
          return body.comm.sum(change);
        },
        "magnitude");
    const auto unchanged = [&](const Body<dim>& body) { return make(body, 0); };
    check_shape<dim>(order, unchanged);
    if (normals == LoadNormals::step_start) check_previous<dim>(order, unchanged);
  }

  template <int dim>
  void check_pressure(int order, const FacetSelection& facets, bool rim_moves) {
    const auto make = [&](const Body<dim>& body, double h) {
      const std::vector<char> held(static_cast<std::size_t>(body.space.num_nodes()) * dim, rim_moves ? 0 : 1);
      return make_pressure<dim>(
          body.space, body.geometry, facets, [h](double time) { return 1.9 * time + h; }, held, true,
          "pressure");
    };
    check_constants<dim>(
        order, make,
        [](const Body<dim>& body, const auto& g) {
          const auto& pressures = g.numbers(parameters::quantities::pressure);
          expect_owned_facets_only<dim>(body, pressures);
          double change = 0;
          for (const double entry : pressures) change += entry;
          return body.comm.sum(change);
        },
        "pressure");
    const auto unchanged = [&](const Body<dim>& body) { return make(body, 0); };
    check_shape<dim>(order, unchanged);
    if (rim_moves) check_previous<dim>(order, unchanged);
  }

  template <int dim>
  void check_mass(int order, MassLumping lumping) {
    const Body<dim> body = distorted_body<dim>(order);
    const auto product = [&](const Body<dim>& on, double h) {
      const MassMatrix<dim> mass(on.space, *on.geometry, rough_density(on, h), lumping);
      return on.comm.sum(mass.product(on.field(1, 17).local(), on.field(1, 2).local()));
    };
    parameters::PhysicalGradient<dim> g(
        body.space, std::array{parameters::quantities::density, parameters::quantities::vertices});
    const linalg::Vector p = body.field(1, 17), a = body.field(1, 2);
    const MassMatrix<dim> mass(body.space, *body.geometry, rough_density(body, 0), lumping);
    for (const double factor : {1.5, -0.5}) mass.add_parameter_products(p.local(), a.local(), factor, g);
    const std::string what = "mass, order " + std::to_string(order);
    expect_small(relative_error(density_change(body, g), [&](double h) { return product(body, h); }),
                 what + " by density");
    expect_small(relative_error(vertex_change(body, g),
                                [&](double h) { return product(distorted_body<dim>(order, h), 0); }),
                 what + " by vertices");
    for (const auto& quantities : alone_and_together(Inertia<dim>(mass, a).quantities())) {
      parameters::PhysicalDirection<dim> dq(body.space, quantities);
      fill_roughly(dq, quantities, entry_ids(body.space));
      linalg::Vector y(body.space.layout());
      for (const double factor : {1.5, -0.5})
        mass.add_parameter_tangent(a.local(), dq, factor, y.write_owned());
      double change = 0;
      for (const auto& quantity : quantities) change += derivative_along(g, dq, quantity);
      expect_equal(y.dot(p), body.comm.sum(change), what + " by" + names(quantities));
    }
    Inertia<dim> inertia(mass, a);
    check_tangent<dim>(body, inertia);
  }
};

TEST_F(LoadProducts, BodyForce) {
  for (int order = 1; order <= 2; ++order) {
    check_body_force<2>(order);
    check_body_force<3>(order);
  }
}

TEST_F(LoadProducts, Traction) {
  for (int order = 1; order <= 2; ++order) {
    check_traction<2>(order);
    check_traction<3>(order);
  }
}

TEST_F(LoadProducts, NormalTraction) {
  for (int order = 1; order <= 3; ++order)
    for (const LoadNormals normals : {LoadNormals::step_start, LoadNormals::rest}) {
      check_normal_traction<2>(order, normals);
      check_normal_traction<3>(order, normals);
    }
}

TEST_F(LoadProducts, Pressure) {
  for (int order = 1; order <= 2; ++order)
    for (const FacetSelection& facets : {FacetSelection{true, {}}, FacetSelection{false, {1, 4}}}) {
      check_pressure<2>(order, facets, false);
      check_pressure<3>(order, facets, false);
    }
}

TEST_F(LoadProducts, PressureWithARimThatMoves) {
  for (int order = 1; order <= 3; ++order) {
    check_pressure<2>(order, {false, {1, 4}}, true);
    check_pressure<3>(order, {false, {1, 4}}, true);
  }
}

TEST_F(LoadProducts, Mass) {
  check_mass<2>(1, MassLumping::row_sum);
  check_mass<3>(1, MassLumping::row_sum);
  for (int order = 1; order <= 3; ++order) {
    check_mass<2>(order, MassLumping::consistent);
    check_mass<3>(order, MassLumping::consistent);
  }
}

} // namespace
} // namespace recoil::potentials
