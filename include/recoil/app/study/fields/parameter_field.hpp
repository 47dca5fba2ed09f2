#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/app/study/base/study.hpp"

namespace recoil::mesh_motion {
template <int dim>
class BoundaryExtension;
} // namespace recoil::mesh_motion

namespace recoil::app {

/// A parameter of a study in one experiment: how many values it has on this rank, and which of them acts
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
  /// Per local mesh vertex its slot, -1 = none, for fields per vertex; slot_of_cell then only tells which
  /// cells they act in.
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

/// The values of one field on this rank.
using FieldValues = std::span<const double>;
/// All parameters that act in an experiment, in the order of the study.
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

} // namespace recoil::app
