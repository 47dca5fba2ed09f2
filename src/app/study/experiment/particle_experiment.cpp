#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "app/study/experiment/experiment_kind.hpp"
#include "app/study/experiment/parameter_chains.hpp"
#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/solvers/bonded_particles/particle_bodies.hpp"
#include "recoil/app/solvers/bonded_particles/particle_kind.hpp"
#include "recoil/app/solvers/bonded_particles/particle_output.hpp"
#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"
#include "recoil/app/study/objectives/observables_on_particles.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/particles/csv_tables.hpp"
#include "recoil/particles/particle_set.hpp"
#include "recoil/solvers/bdem/softening.hpp"
#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {
namespace {

/// An experiment on a scene of bonded particles.
class ExperimentOnParticles final : public FieldExperiment<3> {
public:
  /// See ExperimentModel::create().
  ExperimentOnParticles(const parallel::Communicator& comm, const Study& study, int experiment,
                        LoadedScene loaded, const Interrupts& interrupts);

  std::unique_ptr<ObservedProblem<3>> observed_at(const ParameterValues& values) const override;
  int history() const override { return 1; }
  std::string tolerance_keys() const override { return "solver/bonded_particles/tolerance"; }
  std::vector<ForcePeaks> peaks(std::span<const double> residuals) const override {
    return observed_at(start_)->observation().peaks(residuals);
  }
  void write_scene(const ParameterValues& values, const std::filesystem::path& folder) const override;

  const Interrupts& interrupts() const { return interrupts_; }
  /// Its objectives, opened on the first particles that a problem of it has, which are those of all.
  /// Collective. @throws InputError on every rank.
  const OpenObjectives<3>& objectives(const particles::DistributedParticles& particles) const;
  /// The scene with values of the parameters.
  std::unique_ptr<Scene> scene_with(const ParameterValues& values) const;
  /// The solver at the start with these values; `scene`, which has them, must outlive it. Collective. @throws
  /// InputError on every rank.
  std::unique_ptr<solvers::BondedParticlesSolver> make_solver(const Scene& scene,
                                                              const ParameterValues& values) const;

private:
  /// The particles with values per bond, on the first rank.
  particles::ParticleSet bodies_with(const ParameterValues& values) const;

  particles::ParticleSet packed_; ///< on the first rank
  mutable std::optional<OpenObjectives<3>> objectives_;
};

/// The weights of the values that a problem was made with. Collective.
ParameterWeights<3> weights_on(const solvers::BondedParticles& problem, const Scene& scene,
                               const ParameterFields<3>& fields) {
  struct Groups {
    std::vector<std::vector<LocalIndex>> held, loaded;
  };
  const auto groups = std::make_shared<Groups>();
  ParameterWeights<3> weights{fields};
  const parallel::Communicator& comm = *problem.particles->points->comm;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const ParticleActions& actions = *particle_actions_of(*fields[k].spec);
    const auto give = [&, groups, k, act = actions.weights](const parameters::Quantity& quantity,
                                                            const Moment& at, const TakeWeight& take) {
      act({quantity, fields[k], problem, scene, groups->held, groups->loaded, at.time}, take);
    };
    weights.all.push_back({k, actions.enters, actions.quantities, give});
    // What is held starts where it is moved to.
    if (actions.enters == Enters::prescribed)
      weights.all.push_back(
          {k, Enters::initial, actions.quantities,
           [give, start = scene.time.t0](const auto& quantity, const Moment&, const TakeWeight& take) {
             give(quantity, {start}, take);
           }});
  }
  if (weights.any_enters(Enters::prescribed))
    groups->held = prescribed_groups(comm, scene, *problem.particles);
  if (weights.any_enters(Enters::loads)) groups->loaded = loaded_groups(comm, scene, *problem.particles);
  return weights;
}

