#include "app/study/experiment/particle_experiment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "app/study/experiment/experiment_kind.hpp"
#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/solvers/bonded_particles/particle_output.hpp"
#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"
#include "recoil/app/study/objectives/particle_objectives.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/particles/csv_tables.hpp"
#include "recoil/solvers/bdem/softening.hpp"

namespace recoil::app {

namespace {

objectives::ObservedState observed_particles(const adjoint::StateOfRun& at) {
  return {at.now.u.local(), at.now.v.local(),      at.record.time,
          &at.record,       at.previous.u.local(), at.previous.internal};
}

/// What values of parameters change, and by how much.
struct ParticleChain {
  const solvers::BondedParticles& problem;
  const Scene& scene;
  const ParameterFields<3>& fields;
  /// prescribed_groups() and loaded_groups(), if a parameter moves or loads them.
  std::vector<std::vector<LocalIndex>> held, loaded;

  /// Collective.
  ParticleChain(const solvers::BondedParticles& problem, const Scene& scene, const ParameterFields<3>& fields)
      : problem(problem), scene(scene), fields(fields) {
    if (changes(ParticleQuantity::prescribed))
      held = prescribed_groups(*problem.particles->points->comm, scene, *problem.particles);
    if (changes(ParticleQuantity::forces))
      loaded = loaded_groups(*problem.particles->points->comm, scene, *problem.particles);
  }

