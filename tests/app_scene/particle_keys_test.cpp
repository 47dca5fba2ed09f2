#include <algorithm>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app_scene/scene_text.hpp"

/// Every key of the table is used in scenes of bonded particles, or refused with place and cure.
namespace recoil::app {
namespace particle_keys_test {

using nlohmann::json;

/// What scenes of bonded particles use.
const std::set<std::string> used{
    // The file.
    "/common", "/patch", "/root_path", "/units", "/units/length", "/units/mass", "/units/time", "/gravity",
    "/space", "/space/advanced",
    // Geometry: shapes that particles fill, and obstacles.
    "/geometry", "/geometry/*/name", "/geometry/*/type", "/geometry/*/mesh", "/geometry/*/unit",
    "/geometry/*/repair", "/geometry/*/generator", "/geometry/*/generator/type", "/geometry/*/generator/size",
    "/geometry/*/generator/radius", "/geometry/*/generator/height", "/geometry/*/generator/divisions",
    "/geometry/*/enabled", "/geometry/*/is_obstacle", "/geometry/*/extract", "/geometry/*/point",
    "/geometry/*/normal", "/geometry/*/transformation", "/geometry/*/transformation/translation",
    "/geometry/*/transformation/scale", "/geometry/*/transformation/dimensions",
    "/geometry/*/transformation/rotation", "/geometry/*/transformation/rotation_mode", "/geometry/*/array",
    "/geometry/*/array/size", "/geometry/*/array/offset", "/geometry/*/array/relative",
    "/geometry/*/advanced", "/geometry/*/advanced/normalize_mesh",
    // Materials, which say what they lack.
    "/materials", "/materials/*/body", "/materials/*/type", "/materials/*/E", "/materials/*/nu",
    "/materials/*/rho",
    // Conditions.
    "/boundary_conditions", "/boundary_conditions/dirichlet_boundary",
    "/boundary_conditions/obstacle_displacements", "/initial_conditions",
    "/initial_conditions/{velocity,solution,acceleration}", "/initial_conditions/velocity/*/value",
    "/initial_conditions/solution/*/value", "/initial_conditions/acceleration/*/value",
    "/initial_conditions/angular_velocity", "/initial_conditions/angular_velocity/*/value",
    "/initial_conditions/angular_velocity/*/center",
    "/initial_conditions/{velocity,solution,acceleration,angular_velocity}/*/body",
    // Time, contact, solver, output.
    "/time", "/time/t0", "/time/tend", "/time/dt", "/time/time_steps", "/time/quasistatic",
    "/time/max_retries", "/contact", "/contact/enabled", "/contact/dhat", "/contact/friction_coefficient",
    "/contact/friction_pairs", "/contact/friction_pairs/*/bodies", "/contact/friction_pairs/*/coefficient",
    "/contact/epsv", "/solver", "/solver/type", "/solver/nonlinear", "/solver/contact",
    "/solver/contact/barrier_stiffness", "/solver/contact/friction_iterations", "/solver/advanced", "/output",
    "/output/every", "/output/times", "/output/chunk"};

/// Beginnings of patterns that belong to particles, their conditions and their selections.
const std::vector<std::string> used_below{"/solver/bonded_particles",
                                          "/geometry/*/particles",
                                          "/geometry/*/{volume_selection,", // volumes: below
                                          "/boundary_conditions/{dirichlet_boundary,",
                                          "/boundary_conditions/dirichlet_boundary/*/rotation",
                                          "/boundary_conditions/particle_forces"};

bool begins(const std::string& pattern, const std::vector<std::string>& with) {
  return std::ranges::any_of(with, [&](const std::string& start) { return pattern.starts_with(start); });
}

bool is_refused(const Key& key) { return !key.is_for("bonded_particles"); }

/// An object that is there in any case.
bool is_frame(const Key& key) {
  return key.types & object && key.fallback && std::string(key.fallback) == "{}";
}

/// Whether a key stands below one that is refused, or is one whose entries must be whole.
bool is_inside_refused(const std::string& pattern) {
  return begins(pattern, {"/boundary_conditions/{neumann_boundary,", "/space/discr_order/",
                          "/time/integrator/", "/tests/", "/boundary_conditions/neumann_boundary/",
                          "/boundary_conditions/normal_aligned_neumann_boundary/",
                          "/boundary_conditions/rest_pressure_boundary/",
                          "/boundary_conditions/pressure_boundary/", "/boundary_conditions/periodic_boundary",
                          "/boundary_conditions/{periodic_boundary/", "/initial_conditions/state"});
}

TEST(ParticleKeys, AreUsedOrRefused) {
  for (const KeySection& section : scene_keys().sections)
    for (const Key& key : section.keys) {
      if (key.mark != Mark::honoured) continue; // noted or refused in all scenes
      const std::string pattern = key.pattern;
      if (is_frame(key)) continue;
      const bool is_own = !key.solvers.empty() && !is_refused(key),
                 is_used =
                     used.contains(pattern) || is_own || (begins(pattern, used_below) && !is_refused(key));
      EXPECT_NE(is_refused(key), is_used)
          << pattern
          << ": say in absent_from_particles() that bonded particles refuse it, or in this test that they "
             "use it";
    }
}

/// A value that is not the default of a key.
json other_value(const Key& key) {
  if (key.choices)
    for (const std::string& choice : split_choices(key.choices))
      if (!key.fallback || json::parse(choice) != json::parse(key.fallback)) return json::parse(choice);
  if (key.types & boolean) return key.fallback == nullptr || json::parse(key.fallback) == json(false);
  if (key.types & (integer | number | expression)) {
    for (const double value : {2.0, 0.25, 7.0, 30.0}) {
      const bool whole = value == std::floor(value);
      if (key.range.contains(value) && (whole || key.types & (number | expression)) &&
          (!key.fallback || json::parse(key.fallback) != json(value)))
        return whole ? json(int(value)) : json(value);
    }
  }
  if (key.types & (one_or_list | list)) return json(std::vector<int>(std::max(key.length[0], 1), 2));
  return key.types & text ? json("BDF2") : json::object();
}

/// One pattern that one with `{a,b}` stands for, with the first entry of lists: the first one, or that of
/// points.
std::string one_of(std::string pattern) {
  for (std::size_t open; (open = pattern.find('{')) != std::string::npos;) {
    const std::size_t close = pattern.find('}', open), comma = pattern.find(',', open);
    const std::string names = pattern.substr(open + 1, close - open - 1);
    const std::string name =
        names.ends_with("point_selection") ? "point_selection" : names.substr(0, comma - open - 1);
    pattern = pattern.substr(0, open) + name + pattern.substr(close + 1);
  }
  for (std::size_t star; (star = pattern.find('*')) != std::string::npos;) pattern.replace(star, 1, "0");
  return pattern;
}

json scene() {
  return json::parse(R"({
    "geometry": [{"name": "bar", "generator": {"type": "box", "size": [1, 1, 1], "divisions": 1},
                  "particles": {"radius": 0.1}, "point_selection": [{"id": 1, "axis": "x", "position": 0}]}],
    "materials": [{"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000}],
    "contact": {"enabled": true, "dhat": 0.01},
    "initial_conditions": {"velocity": [{"body": "bar", "value": [0, 0, 0]}]},
    "solver": {"type": "bonded_particles"}, "time": {"dt": 0.1, "time_steps": 1}})");
}

std::string message_of(const json& scene) {
  try {
    parse_scene(scene.dump(), "scene.json", RECOIL_TEST_DATA);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Keys of finite elements are refused with their place and what to write; their defaults are not.
TEST(ParticleKeys, OfElementsAreRefused) {
  ASSERT_EQ(message_of(scene()), "");
  json periodic = scene();
  periodic["contact"]["enabled"] = false;
  periodic["boundary_conditions"]["periodic_boundary"] = {true, false};
  EXPECT_EQ(message_of(periodic), "");
  int count = 0;
  for (const KeySection& section : scene_keys().sections)
    for (const Key& key : section.keys) {
      if (!is_refused(key) || !key.is_for("elastodynamics") || is_frame(key) ||
          is_inside_refused(key.pattern))
        continue;
      const std::string pointer = one_of(key.pattern);
      json wrong = scene();
      wrong[json::json_pointer(pointer)] = other_value(key);
      const std::string message = message_of(wrong);
      EXPECT_NE(message.find("(" + pointer), std::string::npos) << pointer << ": " << message;
      const std::string owners =
          key.is_for("asynchronous") ? "finite elements and asynchronous contact" : "finite elements";
      EXPECT_NE(message.find("is of " + owners + ", this is a scene of bonded particles; "),
                std::string::npos)
          << pointer << ": " << message;
      if (key.fallback) {
        json plain = scene();
        plain[json::json_pointer(pointer)] = json::parse(key.fallback);
        EXPECT_EQ(message_of(plain), "") << pointer;
      }
      ++count;
    }
  EXPECT_GT(count, 30);
  json stored = scene();
  stored["initial_conditions"]["state"] = {{"run", "."}};
  EXPECT_THAT(message_of(stored), ::testing::HasSubstr("(/initial_conditions/state"));
  EXPECT_THAT(message_of(stored), ::testing::HasSubstr("is of finite elements, this is a scene of bonded"));
}

/// The other way round: scenes of finite elements refuse the keys of bonded particles.
TEST(ParticleKeys, AreRefusedByElements) {
  int count = 0;
  for (const KeySection& section : scene_keys().sections)
    for (const Key& key : section.keys) {
      if (key.is_for("elastodynamics") || !key.is_for("bonded_particles") || is_frame(key)) continue;
      json wrong = json::parse(changed_scene("{}"));
      if (std::string(key.pattern).find("/*/particles/") != std::string::npos ||
          std::string(key.pattern).find("_forces") != std::string::npos ||
          std::string(key.pattern).find("servo_planes") != std::string::npos ||
          std::string(key.pattern).find("stress_corrosion/") != std::string::npos ||
          std::string(key.pattern).find("rotation_interpolation/") != std::string::npos)
        continue; // inside of one that is refused
      const std::string pointer = one_of(key.pattern);
      wrong[json::json_pointer(pointer)] =
          pointer.ends_with("rotation_interpolation") ? json("linear") : other_value(key);
      const std::string message = message_of(wrong);
      EXPECT_NE(message.find("(" + pointer), std::string::npos) << pointer << ": " << message;
      EXPECT_NE(
          message.find("is of bonded particles, this is a scene of finite elements; leave it out, or write "
                       "\"solver\": {\"type\": \"bonded_particles\"}"),
          std::string::npos)
          << pointer << ": " << message;
      ++count;
    }
  EXPECT_GT(count, 20);
  json servo = json::parse(changed_scene("{}"));
  servo["boundary_conditions"]["servo_planes"] = {{"id", 1}, {"force", 2}, {"max_speed", 1}};
  EXPECT_THAT(message_of(servo), ::testing::HasSubstr("(/boundary_conditions/servo_planes"));
  EXPECT_THAT(message_of(servo),
              ::testing::HasSubstr("is of bonded particles, this is a scene of finite elements"));
}

} // namespace particle_keys_test
} // namespace recoil::app
