#include "recoil/app/study/experiment/experiment_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "app/study/experiment/experiment_kind.hpp"
#include "recoil/app/run/run_inputs.hpp"
#include "recoil/app/solvers/elastodynamics/conventions.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/app/study/experiment/known_run_file.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/app/study/fields/written_values.hpp"
#include "recoil/app/study/remesh/remesh_scene.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh_motion/interior_smoothing.hpp"
#include "recoil/mesh_motion/mesh_quality.hpp"
#include "recoil/solvers/elastodynamics/loose_places.hpp"

namespace recoil::app {

namespace {
/// Derivatives of converged friction are off by some ten times the share of the contact forces that is left
/// unbalanced.
constexpr double friction_tolerance = 1e-7;

/// The elements with the input ids `ids`, ascending, in their order, dim + 1 vertices each; all vertices of
/// the mesh by their input ids, dim rest positions [m] each. The same on every rank. @pre `ids` are cells of
/// this mesh. Collective.
template <int dim>
inverse::ElementMesh gather_element_mesh(const mesh::DistributedMesh<dim>& mesh,
                                         std::span<const GlobalIndex> ids) {
  inverse::ElementMesh result{dim, std::vector<double>(mesh.num_vertices_global * dim, 0.0), {}};
  for (LocalIndex vertex = 0; vertex < mesh.num_owned_vertices; ++vertex)
    std::copy_n(mesh.vertices[vertex].data(), dim, result.vertices.begin() + mesh.vertex_ids[vertex] * dim);
  mesh.comm->sum(result.vertices);
  // Numbers of vertices are exact as doubles.
  std::vector<double> cells(ids.size() * (dim + 1), 0.0);
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    const auto found = std::ranges::lower_bound(ids, mesh.cell_ids[cell]);
    if (found == ids.end() || *found != mesh.cell_ids[cell]) continue;
    const auto row = cells.begin() + (found - ids.begin()) * (dim + 1);
    std::ranges::transform(mesh.cells[cell], row,
                           [&](LocalIndex vertex) -> double { return mesh.vertex_ids[vertex]; });
  }
  mesh.comm->sum(cells);
  result.cells.assign(cells.begin(), cells.end());
  return result;
}

/// Refuses objectives that see where bodies are along rigid motions that nothing in the scene resists: there
/// the solution is the displacement of smallest norm by agreement, not by any law, and so would be what is
/// fitted to it. Collective. @throws InputError on every rank, at the objective's type.
template <int dim>
void refuse_loose(const OpenObjectives<dim>& opened, const Observation<dim>& seen,
                  DiscreteScene<dim>& discrete) {
  const Scene& scene = discrete.scene();
  const auto sees = [](const OpenObjective<dim>& one) { return one.spec->type->sees_place; };
  const bool is_regularized =
      scene.time.kind == TimeKind::statics && elements_of(scene).solver.lagged_regularization_weight > 0;
  if (scene.time.kind == TimeKind::dynamic || is_regularized || std::ranges::none_of(opened, sees)) return;
  const auto& problem = discrete.solver().problem();
  const std::optional<linalg::Vector> u = solvers::loose_displacement(problem);
  if (!u) return;
  const std::vector<double> times = observed_state_times(scene.time);
  const linalg::Vector v(u->shared_layout());
  for (std::size_t k = 0; k < opened.size(); ++k) {
    const ObjectiveSpec& spec = *opened[k].spec;
    if (!sees(opened[k])) continue;
    objectives::Objective<dim>& objective = *seen.objectives[k];
    const std::vector<objectives::Quantity> quantities = objective.depends_on();
    for (std::size_t state = 0; state < times.size(); ++state) {
      if (seen.composition.weight(k, state) == 0) continue;
      linalg::Vector du(u->shared_layout()), dv = du;
      parameters::PhysicalGradient<dim> by_quantities(discrete.space(), quantities);
      objective.add_derivatives({u->local(), v.local(), times[state]}, 1, du.write_owned(), dv.write_owned(),
                                by_quantities);
      const std::string motion = solvers::loose_motion_seen_by(problem, du.owned());
      if (motion.empty()) continue;
      throw InputError(
          spec.where.of("type"),
          fmt::format(
              "{} depends on where the body is, and nothing in {} holds {}: its place is the one with "
              "the smallest displacement by agreement, and says nothing of the parameters. Prescribe "
              "displacements that hold it (/boundary_conditions/dirichlet_boundary), or take an "
              "objective of its deformation, as strain_at, stress_norm or elastic_energy",
              spec.type->name, scene.file.string(), motion));
    }
  }
}

} // namespace