  bool changes(ParticleQuantity quantity) const {
    return std::ranges::any_of(fields, [&](const ParameterField<3>& field) {
      return particle_actions_of(*field.spec)->changes(quantity);
    });
  }
  /// by_values += (d entries / d values)' by_entries. Collective.
  void add_transposed(ParticleQuantity quantity, double time, std::span<const double> by_entries,
                      ParameterValues& by_values) const {
    for_weights(quantity, time, [&](std::size_t k, std::size_t value, std::size_t entry, double weight) {
      by_values[k][value] += weight * by_entries[entry];
    });
  }
  /// entries += d entries / d values * values. Collective.
  void add_product(ParticleQuantity quantity, double time, const ParameterValues& values,
                   std::span<double> entries) const {
    for_weights(quantity, time, [&](std::size_t k, std::size_t value, std::size_t entry, double weight) {
      entries[entry] += weight * values[k][value];
    });
  }

private:
  template <class Act>
  void for_weights(ParticleQuantity quantity, double time, Act act) const {
    for (std::size_t k = 0; k < fields.size(); ++k) {
      for (const ParticleWeights& weights : particle_actions_of(*fields[k].spec)->weights)
        if (weights.quantity == quantity)
          weights.give(
              {fields[k], problem, scene, held, loaded, time},
              [&](std::size_t value, std::size_t entry, double weight) { act(k, value, entry, weight); });
    }
  }
};

/// Its name among those of interactions; nullptr for others.
const parameters::Quantity* interaction_quantity(ParticleQuantity quantity) {
  using enum ParticleQuantity;
  if (quantity == young_modulus) return &potentials::young_modulus_of_bonds;
  if (quantity == poisson_ratio) return &potentials::poisson_ratio_of_bonds;
  if (quantity == tensile_strength) return &solvers::tensile_strength;
  if (quantity == friction) return &parameters::quantities::friction;
  return quantity == shear_strength ? &solvers::shear_strength : nullptr;
}

/// act(quantity, entries) for what does not change in time, of a BondedGradient or a BondedDirection.
template <class Physical, class Act>
void for_constants(Physical& of, Act act) {
  using enum ParticleQuantity;
  for (const ParticleQuantity quantity :
       {young_modulus, poisson_ratio, tensile_strength, shear_strength, friction})
    if (const parameters::Quantity& name = *interaction_quantity(quantity);
        of.interactions.find_numbers(name))
      act(quantity, std::span(of.interactions.numbers(name)));
  act(ParticleQuantity::mass, std::span(of.mass));
  act(ParticleQuantity::gravity, std::span(of.gravity.data(), 3));
}

/// What objectives depend on beside the state; zero.
template <class Arrays>
Arrays explicit_arrays(const solvers::BondedParticles& problem) {
  std::vector<parameters::Quantity> quantities = solvers::interaction_quantities(problem);
  quantities.insert(quantities.end(), {particle_mass, gravity_vector, particle_loads, internal_variables});
  typename Arrays::Sizes sizes = solvers::interaction_sizes(problem);
  sizes[parameters::Place::particle] = problem.particles->num_owned();
  sizes[parameters::Place::scene] = 1;
  sizes[parameters::Place::internal] = solvers::sound_internal(problem).size();
  return Arrays(sizes, quantities);
}

/// Their entries that do not change in time, as for_constants() gives them.
template <class Arrays>
std::span<double> explicit_entries(Arrays& of, ParticleQuantity quantity) {
  if (const parameters::Quantity* name = interaction_quantity(quantity)) return of.numbers(*name);
  return of.entries(quantity == ParticleQuantity::mass ? particle_mass : gravity_vector);
}

/// Forces and moments, of which objectives know the first.
std::vector<double> with_moments(const std::vector<Eigen::Vector3d>& forces) {
  std::vector<double> result(6 * forces.size(), 0.0);
  for (std::size_t k = 0; k < forces.size(); ++k)
    std::copy_n(forces[k].data(), 3, result.begin() + 6 * std::ptrdiff_t(k));
  return result;
}

/// The adjoint of the objective of one experiment, or of y' r.
class ParticleAdjoint final : public inverse::AdjointProblem, adjoint::StateDerivatives {
public:
  /// Arguments must outlive it. `y` in the order of the residuals; none: of the objective. Collective.
  ParticleAdjoint(solvers::BondedParticlesSolver& solver, const Scene& scene,
                  const ParameterFields<3>& fields, const Observation<3>& seen,
                  std::optional<std::vector<double>> y = {})
      : chain_(solver.problem(), scene, fields), seen_(seen), y_(std::move(y)),
        explicit_(explicit_arrays<parameters::PhysicalGradient<3>>(solver.problem())) {
    for (const auto& field : fields) gradient_.emplace_back(field.size(), 0.0);
    products_.gradients.emplace_back(solver.problem());
    if (chain_.changes(ParticleQuantity::forces))
      products_.loads = [this](std::size_t, double time, std::span<const double> by_forces) {
        chain_.add_transposed(ParticleQuantity::forces, time, by_forces, gradient_);
      };
    if (chain_.changes(ParticleQuantity::prescribed))
      products_.prescribed = [this](std::size_t, double time, const linalg::Vector& by) {
        chain_.add_transposed(ParticleQuantity::prescribed, time, by.owned(), gradient_);
      };
    products_.initial = [this](std::size_t, const linalg::Vector& by_u, const linalg::Vector& by_v) {
      // Particles that are held start where they are moved to.
      chain_.add_transposed(ParticleQuantity::prescribed, chain_.scene.time.t0, by_u.owned(), gradient_);
      chain_.add_transposed(ParticleQuantity::initial_displacement, 0, by_u.owned(), gradient_);
      chain_.add_transposed(ParticleQuantity::initial_velocity, 0, by_v.owned(), gradient_);
    };
    step_ = solver.recorded_step(products_);
  }

