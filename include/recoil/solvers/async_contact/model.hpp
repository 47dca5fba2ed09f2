#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/solvers/async_contact/element_forces.hpp"
#include "recoil/solvers/async_contact/ticks.hpp"

namespace recoil::solvers::async_contact {

/// How primitives in contact repel each other: layers l = 1, 2, .. with V_l = l^3 k (D_l - d)^2 at gaps d
/// below D_l = 2 eta / l [Harmon et al. 2009, with the factor 2 everywhere]. Each layer of a pair has a clock
/// of its own, of step alpha 2 / w_l with w_l^2 = 2 l^3 k / mu and a lower bound mu of the reduced mass of
/// the pair.
struct ContactSettings {
  double eta = 1e-3;      ///< half the gap at which contact begins [m]
  double stiffness = 1e3; ///< k [N/m]
  double alpha = 0.01;    ///< share of the greatest stable step
  double restitution = 1; ///< e; the layers push back with e^2 of their force
  double friction = 0;    ///< Coulomb's coefficient
  /// Stiffness of a tangential spring at each contact that sticks below Coulomb's bound and slides at it
  /// [N/m]; 0: friction is an impulse against the sliding at each impulse of a layer, which creeps where it
  /// should stick.
  double anchor_stiffness = 0;
  /// Layers keep to the multiples of their step. False: they begin when they become active, as an experiment
  /// that shows how energy then drifts.
  bool aligned = true;
  int max_layers = 10000; ///< deeper contact ends the run
};

/// A rigid half-space: what collides stays on the side to which `normal` points. Its place is that of a
/// vertex, which is prescribed and may move.
struct Plane {
  LocalIndex vertex;
  Eigen::Vector3d normal; ///< unit vector
};

/// Velocities that prescribed vertices have from given times on.
struct Script {
  struct Entry {
    double time; ///< [s], ascending, after the start
    Eigen::Vector3d velocity;
  };
  std::vector<LocalIndex> vertices;
  std::vector<Entry> entries;
};

/// A force on a triangle that is given by where it is and by the time since the start [s]; each vertex has a
/// third of it [N].
struct SurfaceLoad {
  std::array<LocalIndex, 3> vertices;
  std::function<Eigen::Vector3d(const Points<3>& x, double time)> force;
  double step; ///< of its clock [s]
};

/// What an asynchronous run moves: point masses, the forces between them, what collides. Built once; plain
/// lists.
struct Model {
  std::vector<Eigen::Vector3d> positions, velocities;
  std::vector<double> masses; ///< [kg]; infinite: prescribed
  std::vector<double> radii;  ///< of spheres; 0 for other vertices [m]

  std::vector<Membrane> membranes;
  std::vector<BendingHinge> hinges;
  std::vector<Spring> springs;
  std::vector<Solid> solids;
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();
  double gravity_step = 1e-3; ///< [s]
  /// Beside gravity, of each vertex and by the time since the start [m/s^2]; empty: none. At times of
  /// gravity.
  std::function<Eigen::Vector3d(LocalIndex vertex, double time)> acceleration;
  std::vector<SurfaceLoad> loads;
  std::vector<Script> scripts;

  /// Primitives that collide: points with triangles, edges with edges, spheres with spheres; points and
  /// spheres with planes. A sphere among the points collides with triangles, too. Primitives that share a
  /// vertex do not.
  std::vector<LocalIndex> points, spheres;
  std::vector<std::array<LocalIndex, 2>> edges;
  std::vector<std::array<LocalIndex, 3>> triangles;
  std::vector<Plane> planes;
  ContactSettings contact;

  TickLength tick;
  /// Greatest stretch of a membrane or solid; its step is not stable far beyond. More ends the run.
  double max_stretch = 2;
  /// Whether clocks begin at a time in their first step that is drawn from the number of the force, so that
  /// equal elements are not integrated in one burst.
  bool staggered = false;

  /// What a vertex is called in messages; empty: its number.
  std::function<std::string(LocalIndex)> vertex_name;
  std::string name_of(LocalIndex vertex) const {
    return vertex_name ? vertex_name(vertex) : "vertex " + std::to_string(vertex);
  }

  LocalIndex num_vertices() const { return static_cast<LocalIndex>(positions.size()); }
  /// A new vertex, which collides with nothing yet.
  LocalIndex add_vertex(const Eigen::Vector3d& position, const Eigen::Vector3d& velocity, double mass,
                        double radius = 0);
  /// A sphere that collides with spheres and planes.
  LocalIndex add_sphere(const Eigen::Vector3d& position, const Eigen::Vector3d& velocity, double mass,
                        double radius);
  /// A plane through `point`, with the prescribed vertex that carries it.
  LocalIndex add_plane(const Eigen::Vector3d& point, const Eigen::Vector3d& normal,
                       const Eigen::Vector3d& velocity = Eigen::Vector3d::Zero());
};

inline constexpr double prescribed_mass = std::numeric_limits<double>::infinity();

/// Refuses what a run would not survive: lists of unequal length, steps shorter than a tick, numbers out of
/// range.
/// @throws InputError.
void check(const Model& model);

} // namespace recoil::solvers::async_contact