void set_output_for_sweep(const Study& study, Scene& scene) {
  OutputSpec& output = scene.output;
  output.every = study.sweep.store_every;
  // Restart points are what closes a file.
  if (study.sweep.store_every > 1) output.chunk = 1;
  output.fields.clear();
  output.steps.clear();
}

std::string scene_as_run(const SceneFile& file) {
  nlohmann::json json = nlohmann::json::parse(file.resolved);
  nlohmann::json& output = json["output"];
  output["every"] = file.scene.output.every;
  output["chunk"] = file.scene.output.chunk;
  output["fields"] = nlohmann::json::array();
  output.erase("times");
  if (file.scene.contact.enabled && file.scene.contact.barrier_stiffness)
    json["solver"]["contact"]["barrier_stiffness"] = *file.scene.contact.barrier_stiffness;
  return json.dump(2) + "\n";
}

std::vector<std::filesystem::path> files_of_run(const Study& study, int experiment, const Scene& scene) {
  std::vector<std::filesystem::path> files = input_files(scene);
  for (const ParameterSpec& parameter : study.parameters) {
    if (parameter.initial_file && parameter.acts_in(experiment))
      std::ranges::copy(files_of_start(*parameter.initial_file), std::back_inserter(files));
    if (parameter.basis && parameter.acts_in(experiment))
      std::ranges::copy(parameter.basis->files(), std::back_inserter(files));
  }
  return files;
}

std::vector<std::filesystem::path> input_files(const Study& study, int experiment, const Scene& scene) {
  std::vector<std::filesystem::path> files = files_of_run(study, experiment, scene);
  for (const auto& objective : study.objectives)
    if (objective->experiment == experiment)
      for (auto& file : objective->files()) files.push_back(std::move(file));
  return files;
}

std::unique_ptr<ExperimentModel> ExperimentModel::create(const parallel::Communicator& comm,
                                                         const Study& study, int experiment,
                                                         LoadedScene loaded, const Interrupts& interrupts) {
  return experiment_kind(loaded.file.scene).create(comm, study, experiment, std::move(loaded), interrupts);
}

std::string ExperimentModel::tolerance_keys() const {
  const std::string newton = "solver/nonlinear/grad_norm_tol and rel_grad_norm_tol";
  const ContactSpec& contact = scene().contact;
  return contact.enabled && contact.friction_iterations < 0
             ? "solver/contact/friction_convergence_tol, " + newton
             : newton;
}

inverse::SweepSettings ExperimentModel::sweep_settings() const {
  return {study_.sweep.tolerance, study_.sweep.state_budget, [this] { interrupts_.stop_if_pending(); }};
}

std::vector<std::string> ExperimentModel::places_of_objectives() const {
  std::vector<std::string> places;
  for (const auto& objective : study_.objectives)
    if (objective->experiment == experiment_) places.push_back(objective->where.entry);
  return places;
}

ParameterValues ExperimentModel::values_along(const Direction& direction, double factor) const {
  ParameterValues values = start_;
  for (std::size_t k = 0; k < values.size(); ++k)
    for (std::size_t entry = 0; entry < values[k].size(); ++entry)
      values[k][entry] += factor * component_along(direction, k, entry);
  return values;
}

