#pragma once

#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "recoil/app/scene/keys.hpp"
#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/app/study/fields/parameter_field.hpp"
#include "recoil/parameters/physical_gradient.hpp"
#include "recoil/potentials/laws/law.hpp"

/// What a kind of parameter consists of. Reader, checks, runs, JSON Schema and docs/study.md know a kind only
/// by its row; the rows are in src/app/study/kinds.
namespace recoil::app {

struct ExperimentScene;
struct ParticleActions;
template <int dim>
struct SceneDraft;

enum class Components {
  one,    ///< a number
  vector, ///< one per space dimension
  matrix, ///< one per entry of a matrix, row by row
  spin,   ///< 1 in 2D, 3 in 3D
  basis   ///< the number that the `basis` of a shape has
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
  obstacles,  ///< motions of obstacles at a time
  initial     ///< initial displacement and velocity
};

/// When a derivative is wanted, and of which part of prescribed displacements.
struct Moment {
  double time = 0, load_factor = 1;
};

/// The derivatives that are wanted: of `quantity` by the values of the first of `fields`; the others are
/// put into the initial state later.
template <int dim>
struct WeightsOf {
  const parameters::Quantity& quantity;
  std::span<const ParameterField<dim>> fields;
  DiscreteScene<dim>& discrete;
  Moment at;

  const Scene& scene() const { return discrete.scene(); }
  const ParameterField<dim>& field() const { return fields.front(); }
};

/// Takes d entry / d value. Both count single numbers, those of vectors one by one.
using TakeWeight = std::function<void(std::size_t value, std::size_t entry, double weight)>;

/// How the values of a field act on a discrete scene, and the derivative of that; null: nothing to do at this
/// place.
template <int dim>
struct ParameterActions {
  using Field = ParameterField<dim>;

  /// Makes the slots of the field, whose `components` are set but for a basis; null: one slot. Collective.
  /// @throws InputError on every rank.
  void (*make_slots)(const SlotBuilder<dim>&, Field&) = nullptr;
  /// Refuses what the elements of the mesh do not allow. Not collective. @throws InputError.
  void (*check_cells)(const SlotBuilder<dim>&, const ParameterSpec&) = nullptr;
  /// Puts values into what the problem is built from. Collective.
  void (*apply)(const Field&, FieldValues, const VariantInputs<dim>&) = nullptr;
  /// Says in a scene that is to be written what apply() or apply_to_state() change. Collective.
  void (*write)(const Field&, FieldValues, SceneDraft<dim>&) = nullptr;
  /// Puts values into the initial state.
  void (*apply_to_state)(const Field&, FieldValues, const fem::FunctionSpace<dim>&,
                         stepping::State&) = nullptr;
  Enters enters = Enters::terms;
  /// Gives all derivatives that are not zero, of ParameterKind::quantities at the places of a
  /// PhysicalDirection, and of owned nodes. Collective.
  void (*weights)(const WeightsOf<dim>&, const TakeWeight&) = nullptr;
};

/// A row of the table of kinds. `takes` and `needs` name the keys of a parameter besides those that all
/// have (`name`, `quantity`, `experiment`, `initial`, `bounds`, `scale`, `prior`, `tie`). A later row of
/// the same name adds its `per` to the kind, whose values are checked and act as it says; keys and text that
/// it has are then those of the kind.
struct ParameterKind {
  const char* name;
  const char* unit = nullptr; ///< nullptr: none
  Components components = Components::one;
  std::vector<std::string> takes = {}, needs = {};
  std::vector<Per> per = {Per::global}; ///< more than one only with the key `per`; the first is the default
  Range range = {};                     ///< physically possible values
  std::string doc = {};
  /// The constant of a material that it stands for, by its name in a scene; empty for other kinds.
  std::string constant = {};
  /// The physical quantities that its values change.
  std::vector<parameters::Quantity> quantities = {};
  bool is_elastic = false;     ///< a constant of a law
  bool turns_bodies = false;   ///< at the start
  bool is_strength = false;    ///< of bonds
  bool moves_supports = false; ///< prescribes motion
  /// The law that brings this constant along, and what it is there; nullptr for other kinds.
  const potentials::LawInfo* law = nullptr;
  const potentials::LawParameter* parameter = nullptr;

  /// Refuses what does not fit the scene of an experiment. @throws InputError.
  void (*check)(const ExperimentScene& at, const ParameterSpec& parameter);
  std::tuple<ParameterActions<2>, ParameterActions<3>> by_dimension;
  /// In scenes of bonded particles; null: not there.
  const ParticleActions* on_particles = nullptr;
  std::vector<ParameterKind> later = {}; ///< rows of the same name; the registry fills it

  /// The row whose check and actions are those of values of a `per`.
  const ParameterKind& row_for(Per of) const {
    for (const ParameterKind& row : later)
      if (holds(row.per, of)) return row;
    return *this;
  }
  template <int dim>
  const ParameterActions<dim>& actions() const {
    return std::get<ParameterActions<dim>>(by_dimension);
  }
  /// Moduli, densities, strengths: optimisers see their logarithms by default.
  bool is_positive() const { return range.min >= 0 && range.min_open; }
  bool changes(const parameters::Quantity& quantity) const { return holds(quantities, quantity); }
  /// "poisson_ratio must be > -1 and <= 0.5"
  std::string possible_values() const;
  bool takes_key(const std::string& key) const { return holds(takes, key); }
};

/// How the values of a parameter act.
template <int dim>
const ParameterActions<dim>& actions_of(const ParameterSpec& spec) {
  return spec.kind->row_for(spec.per).template actions<dim>();
}

/// The fields of experiment `experiment`. Collective.
/// @throws InputError on every rank, at the parameter's place, for a region without elements and for what has
/// no derivative here.
template <int dim>
ParameterFields<dim> make_parameter_fields(const Study& study, int experiment, const Scene& scene,
                                           const DistributedGeometry<dim>& geometry);

/// Number of components of one value in `dim` dimensions. @pre not Components::basis.
int num_components(Components components, int dim);

} // namespace recoil::app
