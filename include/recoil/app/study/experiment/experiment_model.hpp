#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recoil/app/run/interrupts.hpp"
#include "recoil/app/run/load_scene.hpp"
#include "recoil/app/solvers/elastodynamics/trajectory_output.hpp"
#include "recoil/app/study/base/study_folder.hpp"
#include "recoil/app/study/fields/parameter_values.hpp"
#include "recoil/app/study/objectives/experiment_objectives.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"
#include "recoil/app/study/remesh/remesh_scene.hpp"
#include "recoil/app/study/remesh/shape_path.hpp"
#include "recoil/inverse/reduced_objective.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "recoil/stepping/sweep_products.hpp"

namespace recoil::app {

/// Replaces the output of a scene by what the sweep of `study` needs.
void set_output_for_sweep(const Study& study, Scene& scene);

/// The resolved scene of `file` with the output and the barrier stiffness that its `scene` has now; the
/// values of parameters are not in it.
std::string scene_as_run(const SceneFile& file);

/// The files besides study and scene that the forward run of an experiment depends on: meshes, material data
/// and modes.
std::vector<std::filesystem::path> files_of_run(const Study& study, int experiment, const Scene& scene);

/// The files that the gradient of an experiment depends on: also observations and references; of a run folder
/// its manifest, which holds the digests of the rest.
std::vector<std::filesystem::path> input_files(const Study& study, int experiment, const Scene& scene);

/// A scene that was written with new interiors of the bodies that a shape moves.
struct RenewedScene {
  double quality_before = 1, quality = 1; ///< smallest scaled Jacobians of these bodies
  bool is_remeshed = false;               ///< by Gmsh, else only smoothed
  std::optional<MeshTransfer> transfer;   ///< where it is remeshed, on the first rank
};

/// An experiment at some values of its parameters, its solver at the start of the run.
class ExperimentProblem : public inverse::ForwardProblem {
public:
  /// Whether the objective looks at a state, and has not been shown it yet.
  virtual bool is_missing(const stepping::StepRecord& record) const = 0;
  /// @throws InputError where a term of the objective has no derivative, after all states have been shown.
  virtual void require_derivatives() const = 0;
  /// What its run stores. Collective.
  virtual std::unique_ptr<RunOutput> make_output() = 0;
  /// Tells how this problem is distributed over the ranks from another way. Not collective.
  virtual std::int64_t fingerprint() const = 0;
  /// What derivatives of its run suffer from; empty: nothing.
  virtual std::string warning_of_run() { return {}; }
};

template <int dim>
class FieldExperiment;
template <int dim>
class GradientChain;
template <int dim>
class TangentChain;

/// What problems of FieldExperiment share: they have an Observation, and chains between the values of the
/// parameters and what the steps of their solver depend on.
template <int dim>
class ObservedProblem : public ExperimentProblem {
public:
  /// `model` must outlive it.
  explicit ObservedProblem(const FieldExperiment<dim>& model) : model_(model) {}

  virtual const Observation<dim>& observation() const = 0;

  GlobalIndex num_steps() const override;
  void observe(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
               std::span<const double> internal) override {
    observed().see(record, u, v, internal);
  }
  void keep_residuals() override { observed().keep_residuals(); }
  std::vector<std::string> places_of_terms() const override;
  std::unique_ptr<inverse::AdjointProblem> adjoint(GlobalIndex num_records) override;
  std::unique_ptr<inverse::TangentProblem> tangent(const std::vector<ParameterValues>& directions,
                                                   GlobalIndex num_records) override;
  std::unique_ptr<inverse::AdjointProblem> residual_adjoint(std::span<const double> y,
                                                            GlobalIndex num_records) override;

  // For its sweeps; all are collective.

  using ReverseStep =
      std::variant<std::unique_ptr<stepping::BdfReverseStep>, std::unique_ptr<stepping::MapReverseStep>>;
  using TangentStep =
      std::variant<std::unique_ptr<stepping::BdfTangentStep>, std::unique_ptr<stepping::MapTangentStep>>;
  virtual GradientChain<dim> gradient_chain() = 0;
  virtual TangentChain<dim> tangent_chain(std::vector<ParameterValues> directions) = 0;
  virtual ReverseStep reverse_step(GlobalIndex num_records, stepping::SweepProducts<dim>& products) = 0;
  virtual TangentStep tangent_step(GlobalIndex num_records, stepping::SweepDirections<dim>& directions) = 0;