double ExperimentModel::derivative(const ParameterValues& gradient, const Direction& direction) const {
  double replicated = 0, shared = 0;
  for (std::size_t k = 0; k < start_.size(); ++k) {
    double& sum = is_replicated(k) ? replicated : shared;
    for (std::size_t entry = 0; entry < owned_size(k); ++entry)
      sum += gradient[k][entry] * component_along(direction, k, entry);
  }
  return replicated + comm_.sum(shared);
}

double ExperimentModel::sensitivity(const ParameterValues& gradient, std::size_t field) const {
  double squares = 0;
  for (std::size_t entry = 0; entry < owned_size(field); ++entry) {
    const double change = gradient[field][entry] * size_of_value(field, start_[field][entry]);
    squares += change * change;
  }
  return std::sqrt(is_replicated(field) ? squares : comm_.sum(squares));
}

void ExperimentModel::write_field(io::Hdf5Writer& file, const std::string& group, std::size_t field,
                                  const ParameterValues& gradient) const {
  std::vector<double> scaled = gradient[field];
  for (std::size_t i = 0; i < owned_size(field); ++i)
    scaled[i] = scaled_derivative(study_.parameters[parameters_[field]], start_[field][i], scaled[i]);
  write_values(file, group + "/value", field, start_[field]);
  write_values(file, group + "/gradient", field, gradient[field]);
  write_values(file, group + "/gradient_scaled", field, scaled);
}

void ExperimentModel::require_budget() const {
  if (!study_.sweep.state_budget) return;
  const bool all_stored = study_.sweep.store_every == 1;
  const int smallest = inverse::StoredStates::smallest_budget(all_stored, history());
  if (*study_.sweep.state_budget >= smallest) return;
  throw InputError(
      study_.sweep.where_budget,
      fmt::format("must be at least {} for experiment '{}' ({}), is {}", smallest, name(),
                  all_stored
                      ? "a step and the one before it"
                      : fmt::format("a restart point of {} state{} and the step that the sweep stands at",
                                    history(), history() > 1 ? "s" : ""),
                  *study_.sweep.state_budget));
}

template <int dim>
void FieldExperiment<dim>::read_start() {
  for (const auto& field : fields_) {
    parameters_.push_back(field.index);
    start_.push_back(read_start_values(field, comm_));
  }
}

template <int dim>
FieldSlots FieldExperiment<dim>::slots(std::size_t k) const {
  const ParameterField<dim>& field = fields_[k];
  FieldSlots slots{{field.index, field.components, is_replicated(k), field.slot_ids, field.slot_names,
                    is_replicated(k) ? 0 : field.num_rows},
                   start_[k],
                   {}};
  for (const double value : start_[k]) slots.sizes.push_back(size_of_value(k, value));
  return slots;
}

/// A row per slot or, of values per bond, per bond of all bodies, NaN where there is no value.
template <int dim>
void FieldExperiment<dim>::write_values(io::Hdf5Writer& file, const std::string& name, std::size_t k,
                                        const std::vector<double>& values) const {
  const ParameterField<dim>& field = fields_[k];
  std::vector<double> rows;
  if (comm_.rank() == 0) rows = values;
  if (comm_.rank() == 0 && field.spec->per == Per::bond) {
    rows.assign(field.num_rows, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t slot = 0; slot < values.size(); ++slot) rows[field.slot_ids[slot]] = values[slot];
  }
  file.write_rows<double>(name, rows, field.components);
}

template <int dim>
std::vector<double> FieldExperiment<dim>::read_values(const io::Hdf5Reader& file, const std::string& name,
                                                      std::size_t k) const {
  const ParameterField<dim>& field = fields_[k];
  return parallel::collectively(comm_, [&] {
    const io::ArrayShape shape = file.shape(name);
    if (shape.rows != field.num_rows || shape.columns != field.components)
      throw FileError("the array '" + name + "' belongs to another parameter");
    const std::vector<double> rows = file.read_rows<double>(name, 0, field.num_rows);
    if (field.spec->per != Per::bond) return rows;
    std::vector<double> values;
    for (const GlobalIndex bond : field.slot_ids) values.push_back(rows[bond]);
    return values;
  });
}