/// What steps and objectives depend on; zero.
template <class Arrays>
Arrays no_entries(const solvers::BondedParticles& problem) {
  std::vector<parameters::Quantity> quantities = solvers::quantities_of(problem);
  typename Arrays::Sizes sizes = solvers::sizes_of(problem);
  if (problem.softens()) {
    quantities.push_back(stepping::internal_variables);
    sizes[parameters::Place::internal] = solvers::sound_internal(problem).size();
  }
  return Arrays(sizes, quantities);
}

class ProblemOnParticles final : public ObservedProblem<3> {
public:
  /// `model` must outlive it. Collective. @throws InputError on every rank.
  ProblemOnParticles(const ExperimentOnParticles& model, const ParameterValues& values)
      : ObservedProblem(model), model_(model), scene_(model.scene_with(values)),
        solver_(model.make_solver(*scene_, values)),
        observation_(model.objectives(*solver_->problem().particles),
                     *make_observables(*scene_, solver_->problem())) {
    solver_->interrupt_when(model.interrupts().watch());
  }

  stepping::Solver& solver() override { return *solver_; }
  void observe(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
               std::span<const double> internal) override {
    require_intact_bonds(record.time);
    ObservedProblem::observe(record, u, v, internal);
  }
  const Observation<3>& observation() const override { return observation_; }
  GradientChain<3> gradient_chain() override {
    return {weights_on(solver_->problem(), *scene_, model_.fields()), model_.comm(),
            no_entries<parameters::PhysicalGradient<3>>(solver_->problem())};
  }
  TangentChain<3> tangent_chain(std::vector<ParameterValues> directions) override {
    return {weights_on(solver_->problem(), *scene_, model_.fields()),
            no_entries<parameters::PhysicalDirection<3>>(solver_->problem()), std::move(directions)};
  }
  ReverseStep reverse_step(GlobalIndex, stepping::SweepProducts<3>& products) override {
    return solver_->recorded_step(products);
  }
  TangentStep tangent_step(GlobalIndex, stepping::SweepDirections<3>& directions) override {
    return solver_->tangent_step(directions);
  }

  std::unique_ptr<RunOutput> make_output() override {
    return std::make_unique<ParticleOutput>(*solver_, *scene_);
  }
  std::int64_t fingerprint() const override {
    const auto& particles = *solver_->problem().particles;
    return crc32(std::as_bytes(std::span(particles.ids)));
  }

private:
  Observation<3>& observed() override { return observation_; }
  /// @throws InputError on every rank that names the first bond that is broken.
  void require_intact_bonds(double time) const {
    const solvers::BondedParticles& problem = solver_->problem();
    if (!problem.strength || problem.softens()) return;
    const auto& particles = *problem.particles;
    constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
    GlobalIndex first = none;
    LocalIndex here = 0;
    for (LocalIndex bond = 0; bond < std::ssize(particles.bonds); ++bond)
      if (particles.bonds[bond].id < first && problem.bonds->is_broken(bond)) {
        first = particles.bonds[bond].id;
        here = bond;
      }
    const GlobalIndex broken = model_.comm().min(first);
    if (broken == none) return;
    std::array<GlobalIndex, 3> about{-1, -1, -1}; // body, ends
    if (first == broken) {
      const auto& [a, b, id] = particles.bonds[here];
      about = {particles.body[a], particles.ids[a], particles.ids[b]};
    }
    for (GlobalIndex& number : about) number = model_.comm().max(number);
    const std::string& body = particles.body_names[about[0]];
    throw InputError(
        find_bond_material(*scene_, body)->where,
        fmt::format(
            "experiment '{}': bond {} of body '{}', between the particles {} and {}, has broken by t = "
            "{:g} s; gradients hold while bonds are intact, or soften: give the scene "
            "solver/bonded_particles/damage_width, raise `tensile_strength` and `shear_strength`, or let "
            "the run end before (time/time_steps)",
            model_.name(), broken, body, about[1], about[2], time));
  }

