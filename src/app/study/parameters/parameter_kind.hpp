#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "app/study/parameters/parameter_field.hpp"
#include "recoil/parameters/physical_gradient.hpp"
#include "recoil/potentials/laws/law.hpp"

/// What a kind of parameter consists of. Each group of kinds is one source of this folder and one row of
/// registry.cpp; reader, checks, runs, JSON Schema and docs/study.md know it by its rows alone.
namespace recoil::app {

struct ExperimentScene;
template <int dim>
struct SceneDraft;

enum class Components {
  one,    ///< a number
  vector, ///< one per space dimension
  spin,   ///< 1 in 2D, 3 in 3D
  basis   ///< as many as the `basis` of a shape has
};

/// What values are put into before the problem of an experiment is built.
template <int dim>
struct VariantInputs {
  Scene& scene;
  DistributedGeometry<dim>& geometry;
  CellOverrides& overrides;
};

/// The equations that values enter, each with its own functions in the sweeps.
enum class Enters {
  terms,      ///< potentials, mass and objectives
  loads,      ///< potentials, by what varies in time
  prescribed, ///< prescribed displacements of the space at a time
  obstacles,  ///< those of obstacles at a time
  initial     ///< initial displacement and velocity
};

/// When a derivative is wanted, and of which part of prescribed displacements.
struct Moment {
  double time = 0, load_factor = 1;
};

/// Which derivatives are wanted: those of `quantity` by the values of the first of `fields`; the others are
/// put into the initial state later.
template <int dim>
struct WeightsOf {
  const parameters::Quantity& quantity;
  std::span<const ParameterField<dim>> fields;
  DiscreteScene<dim>& discrete;
  Moment at;
};

/// Takes d entry / d value. Both count single numbers, those of vectors one by one.
using TakeWeight = std::function<void(std::size_t value, std::size_t entry, double weight)>;

/// How the values of a field act on a discrete scene, and the derivative of that; null: nothing to do at this
/// place.
template <int dim>
struct ParameterActions {
  using Field = ParameterField<dim>;
  using Values = std::span<const double>;

  /// Makes the slots of the field, whose `components` are set but for a basis; null: one slot. Collective.
  /// @throws InputError on every rank.
  void (*make_slots)(const SlotBuilder<dim>&, Field&) = nullptr;
  /// Refuses what the elements of the mesh do not allow. Not collective. @throws InputError.
  void (*check_cells)(const SlotBuilder<dim>&, const ParameterSpec&) = nullptr;
  /// Puts values into what the problem is built from.
  void (*apply)(const Field&, Values, const VariantInputs<dim>&) = nullptr;
  /// Says in a scene that is to be written what apply() or apply_to_state() change. Collective.
  void (*write)(const Field&, Values, SceneDraft<dim>&) = nullptr;
  /// Puts values into the initial state.
  void (*apply_to_state)(const Field&, Values, const fem::FunctionSpace<dim>&, stepping::State&) = nullptr;
  Enters enters = Enters::terms;
  /// Gives all derivatives that are not zero, of ParameterKind::quantities at the places of a
  /// PhysicalDirection, and of owned nodes. Collective.
  void (*weights)(const WeightsOf<dim>&, const TakeWeight&) = nullptr;
};

/// The action on constants of a material and body forces, and its weights.
template <int dim>
void apply_to_cells(const ParameterField<dim>& field, std::span<const double> values,
                    const VariantInputs<dim>& to);
template <int dim>
void cell_weights(const WeightsOf<dim>& of, const TakeWeight& take);

/// How many values in time a parameter has.
std::size_t num_steps_of(const ParameterSpec& spec, const TimeSpec& time);
/// One slot, or one per step.
template <int dim>
void make_step_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field);
/// Components of values per step as factors of time: the values at the ends of the steps, linear between,
/// zero at the start.
std::vector<TimeFactor> step_tables(const TimeSpec& time, std::span<const double> values, int components);
/// Which values act at a time, and their weights: those of step_tables(), or the only one.
struct SlotWeight {
  std::size_t slot;
  double weight;
};
std::vector<SlotWeight> step_weights(const ParameterSpec& spec, const TimeSpec& time, double now);

/// One row of the table of kinds. `takes` and `needs` name the keys of a parameter beside those that
/// all have (`name`, `quantity`, `experiment`, `initial`, `bounds`, `scale`, `prior`, `tie`).
struct ParameterKind {
  const char* name;
  const char* unit = nullptr; ///< nullptr: none
  Components components = Components::one;
  std::vector<std::string> takes = {}, needs = {};
  std::vector<Per> per = {Per::global}; ///< more than one only with the key `per`; the first is the default
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity(); ///< physically possible values
  bool min_open = true, max_open = true;
  std::string doc;
  /// The constant of a material that it stands for, by its name in a scene; empty for other kinds.
  std::string constant = {};
  /// The physical quantities that its values change.
  std::vector<parameters::Quantity> quantities = {};
  bool is_elastic = false;   ///< a constant of a law
  bool turns_bodies = false; ///< at the start
  /// The law that brings this constant along, and what it is there; nullptr for other kinds.
  const potentials::LawInfo* law = nullptr;
  const potentials::LawParameter* parameter = nullptr;

  /// Refuses what does not fit the scene of an experiment. @throws InputError.
  void (*check)(const ExperimentScene& at, const ParameterSpec& parameter);
  ParameterActions<2> in_2d;
  ParameterActions<3> in_3d;

  template <int dim>
  const ParameterActions<dim>& actions() const {
    if constexpr (dim == 2)
      return in_2d;
    else
      return in_3d;
  }
  bool changes(const parameters::Quantity& quantity) const {
    return std::ranges::find(quantities, quantity) != quantities.end();
  }
  bool is_possible(double value) const;
  bool takes_key(const std::string& key) const;
};

std::span<const ParameterKind> parameter_kinds();
/// nullptr for an unknown name.
const ParameterKind* find_parameter_kind(const std::string& name);

/// Number of components of one value in `dim` dimensions. @pre not Components::basis.
int num_components(Components components, int dim);

const char* name_of(Per per);

/// The keys that choose cells.
std::vector<std::string> cell_keys();

} // namespace recoil::app
