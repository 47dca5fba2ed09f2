#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "recoil/app/scene/keys.hpp"
#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/app/study/base/study.hpp"
#include "recoil/parameters/physical_gradient.hpp"
#include "recoil/potentials/laws/law.hpp"

/// What a kind of parameter consists of. Each group of kinds is one source of this folder, named in
/// parameter_kind.cpp; reader, checks, runs, JSON Schema and docs/study.md know it by its rows alone.
namespace recoil::mesh_motion {
template <int dim>
class BoundaryExtension;
} // namespace recoil::mesh_motion

namespace recoil::app {

/// One parameter of a study in one experiment: how many values it has on this rank, and which of them acts
/// where. Values lie slot by slot, `components` numbers each.
template <int dim>
struct ParameterField {
  enum class Extent {
    replicated, ///< every rank holds all slots
    cells,      ///< one slot per selected local cell, owned ones first
    vertices,   ///< one slot per selected local mesh vertex, owned ones first
    nodes,      ///< one slot per selected owned node of the function space
    bonds       ///< one slot per bond of the selected bodies; every rank holds all, the first one owns them
  };

  const ParameterSpec* spec = nullptr;
  int index = 0; ///< in Study::parameters
  Extent extent = Extent::replicated;
  int components = 1;
  /// Per slot: 0, 1, .., input ids of cells or vertices, canonical numbers of nodes, or numbers of bonds.
  std::vector<GlobalIndex> slot_ids;
  std::size_t num_owned_slots = 0; ///< whose gradient is this rank's; replicated: all
  GlobalIndex num_rows = 0; ///< of files: cells, vertices, nodes or bonds of all bodies; replicated: slots

  /// Per local cell the slot that acts there, -1 = none; for quantities of cells, body forces and initial
  /// fields per body.
  std::vector<LocalIndex> slot_of_cell;
  /// Per slot the body or obstacle that it is the value of; of parameters per body.
  std::vector<std::string> slot_names;
  /// Per body of the mesh its slot, -1 = none; where slot_of_cell is the same all over a body.
  std::vector<LocalIndex> slot_of_body;
  /// Per obstacle the slot that moves it, -1 = none; for obstacle motions.
  std::vector<LocalIndex> slot_of_obstacle;
  /// As slot_of_cell per local mesh vertex, for fields per vertex; slot_of_cell then only tells which cells
  /// they act in.
  std::vector<LocalIndex> slot_of_vertex;
  /// Canonical numbers of all owned nodes, ascending, and the slot of each, -1 = none; of fields per node.
  /// The order of local nodes is another one for every shape.
  std::vector<GlobalIndex> node_ids;
  std::vector<LocalIndex> slot_of_node;
  /// Per local mesh vertex the slots that move it, with their weights; of a shape with a vector per slot.
  std::vector<std::vector<std::pair<LocalIndex, double>>> shape_weights;
  /// Displacement of the local mesh vertices by the modes of a shape, which has a number per slot: entry
  /// (vertex * slots + slot) * dim + component.
  std::vector<double> shape_modes;
  /// What makes the other vertices follow those that the slots of a shape move; null: they stay.
  std::shared_ptr<const mesh_motion::BoundaryExtension<dim>> extension;
  /// Per value of a shape that at which the meshes of the scene are.
  std::vector<double> shape_origin;

  /// act(slot, weight) for the slots that a local cell takes its value from: its own, or those of its
  /// vertices, between which a field is linear and taken at the centroid.
  template <class Act>
  void for_slots_of_cell(const mesh::DistributedMesh<dim>& mesh, std::size_t cell, Act act) const {
    if (slot_of_cell[cell] < 0) return;
    if (extent != Extent::vertices) return act(slot_of_cell[cell], 1.0);
    for (const LocalIndex vertex : mesh.cells[cell]) act(slot_of_vertex[vertex], 1.0 / (dim + 1));
  }

  /// The slot of an owned node by its canonical number, of fields per node; -1 = none.
  LocalIndex slot_at_node(GlobalIndex id) const {
    return slot_of_node[std::ranges::lower_bound(node_ids, id) - node_ids.begin()];
  }

  std::size_t size() const { return slot_ids.size() * components; }
  std::size_t owned_size() const { return num_owned_slots * components; }
};

/// Those of one field on this rank.
using FieldValues = std::span<const double>;
/// All that act in an experiment, in the order of the study.
template <int dim>
using ParameterFields = std::vector<ParameterField<dim>>;

/// Gives the fields of an experiment their slots.
template <int dim>
class SlotBuilder {
public:
  using Field = ParameterField<dim>;

