#include "app_experiment/experiment.hpp"
#include "recoil/app/solvers/elastodynamics/conventions.hpp"
#include "recoil/app/solvers/elastodynamics/materials.hpp"
#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/app/study/objectives/experiment_objectives.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "recoil/objectives/material_smoothing.hpp"
#include "recoil/objectives/min_distance.hpp"
#include "recoil/objectives/rest_separation.hpp"
#include "recoil/objectives/shape.hpp"
#include "recoil/objectives/stress.hpp"
#include "support/hdf5_array.hpp"
#include "support/made_objectives.hpp"
#include "support/residual_identity.hpp"

namespace recoil::app::objective_entries_test {
namespace {

using nlohmann::json;
using objectives::ObservedState;

template <int dim>
json vector(double x, double y) {
  return dim == 2 ? json::array({x, y}) : json::array({x, y, 0.05});
}

/// Two bodies of different law and order that nearly touch.
template <int dim>
json two_bodies() {
  const json size = dim == 2 ? json::array({1, 0.5}) : json::array({1, 0.5, 0.6}),
             divisions = dim == 2 ? json::array({3, 2}) : json::array({2, 2, 1});
  const json box{{"type", dim == 2 ? "rectangle" : "box"}, {"size", size}, {"divisions", divisions}};
  json scene = json::parse(R"({
    "space": {"discr_order": [{"body": "lower", "order": 1}, {"body": "upper", "order": 2}]},
    "materials": [{"body": "lower", "type": "NeoHookean", "E": 1e3, "nu": 0.3, "rho": 10},
                  {"body": "upper", "type": "SaintVenant", "E": 2e3, "nu": 0.2, "rho": 30}],
    "contact": {"enabled": true, "dhat": 0.05}, "solver": {"contact": {"barrier_stiffness": 1e3}},
    "time": {"dt": 0.01, "time_steps": 4}})");
  scene["geometry"] = json::array({{{"name", "lower"}, {"generator", box}},
                                   {{"name", "upper"},
                                    {"generator", box},
                                    {"transformation", {{"translation", vector<dim>(0.1, 0.52)}}}}});
  scene["geometry"][0]["surface_selection"] = {{{"id", 1}, {"axis", "y"}, {"position", 0.249}}};
  scene["boundary_conditions"]["dirichlet_boundary"] = {
      {{"id", 1}, {"value", dim == 2 ? json::array({0, 0}) : json::array({0, 0, 0})}}};
  return scene;
}

template <int dim>
struct Entry {
  json keys;
  /// What the entry stands for; null where the type has no kernel in the library of objectives.
  std::function<std::unique_ptr<objectives::Objective<dim>>(DiscreteScene<dim>&)> expected;
};

template <int dim>
objectives::Region<dim> region(DiscreteScene<dim>& on, std::vector<std::int32_t> bodies = {}) {
  return objectives::make_region<dim>(on.space(), on.solver().problem().geometry, std::move(bodies));
}

template <int dim>
objectives::ElasticPotentials<dim> elastic(DiscreteScene<dim>& on) {
  objectives::ElasticPotentials<dim> all;
  for (const auto* potential : on.solver().problem().elastic) all.push_back(potential);
  return all;
}

template <int dim>
linalg::Vector reference_of(DiscreteScene<dim>& on) {
  return test::rough_field(on.space(), 0.02, 7);
}

/// An entry for every type of objective, with values that are not those of the defaults.
template <int dim>
std::map<std::string, Entry<dim>> entries() {
  using namespace objectives;
  using Scene = DiscreteScene<dim>;
  const potentials::FacetSelection boundary{true, {}};
  const auto reference = [](Scene& on) {
    const linalg::Vector field = reference_of(on);
    return constant_reference({field.local().begin(), field.local().end()});
  };
  const auto lame = [](Scene& on) {
    const auto cells = cell_lame_constants(on.scene(), on.space(), on.materials(), on.overrides());
    CellConstants constants{{"lambda", "mu"}, std::vector<int>(cells.size()), {}};
    for (const auto& cell : cells) constants.values.insert(constants.values.end(), cell.begin(), cell.end());
    return constants;
  };
  Eigen::Matrix<double, dim, 1> speed = Eigen::Matrix<double, dim, 1>::Constant(0.05);
  speed.template head<2>() << 0.3, -0.2;
  const auto track = Track<dim>::constant(speed, 0.5);
  const json pushed = vector<dim>(0.3, -0.2);
  std::map<std::string, Entry<dim>> all;
  all["stress_norm"] = {{{"p", 4}, {"stress", "cauchy"}, {"body", "lower"}}, [](Scene& on) {
                          return make_stress_norm<dim>(region(on, {0}), elastic(on), 4,
                                                       StressMeasure::cauchy);
                        }};
  all["max_stress"] = {{{"p", 12}, {"stress", "cauchy"}}, [](Scene& on) {
                         return make_max_stress<dim>(region(on), elastic(on), 12, StressMeasure::cauchy);
                       }};
  all["stress_bound"] = {{{"limit", 10}},
                         [](Scene& on) { return make_stress_bound<dim>(region(on), elastic(on), 10); }};
  all["elastic_energy"] = {{{"body", "upper"}},
                           [](Scene& on) { return make_elastic_energy<dim>(region(on, {1}), elastic(on)); }};
  all["compliance"] = {{{"body", "upper"}},
                       [](Scene& on) { return make_compliance<dim>(region(on, {1}), elastic(on)); }};
  all["target_displacement"] = {{{"reference", "reference.h5"}, {"over", "boundary"}}, [=](Scene& on) {
                                  return make_target_displacement<dim>(region(on), reference(on), boundary);
                                }};
  all["target_position"] = {
      {{"reference", "reference.h5"}, {"body", "lower"}, {"boundary", json::array({1})}, {"components", "y"}},
      nullptr};
  all["signed_distance_target"] = {{{"target", "distance.h5"}, {"body", "upper"}}, nullptr};
  all["polygon_target"] = {{{"target", dim == 2 ? "polygon.csv" : "surface.obj"}, {"body", "lower"}},
                           nullptr};
  all["markers"] = {{{"target", "markers.csv"}}, nullptr};
  // Observations at and next to the state, one of them of a point that is nowhere.
  all["displacement_field"] = {{{"body", "lower"}, {"target", "field.csv"}, {"outside", "drop"}}, nullptr};
  all["center_of_mass"] = {
      {{"target", "center.csv"}},
      [=](Scene& on) { return make_center_of_mass<dim>(region(on), on.solver().problem().density, track); }};
  all["height"] = {{{"axis", "y"}},
                   [](Scene& on) { return make_height<dim>(region(on), on.solver().problem().density, 1); }};
  all["position_integral"] = {{{"axis", "x"}, {"body", "upper"}},
                              [](Scene& on) { return make_position_integral<dim>(region(on, {1}), 0); }};
  all["volume_bound"] = {{{"limit", 0.2}}, [](Scene& on) { return make_volume_bound<dim>(region(on), 0.2); }};
  all["contact_force_norm"] = {
      {{"body", "upper"}}, [](Scene& on) {
        const auto& problem = on.solver().problem();
        const double unit = stiffness_unit(on.scene(), problem.contact->parameters().dhat);
        return make_contact_force_norm<dim>(region(on, {1}), *problem.contact, 1e3 / unit);
      }};
  all["velocity"] = {{{"target", pushed}}, [=](Scene& on) { return make_velocity<dim>(region(on), speed); }};
  all["boundary_smoothing"] = {{{"p", 3}},
                               [](Scene& on) { return make_boundary_smoothing<dim>(region(on), 3); }};
  all["material_smoothing"] = {{{"body", "lower"}}, [=](Scene& on) {
                                 return make_material_smoothing<dim>(region(on, {0}), lame(on));
                               }};
  all["strain_at"] = {{{"body", "upper"},
                       {"rest", vector<dim>(0.21, 0.47)},
                       {"direction", vector<dim>(2, 1)},
                       {"target", "strain.csv"}},
                      nullptr};
  all["rest_separation"] = {{{"distance", 0.06}, {"body", json::array({"upper", "lower"})}}, [=](Scene& on) {
                              return make_rest_separation<dim>(region(on),
                                                               std::make_unique<const surface::Surface<dim>>(
                                                                   on.solver().problem().contact->surface()),
                                                               {}, 0.06);
                            }};
  all["min_distance"] = {
      {{"bodies", {"upper", "lower"}}, {"limit", 0.1}, {"p", 6}}, [](Scene& on) {
        return make_min_distance<dim>(on.solver().problem().contact->surface(), {}, {{0, 1}, 0.1, 6});
      }};
  all["reaction_force"] = {{{"boundary", 1}, {"direction", vector<dim>(1, 2)}, {"target", "force.csv"}},
                           nullptr};
  return all;
}

template <int dim>
std::string field_row(double x, int milliseconds) {
  const std::string number = std::to_string(x);
  return std::to_string(milliseconds) + "," + number + ",-0.07" + (dim == 3 ? ",0.05" : "") +
         ",0.003,-0.002" + (dim == 3 ? ",0.001" : "") + ",0.01\n";
}

template <int dim>
std::map<std::string, std::string> observations() {
  const std::string z = dim == 3 ? ",z" : "", at = dim == 3 ? ",0.05" : "";
  return {{"reference.h5", ""},
          {"distance.h5", ""},
          {"polygon.csv", "x,y\n0.71,-0.3\n0.6,0.23\n-0.1,0.41\n"},
          {"surface.obj",
           "v 0.71 -0.3 0.1\nv 0.6 0.23 -0.2\nv -0.1 0.41 0.3\nv 0.2 -0.1 0.77\nf 1 2 3\nf 2 3 4\n"},
          {"force.csv", "time,force [kN],sd [kN]\n0,0.01,0.02\n1,0.01,0.02\n"},
          {"strain.csv", "time,strain,sd\n0,0.01,0.02\n1,0.01,0.02\n"},
          {"field.csv", "time [ms],x,y" + z + ",ux,uy" + (dim == 3 ? ",uz" : "") + ",sd\n" +
                            field_row<dim>(0.31, 37) + field_row<dim>(0.31, 40) + field_row<dim>(-0.2, 40) +
                            field_row<dim>(1.7, 40)},
          {"center.csv", "time,x,y" + z + ",sd\n0,0.3,-0.2" + at + ",0.5\n1,0.3,-0.2" + at + ",0.5\n"},
          {"markers.csv", "time,marker,x,y" + z + "\n0,tip,0.3,-0.2" + at + "\n1,tip,0.3,-0.2" + at + "\n"}};
}

/// A rough field on a grid that holds the upper body in part.
template <int dim>
void write_distance(const std::filesystem::path& path) {
  testing::Hdf5Array distance;
  std::size_t size = 1;
  for (int i = 0; i < dim; ++i) {
    distance.extents.push_back(static_cast<hsize_t>(4 + i));
    size *= distance.extents.back();
  }
  for (std::size_t i = 0; i < size; ++i) distance.entries.push_back(std::sin(3.7 * static_cast<double>(i)));
  testing::write_arrays(path, {{"distance", distance},
                               {"origin", {{dim}, vector<dim>(-0.3, 0.2)}},
                               {"spacing", {{dim}, vector<dim>(0.17, 0.13)}}});
}

/// The value of an objective in a rough state and its derivatives along directions of displacement, velocity
/// and every parameter, which differences agree with.
template <int dim>
std::vector<double> check_entry(MPI_Comm ranks, const std::string& type, const Entry<dim>& entry) {
  json objective = entry.keys;
  objective.update({{"name", "o"}, {"type", type}});
  const StudiedExperiment<dim> experiment(
      ranks, two_bodies<dim>(),
      {{"objectives", {objective}},
       {"markers", {{{"name", "tip"}, {"body", "lower"}, {"rest", vector<dim>(0.31, -0.07)}}}},
       {"parameters",
        {{{"name", "E"}, {"quantity", "young_modulus"}, {"per", "element"}, {"initial", 1e3}},
         {{"name", "rho"}, {"quantity", "density"}, {"per", "body"}, {"initial", 10}},
         {{"name", "shape"}, {"quantity", "shape"}, {"basis", "vertices"}}}}},
      observations<dim>());
  ParameterValues base = experiment.start();
  for (std::size_t k = 0; k < base.size(); ++k)
    for (std::size_t i = 0; i < base[k].size(); ++i) base[k][i] += 0.2 * experiment.direction(k)[i];
  const Variant<dim> variant = experiment.at(base);
  DiscreteScene<dim>& discrete = *variant.discrete;
  const auto nodes = node_layout(discrete.space());
  io::Hdf5Writer file(experiment.comm(), experiment.folder() / "reference.h5");
  file.write_rows<double>("u", nodes.template to_blocks<double>(reference_of(discrete).owned(), dim), dim);
  file.close();

  if (experiment.comm().rank() == 0) write_distance<dim>(experiment.folder() / "distance.h5");
  experiment.comm().barrier();
  const auto opened =
      open_objectives(*make_specimen(experiment.study(), 0, experiment.scene(), experiment.geometry().mesh));
  const auto objectives = Observation<dim>(opened, *make_observables(discrete)).objectives;
  const auto& made = objectives.at(0);
  EXPECT_EQ(made->name(), type);
  const linalg::Vector u = test::rough_field(discrete.space(), 0.003, 1),
                       v = test::rough_field(discrete.space(), 0.7, 2),
                       along = test::rough_field(discrete.space(), 0.01, 11);
  const linalg::Vector before = test::rough_field(discrete.space(), 0.003, 3);
  stepping::StepRecord record;
  record.id = record.num_predecessors = 1;
  record.time = 0.04;
  record.dt = 0.01;
  const ObservedState state{u.local(), v.local(), 0.04, &record, before.local()};
  const double value = made->value(state);
  EXPECT_NE(value, 0) << type;
  if (entry.expected) {
    EXPECT_NEAR(value, entry.expected(discrete)->value(state), 1e-12 * std::abs(value)) << type;
  }

  if (made->is_least_squares()) {
    EXPECT_LT(test::transposed_error<dim>(discrete.space(), *made, state,
                                          &discrete.solver().problem().contact->surface()),
              1e-12)
        << type;
  }
  linalg::Vector du(discrete.space().layout()), dv(discrete.space().layout());
  GradientChain<dim> chain = gradient_chain(discrete, experiment.fields(), objectives);
  made->add_derivatives(state, 1, du.write_owned(), dv.write_owned(), chain.products().gradients[0]);
  std::vector<double> slopes{value, du.dot(along), dv.dot(along)};
  const auto expect_slope = [&](const std::string& by, double slope, const auto& moved_value) {
    if (!is_alone()) return;
    const double error = difference_error(slope, moved_value);
    EXPECT_LE(error, 1e-6 * std::abs(slope) + 1e-9 * std::abs(value)) << type << " by " << by;
  };
  expect_slope("u", slopes[1], [&](double h) {
    linalg::Vector moved = u;
    moved.add(h, along);
    return made->value({moved.local(), v.local(), 0.04, &record, before.local()});
  });
  expect_slope("v", slopes[2], [&](double h) {
    linalg::Vector moved = v;
    moved.add(h, along);
    return made->value({u.local(), moved.local(), 0.04, &record, before.local()});
  });
  const ParameterValues gradient = chain.finish();
  for (std::size_t k = 0; k < base.size(); ++k) {
    slopes.push_back(experiment.slope(k, gradient[k]));
    expect_slope(experiment.fields()[k].spec->name, slopes.back(), [&](double h) {
      ParameterValues values = base;
      for (std::size_t i = 0; i < values[k].size(); ++i) values[k][i] += h * experiment.direction(k)[i];
      const Variant<dim> other = experiment.at(values);
      return Observation<dim>(opened, *make_observables(*other.discrete)).objectives.at(0)->value(state);
    });
  }
  EXPECT_GT(std::abs(slopes[1]) + std::abs(slopes[2]) + std::abs(slopes[3]) + std::abs(slopes[5]), 0) << type;
  return slopes;
}

template <int dim>
void check_registry() {
  const auto all = entries<dim>();
  for (const ObjectiveType& type : objective_types()) {
    // Of periodic cells alone: tests/integration/periodic.py.
    if (type.name == std::string("homogenized_stress")) continue;
    ASSERT_TRUE(all.contains(type.name)) << "give " << type.name << " an entry in this test";
    const auto alone = check_entry<dim>(MPI_COMM_SELF, type.name, all.at(type.name));
    if (is_alone()) continue;
    const auto shared = check_entry<dim>(MPI_COMM_WORLD, type.name, all.at(type.name));
    for (std::size_t i = 0; i < shared.size(); ++i)
      EXPECT_NEAR(shared[i], alone[i], 1e-9 * (std::abs(alone[i]) + std::abs(alone[0])))
          << type.name << " " << i;
  }
}
TEST(ObjectiveEntries, ReachTheirKernelsAndHaveExactDerivatives2D) { check_registry<2>(); }
TEST(ObjectiveEntries, ReachTheirKernelsAndHaveExactDerivatives3D) { check_registry<3>(); }

/// Compares the gauge of a body that is turned and stretched in its plane with strains that are known.
template <int dim>
void check_strain_gauge() {
  json entry = entries<dim>().at("strain_at").keys;
  entry.update({{"name", "gauge"}, {"type", "strain_at"}});
  const StudiedExperiment<dim> experiment(
      MPI_COMM_WORLD, two_bodies<dim>(),
      {{"objectives", {entry}},
       {"parameters", {{{"name", "E"}, {"quantity", "young_modulus"}, {"initial", 1e3}}}}},
      observations<dim>());
  const Variant<dim> variant = experiment.at(experiment.start());
  DiscreteScene<dim>& discrete = *variant.discrete;
  const auto opened =
      open_objectives(*make_specimen(experiment.study(), 0, experiment.scene(), experiment.geometry().mesh));
  const auto gauge = std::move(Observation<dim>(opened, *make_observables(discrete)).objectives.at(0));
  using Matrix = Eigen::Matrix<double, dim, dim>;
  Matrix stretch = Matrix::Identity(), turn = Matrix::Identity();
  stretch.template topLeftCorner<2, 2>() << 1.3, 0.1, 0.1, 0.8;
  turn.template topLeftCorner<2, 2>() << std::cos(2.0), -std::sin(2.0), std::sin(2.0), std::cos(2.0);
  const Matrix F = turn * stretch;
  linalg::Vector u(discrete.space().layout());
  auto values = u.write_local();
  for (std::size_t node = 0; node < discrete.space().node_positions().size(); ++node)
    Eigen::Map<Eigen::Matrix<double, dim, 1>>(values.data() + node * dim) =
        (F - Matrix::Identity()) * discrete.space().node_positions()[node];
  Eigen::Matrix<double, dim, 1> d = Eigen::Matrix<double, dim, 1>::Constant(0.05);
  d.template head<2>() << 2, 1;
  const double strain = (stretch * d).norm() / d.norm() - 1;
  EXPECT_NEAR(gauge->value({u.local(), u.local(), 0.02}), std::pow((strain - 0.01) / 0.02, 2), 1e-9);
  EXPECT_THROW(gauge->check_time(1.1), InputError);
}
TEST(StrainGauge, MeasuresTheChangeOfLength2D) { check_strain_gauge<2>(); }
TEST(StrainGauge, MeasuresTheChangeOfLength3D) { check_strain_gauge<3>(); }

} // namespace
} // namespace recoil::app::objective_entries_test