  const ExperimentOnParticles& model_;
  std::unique_ptr<Scene> scene_; ///< stays where it is: the solver refers to it
  std::unique_ptr<solvers::BondedParticlesSolver> solver_;
  Observation<3> observation_;
};

void check_particle_contact(const ExperimentScene& at) {
  const Scene& scene = at.scene;
  const std::string file = scene.file.string();
  if (!scene.contact.barrier_stiffness)
    at.fail(at.experiment.where, "scene",
            file +
                " leaves solver/contact/barrier_stiffness to be taken from the moduli, with which it would "
                "change; give it, about E times the radius of particles");
  if (scene.contact.friction_iterations < 0 || scene.contact.friction_iterations > 1)
    at.fail(at.experiment.where, "scene",
            file + " has solver/contact/friction_iterations = " +
                std::to_string(scene.contact.friction_iterations) +
                "; gradients of bonded particles need 1, normal forces of friction from the start of a step");
}

void check_particle_scene(const ExperimentScene& at, std::vector<std::string>&) {
  const Scene& scene = at.scene;
  if (particles_of(scene).solver.tangential_law == potentials::TangentialLaw::mindlin)
    at.fail(at.experiment.where, "scene",
            scene.file.string() +
                " has solver/bonded_particles/tangential_law = \"mindlin\", whose springs have "
                "no derivative; take \"coulomb\"");
  if (scene.contact.enabled) check_particle_contact(at);
  if (!particles_of(scene).servos.empty())
    at.fail(at.experiment.where, "scene",
            scene.file.string() + " has boundary_conditions/servo_planes, whose ways are not differentiated; "
                                  "prescribe them by `obstacle_displacements`");
  if (particles_of(scene).periodic && particles_of(scene).periodic->prescribed)
    at.fail(at.experiment.where, "scene",
            scene.file.string() +
                " has a cell with `fixed_macro_strain`, whose free entries have no derivative; "
                "leave it out");
  if (corrodes(scene))
    at.fail(at.experiment.where, "scene",
            scene.file.string() + " has a material with `stress_corrosion`, which has no derivative: bonds "
                                  "break at once in it; leave it out, or let bonds soften by "
                                  "solver/bonded_particles/damage_width");
  using solvers::ParticleIntegrator;
  const ParticleIntegrator integrator = particles_of(scene).solver.integrator;
  if (scene.time.kind == TimeKind::dynamic && integrator != ParticleIntegrator::be_reflect &&
      integrator != ParticleIntegrator::mid_reflectT)
    at.fail(at.experiment.where, "scene",
            scene.file.string() + " has solver/bonded_particles/integrator = \"" + name_of_value(integrator) +
                "\", which has no derivative; take \"be_reflect\" or \"mid_reflectT\"");
}

/// Replaces the particles of a body in a resolved scene by files. Collective.
void write_particle_files(const particles::ParticleSet& bodies, std::size_t body, const std::string& name,
                          SceneData& data, nlohmann::json& scene) {
  particles::CsvTables tables; // of the first rank
  if (!bodies.positions.empty()) tables = particles::csv_tables(bodies, std::int32_t(body));
  const std::string file = "body-" + std::to_string(body);
  nlohmann::json& entry =
      *std::ranges::find_if(scene["geometry"], [&](const auto& one) { return one["name"] == name; });
  nlohmann::json written{{"name", name},
                         {"particles",
                          {{"file", data.add_text(file + "-particles.csv", tables.particles)},
                           {"bonds", data.add_text(file + "-bonds.csv", tables.bonds)}}}};
  if (entry.contains("point_selection")) written["point_selection"] = entry["point_selection"];
  entry = std::move(written);
}