  bool is_missing(const stepping::StepRecord& record) const override {
    return observation().is_missing(record);
  }
  void require_derivatives() const override;
  std::vector<double> terms() const override { return observation().values(); }
  bool is_least_squares() const override { return observation().is_least_squares(); }
  std::vector<double> residuals() const override { return observation().residuals; }

private:
  virtual Observation<dim>& observed() = 0;

  const FieldExperiment<dim>& model_;
};

/// An experiment of a study as a forward model: a scene, and the parameters of the study that act in it, in
/// the study's order, as fields of values.
class ExperimentModel : public inverse::ForwardModel {
public:
  /// Takes the meshes of `loaded`, whose output is that of set_output_for_sweep(); `study` and `interrupts`
  /// must outlive it, and a step of a problem ends early where a signal comes. Collective. @throws InputError
  /// on every rank, also for a state budget that one step does not fit in.
  static std::unique_ptr<ExperimentModel> create(const parallel::Communicator& comm, const Study& study,
                                                 int experiment, LoadedScene loaded,
                                                 const Interrupts& interrupts);

  std::unique_ptr<inverse::ForwardProblem> at(const ParameterValues& values) const final {
    return problem_at(values);
  }
  /// The problem that at() gives.
  virtual std::unique_ptr<ExperimentProblem> problem_at(const ParameterValues& values) const = 0;
  std::string parameter_name(std::size_t k) const override { return study_.parameters[parameters_[k]].name; }
  const parallel::Communicator& comm() const override { return comm_; }

  const Study& study() const { return study_; }
  int experiment() const { return experiment_; }
  const std::string& name() const { return study_.experiments[experiment_].name; }
  const Scene& scene() const { return loaded_.file.scene; }
  int dimension() const { return loaded_.dim; }
  /// How the study sweeps through runs.
  inverse::SweepSettings sweep_settings() const;
  /// The places of its objectives, for messages.
  std::vector<std::string> places_of_objectives() const;
  /// The parameters of the study that the fields belong to.
  const std::vector<int>& parameters() const { return parameters_; }
  const ParameterValues& start_values() const { return start_; }
  /// start values + factor * direction.
  ParameterValues values_along(const Direction& direction, double factor) const;
  /// The keys of its scene that say how exactly steps are solved.
  virtual std::string tolerance_keys() const;
  /// Names of the bodies or obstacles that the values of a field belong to; empty where it has none per body.
  virtual const std::vector<std::string>& bodies(std::size_t field) const = 0;
  /// Whether all ranks hold all values of a field.
  virtual bool is_replicated(std::size_t field) const = 0;

  /// The values of a field over all ranks. Collective.
  virtual FieldSlots slots(std::size_t field) const = 0;
  /// The slots of a field whose values this rank holds, in their order; the first owned_size() values are its
  /// own.
  virtual std::span<const GlobalIndex> local_slots(std::size_t field) const = 0;
  virtual std::size_t owned_size(std::size_t field) const = 0;

  /// Builds the problem and its objectives once, for what is only found wrong there. Collective. @throws as
  /// at().
  virtual ObjectiveKind check_start() const = 0;
  /// What the residuals of its problems are of, at any values. Collective. @pre it is a sum of squares.
  virtual ResidualRows residual_rows() const = 0;
  /// Observation::peaks() of its residuals; nothing where no objective is of bonded particles. Collective.
  /// @pre as residual_rows().
  virtual std::vector<ForcePeaks> peaks(std::span<const double> /*residuals*/) const { return {}; }
  /// Freezes the barrier stiffness where it is adaptive: a pilot run, whose largest one is taken and written
  /// to pilot.json and scene.json, or what an earlier pilot run has left in `folder`. The result is that
  /// value, if there was a pilot run. Collective. @throws Error where it fails or a signal comes.
  virtual std::optional<double> freeze_stiffness(const ExperimentFolder& /*folder*/) { return {}; }

