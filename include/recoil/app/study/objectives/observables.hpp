#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/app/study/base/study.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/objectives/material_points.hpp"
#include "recoil/objectives/observable.hpp"
#include "recoil/objectives/target.hpp"

/// What objectives ask the experiments of a solver, whichever it is.
namespace recoil::app {

template <int dim>
struct MeshRows;

/// What a type of objective asks for; a solver has some of these.
enum class ObservableKind {
  points,
  point_ids, ///< of selections of points
  strain,
  center_of_mass,
  volume_moment,
  field,
  boundary,
  support_force,
  contact_forces,
  elastic_energy,
  cell_stress,
  stress,
  rest_shape,
  surfaces,
  elastic_constants
};
/// In words, for messages.
const char* name_of(ObservableKind kind);

/// A mean of material points, which moves with the bodies.
template <int dim>
using PointGroup = std::vector<objectives::MaterialPoint<dim>>;

/// Says that the checks of a study have let through what a solver does not have.
[[noreturn]] void lacks_observable();

/// An experiment as its files give it, before a parameter moves anything: what belongs to its points and
/// meshes, for solvers that have such. Members are collective.
template <int dim>
class Specimen {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  Specimen(const parallel::Communicator& comm, const Study& study, int experiment, const Scene& scene)
      : study(study), experiment(experiment), scene(scene), comm_(comm) {}
  virtual ~Specimen() = default;

  const Study& study;
  int experiment; ///< index in Study::experiments
  const Scene& scene;

  const parallel::Communicator& comm() const { return comm_; }
  /// The material points of a body at rest positions, nothing for those outside of it.
  virtual std::vector<std::optional<objectives::MaterialPoint<dim>>>
  locate(const std::string& /*body*/, std::span<const Point> /*rests*/) const {
    lacks_observable();
  }
  /// A single one; the last argument is what errors name: "marker 'tip'". @throws InputError on every rank
  /// for a position outside of the body.
  virtual objectives::MaterialPoint<dim> locate(const std::string& /*body*/, const Point& /*rest*/,
                                                const std::string& /*what*/) const {
    lacks_observable();
  }
  /// The points of a body that a selection gives an id. @throws InputError at `where` on every rank where
  /// there are none.
  virtual PointGroup<dim> select(const std::string& body, int id, const std::string& where) const {
    throw InputError(where, "no point of '" + body + "' has the id " + std::to_string(id) +
                                "; give the marker a position, `rest`");
  }
  /// Nodes and cells as trajectories of the experiment hold them, and the array of their displacements.
  virtual MeshRows<dim> rows() const;
  virtual const char* displacement_array() const { lacks_observable(); }

private:
  const parallel::Communicator& comm_;
};

/// Prescribed nodes or particles of a boundary, or an obstacle, and the force along a direction of unit
/// length that they bear.
template <int dim>
struct Support {
  Eigen::Matrix<double, dim, 1> direction;
  std::optional<int> boundary;
  std::string obstacle; ///< without a boundary
  const Places& where;  ///< for messages
};

/// Forces of contact that are looked at.
struct ContactForces {
  std::vector<std::string> bodies;                  ///< none: all
  std::optional<potentials::FacetSelection> facets; ///< whose nodes count; none: all
  std::optional<double> distance; ///< dhat of a barrier of its own of stiffness 1 [m]; none: that of the run
};

/// What can be seen of the states of one run. Types of objectives say what they ask for, and checks refuse
/// what a solver does not have: ObservableKind. It need not outlive what it makes; its problem must. Members
/// are collective, and throw InputError on every rank. No `bodies` are all of them.
template <int dim>
class Observables {
public:
  using Point = Eigen::Matrix<double, dim, 1>;
  using Bodies = std::vector<std::string>;
  using Made = std::unique_ptr<objectives::Observable<dim>>;

  /// @param follows_velocities u + t v is the displacement a time t after a state, to first order.
  Observables(const parallel::Communicator& comm, const Scene& scene, bool follows_velocities)
      : comm_(comm), scene_(scene), follows_velocities_(follows_velocities) {}
  virtual ~Observables() = default;
  const Scene& scene() const { return scene_; }
  const parallel::Communicator& comm() const { return comm_; }
  bool follows_velocities() const { return follows_velocities_; }

  /// dim numbers for each group.
  virtual Made points(objectives::PointVector, const std::vector<PointGroup<dim>>& /*groups*/) const {
    lacks_observable();
  }
  /// As objectives::observe_strain().
  virtual Made strain(const objectives::MaterialPoint<dim>&, const Point& /*direction*/) const {
    lacks_observable();
  }
  /// The centre of mass, dim numbers, which depends on densities. The name is the objective's, for messages.
  virtual Made center_of_mass(const char* /*name*/, const Bodies&) const { lacks_observable(); }
  /// The integral of positions over the rest volume, dim numbers.
  virtual Made volume_moment(const Bodies&) const { lacks_observable(); }
  /// sqrt(w) (f - f*) at points of the rest volume, or of facets, with weights w, as
  /// objectives::observe_deviation().
  virtual Made deviation(const char* /*name*/, const Bodies&, objectives::VectorField,
                         objectives::ReferenceField,
                         const std::optional<potentials::FacetSelection>& /*facets*/ = {},
                         std::vector<int> /*components*/ = {}) const {
    lacks_observable();
  }
  /// Which rows of a trajectory belong to this rank's nodes, and the layout of dim numbers a node.
  virtual io::BlockLayout node_rows() const { lacks_observable(); }
  virtual std::shared_ptr<const linalg::VectorLayout> node_vectors() const { lacks_observable(); }
  /// The force of a support, one number [N].
  virtual Made support_force(const Support<dim>&) const { lacks_observable(); }
  /// How far a support has moved along its direction at a time [m].
  virtual double travel(const Support<dim>&, double /*time*/) const { lacks_observable(); }
  /// The forces of contact without friction [N], dim numbers for each node or particle, zero on other bodies.
  virtual Made contact_forces(const ContactForces&) const { lacks_observable(); }
  /// Elastic energy, one number [J].
  virtual Made elastic_energy(const Bodies&) const { lacks_observable(); }
  /// The mean first Piola-Kirchhoff stress of a cell that repeats, dim x dim numbers row by row [Pa].
  virtual Made cell_stress() const { lacks_observable(); }

private:
  const parallel::Communicator& comm_;
  const Scene& scene_;
  bool follows_velocities_;
};

/// @throws InputError on every rank if a component of a boundary along its direction follows forces.
/// Collective.
template <int dim>
void require_prescribed(const parallel::Communicator& comm, const Support<dim>& support, bool is_free);

} // namespace recoil::app
