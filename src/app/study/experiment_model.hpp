#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/study/design_space.hpp"
#include "app/study/direction.hpp"
#include "app/study/experiment_objectives.hpp"
#include "recoil/app/simulation/interrupts.hpp"
#include "recoil/app/simulation/load_geometry.hpp"
#include "recoil/app/study/study.hpp"
#include "recoil/inverse/forward_problem.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

/// One experiment of a study as a forward model: a scene on its mesh, and the parameters of the study that
/// act in it, in the study's order, as fields of values.
class ExperimentModel : public inverse::ForwardModel {
public:
  virtual const std::string& name() const = 0;
  virtual const Scene& scene() const = 0;
  /// The parameters of the study that the fields belong to.
  virtual std::vector<int> parameters() const = 0;
  virtual const ParameterValues& start_values() const = 0;
  /// start values + factor * direction.
  virtual ParameterValues values_along(const Direction& direction, double factor) const = 0;
  /// Names of the bodies or obstacles that the values of a field belong to; empty where it has none per body.
  virtual std::vector<std::string> bodies(std::size_t field) const = 0;
  /// Whether all ranks hold all values of a field.
  virtual bool is_replicated(std::size_t field) const = 0;

  /// The values of a field over all ranks. Collective.
  virtual FieldSlots slots(std::size_t field) const = 0;
  /// The slots of a field whose values this rank holds, in their order; the first num_owned_slots() are its
  /// own.
  virtual std::span<const GlobalIndex> local_slots(std::size_t field) const = 0;
  virtual std::size_t num_owned_slots(std::size_t field) const = 0;

  /// gradient . direction, each value counted once over all ranks. Collective.
  virtual double derivative(const ParameterValues& gradient, const Direction& direction) const = 0;
  /// Norm of the derivatives by the values of a field, each times the size of its value: what the objective
  /// changes by where these change by their size. Collective.
  virtual double sensitivity(const ParameterValues& gradient, std::size_t field) const = 0;
  /// Writes the scene with values of the parameters, as write_scene_with_values(). Collective. @throws
  /// FileError on every rank.
  virtual void write_scene(const ParameterValues& values, const std::filesystem::path& folder) const = 0;
  /// Writes the arrays value, gradient and gradient_scaled of a field into the group `group`. Collective.
  virtual void write_field(io::Hdf5Writer& file, const std::string& group, std::size_t field,
                           const ParameterValues& gradient) const = 0;
};

/// That of a scene of `dim` dimensions.
template <int dim>
class ExperimentOnMesh final : public ExperimentModel {
public:
  /// Takes the meshes of `loaded`; `study` and `interrupts` must outlive it, and a step of a problem ends
  /// early where a signal comes. @throws InputError on every rank.
  ExperimentOnMesh(const parallel::Communicator& comm, const Study& study, int experiment, LoadedScene loaded,
                   const Interrupts& interrupts);

  std::unique_ptr<inverse::ForwardProblem> at(const ParameterValues& values) const override;
  std::string parameter_name(std::size_t k) const override { return fields_[k].spec->name; }
  int history() const override { return scene().time.kind == TimeKind::dynamic ? scene().time.bdf_order : 1; }
  const parallel::Communicator& comm() const override { return comm_; }

  const std::string& name() const override { return study_.experiments[experiment_].name; }
  const Scene& scene() const override { return loaded_.file.scene; }
  std::vector<int> parameters() const override;
  const ParameterValues& start_values() const override { return start_; }
  ParameterValues values_along(const Direction& direction, double factor) const override;
  std::vector<std::string> bodies(std::size_t field) const override { return fields_[field].slot_names; }
  bool is_replicated(std::size_t field) const override {
    return fields_[field].extent == ParameterField<dim>::Extent::replicated;
  }
  FieldSlots slots(std::size_t field) const override;
  std::span<const GlobalIndex> local_slots(std::size_t field) const override {
    return fields_[field].slot_ids;
  }
  std::size_t num_owned_slots(std::size_t field) const override { return fields_[field].num_owned_slots; }
  double derivative(const ParameterValues& gradient, const Direction& direction) const override;
  double sensitivity(const ParameterValues& gradient, std::size_t field) const override;
  void write_scene(const ParameterValues& values, const std::filesystem::path& folder) const override;
  void write_field(io::Hdf5Writer& file, const std::string& group, std::size_t field,
                   const ParameterValues& gradient) const override;

  const Study& study() const { return study_; }
  int experiment() const { return experiment_; }
  /// With the scene as it was resolved; a pilot run gives it its barrier stiffness.
  SceneFile& scene_file() { return loaded_.file; }
  const mesh::DistributedMesh<dim>& mesh() const { return geometry_.mesh; }
  const std::vector<ParameterField<dim>>& fields() const { return fields_; }
  const OpenObjectives<dim>& objectives() const { return objectives_; }
  /// The discrete scene with these values, without objectives. Collective. @throws InputError on every rank.
  Variant<dim> variant(const Scene& scene, const ParameterValues& values) const;

private:
  const parallel::Communicator& comm_;
  const Study& study_;
  int experiment_;
  LoadedScene loaded_;
  DistributedGeometry<dim> geometry_;
  std::vector<ParameterField<dim>> fields_;
  OpenObjectives<dim> objectives_;
  const Interrupts& interrupts_;
  ParameterValues start_;
};

} // namespace recoil::app