  /// gradient . direction, each value counted once over all ranks. Collective.
  double derivative(const ParameterValues& gradient, const Direction& direction) const;
  /// Norm of the derivatives by the values of a field, each times the size of its value: what the objective
  /// changes by where these change by their size. Collective.
  double sensitivity(const ParameterValues& gradient, std::size_t field) const;
  /// The straight path from the rest shape at some values to that at others, as app::follow_shape_path();
  /// elements that become too bad are in the way, too. Empty where no parameter is a shape. Collective.
  /// @pre there is a problem at `from`.
  virtual ShapePath follow_shape_path(const ParameterValues& /*from*/, const ParameterValues& /*to*/) const {
    return {};
  }
  /// The smallest scaled Jacobian of the bodies that a shape moves, at rest; 1 without a shape. Collective.
  virtual double mesh_quality(const ParameterValues& /*values*/) const { return 1; }
  /// Writes the scene as write_scene(), with the vertices inside the bodies that a shape moves smoothed, or
  /// these meshed anew by Gmsh where smoothing leaves a scaled Jacobian below `wanted`; whatever is best.
  /// Collective. @throws as remesh_scene() on every rank.
  virtual RenewedScene write_renewed_scene(const ParameterValues& values, double /*wanted*/,
                                           const std::filesystem::path& folder) const {
    write_scene(values, folder);
    return {};
  }
  /// Writes the scene with values of the parameters, as write_scene_with_values(). Collective. @throws
  /// FileError on every rank.
  virtual void write_scene(const ParameterValues& values, const std::filesystem::path& folder) const = 0;
  /// Writes values of a field as write_in_file_order(), and reads them again. Collective. @throws FileError
  /// on every rank if the array is of another mesh or field.
  virtual void write_values(io::Hdf5Writer& file, const std::string& name, std::size_t field,
                            const std::vector<double>& values) const = 0;
  virtual std::vector<double> read_values(const io::Hdf5Reader& file, const std::string& name,
                                          std::size_t field) const = 0;
  /// Writes the arrays value, gradient and gradient_scaled of a field into the group `group`. Collective.
  void write_field(io::Hdf5Writer& file, const std::string& group, std::size_t field,
                   const ParameterValues& gradient) const;
  /// Write and read a known run (known_run_file.hpp) on the nodes of a problem that this has made; nothing
  /// where solves do not start near those of another run. Collective.
  virtual void write_known_run(const std::filesystem::path& /*path*/,
                               const inverse::ForwardProblem& /*problem*/,
                               const inverse::KnownRun& /*run*/) const {}
  virtual inverse::KnownRun read_known_run(const std::filesystem::path& /*path*/,
                                           const inverse::ForwardProblem& /*problem*/) const {
    return {};
  }

protected:
  ExperimentModel(const parallel::Communicator& comm, const Study& study, int experiment, LoadedScene loaded,
                  const Interrupts& interrupts)
      : comm_(comm), study_(study), experiment_(experiment), loaded_(std::move(loaded)),
        interrupts_(interrupts) {}
  void require_budget() const;
  /// A component of a direction, as component_of(), and the size of a value, as size_of().
  virtual double component_along(const Direction& direction, std::size_t field, std::size_t entry) const = 0;
  virtual double size_of_value(std::size_t field, double value) const = 0;

  const parallel::Communicator& comm_;
  const Study& study_;
  int experiment_;
  LoadedScene loaded_; ///< with the scene as it was resolved; a pilot run gives it its barrier stiffness
  const Interrupts& interrupts_;
  std::vector<int> parameters_;
  ParameterValues start_;
};

/// An experiment whose parameters are fields in `dim` dimensions. Where nothing is overridden, every rank
/// holds all values of a field; those per bond belong to the first one.
template <int dim>
class FieldExperiment : public ExperimentModel {
public:
  using ExperimentModel::ExperimentModel;

  /// The problem that problem_at() gives.
  virtual std::unique_ptr<ObservedProblem<dim>> observed_at(const ParameterValues& values) const = 0;
  std::unique_ptr<ExperimentProblem> problem_at(const ParameterValues& values) const final {
    return observed_at(values);
  }
  FieldSlots slots(std::size_t field) const override;
  ObjectiveKind check_start() const override { return observed_at(start_)->observation().kind(); }
  ResidualRows residual_rows() const override { return observed_at(start_)->observation().rows(); }
  void write_values(io::Hdf5Writer& file, const std::string& name, std::size_t field,
                    const std::vector<double>& values) const override;
  std::vector<double> read_values(const io::Hdf5Reader& file, const std::string& name,
                                  std::size_t field) const override;
  const std::vector<std::string>& bodies(std::size_t k) const override { return fields_[k].slot_names; }
  bool is_replicated(std::size_t k) const override {
    return fields_[k].extent == ParameterField<dim>::Extent::replicated;
  }
  std::span<const GlobalIndex> local_slots(std::size_t k) const override { return fields_[k].slot_ids; }
  std::size_t owned_size(std::size_t k) const override { return fields_[k].owned_size(); }
  const ParameterFields<dim>& fields() const { return fields_; }

protected:
  /// Reads what the fields start from. Collective. @throws InputError on every rank.
  void read_start();
  /// What the size of shapes is relative to [m].
  virtual double diagonal() const { return 1; }
  double component_along(const Direction& direction, std::size_t k, std::size_t entry) const override {
    return component_of(direction, fields_[k], diagonal(), start_[k], entry);
  }
  double size_of_value(std::size_t k, double value) const override {
    return size_of(fields_[k], diagonal(), value);
  }