ExperimentOnParticles::ExperimentOnParticles(const parallel::Communicator& comm, const Study& study,
                                             int experiment, LoadedScene loaded, const Interrupts& interrupts)
    : FieldExperiment(comm, study, experiment, std::move(loaded), interrupts),
      packed_(parallel::collectively(comm, [&] {
        return comm.rank() == 0 ? pack_bodies(scene(), loaded_.geometry) : particles::ParticleSet();
      })) {
  fields_ = make_particle_fields(comm, study, experiment, scene(), packed_);
  read_start();
  parallel::collectively(comm, [&] { require_constants_of_materials(fields_, packed_); });
  require_budget();
}

const OpenObjectives<3>&
ExperimentOnParticles::objectives(const particles::DistributedParticles& particles) const {
  if (!objectives_) objectives_ = open_objectives(*make_specimen(study(), experiment(), scene(), particles));
  return *objectives_;
}

std::unique_ptr<Scene> ExperimentOnParticles::scene_with(const ParameterValues& values) const {
  auto changed = std::make_unique<Scene>(scene());
  // Steps of leapfrog have no adjoint, and one that replaces an implicit step with breaks need not break any.
  particles_of(*changed).solver.sudden_breaking = solvers::SuddenBreaking::shorter_steps;
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (const auto apply = particle_actions_of(*fields_[k].spec)->apply)
      apply(fields_[k], values[k], {*changed});
  return changed;
}

particles::ParticleSet ExperimentOnParticles::bodies_with(const ParameterValues& values) const {
  particles::ParticleSet bodies = packed_;
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (const auto apply = particle_actions_of(*fields_[k].spec)->apply_to_bonds;
        apply && comm_.rank() == 0) {
      bodies.bond_constants.resize(bodies.bonds.size());
      apply(fields_[k], values[k], bodies.bond_constants);
    }
  return bodies;
}

std::unique_ptr<solvers::BondedParticlesSolver>
ExperimentOnParticles::make_solver(const Scene& with_values, const ParameterValues& values) const {
  return make_particle_solver(comm_, with_values, distribute(comm_, bodies_with(values)),
                              loaded_.geometry.obstacles);
}

std::unique_ptr<ObservedProblem<3>> ExperimentOnParticles::observed_at(const ParameterValues& values) const {
  return std::make_unique<ProblemOnParticles>(*this, values);
}

void ExperimentOnParticles::write_scene(const ParameterValues& values,
                                        const std::filesystem::path& folder) const {
  const std::unique_ptr<Scene> changed = scene_with(values);
  nlohmann::json json = nlohmann::json::parse(scene_as_run(loaded_.file));
  ParticleDraft draft{*changed, json};
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (const auto write = particle_actions_of(*fields_[k].spec)->write) write(fields_[k], values[k], draft);
  SceneData data(comm_, folder, name());
  const particles::ParticleSet bodies = bodies_with(values);
  for (std::size_t body = 0; body < particles_of(scene()).bodies.size(); ++body) {
    const bool has_values_per_bond = std::ranges::any_of(fields_, [&](const ParameterField<3>& field) {
      return field.spec->per == Per::bond && field.slot_of_body[body] >= 0;
    });
    if (has_values_per_bond)
      write_particle_files(bodies, body, particles_of(scene()).bodies[body].body, data, json);
  }
  data.commit(json);
}

} // namespace

ExperimentKind experiments_on_particles() {
  return {&bonded_particles,
          observables_on_particles(),
          check_particle_scene,
          check_particle_parameter,
          [](const Scene& scene) -> const char* {
            if (!particles_of(scene).periodic) return lacks_cell;
            return scene.contact.enabled ? "of bonded particles is that of their bonds alone; set "
                                           "contact/enabled to false in the scene"
                                         : nullptr;
          },
          [](const parallel::Communicator& comm, const Study& study, int experiment, LoadedScene loaded,
             const Interrupts& interrupts) -> std::unique_ptr<ExperimentModel> {
            return std::make_unique<ExperimentOnParticles>(comm, study, experiment, std::move(loaded),
                                                           interrupts);
          }};
}

} // namespace recoil::app
