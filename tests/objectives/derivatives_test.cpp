#include "objectives/surfaces.hpp"
#include "recoil/objectives/camera.hpp"
#include "recoil/objectives/material_smoothing.hpp"
#include "recoil/objectives/observation_times.hpp"
#include "recoil/objectives/robust_objective.hpp"
#include "recoil/objectives/shape.hpp"
#include "recoil/objectives/stress.hpp"
#include "recoil/objectives/trajectory_objective.hpp"

namespace recoil::objectives {
namespace {

/// Per body filter: all, the one of order 1, the one of order 2.
const std::vector<std::vector<std::int32_t>> body_filters{{}, {0}, {1}};

std::string with_bodies(const std::string& what, const std::vector<std::int32_t>& bodies) {
  return what + (bodies.empty() ? " all" : " body" + std::to_string(bodies[0]));
}

template <int dim>
void check_stress() {
  for (const auto& bodies : body_filters) {
    for (const StressMeasure measure : {StressMeasure::first_piola, StressMeasure::cauchy}) {
      const std::string name = measure == StressMeasure::cauchy ? " cauchy" : " piola";
      for (const double p : {2.0, 8.0}) {
        const std::string with_p = name + " p=" + std::to_string(int(p));
        check_objective<dim>(
            [&](const Scene<dim>& scene) {
              return make_stress_norm<dim>(scene.region(bodies), scene.laws(), p, measure);
            },
            with_bodies("stress_norm" + with_p, bodies), 1e-6);
        check_objective<dim>(
            [&](const Scene<dim>& scene) {
              return make_max_stress<dim>(scene.region(bodies), scene.laws(), p, measure);
            },
            with_bodies("max_stress" + with_p, bodies), 1e-6);
      }
      check_objective<dim>(
          [&](const Scene<dim>& scene) {
            return make_stress_bound<dim>(scene.region(bodies), scene.laws(), 0.2, measure);
          },
          with_bodies("stress_bound" + name, bodies), 1e-6);
    }
    check_objective<dim>(
        [&](const Scene<dim>& scene) { return make_elastic_energy<dim>(scene.region(bodies), scene.laws()); },
        with_bodies("elastic_energy", bodies));
    check_objective<dim>(
        [&](const Scene<dim>& scene) { return make_compliance<dim>(scene.region(bodies), scene.laws()); },
        with_bodies("compliance", bodies));
  }
}
TEST(Derivatives, Stress2D) { check_stress<2>(); }
TEST(Derivatives, Stress3D) { check_stress<3>(); }

template <int dim>
void check_targets() {
  // Nodal values that do not change with the shape.
  const auto reference = [](const Scene<dim>& scene) {
    const linalg::Vector field = test::rough_field(scene.space, 0.2, 21);
    return constant_reference({field.local().begin(), field.local().end()});
  };
  const potentials::FacetSelection side{false, {2, 3}}, everywhere{true, {}};
  for (const auto& bodies : body_filters) {
    for (const auto& facets :
         {std::optional<potentials::FacetSelection>(), std::optional(side), std::optional(everywhere)}) {
      const std::string where = !facets ? " volume" : facets->all ? " boundary" : " side";
      check_objective<dim>(
          [&](const Scene<dim>& scene) {
            return make_target_displacement<dim>(scene.region(bodies), reference(scene), facets);
          },
          with_bodies("target_displacement" + where, bodies));
      check_objective<dim>(
          [&](const Scene<dim>& scene) {
            return make_target_position<dim>(scene.region(bodies), reference(scene), facets);
          },
          with_bodies("target_position" + where, bodies));
      check_objective<dim>(
          [&](const Scene<dim>& scene) {
            return make_target_position<dim>(scene.region(bodies), reference(scene), facets, {dim - 1});
          },
          with_bodies("target_position, one component" + where, bodies));
    }
    check_objective<dim>(
        [&](const Scene<dim>& scene) {
          return make_velocity<dim>(scene.region(bodies), Scene<dim>::Point::Constant(0.3));
        },
        with_bodies("velocity", bodies));
  }
}
TEST(Derivatives, Targets2D) { check_targets<2>(); }
TEST(Derivatives, Targets3D) { check_targets<3>(); }

template <int dim>
void check_surface_targets() {
  const potentials::FacetSelection side{false, {2, 3}}, everywhere{true, {}};
  const auto distance = rough_distance<dim>();
  const auto polygon = std::make_shared<const Polygon<dim>>(rough_faces<dim>(7));
  for (const auto& bodies : body_filters)
    for (const auto& facets : {side, everywhere}) {
      check_objective<dim>(
          [&](const Scene<dim>& scene) {
            return make_polygon_target<dim>(scene.region(bodies), polygon, facets);
          },
          with_bodies(std::string("polygon_target") + (facets.all ? "" : " side"), bodies));
      check_objective<dim>(
          [&](const Scene<dim>& scene) {
            return make_signed_distance_target<dim>(scene.region(bodies), distance, facets);
          },
          with_bodies(std::string("signed_distance_target") + (facets.all ? "" : " side"), bodies));
    }
}
TEST(Derivatives, SurfaceTargets2D) { check_surface_targets<2>(); }
TEST(Derivatives, SurfaceTargets3D) { check_surface_targets<3>(); }

template <int dim>
Track<dim> moving_track() {
  using Point = typename Scene<dim>::Point;
  return {"track",
          {0, 1},
          {{Point::Constant(0.2), Point::Constant(2)}, {Point::Constant(-0.3), Point::Constant(1.25)}}};
}

template <int dim>
void check_mass() {
  for (const auto& bodies : body_filters) {
    check_objective<dim>(
        [&](const Scene<dim>& scene) {
          return make_center_of_mass<dim>(scene.region(bodies), scene.density_field(), moving_track<dim>());
        },
        with_bodies("center_of_mass", bodies));
    check_objective<dim>(
        [&](const Scene<dim>& scene) {
          return make_height<dim>(scene.region(bodies), scene.density_field(), dim - 1);
        },
        with_bodies("height", bodies));
    check_objective<dim>(
        [&](const Scene<dim>& scene) { return make_position_integral<dim>(scene.region(bodies), dim - 1); },
        with_bodies("position_integral", bodies));
  }
}
TEST(Derivatives, Mass2D) { check_mass<2>(); }
TEST(Derivatives, Mass3D) { check_mass<3>(); }

template <int dim>
void check_markers() {
  using Point = typename Scene<dim>::Point;
  const Scene<dim> rest(MPI_COMM_WORLD);
  std::vector<Marker<dim>> markers;
  for (const double place : {-0.4, -0.1, 0.0, 0.35, 1.1, 1.5, 1.77}) {
    Point position = Point::Constant(0.25 * place);
    position[0] = place;
    markers.push_back(
        {locate<dim>(rest.space.mesh(), place > 0.75 ? 1 : 0, position, "m"), moving_track<dim>()});
    markers.back().track.samples[1].position *= place;
  }
  check_objective<dim>([&](const Scene<dim>& scene) { return make_markers<dim>(scene.space, markers); },
                       "markers");
  for (auto& marker : markers) marker.track.samples[0].inverse_sd[1] = 0;
  check_objective<dim>([&](const Scene<dim>& scene) { return make_markers<dim>(scene.space, markers); },
                       "markers with gaps");
  check_objective<dim>(
      [&](const Scene<dim>& scene) { return make_displacement_field<dim>(scene.space, markers); },
      "displacement_field");
}
/// The same points as a camera sees them, which stands anywhere.
template <int dim>
void check_camera() {
  using Point = typename Scene<dim>::Point;
  const Scene<dim> rest(MPI_COMM_WORLD);
  std::vector<MaterialPoint<dim>> points;
  CameraView<dim> view;
  view.pose.rotation = camera_rotation<dim>(dim == 2 ? std::vector{0.7} : std::vector{0.4, -0.5, 0.6});
  view.pose.translation = Point::Constant(0.3);
  for (const double place : {-0.4, -0.1, 0.05, 0.35, 1.1, 1.5, 1.77}) {
    Point position = Point::Constant(0.25 * place);
    position[0] = place;
    position[dim - 1] += 0.1 * std::sin(17 * place);
    points.push_back(locate<dim>(rest.space.mesh(), place > 0.75 ? 1 : 0, position, "m"));
    auto track = moving_track<dim>();
    track.samples[1].position *= place;
    track.samples[0].inverse_sd[1] *= 1.5;
    track.has_sd = true;
    view.tracks.push_back(track);
    view.rest.push_back(view.pose.rotation * position + view.pose.translation);
  }
  const auto make = [&](const Scene<dim>& scene) {
    return make_misfit<dim>(
        "displacement_field",
        observe_by_camera<dim>(observe_points<dim>(scene.space, PointVector::position, points), view),
        Comparison<dim>{{{}, {"ux", "uy", "uz"}}, view.tracks});
  };
  const double time = rest.state().time;
  for (const bool is_fitted : {false, true}) {
    view.is_fitted = is_fitted;
    check_objective<dim>(make, is_fitted ? "a camera whose pose is fitted" : "a camera");
    EXPECT_EQ(make(rest)->num_fitted_along(time), is_fitted ? dim * (dim + 1) / 2 : 0);
    const RobustLoss loss{RobustLoss::Type::huber, 1};
    EXPECT_EQ(make_robust<dim>(rest.space.comm(), make(rest), loss)->num_fitted_along(time),
              is_fitted ? dim * (dim + 1) / 2 : 0);
  }
  view.tracks[0].samples[0].inverse_sd[0] = 0;
  check_objective<dim>(make, "a camera whose pose is fitted, with gaps");
  for (auto& track : view.tracks)
    for (auto& sample : track.samples) sample.inverse_sd.setZero();
  EXPECT_EQ(make(rest)->num_fitted_along(time), 0) << "no pose without data";
}
TEST(Derivatives, Camera2D) { check_camera<2>(); }
TEST(Derivatives, Camera3D) { check_camera<3>(); }

TEST(Derivatives, Markers2D) { check_markers<2>(); }
TEST(Derivatives, Markers3D) { check_markers<3>(); }

/// Two observations that belong to the state at 0.4 and one to another state.
template <int dim>
std::unique_ptr<Objective<dim>> make_counted(const Scene<dim>& scene) {
  auto track = moving_track<dim>();
  track.times = {0.35, 0.42, 0.7};
  track.samples.push_back(track.samples.front());
  track.is_interpolated = false;
  const std::vector<double> times{0, 0.2, 0.4, 0.6, 0.8};
  return count_observations_once<dim>(
             make_center_of_mass<dim>(scene.region(), scene.density_field(), std::move(track)), times, true)
      .objective;
}
TEST(Derivatives, CountedObservations2D) {
  check_objective<2>([](auto& on) { return make_counted<2>(on); }, "once");
}
TEST(Derivatives, CountedObservations3D) {
  check_objective<3>([](auto& on) { return make_counted<3>(on); }, "once");
}

template <int dim>
void check_regularisers() {
  for (const auto& bodies : body_filters) {
    const double volume = bodies.empty() ? 2 : 1;
    check_objective<dim>(
        [&](const Scene<dim>& scene) { return make_volume_bound<dim>(scene.region(bodies), 0.8 * volume); },
        with_bodies("volume_bound", bodies));
    check_objective<dim>(
        [&](const Scene<dim>& scene) { return make_boundary_smoothing<dim>(scene.region(bodies), 2.5); },
        with_bodies("boundary_smoothing", bodies));
    check_objective<dim>(
        [&](const Scene<dim>& scene) {
          return make_material_smoothing<dim>(scene.region(bodies), scene.cell_constants());
        },
        with_bodies("material_smoothing", bodies));
  }
}
TEST(Derivatives, Regularisers2D) { check_regularisers<2>(); }
TEST(Derivatives, Regularisers3D) { check_regularisers<3>(); }

// A state without stress is a kink of the norm: no infinities there.
TEST(Derivatives, StressNormAtRestIsZero) {
  Scene<2> scene(MPI_COMM_WORLD);
  scene.u.fill(0);
  const auto norm = make_stress_norm<2>(scene.region(), scene.laws(), 8);
  EXPECT_EQ(norm->value(scene.state()), 0);
  for (const double slope : directional_derivatives<2>(scene.space, {}, *norm, scene.state(), 1))
    EXPECT_EQ(slope, 0);
}

// Two terms over four states, with powers: the derivative by each state and by the shape at all of them.
TEST(Derivatives, OfATrajectory) {
  const std::vector<double> times{0, 0.2, 0.5, 0.6};
  const std::vector<Term> terms{{"path", 2, 0.5, WholeTime{}}, {"height", -1, 2, ChosenTimes{{0.3, 0.6}}}};
  const auto objectives = [](const Scene<2>& scene) {
    std::vector<std::unique_ptr<Objective<2>>> list;
    list.push_back(make_center_of_mass<2>(scene.region(), scene.density_field(), moving_track<2>()));
    list.push_back(make_height<2>(scene.region({1}), scene.density_field(), 1));
    return list;
  };
  const auto states = [&](const Scene<2>& scene) {
    std::vector<linalg::Vector> u(times.size(), scene.u);
    for (std::size_t i = 0; i < u.size(); ++i) u[i].add(0.3, test::rough_field(scene.space, 1, 50.0 + i));
    return u;
  };
  const auto observed = [&](const Scene<2>& scene, const std::vector<linalg::Vector>& u) {
    const auto list = objectives(scene);
    Composition composition(terms, times);
    for (std::size_t i = 0; i < times.size(); ++i)
      observe<2>(list, i, {u[i].local(), scene.v.local(), times[i]}, composition);
    return composition;
  };
  const Scene<2> scene(MPI_COMM_WORLD);
  const auto u = states(scene);
  const Composition composition = observed(scene, u);
  const auto list = objectives(scene);
  const linalg::Vector d = test::rough_field(scene.space, 1, 60);
  parameters::PhysicalGradient<2> g(scene.space, all_quantities());
  const double h = 1e-5;
  for (std::size_t i = 0; i < times.size(); ++i) {
    linalg::Vector du(scene.space.layout()), dv(scene.space.layout());
    add_derivatives<2>(list, i, {u[i].local(), scene.v.local(), times[i]}, composition, du.write_owned(),
                       dv.write_owned(), {}, g);
    auto plus = u, minus = u;
    plus[i].add(h, d);
    minus[i].add(-h, d);
    const double slope = (observed(scene, plus).value() - observed(scene, minus).value()) / (2 * h);
    EXPECT_NEAR(du.dot(d), slope, 1e-8 * std::abs(slope)) << i;
    EXPECT_NE(slope, 0);
  }
  const auto with_shape = [&](double by) {
    const Scene<2> other(MPI_COMM_WORLD, {Along::vertices, by});
    return observed(other, states(other)).value();
  };
  double along = 0;
  const auto& by_vertex = *g.rest_positions();
  for (std::size_t v = 0; v < by_vertex.size(); ++v)
    for (int k = 0; k < 2; ++k) along += by_vertex[v][k] * direction(scene.mesh.vertex_ids[v], k);
  const double slope = (with_shape(h) - with_shape(-h)) / (2 * h);
  EXPECT_NEAR(scene.comm.sum(along), slope, 1e-7 * std::abs(slope));
}

TEST(Derivatives, ShapeIsLeftOutWhereNotWanted) {
  const Scene<3> scene(MPI_COMM_WORLD);
  const auto height = make_height<3>(scene.region(), scene.density_field(), 2);
  linalg::Vector du(scene.space.layout()), dv(scene.space.layout());
  parameters::PhysicalGradient<3> g(scene.space, std::array{quantities::density});
  height->add_derivatives(scene.state(), 1, du.write_owned(), dv.write_owned(), g);
  EXPECT_EQ(g.rest_positions(), nullptr);
  EXPECT_GT(du.norm(), 0);
}

} // namespace
} // namespace recoil::objectives