  ParameterFields<dim> fields_;
};

template <int dim>
class ProblemOnMesh;

/// The model of a scene of finite elements in `dim` dimensions.
template <int dim>
class ExperimentOnMesh final : public FieldExperiment<dim> {
public:
  using ExperimentModel::scene, ExperimentModel::name, FieldExperiment<dim>::is_replicated;

  /// See create().
  ExperimentOnMesh(const parallel::Communicator& comm, const Study& study, int experiment, LoadedScene loaded,
                   const Interrupts& interrupts);

  int history() const override;
  std::unique_ptr<ObservedProblem<dim>> observed_at(const ParameterValues& values) const override;
  FieldSlots slots(std::size_t field) const override;
  ObjectiveKind check_start() const override;
  ResidualRows residual_rows() const override;
  std::optional<double> freeze_stiffness(const ExperimentFolder& folder) override;
  ShapePath follow_shape_path(const ParameterValues& from, const ParameterValues& to) const override;
  double mesh_quality(const ParameterValues& values) const override;
  RenewedScene write_renewed_scene(const ParameterValues& values, double wanted,
                                   const std::filesystem::path& folder) const override;
  void write_scene(const ParameterValues& values, const std::filesystem::path& folder) const override;
  void write_values(io::Hdf5Writer& file, const std::string& name, std::size_t field,
                    const std::vector<double>& values) const override;
  std::vector<double> read_values(const io::Hdf5Reader& file, const std::string& name,
                                  std::size_t field) const override;
  void write_known_run(const std::filesystem::path& path, const inverse::ForwardProblem& problem,
                       const inverse::KnownRun& run) const override;
  inverse::KnownRun read_known_run(const std::filesystem::path& path,
                                   const inverse::ForwardProblem& problem) const override;

  const mesh::DistributedMesh<dim>& mesh() const { return geometry_.mesh; }
  const OpenObjectives<dim>& objectives() const { return objectives_; }
  /// The discrete scene with these values, without objectives. Collective. @throws InputError on every rank.
  Variant<dim> variant(const Scene& scene, const ParameterValues& values) const;

private:
  double diagonal() const override { return (mesh().max_corner - mesh().min_corner).norm(); }
  /// The rest meshes at these values.
  mesh::DistributedMesh<dim> moved_mesh(const ParameterValues& values) const;
  RemeshedScene remesh(const std::filesystem::path& folder) const;
  /// The largest stiffness of a run.
  double run_pilot() const;
  /// The problem at the start values, before or after a pilot run.
  ProblemOnMesh<dim> at_start() const;

  using ExperimentModel::comm_, ExperimentModel::study_, ExperimentModel::experiment_,
      ExperimentModel::loaded_, ExperimentModel::interrupts_, ExperimentModel::start_,
      FieldExperiment<dim>::fields_;
  DistributedGeometry<dim> geometry_;
  std::vector<char> shaped_; ///< flags of the bodies that a shape moves
  OpenObjectives<dim> objectives_;
};

template <int dim>
class ProblemOnMesh final : public ObservedProblem<dim> {
public:
  /// `model` must outlive it; `scene` is that of the model, or one that differs in constants. Collective.
  /// @throws InputError on every rank.
  ProblemOnMesh(const ExperimentOnMesh<dim>& model, const Scene& scene, const ParameterValues& values);

  stepping::Solver& solver() override { return discrete().solver(); }
  const Observation<dim>& observation() const override { return observation_; }
  GradientChain<dim> gradient_chain() override;
  TangentChain<dim> tangent_chain(std::vector<ParameterValues> directions) override;
  typename ObservedProblem<dim>::ReverseStep reverse_step(GlobalIndex num_records,
                                                          stepping::SweepProducts<dim>& products) override {
    return discrete().solver().recorded_step(num_records, products);
  }
  typename ObservedProblem<dim>::TangentStep
  tangent_step(GlobalIndex num_records, stepping::SweepDirections<dim>& directions) override {
    return discrete().solver().tangent_step(num_records, directions);
  }

  std::unique_ptr<RunOutput> make_output() override;
  std::int64_t fingerprint() const override;
  std::string warning_of_run() override;
  DiscreteScene<dim>& discrete() { return *variant_.discrete; }
  const DiscreteScene<dim>& discrete() const { return *variant_.discrete; }

private:
  Observation<dim>& observed() override { return observation_; }

  const ExperimentOnMesh<dim>& model_;
  Variant<dim> variant_;
  Observation<dim> observation_;
};

} // namespace recoil::app