  SlotBuilder(const Scene& scene, const DistributedGeometry<dim>& geometry)
      : scene(scene), geometry(geometry) {}

  [[noreturn]] static void refuse(const ParameterSpec& spec, const char* key, const std::string& why);
  /// The parameter acts in a local cell, by its body and volume id.
  bool selects(const ParameterSpec& spec, std::size_t cell) const;
  /// Refuses a parameter that acts in no element, or in none with one of its volume ids; it acts in `count`
  /// elements of this rank. Collective. @throws InputError on every rank.
  void require_cells(const ParameterSpec& spec, GlobalIndex count) const;
  /// Slots that every rank holds, numbered from 0.
  static void replicate(Field& field, std::size_t num_slots);
  /// Slots of cells, bodies or vertices, or one for all, as `per` says. Collective. @pre not per node.
  void spread(Field& field) const;
  /// A slot for every flagged local vertex.
  void add_vertex_slots(Field& field, const std::vector<char>& flags) const;
  /// A slot for every flagged owned node of `space`.
  static void add_node_slots(Field& field, const fem::FunctionSpace<dim>& space,
                             const std::vector<char>& flags);
  /// The space of the scene on its first shape; canonical numbers of nodes are the same on all. Collective.
  fem::FunctionSpace<dim> make_space() const;
  /// Flags of the local vertices of selected cells. A vertex that this rank knows may have its selected cells
  /// elsewhere; the owner has all cells around it. Collective.
  std::vector<char> selected_vertices(const ParameterSpec& spec) const;

  const Scene& scene;
  const DistributedGeometry<dim>& geometry;

private:
  void spread_over_cells(Field& field) const;
  void spread_over_vertices(Field& field) const;
};

/// The fields of experiment `experiment`. Collective.
/// @throws InputError on every rank, at the parameter's place, for a region without elements and for what has
/// no derivative here.
template <int dim>
ParameterFields<dim> make_parameter_fields(const Study& study, int experiment, const Scene& scene,
                                           const DistributedGeometry<dim>& geometry);

struct ExperimentScene;
struct ParticleActions;
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

/// The action on constants of a material and body forces, and its weights.
template <int dim>
void apply_to_cells(const ParameterField<dim>& field, FieldValues values, const VariantInputs<dim>& to);
template <int dim>
void cell_weights(const WeightsOf<dim>& of, const TakeWeight& take);

/// How many values in time a parameter has.
std::size_t num_steps_of(const ParameterSpec& spec, const TimeSpec& time);
/// One slot, or one per step.
template <int dim>
void make_step_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field);
/// Components of values per step as factors of time: the values at the ends of the steps, linear between,
/// zero at the start.
std::vector<TimeFactor> step_tables(const TimeSpec& time, FieldValues values, int components);
/// Which values act at a time, and their weights: those of step_tables(), or the only one.
struct SlotWeight {
  std::size_t slot;
  double weight;
};
std::vector<SlotWeight> step_weights(const ParameterSpec& spec, const TimeSpec& time, double now);

/// One row of the table of kinds. `takes` and `needs` name the keys of a parameter beside those that
/// all have (`name`, `quantity`, `experiment`, `initial`, `bounds`, `scale`, `prior`, `tie`). A later row of
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
  bool is_elastic = false;   ///< a constant of a law
  bool turns_bodies = false; ///< at the start
  bool is_strength = false;  ///< of bonds
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
  /// "poisson_ratio must lie between -1 and 0.5 (both excluded)"
  std::string possible_values() const;
  bool takes_key(const std::string& key) const { return holds(takes, key); }
};

/// How the values of a parameter act.
template <int dim>
const ParameterActions<dim>& actions_of(const ParameterSpec& spec) {
  return spec.kind->row_for(spec.per).template actions<dim>();
}

std::span<const ParameterKind> parameter_kinds();
/// nullptr for an unknown name.
const ParameterKind* find_parameter_kind(const std::string& name);

/// Number of components of one value in `dim` dimensions. @pre not Components::basis.
int num_components(Components components, int dim);

const char* name_of(Per per);

/// The keys that choose cells.
std::vector<std::string> cell_keys();

} // namespace recoil::app