template <int dim>
std::optional<double> ExperimentOnMesh<dim>::freeze_stiffness(const ExperimentFolder& folder) {
  ContactSpec& contact = loaded_.file.scene.contact;
  if (!contact.enabled) return {};
  const SealedJson pilot = read_sealed_json(comm_, folder.pilot());
  if (!pilot.exists && contact.barrier_stiffness) return {};
  const auto digest = [&] { return checksum_of(scene_as_run(loaded_.file)); };
  if (!pilot.exists) {
    contact.barrier_stiffness = run_pilot();
    write_sealed_json(comm_, folder.pilot(),
                      {{"barrier_stiffness", *contact.barrier_stiffness}, {"scene", digest()}});
  } else {
    const auto refuse = [&](const char* what) {
      throw FileError(folder.pilot().string() + ": the barrier stiffness of the run " + what +
                      ". Put a sound copy of this file in its place, or start again in a new folder");
    };
    if (!pilot.content || !pilot.content->contains("barrier_stiffness") || !pilot.content->contains("scene"))
      refuse("is damaged");
    const double stiffness = pilot.content->at("barrier_stiffness").get<double>();
    const bool is_in_scene = contact.barrier_stiffness == stiffness;
    contact.barrier_stiffness = stiffness;
    if (pilot.content->at("scene") != digest()) refuse("is not that of its scene");
    if (is_in_scene) return stiffness;
  }
  checkpoint::RunFolder::open(comm_, folder.root).drop_scene_checksum(comm_);
  write_on_first(comm_, folder.scene(), scene_as_run(loaded_.file));
  return contact.barrier_stiffness;
}

template <int dim>
ExperimentOnMesh<dim>::ExperimentOnMesh(const parallel::Communicator& comm, const Study& study,
                                        int experiment, LoadedScene loaded, const Interrupts& interrupts)
    : FieldExperiment<dim>(comm, study, experiment, std::move(loaded), interrupts),
      geometry_(distribute_geometry<dim>(comm, loaded_)) {
  fields_ = make_parameter_fields(study, experiment, scene(), geometry_);
  objectives_ = open_objectives(*make_specimen(study, experiment, scene(), geometry_.mesh));
  shaped_.assign(geometry_.mesh.body_names.size(), 0);
  for (const auto& field : fields_) {
    for (std::size_t body = 0; body < shaped_.size(); ++body)
      if (field.spec->basis && field.spec->takes_body(geometry_.mesh.body_names[body])) shaped_[body] = 1;
  }
  this->read_start();
  this->require_budget();
}

template <int dim>
Variant<dim> ExperimentOnMesh<dim>::variant(const Scene& scene, const ParameterValues& values) const {
  Variant<dim> variant = make_variant(scene, geometry_, fields_, values);
  variant.discrete->solver().interrupt_when(interrupts_.watch());
  variant.discrete->solver().tighten_friction(friction_tolerance);
  return variant;
}

template <int dim>
int ExperimentOnMesh<dim>::history() const {
  return scene().time.kind == TimeKind::dynamic ? elements_of(scene()).bdf_order : 1;
}

template <int dim>
std::unique_ptr<ObservedProblem<dim>>
ExperimentOnMesh<dim>::observed_at(const ParameterValues& values) const {
  return std::make_unique<ProblemOnMesh<dim>>(*this, scene(), values);
}

template <int dim>
ProblemOnMesh<dim> ExperimentOnMesh<dim>::at_start() const {
  Scene trial = scene();
  // Whatever a pilot run finds will do as well.
  if (!trial.contact.barrier_stiffness) trial.contact.barrier_stiffness = 1;
  return ProblemOnMesh<dim>(*this, trial, start_);
}

template <int dim>
ObjectiveKind ExperimentOnMesh<dim>::check_start() const {
  ProblemOnMesh<dim> problem = at_start();
  refuse_loose(objectives_, problem.observation(), problem.discrete());
  return problem.observation().kind();
}

template <int dim>
ResidualRows ExperimentOnMesh<dim>::residual_rows() const {
  return at_start().observation().rows();
}

