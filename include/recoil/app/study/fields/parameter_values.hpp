#pragma once

#include <filesystem>
#include <memory>

#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/inverse/field_prior.hpp"
#include "recoil/inverse/forward_problem.hpp"

/// Values of the parameters of an experiment: where they start, directions to go in, and what they make of
/// the scene.
namespace recoil::app {

/// The files that start values come from: also the fit.h5 next to a fit.json.
std::vector<std::filesystem::path> files_of_start(const StartFile& start);

/// The values that a field starts from, slot by slot, ghosts included: those of the study or of a file, where
/// an array has a row per element, vertex or node of all bodies in file order, or per step or body.
/// Collective.
/// @throws InputError on every rank, at `initial`, for a file that cannot be read, an array of another size,
/// a parameter that a fit.json does not have, and values that are not finite, not possible or out of the
/// bounds.
template <int dim>
std::vector<double> read_start_values(const ParameterField<dim>& field, const parallel::Communicator& comm);

using inverse::ParameterValues;

/// The slots of a parameter, over all ranks, with `components` numbers each.
struct ParameterSlots {
  int parameter = 0; ///< index in Study::parameters
  int components = 1;
  bool is_replicated = true;    ///< else one slot per element or vertex
  std::vector<GlobalIndex> ids; ///< per slot: 0, 1, .. or input ids of cells or vertices, ascending
  /// Bodies or obstacles, each with equally many slots in a row; empty where there is no value per body.
  std::vector<std::string> names;
  GlobalIndex num_rows = 0; ///< elements or vertices of all bodies
  /// The elements of the slots, in their order, where the prior is correlated: in the first experiment of the
  /// parameter, which has the same elements in all.
  inverse::ElementMesh mesh = {};
};

/// The values that a parameter has in one experiment.
struct FieldSlots : ParameterSlots {
  std::vector<double> start; ///< values to start from
  std::vector<double> sizes; ///< what relative changes of values are relative to

  std::size_t slots_per_name() const { return ids.size() / names.size(); }
};

/// The slots of all parameters that act in an experiment.
using ExperimentSlots = std::vector<FieldSlots>;

/// A scene with the values of the parameters in the place of its own.
template <int dim>
struct Variant {
  std::unique_ptr<Scene> scene; ///< stays where it is: the problem refers to it
  std::unique_ptr<DiscreteScene<dim>> discrete;
};

/// Puts values into what the problem of an experiment is built from.
template <int dim>
void apply_parameters(const ParameterFields<dim>& fields, const ParameterValues& values,
                      const VariantInputs<dim>& to);

/// Builds the problem of an experiment with the given values and puts its solver at the start.
/// @param scene of the experiment, with a fixed barrier stiffness.
/// @param geometry rest shape of the scene. Collective.
/// @throws InputError on every rank for values that are not admissible: inverted elements, intersections.
template <int dim>
Variant<dim> make_variant(const Scene& scene, const DistributedGeometry<dim>& geometry,
                          const ParameterFields<dim>& fields, const ParameterValues& values);

/// A direction in the space of parameter values, drawn from a seed: the same on any number of ranks and in
/// all experiments; components between -1 and 1.
struct Direction {
  int seed = 0;
  int only = -1; ///< index of the one parameter that changes; -1 = all
};

/// What a relative change of a value is relative to: its absolute value, that of the largest start value
/// where it is zero, 1 where all are; of a shape the `diagonal` of the mesh. Not collective.
template <int dim>
double size_of(const ParameterField<dim>& field, double diagonal, double value);

/// Component of a direction times the size of the value that it changes. `values`: of `field`. Not
/// collective.
template <int dim>
double component_of(const Direction& direction, const ParameterField<dim>& field, double diagonal,
                    const std::vector<double>& values, std::size_t entry);

} // namespace recoil::app