  adjoint::StateDerivatives& objective() override { return *this; }
  stepping::DifferentiableStep& step() override { return *step_; }
  ParameterValues gradient() override {
    solvers::BondedGradient& by = products_.gradients[0];
    for_constants(by, [&](ParticleQuantity quantity, std::span<double> entries) {
      const std::span<const double> more = explicit_entries(explicit_, quantity);
      std::ranges::transform(entries, more, entries.begin(), std::plus());
      chain_.add_transposed(quantity, 0, entries, gradient_);
    });
    for (std::vector<double>& by_values : gradient_) chain_.problem.particles->points->comm->sum(by_values);
    return std::move(gradient_);
  }
  std::vector<inverse::GatheredArray> gathered() override {
    solvers::BondedGradient& by = products_.gradients[0];
    std::vector<inverse::GatheredArray> result{{"mass", by.mass},
                                               {"gravity", std::span(by.gravity.data(), 3)}};
    by.interactions.for_each_array([&](const std::string& name, std::span<double> entries) {
      result.push_back({name, entries});
    });
    explicit_.for_each_array([&](const std::string& name, std::span<double> entries) {
      result.push_back({"explicit_" + name, entries});
    });
    for (std::size_t k = 0; k < gradient_.size(); ++k)
      result.push_back({"parameter_" + std::to_string(k), gradient_[k]});
    return result;
  }

private:
  std::size_t num_objectives() const override { return 1; }
  void add(std::size_t, const adjoint::StateOfRun& at, adjoint::StatePartials& by) override {
    if (!at.record.completes_nominal) return;
    const std::size_t i = at.record.nominal_step;
    if (y_)
      objectives::add_residual_products<3>(seen_.objectives, i, observed_particles(at), seen_.composition,
                                           seen_.rows_of(i, std::span<const double>(*y_)), by.u.write_owned(),
                                           by.v.write_owned(), by.previous_u.write_owned(), explicit_);
    else
      objectives::add_derivatives<3>(seen_.objectives, i, observed_particles(at), seen_.composition,
                                     by.u.write_owned(), by.v.write_owned(), by.previous_u.write_owned(),
                                     explicit_);
    chain_.add_transposed(ParticleQuantity::forces, at.record.time,
                          with_moments(explicit_.vectors(particle_loads)), gradient_);
    explicit_.clear(particle_loads);
    if (!chain_.problem.softens()) return;
    by.previous_internal = explicit_.numbers(internal_variables);
    explicit_.clear(internal_variables);
  }

  ParticleChain chain_;
  const Observation<3>& seen_;
  std::optional<std::vector<double>> y_;
  parameters::PhysicalGradient<3> explicit_;
  ParameterValues gradient_; ///< this rank's shares of what varies in time
  solvers::BondedSweepProducts products_;
  std::unique_ptr<stepping::DifferentiableStep> step_;
};

/// Gathers how the residuals of one experiment change along directions.
class ParticleTangent final : public inverse::TangentProblem, adjoint::StateTangents {
public:
  /// Arguments must outlive it. Collective.
  ParticleTangent(solvers::BondedParticlesSolver& solver, const Scene& scene,
                  const ParameterFields<3>& fields, const Observation<3>& seen,
                  std::vector<ParameterValues> directions)
      : chain_(solver.problem(), scene, fields), seen_(seen), values_(std::move(directions)),
        changes_(values_.size(), std::vector<double>(seen.num_residuals())) {
    for (const ParameterValues& values : values_) {
      solvers::BondedDirection& change = directions_.changes.emplace_back(solver.problem());
      explicit_.push_back(explicit_arrays<parameters::PhysicalDirection<3>>(solver.problem()));
      for_constants(change, [&](ParticleQuantity quantity, std::span<double> entries) {
        chain_.add_product(quantity, 0, values, entries);
        std::ranges::copy(entries, explicit_entries(explicit_.back(), quantity).begin());
      });
    }
    if (chain_.changes(ParticleQuantity::forces))
      directions_.loads = [this](std::size_t direction, double time, std::span<double> forces) {
        chain_.add_product(ParticleQuantity::forces, time, values_[direction], forces);
      };
    if (chain_.changes(ParticleQuantity::prescribed))
      directions_.prescribed = [this](std::size_t direction, double time, linalg::Vector& y) {
        chain_.add_product(ParticleQuantity::prescribed, time, values_[direction], y.write_owned());
      };
    directions_.initial = [this](std::size_t direction, linalg::Vector& y, linalg::Vector& z) {
      chain_.add_product(ParticleQuantity::prescribed, chain_.scene.time.t0, values_[direction],
                         y.write_owned());
      chain_.add_product(ParticleQuantity::initial_displacement, 0, values_[direction], y.write_owned());
      chain_.add_product(ParticleQuantity::initial_velocity, 0, values_[direction], z.write_owned());
    };
    step_ = solver.tangent_step(directions_);
  }