template <int dim>
double ExperimentOnMesh<dim>::run_pilot() const {
  Variant<dim> pilot = variant(scene(), start_);
  auto& solver = pilot.discrete->solver();
  while (solver.step() < scene().time.steps) {
    const stepping::StepOutcome outcome = solver.advance([](const auto&...) {});
    interrupts_.stop_if_pending();
    if (!outcome.accepted)
      throw Error(ExitCode::no_solution,
                  fmt::format("{}: the pilot run that finds the barrier stiffness fails in step {}: {}",
                              name(), solver.step() + 1, outcome.failure));
  }
  return solver.totals().largest_barrier_stiffness *
         stiffness_unit(scene(), solver.problem().contact->parameters().dhat);
}

template <int dim>
mesh::DistributedMesh<dim> ExperimentOnMesh<dim>::moved_mesh(const ParameterValues& values) const {
  Scene trial = scene();
  DistributedGeometry<dim> end = geometry_;
  CellOverrides overrides;
  for (std::size_t k = 0; k < fields_.size(); ++k)
    if (fields_[k].spec->basis) apply_parameters<dim>({fields_[k]}, {values[k]}, {trial, end, overrides});
  return std::move(end.mesh);
}

template <int dim>
ShapePath ExperimentOnMesh<dim>::follow_shape_path(const ParameterValues& from,
                                                   const ParameterValues& to) const {
  if (!holds(shaped_, 1)) return {};
  const mesh::DistributedMesh<dim> end = moved_mesh(to);
  ShapePath path = app::follow_shape_path(*variant(scene(), from).discrete, end);
  const double quality = mesh_motion::min_scaled_jacobian(end, shaped_), least = study_.optimizer.min_quality;
  if (path.obstruction.empty() && quality < least)
    path.obstruction =
        fmt::format("the scaled Jacobian of an element falls to {:.2e}, below optimizer/min_quality, {:g},",
                    quality, least);
  return path;
}

template <int dim>
double ExperimentOnMesh<dim>::mesh_quality(const ParameterValues& values) const {
  return holds(shaped_, 1) ? mesh_motion::min_scaled_jacobian(moved_mesh(values), shaped_) : 1;
}

template <int dim>
RenewedScene ExperimentOnMesh<dim>::write_renewed_scene(const ParameterValues& values, double wanted,
                                                        const std::filesystem::path& folder) const {
  const auto quality_of = [&](const mesh::DistributedMesh<dim>& mesh) {
    return mesh_motion::min_scaled_jacobian(mesh, shaped_);
  };
  const auto write = [&](const mesh::DistributedMesh<dim>& mesh) {
    write_scene_with_values(scene_as_run(loaded_.file), scene(), geometry_, fields_, values, folder, name(),
                            &mesh);
  };
  const mesh::DistributedMesh<dim> moved = moved_mesh(values);
  std::vector<char> keep = mesh_motion::vertices_to_keep(moved);
  for (std::size_t cell = 0; cell < moved.cells.size(); ++cell)
    for (const LocalIndex vertex : moved.cells[cell])
      if (shaped_[moved.cell_body[cell]] == 0) keep[vertex] = 1;
  mesh::DistributedMesh<dim> smoothed = moved;
  mesh_motion::smooth_interior<dim>(mesh(), keep, smoothed);
  RenewedScene result{quality_of(moved), quality_of(smoothed), false, {}};
  if (result.quality < result.quality_before) {
    smoothed = moved;
    result.quality = result.quality_before;
  }
  if (result.quality < wanted) {
    write(moved);
    RemeshedScene remeshed = remesh(folder);
    if (remeshed.min_scaled_jacobian > result.quality) {
      result.quality = remeshed.min_scaled_jacobian;
      result.is_remeshed = true;
      if (comm_.rank() == 0) result.transfer = std::move(remeshed.transfer);
      return result;
    }
  }
  write(smoothed);
  return result;
}

