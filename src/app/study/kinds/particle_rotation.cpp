#include <utility>

#include "app/study/kinds/boundary_entries.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"
#include "recoil/geometry/rotation_vector.hpp"

/// Prescribed rotations of bonded particles.
namespace recoil::app {
namespace {

using ParticleField = ParameterField<3>;

void check_rotation(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto& entries = at.scene.boundary_conditions.dirichlet;
  const DirichletEntry& entry =
      find_entry(at, parameter, entries, "boundary_conditions/dirichlet_boundary", "");
  const PrescribedTurn& turn = particles_of(at.scene).turns[&entry - entries.data()];
  if (turn.free)
    at.fail(parameter.where, "boundary",
            entry.where +
                " has \"rotation\": \"free\", and its particles turn as bonds make them; write three "
                "numbers there");
  if (!parameter.per_step)
    refuse_replaced(at, parameter, time_dependence(turn.value, entry.where),
                    "time; write \"per_step\": true, or numbers there with a `rotation_interpolation`");
  refuse_shared_entries(at, parameter, entries);
}

void apply_rotation(const ParticleField& field, FieldValues values, const ParticleInputs& to) {
  const auto& entries = to.scene.boundary_conditions.dirichlet;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!field.spec->sets(entries[i])) continue;
    PrescribedTurn& turn = particles_of(to.scene).turns[i];
    if (field.spec->per_step) turn.interpolation = step_tables(to.scene.time, values, 3);
    const std::vector<double> ones(3, 1.0);
    const FieldValues numbers = field.spec->per_step ? FieldValues(ones) : values;
    turn.value.assign(numbers.begin(), numbers.end());
  }
}

void write_rotation(const ParticleField& field, FieldValues, ParticleDraft& to) {
  const auto& entries = to.scene.boundary_conditions.dirichlet;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!field.spec->sets(entries[i])) continue;
    const PrescribedTurn& turn = particles_of(to.scene).turns[i];
    std::vector<double> numbers;
    for (const Expression& component : turn.value) numbers.push_back(component({}));
    nlohmann::json written = nlohmann::json::object();
    write_values_in_time(numbers, turn.interpolation, written);
    nlohmann::json& entry = to.json["boundary_conditions"]["dirichlet_boundary"][i];
    entry["rotation"] = written["value"];
    if (written.contains("interpolation")) entry["rotation_interpolation"] = written["interpolation"];
  }
}

/// A change of the rotation vector a by da turns a particle by J_r(a) da about its own axes, of which tangent
/// vectors have r times. Of several entries of a particle, the last one says how it turns.
void rotation_weights(const ParticleWeightsOf& of, const TakeWeight& take) {
  const ParameterSpec& spec = *of.field().spec;
  const auto& entries = of.scene().boundary_conditions.dirichlet;
  std::vector<char> done(std::size_t(of.problem.particles->num_owned()), 0);
  for (std::size_t e = entries.size(); e-- > 0;) {
    const PrescribedTurn& turn = particles_of(of.scene()).turns[e];
    const Eigen::Vector3d a(turn.evaluate(0, of.time), turn.evaluate(1, of.time), turn.evaluate(2, of.time));
    const Eigen::Matrix3d J = geometry::right_jacobian(a);
    const auto steps = step_weights(spec, of.scene().time, of.time);
    for (const LocalIndex k : of.held[e]) {
      if (std::exchange(done[std::size_t(k)], 1) != 0 || turn.free || !spec.sets(entries[e])) continue;
      const double r = of.problem.particles->radii[k];
      for (int c = 0; c < 3; ++c) {
        const double factor = spec.per_step ? 1 : time_factor(turn.interpolation, c, of.time);
        for (const auto& [step, weight] : steps)
          for (int i = 0; i < 3; ++i)
            take(3 * step + c, 6 * std::size_t(k) + 3 + i, weight * factor * r * J(i, c));
      }
    }
  }
}

const ParticleActions particle_rotation{check_rotation,   apply_rotation,
                                        write_rotation,   {parameters::quantities::displacement},
                                        rotation_weights, Enters::prescribed};

} // namespace

std::vector<ParameterKind> particle_rotation_parameters() {
  return {{.name = "dirichlet_rotation",
           .unit = "rad",
           .components = Components::vector,
           .takes = {"boundary", "per_step"},
           .needs = {"boundary"},
           .doc = "`rotation` of the `dirichlet_boundary` with this id, in scenes of bonded particles; a "
                  "`rotation_interpolation` stays a factor on it.",
           .moves_supports = true,
           .check =
               [](const ExperimentScene& at, const ParameterSpec& parameter) {
                 at.fail(parameter, "dirichlet_rotation turns bonded particles, and this scene is of finite "
                                    "elements; take dirichlet_value, or say by `experiment` which scenes "
                                    "are meant");
               },
           .by_dimension = {},
           .on_particles = &particle_rotation}};
}

} // namespace recoil::app