  stepping::TangentStep& step() override { return *step_; }
  adjoint::StateTangents& residuals() override { return *this; }
  std::vector<double> change_of_residuals(std::size_t direction) override {
    return std::move(changes_[direction]);
  }

private:
  void see(std::size_t direction, const adjoint::StateOfRun& at,
           const adjoint::StateChange& change) override {
    if (!seen_.is_wanted(at.record)) return;
    const std::size_t i = at.record.nominal_step;
    auto& forces = explicit_[direction].vectors(particle_loads);
    std::vector<double> with_turns(6 * forces.size(), 0.0);
    chain_.add_product(ParticleQuantity::forces, at.record.time, values_[direction], with_turns);
    for (std::size_t k = 0; k < forces.size(); ++k)
      forces[k] = Eigen::Map<const Eigen::Vector3d>(with_turns.data() + 6 * k);
    if (chain_.problem.softens())
      std::ranges::copy(change.previous_internal, explicit_[direction].numbers(internal_variables).begin());
    std::ranges::copy(objectives::residual_tangent<3>(seen_.objectives, i, observed_particles(at),
                                                      seen_.composition, change.u.local(), change.v.local(),
                                                      change.previous_u.local(), explicit_[direction]),
                      seen_.rows_of(i, std::span(changes_[direction])).begin());
  }

  ParticleChain chain_;
  const Observation<3>& seen_;
  std::vector<ParameterValues> values_; ///< per direction, as the next two
  std::vector<parameters::PhysicalDirection<3>> explicit_;
  std::vector<std::vector<double>> changes_;
  solvers::BondedSweepDirections directions_;
  std::unique_ptr<stepping::TangentStep> step_;
};

/// The objectives of an experiment, to be built on its particles.
std::vector<PendingObjective<3>> pend_on_particles(const Study& study, int experiment,
                                                   const ParticleScene& at) {
  std::vector<PendingObjective<3>> pending;
  for (const auto& spec : study.objectives)
    if (spec->experiment == experiment)
      pending.push_back({spec.get(), [objective = spec.get(), at] { return objective->make_on(at); }});
  return pending;
}

class ProblemOnParticles final : public ObservedProblem<3> {
public:
  /// `model` must outlive it. Collective. @throws InputError on every rank.
  ProblemOnParticles(const ExperimentOnParticles& model, const ParameterValues& values)
      : model_(model), scene_(model.scene_with(values)), solver_(model.make_solver(*scene_, values)),
        observation_(pend_on_particles(model.study(), model.experiment(),
                                       {model.study(), *scene_, solver_->problem()}),
                     scene_->time, model.comm()) {
    solver_->interrupt_when(model.interrupts().watch());
  }

  stepping::Solver& solver() override { return *solver_; }
  GlobalIndex num_steps() const override { return scene_->time.steps; }
  void observe(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
               std::span<const double> internal) override {
    require_intact_bonds(record.time);
    observation_.see(record, u, v, internal);
  }
  void keep_residuals() override { observation_.keep_residuals(); }
  std::vector<std::string> places_of_terms() const override { return model_.places_of_objectives(); }
  std::unique_ptr<inverse::AdjointProblem> adjoint(GlobalIndex) override {
    return std::make_unique<ParticleAdjoint>(*solver_, *scene_, model_.fields(), observation_);
  }
  std::unique_ptr<inverse::TangentProblem> tangent(const std::vector<ParameterValues>& directions,
                                                   GlobalIndex) override {
    return std::make_unique<ParticleTangent>(*solver_, *scene_, model_.fields(), observation_, directions);
  }
  std::unique_ptr<inverse::AdjointProblem> residual_adjoint(std::span<const double> y, GlobalIndex) override {
    return std::make_unique<ParticleAdjoint>(*solver_, *scene_, model_.fields(), observation_,
                                             std::vector(y.begin(), y.end()));
  }

