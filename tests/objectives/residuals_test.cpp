#include "objectives/surfaces.hpp"
#include "recoil/objectives/material_smoothing.hpp"
#include "recoil/objectives/observation_times.hpp"
#include "recoil/objectives/shape.hpp"
#include "recoil/objectives/trajectory_objective.hpp"
#include "support/residual_identity.hpp"

namespace recoil::objectives {
namespace {

template <int dim>
using Make = std::function<std::unique_ptr<Objective<dim>>(const Scene<dim>&)>;

/// The change of one quantity that Shift moves a scene along.
template <int dim>
parameters::PhysicalDirection<dim> change_of(const Scene<dim>& scene, Along along) {
  std::vector<Quantity> changed;
  if (along == Along::law) changed = {{"lambda", parameters::Place::cell}, {"mu", parameters::Place::cell}};
  if (along == Along::density) changed = {quantities::density};
  if (along == Along::vertices) changed = {quantities::vertices};
  parameters::PhysicalDirection<dim> dq(scene.space, changed);
  for (std::size_t cell = 0; cell < scene.mesh.cell_ids.size(); ++cell)
    for (std::size_t k = 0; k < changed.size(); ++k)
      if (changed[k].place == parameters::Place::cell)
        dq.numbers(changed[k])[cell] =
            direction(scene.mesh.cell_ids[cell], along == Along::density ? 5 : static_cast<int>(k));
  if (along == Along::vertices)
    for (std::size_t v = 0; v < scene.mesh.vertex_ids.size(); ++v)
      for (int i = 0; i < dim; ++i)
        dq.vectors(quantities::vertices)[v][i] = direction(scene.mesh.vertex_ids[v], i);
  return dq;
}

template <int dim>
std::vector<double> tangent_along(const Scene<dim>& scene, Objective<dim>& objective, Along along) {
  linalg::Vector du(scene.space.layout()), dv(scene.space.layout());
  if (along == Along::displacement) du = test::rough_field(scene.space, 1, 11);
  if (along == Along::velocity) dv = test::rough_field(scene.space, 1, 12);
  return objective.residual_tangent(scene.state(), du.local(), dv.local(), change_of<dim>(scene, along));
}

/// Largest error of a tangent against central differences of fourth order.
template <int dim>
double difference_error(const Make<dim>& make, Along along, double h, const std::vector<double>& tangent) {
  const auto at = [&](double by) {
    const Scene<dim> scene(MPI_COMM_WORLD, {along, by});
    return make(scene)->residuals(scene.state());
  };
  const auto a = at(-2 * h), b = at(-h), c = at(h), d = at(2 * h);
  double error = 0;
  for (std::size_t i = 0; i < tangent.size(); ++i)
    error = std::max(error, std::abs((a[i] - 8 * b[i] + 8 * c[i] - d[i]) / (12 * h) - tangent[i]));
  return error;
}

/// Residuals of observations have a label each, within the names, at each state; those of other objectives
/// none.
template <int dim>
void check_labels(const Objective<dim>& objective, const std::string& what) {
  const ObservationNames names = objective.observation_names();
  const int num_points = std::max<int>(1, std::ssize(names.points)),
            num_components = std::ssize(names.components);
  const auto labels = objective.residual_labels(0.4);
  EXPECT_EQ(labels.size(), num_components > 0 ? objective.num_residuals() : 0) << what;
  for (const ResidualLabel& label : labels) {
    EXPECT_TRUE(label.point >= 0 && label.point < num_points) << what << " " << label.point;
    EXPECT_TRUE(label.component >= 0 && label.component < num_components) << what << " " << label.component;
    EXPECT_NEAR(label.time, 0.4, 0.1) << what;
  }
}

template <int dim>
void check_residuals(const Make<dim>& make, const std::string& what) {
  const Scene<dim> scene(MPI_COMM_WORLD);
  const auto objective = make(scene);
  ASSERT_TRUE(objective->is_least_squares()) << what;
  EXPECT_EQ(objective->residuals(scene.state(0.9)).size(), objective->num_residuals()) << what;
  check_labels(*objective, what);
  const double identity = test::transposed_error<dim>(scene.space, *objective, scene.state());
  EXPECT_LT(identity, 1e-12) << what;
  std::string line = what;
  char figure[64];
  std::snprintf(figure, sizeof figure, " identity %.1e", identity);
  line += figure;
  for (const Along along :
       {Along::displacement, Along::velocity, Along::law, Along::density, Along::vertices}) {
    const std::string by = direction_names[static_cast<std::size_t>(along)];
    const std::vector<double> tangent = tangent_along<dim>(scene, *objective, along);
    ASSERT_EQ(tangent.size(), objective->num_residuals());
    double size = 0;
    for (const double dr : tangent) size = std::max(size, std::abs(dr));
    size = scene.comm.max(size);
    EXPECT_EQ(size > 0, depends_on(*objective, along)) << what << " by " << by;
    if (size == 0) continue;
    const double error = scene.comm.max(difference_error<dim>(make, along, 1e-4, tangent)) / size;
    EXPECT_LT(error, 1e-6) << what << " by " << by;
    std::snprintf(figure, sizeof figure, " %s %.1e", by.c_str(), error);
    line += figure;
  }
  if (scene.comm.rank() == 0) std::printf("%dD %s\n", dim, line.c_str());
}

template <int dim>
Track<dim> observed_track() {
  using Point = typename Scene<dim>::Point;
  return {"track",
          {0, 1},
          {{Point::Constant(0.2), Point::Constant(2)}, {Point::Constant(-0.3), Point::Constant(1.25)}}};
}

template <int dim>
void check_states() {
  const auto reference = [](const Scene<dim>& scene) {
    const linalg::Vector field = test::rough_field(scene.space, 0.2, 21);
    return constant_reference({field.local().begin(), field.local().end()});
  };
  for (const auto& facets : {std::optional<potentials::FacetSelection>(),
                             std::optional(potentials::FacetSelection{false, {2, 3}})}) {
    const std::string where = facets ? " side" : " volume";
    check_residuals<dim>(
        [&](const auto& scene) {
          return make_target_displacement<dim>(scene.region(), reference(scene), facets);
        },
        "target_displacement" + where);
    check_residuals<dim>(
        [&](const auto& scene) {
          return make_target_position<dim>(scene.region(), reference(scene), facets);
        },
        "target_position" + where);
    check_residuals<dim>(
        [&](const auto& scene) {
          return make_target_position<dim>(scene.region(), reference(scene), facets, {dim - 1});
        },
        "target_position, one component" + where);
  }
  check_residuals<dim>(
      [distance = rough_distance<dim>()](const auto& scene) {
        return make_signed_distance_target<dim>(scene.region(), distance, {true, {}});
      },
      "signed_distance_target");
  // Of one face: between several the closest point jumps.
  check_residuals<dim>(
      [polygon = std::make_shared<const Polygon<dim>>(rough_faces<dim>(1))](const auto& scene) {
        return make_polygon_target<dim>(scene.region(), polygon, {true, {}});
      },
      "polygon_target");
  check_residuals<dim>(
      [&](const auto& scene) {
        return make_velocity<dim>(scene.region({1}), Scene<dim>::Point::Constant(0.3));
      },
      "velocity");
  check_residuals<dim>(
      [&](const auto& scene) {
        return make_center_of_mass<dim>(scene.region(), scene.density_field(), observed_track<dim>());
      },
      "center_of_mass");
  const Scene<dim> rest(MPI_COMM_WORLD);
  std::vector<Marker<dim>> markers;
  for (const double place : {-0.4, -0.1, 0.0, 0.35, 1.1, 1.77}) {
    typename Scene<dim>::Point position = Scene<dim>::Point::Constant(0.25 * place);
    position[0] = place;
    markers.push_back(
        {locate<dim>(rest.space.mesh(), place > 0.75 ? 1 : 0, position, "m"), observed_track<dim>()});
  }
  check_residuals<dim>([&](const auto& scene) { return make_markers<dim>(scene.space, markers); }, "markers");
  for (auto& marker : markers) marker.track.samples[1].inverse_sd[0] = 0;
  check_residuals<dim>([&](const auto& scene) { return make_displacement_field<dim>(scene.space, markers); },
                       "displacement_field with gaps");
  // Two observations that belong to the state at 0.4 and one to another one.
  for (auto& marker : markers) {
    marker.track.times = {0.35, 0.42, 0.7};
    marker.track.samples.push_back(marker.track.samples.front());
    marker.track.is_interpolated = false;
  }
  check_residuals<dim>(
      [&](const auto& scene) {
        const std::vector<double> states{0, 0.2, 0.4, 0.6, 0.8};
        return count_observations_once<dim>(make_markers<dim>(scene.space, markers), states, true).objective;
      },
      "markers, each observation once");
}
TEST(Residuals, OfStates2D) { check_states<2>(); }
TEST(Residuals, OfStates3D) { check_states<3>(); }

template <int dim>
void check_residuals_of_regularisers() {
  check_residuals<dim>([](const auto& scene) { return make_volume_bound<dim>(scene.region({1}), 0.8); },
                       "volume_bound");
  // Residuals of other powers have no third derivative at vertices in the middle of their neighbours, of
  // which boxes have many: differences are inexact there.
  for (const double p : {2.0, 6.0})
    check_residuals<dim>([p](const auto& scene) { return make_boundary_smoothing<dim>(scene.region(), p); },
                         "boundary_smoothing p=" + std::to_string(p).substr(0, 3));
  check_residuals<dim>(
      [](const auto& scene) { return make_material_smoothing<dim>(scene.region(), scene.cell_constants()); },
      "material_smoothing");
}
TEST(Residuals, OfRegularisers2D) { check_residuals_of_regularisers<2>(); }
TEST(Residuals, OfRegularisers3D) { check_residuals_of_regularisers<3>(); }

TEST(Residuals, OfAVolumeWithinItsBoundAreZero) {
  const Scene<2> scene(MPI_COMM_WORLD);
  const auto bound = make_volume_bound<2>(scene.region({1}), 1.2);
  for (const double r : bound->residuals(scene.state())) EXPECT_EQ(r, 0);
  for (const double dr : tangent_along<2>(scene, *bound, Along::vertices)) EXPECT_EQ(dr, 0);
}

std::vector<std::unique_ptr<Objective<2>>> path_and_bound(const Scene<2>& scene) {
  std::vector<std::unique_ptr<Objective<2>>> list;
  list.push_back(make_center_of_mass<2>(scene.region(), scene.density_field(), observed_track<2>()));
  list.push_back(make_velocity<2>(scene.region({1}), {0.1, 0.2}));
  list.push_back(make_volume_bound<2>(scene.region(), 1.5));
  return list;
}

TEST(Residuals, OfATrajectoryAddUpToItsValue) {
  const std::vector<double> times{0, 0.2, 0.5, 0.6};
  const Scene<2> scene(MPI_COMM_WORLD);
  const auto list = path_and_bound(scene);
  Composition composition({{"path", 2, 1, WholeTime{}},
                           {"speed", 0.3, 1, ChosenTimes{{0.3, 0.6}}},
                           {"bound", 0, 1, FinalState{}}},
                          times);
  EXPECT_EQ(why_not_least_squares<2>(list, composition), "");
  Composition by_values = composition;
  double sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    linalg::Vector u = scene.u;
    u.add(0.3, test::rough_field(scene.space, 1, 50.0 + static_cast<double>(i)));
    const ObservedState state{u.local(), scene.v.local(), times[i]};
    observe<2>(list, i, state, by_values);
    const std::vector<double> rows = observe_residuals<2>(scene.comm, list, i, state, composition);
    EXPECT_EQ(rows.size(), num_residuals<2>(list, i, composition));
    for (const double r : rows) sum += r * r;
    const double error = test::transposed_error<2>(
        scene.space, {quantities::density, quantities::vertices},
        [&](std::span<const double> du, std::span<const double> dv, const auto& dq) {
          return residual_tangent<2>(list, i, state, composition, du, dv, {}, dq);
        },
        [&](std::span<const double> y, std::span<double> du, std::span<double> dv, auto& g) {
          add_residual_products<2>(list, i, state, composition, y, du, dv, {}, g);
        });
    EXPECT_LT(error, 1e-12) << i;
  }
  EXPECT_NEAR(composition.value(), by_values.value(), 1e-13 * by_values.value());
  EXPECT_NEAR(scene.comm.sum(sum), by_values.value(), 1e-13 * by_values.value());
}

TEST(Residuals, AreRefusedByTheNameOfTheTermThatHasNone) {
  const std::vector<double> times{0, 0.2};
  const Scene<2> scene(MPI_COMM_WORLD);
  const auto why = [&](const Term& second) {
    return why_not_least_squares<2>(
        path_and_bound(scene),
        Composition({{"path", 1, 1, WholeTime{}}, second, {"bound", 1, 1, FinalState{}}}, times));
  };
  EXPECT_THAT(why({"speed", 1, 0.5, WholeTime{}}),
              ::testing::HasSubstr("speed: its sum over time is raised"));
  EXPECT_THAT(why({"speed", -2, 1, WholeTime{}}), ::testing::HasSubstr("speed: its weight is negative, -2"));
  std::vector<std::unique_ptr<Objective<2>>> list;
  list.push_back(make_height<2>(scene.region(), scene.density_field(), 1));
  EXPECT_THAT(why_not_least_squares<2>(list, Composition({{"high", 1, 1, FinalState{}}}, times)),
              ::testing::HasSubstr("high: an objective of type height is not a sum of squares"));
  EXPECT_FALSE(make_boundary_smoothing<2>(scene.region(), 1.5)->is_least_squares());
}

} // namespace
} // namespace recoil::objectives