/// The scene in `folder`, with the bodies that a shape moves meshed anew; complete on the first rank.
template <int dim>
RemeshedScene ExperimentOnMesh<dim>::remesh(const std::filesystem::path& folder) const {
  std::vector<std::string> bodies;
  for (std::size_t body = 0; body < shaped_.size(); ++body)
    if (shaped_[body] != 0) bodies.push_back(mesh().body_names[body]);
  const parallel::Communicator alone = comm_.split(comm_.rank());
  RemeshedScene result;
  parallel::collectively(comm_, [&] {
    if (comm_.rank() == 0)
      result = remesh_scene(alone, folder / (name() + ".json"), bodies, study_.optimizer.gmsh);
  });
  std::vector<double> quality{result.min_scaled_jacobian};
  comm_.broadcast(quality);
  result.min_scaled_jacobian = quality[0];
  return result;
}

// The numbers of nodes depend on their places, which a shape changes: each problem has its own space.
template <int dim>
static const fem::FunctionSpace<dim>& space_of(const inverse::ForwardProblem& problem) {
  return static_cast<const ProblemOnMesh<dim>&>(problem).discrete().space();
}

template <int dim>
void ExperimentOnMesh<dim>::write_known_run(const std::filesystem::path& path,
                                            const inverse::ForwardProblem& problem,
                                            const inverse::KnownRun& run) const {
  app::write_known_run(space_of<dim>(problem), path, run);
}

template <int dim>
inverse::KnownRun ExperimentOnMesh<dim>::read_known_run(const std::filesystem::path& path,
                                                        const inverse::ForwardProblem& problem) const {
  return app::read_known_run(space_of<dim>(problem), path);
}

template <int dim>
FieldSlots ExperimentOnMesh<dim>::slots(std::size_t k) const {
  const ParameterField<dim>& field = fields_[k];
  FieldSlots slots{{field.index, field.components, is_replicated(k), {}, field.slot_names}, {}, {}};
  const std::size_t count = field.num_owned_slots, width = field.components;
  if (slots.is_replicated) {
    slots.ids = field.slot_ids;
  } else {
    const auto& mesh = geometry_.mesh;
    slots.num_rows = field.num_rows;
    slots.ids = comm_.all_gather_parts(std::span(field.slot_ids).first(count));
    std::ranges::sort(slots.ids);
    if (field.spec->prior && field.spec->prior->correlation_length && !field.spec->tie &&
        field.spec->experiments.front() == experiment_)
      slots.mesh = gather_element_mesh(mesh, slots.ids);
  }
  slots.start.assign(slots.ids.size() * width, 0.0);
  slots.sizes = slots.start;
  for (std::size_t slot = 0; slot < count; ++slot) {
    const std::size_t at = std::ranges::lower_bound(slots.ids, field.slot_ids[slot]) - slots.ids.begin();
    for (std::size_t c = 0; c < width; ++c) {
      const double value = start_[k][slot * width + c];
      slots.start[at * width + c] = value;
      slots.sizes[at * width + c] = size_of(field, diagonal(), value);
    }
  }
  if (!slots.is_replicated) {
    comm_.sum(slots.start);
    comm_.sum(slots.sizes);
  }
  return slots;
}

template <int dim>
void ExperimentOnMesh<dim>::write_scene(const ParameterValues& values,
                                        const std::filesystem::path& folder) const {
  write_scene_with_values(scene_as_run(loaded_.file), scene(), geometry_, fields_, values, folder, name());
}

template <int dim>
void ExperimentOnMesh<dim>::write_values(io::Hdf5Writer& file, const std::string& name, std::size_t field,
                                         const std::vector<double>& values) const {
  write_in_file_order(file, name, fields_[field], mesh(), values);
}

template <int dim>
std::vector<double> ExperimentOnMesh<dim>::read_values(const io::Hdf5Reader& file, const std::string& name,
                                                       std::size_t field) const {
  return read_in_file_order(file, name, fields_[field], mesh());
}

template class FieldExperiment<2>;
template class FieldExperiment<3>;
template class ExperimentOnMesh<2>;
template class ExperimentOnMesh<3>;

} // namespace recoil::app