  const Observation<3>& observation() const override { return observation_; }
  std::unique_ptr<RunOutput> make_output() override {
    return std::make_unique<ParticleOutput>(*solver_, *scene_);
  }
  std::int64_t fingerprint() const override {
    const auto& particles = *solver_->problem().particles;
    return crc32(std::as_bytes(std::span(particles.ids)));
  }

private:
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
  if (scene.contact.enabled) check_particle_contact(at);
  using solvers::ParticleIntegrator;
  const ParticleIntegrator integrator = scene.particle_solver.integrator;
  if (scene.time.kind == TimeKind::dynamic && integrator != ParticleIntegrator::be_reflect &&
      integrator != ParticleIntegrator::mid_reflectT)
    at.fail(at.experiment.where, "scene",
            scene.file.string() + " has solver/bonded_particles/integrator = \"" + name_of_value(integrator) +
                "\", which has no derivative; take \"be_reflect\" or \"mid_reflectT\"");
}

void check_particle_objective(const ExperimentScene& at, const ObjectiveSpec& objective) {
  if (!objective.type->sees_particles) {
    std::vector<std::string> possible;
    for (const ObjectiveType& type : objective_types())
      if (type.sees_particles) possible.emplace_back(type.name);
    at.fail(objective.where, "type",
            std::string(objective.type->name) + " looks at finite elements; of bonded particles take " +
                list_names(possible, "or"));
  }
  if (objective.once_per_observation)
    at.fail(objective.where, "time",
            "bonded particles are compared at their states; write \"integral\", \"final\", {\"steps\": [..]} "
            "or {\"times\": [..]}");
  objective.check(at);
}

/// A row per slot or, of values per bond, per bond of all bodies, NaN where there is no value.
std::vector<double> rows_of_field(const ParameterField<3>& field, const std::vector<double>& values) {
  if (field.spec->per != Per::bond) return values;
  std::vector<double> rows(field.num_rows, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t slot = 0; slot < values.size(); ++slot) rows[field.slot_ids[slot]] = values[slot];
  return rows;
}

/// The inverse.
std::vector<double> values_of_rows(const ParameterField<3>& field, std::vector<double> rows) {
  if (field.spec->per != Per::bond) return rows;
  std::vector<double> values;
  for (const GlobalIndex bond : field.slot_ids) values.push_back(rows[bond]);
  return values;
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

} // namespace

ExperimentKind experiments_on_particles() {
  return {SolverType::bonded_particles, check_particle_scene, check_particle_parameter,
          check_particle_objective,
          [](const parallel::Communicator& comm, const Study& study, int experiment, LoadedScene loaded,
             const Interrupts& interrupts) -> std::unique_ptr<ExperimentModel> {
            return std::make_unique<ExperimentOnParticles>(comm, study, experiment, std::move(loaded),
                                                           interrupts);
          }};
}

ExperimentOnParticles::ExperimentOnParticles(const parallel::Communicator& comm, const Study& study,
                                             int experiment, LoadedScene loaded, const Interrupts& interrupts)
    : ExperimentModel(comm, study, experiment, std::move(loaded), interrupts),
      packed_(parallel::collectively(comm,
                                     [&] {
                                       return comm.rank() == 0 ? pack_bodies(scene(), loaded_.geometry)
                                                               : particles::ParticleSet();
                                     })),
      fields_(make_particle_fields(comm, study, experiment, scene(), packed_)) {
  for (const auto& field : fields_) {
    parameters_.push_back(field.index);
    start_.push_back(read_start_values(field, comm));
  }
  parallel::collectively(comm, [&] { require_constants_of_materials(fields_, packed_); });
  require_budget();
}

std::unique_ptr<Scene> ExperimentOnParticles::scene_with(const ParameterValues& values) const {
  auto changed = std::make_unique<Scene>(scene());
  // Steps of leapfrog have no adjoint, and one that replaces an implicit step with breaks need not break any.
  changed->particle_solver.sudden_breaking = solvers::SuddenBreaking::shorter_steps;
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (const auto apply = particle_actions_of(*fields_[k].spec)->apply)
      apply(fields_[k], values[k], *changed);
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
  return make_particle_solver(comm_, with_values, bodies_with(values), loaded_.geometry.obstacles);
}

std::unique_ptr<ExperimentProblem> ExperimentOnParticles::problem_at(const ParameterValues& values) const {
  return std::make_unique<ProblemOnParticles>(*this, values);
}

FieldSlots ExperimentOnParticles::slots(std::size_t k) const {
  FieldSlots slots{fields_[k].index,
                   fields_[k].components,
                   is_replicated(k),
                   fields_[k].slot_ids,
                   fields_[k].slot_names,
                   is_replicated(k) ? 0 : fields_[k].num_rows,
                   start_[k],
                   {}};
  for (const double value : start_[k]) slots.sizes.push_back(size_of_value(k, value));
  return slots;
}

ObjectiveKind ExperimentOnParticles::check_start() const {
  return ProblemOnParticles(*this, start_).observation().kind();
}

ResidualRows ExperimentOnParticles::residual_rows() const {
  return ProblemOnParticles(*this, start_).observation().rows();
}

std::vector<ForcePeaks> ExperimentOnParticles::peaks(std::span<const double> residuals) const {
  return ProblemOnParticles(*this, start_).observation().peaks(residuals);
}

void ExperimentOnParticles::write_scene(const ParameterValues& values,
                                        const std::filesystem::path& folder) const {
  const std::unique_ptr<Scene> changed = scene_with(values);
  nlohmann::json json = nlohmann::json::parse(scene_as_run(loaded_.file));
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (const auto write = particle_actions_of(*fields_[k].spec)->write)
      write(fields_[k], values[k], *changed, json);
  SceneData data(comm_, folder, name());
  const particles::ParticleSet bodies = bodies_with(values);
  for (std::size_t body = 0; body < scene().particle_bodies.size(); ++body) {
    const bool has_values_per_bond = std::ranges::any_of(fields_, [&](const ParameterField<3>& field) {
      return field.spec->per == Per::bond && field.slot_of_body[body] >= 0;
    });
    if (has_values_per_bond)
      write_particle_files(bodies, body, scene().particle_bodies[body].body, data, json);
  }
  data.commit(json);
}

void ExperimentOnParticles::write_values(io::Hdf5Writer& file, const std::string& name, std::size_t field,
                                         const std::vector<double>& values) const {
  const std::vector<double> rows =
      comm_.rank() == 0 ? rows_of_field(fields_[field], values) : std::vector<double>();
  file.write_rows<double>(name, rows, fields_[field].components);
}

std::vector<double> ExperimentOnParticles::read_values(const io::Hdf5Reader& file, const std::string& name,
                                                       std::size_t field) const {
  return parallel::collectively(comm_, [&] {
    const io::ArrayShape shape = file.shape(name);
    const GlobalIndex rows = fields_[field].num_rows;
    if (shape.rows != rows || shape.columns != fields_[field].components)
      throw FileError("the array '" + name + "' belongs to another parameter");
    return values_of_rows(fields_[field], file.read_rows<double>(name, 0, rows));
  });
}

double ExperimentOnParticles::component_along(const Direction& direction, std::size_t k,
                                              std::size_t entry) const {
  return component_of(direction, fields_[k], 1.0, start_[k], entry);
}

double ExperimentOnParticles::size_of_value(std::size_t k, double value) const {
  return size_of(fields_[k], 1.0, value);
}

} // namespace recoil::app
