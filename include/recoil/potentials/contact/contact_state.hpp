#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/potentials/contact/friction.hpp"

namespace recoil::potentials {

template <int dim>
struct ContactParameters {
  double dhat = 1e-3; ///< [m]
  BarrierForm form = BarrierForm::plain;
  std::vector<Plane<dim>> planes;
  double eps_v = 1e-3;           ///< speed below which friction is smoothed; at which tangential
                                 ///< adhesion is largest [m/s]
  FrictionCoefficients friction; ///< empty = no friction
  GlobalIndex sieve_from = sieve_obstacles_from;
};

/// What the closest pair of a state is, for messages.
template <int dim>
struct ClosestPair {
  double distance = std::numeric_limits<double>::infinity(); ///< [m]
  std::string description;                                   ///< bodies, primitives, place
};

/// The configuration that lagged frames and normal forces of friction are taken at.
enum class LaggedAt {
  start, ///< start of the step
  end    ///< end of the step: friction has converged
};

/// What the potentials of contact and friction share: where the surfaces and obstacles are, the search for
/// pairs, the pairs closer than dhat, and the lagged friction. Everything is collective unless it says
/// otherwise.
template <int dim>
class ContactState {
public:
  using Point = typename surface::Surface<dim>::Point;
  /// One vector per owned surface vertex, obstacles included.
  using Field = std::vector<Point>;

  /// Obstacles are where those of `leader` are, unless it is null; it has the same surface, and must outlive
  /// this.
  ContactState(std::unique_ptr<const surface::Surface<dim>> surface, ContactParameters<dim> parameters,
               const ContactState* leader = nullptr);

  const surface::Surface<dim>& surface() const { return *surface_; }
  const ContactParameters<dim>& parameters() const { return parameters_; }
  const Barrier<dim>& barrier() const { return barrier_; }

  /// Where the obstacles are: displacement from rest, dim entries per local obstacle vertex. Not collective.
  std::span<const double> obstacle_displacement() const {
    return leader_ != nullptr ? leader_->obstacle_displacement() : obstacle_displacement_;
  }
  /// @pre There is no leader.
  void set_obstacle_displacement(std::vector<double> displacement);

  /// Brings the pairs up to date with (u, obstacles); cheap if nothing has moved. u has ghosts. All functions
  /// below that take no u speak of the last update.
  void update(std::span<const double> u);
  /// Takes the start of a step (positions that sliding is measured from) at (u, obstacles).
  void start_step(std::span<const double> u);
  /// Takes frames and normal forces (stiffness * barrier force) of friction from the last update; `dt` the
  /// length of the step.
  void lag_friction(double stiffness, double dt, LaggedAt at = LaggedAt::start);
  void clear_friction() { friction_ = Friction<dim>(); }

  /// Largest share of the straight motion from (u, obstacles) by (d, obstacle_motion) before which nothing
  /// touches, 1 if nothing does. Pairs on collision course keep a tenth of their gap, but no more than half
  /// of dhat or of `expected_gap` [m].
  double max_step(std::span<const double> u, std::span<const double> d,
                  std::span<const double> obstacle_motion,
                  double expected_gap = std::numeric_limits<double>::infinity());
  /// Brings pairs up to date whose search covers the motion (d, obstacle_motion) from (u, obstacles) too, and
  /// gives those that motions of this length of both their sides may close.
  std::vector<ContactPair<dim>> pairs_on_path(std::span<const double> u, std::span<const double> d,
                                              std::span<const double> obstacle_motion);
  /// Length of the longest motion of a surface vertex, over all ranks [m].
  double longest_motion(std::span<const double> d, std::span<const double> obstacle_motion) const;
  /// Rest length over all ranks [m].
  double mean_edge() const { return search_.mean_edge(); }

  /// The terms of the barrier on this rank, and the vertices that they refer to.
  const std::vector<ContactPair<dim>>& pairs() const { return *pairs_; }
  const std::shared_ptr<const std::vector<ContactPair<dim>>>& shared_pairs() const { return pairs_; }
  const std::shared_ptr<const surface::StencilVertices<dim>>& vertices() const { return vertices_; }
  const Friction<dim>& friction() const { return friction_; }
  LaggedAt friction_lagged_at() const { return lagged_at_; }
  /// Positions of the vertices of friction().
  const std::vector<Point>& friction_positions() const { return friction_positions_; }
  /// True if any rank has terms of lagged friction.
  bool has_friction() const { return surface_->comm().sum(friction_.acts_here() ? 1.0 : 0.0) > 0; }

  /// Displacements d of the nodes and `obstacle_motion` at the owned surface vertices. Collective where the
  /// surface has copies, as is add_to_nodes().
  Field at_owned(std::span<const double> d, std::span<const double> obstacle_motion) const;
  /// Displacements of the nodes where obstacles stand still.
  Field at_owned(std::span<const double> d) const;
  /// Sums what ranks have at `vertices`.
  Field sum_at_owners(const surface::StencilVertices<dim>& vertices, std::vector<Point> field) const;
  /// g += factor * field at the nodes of the owned surface vertices.
  void add_to_nodes(const Field& field, double factor, std::span<double> g) const;
  /// This rank's share of field . (x - x_start) over obstacle vertices. Not collective.
  double obstacle_work(const Field& field) const;

  /// Pairs of primitives closer than dhat, however many terms they have, over all ranks.
  GlobalIndex num_pairs() const;
  /// Terms of the lagged friction by their sliding so far in the step, over all ranks.
  FrictionCounts friction_counts() const;
  /// Smallest distance of the last update over all ranks; +infinity where no pair is closer than dhat.
  double min_distance() const;
  ClosestPair<dim> closest_pair() const;
  /// Corners of the box around all surface vertices of the last update, obstacles included.
  Eigen::AlignedBox<double, dim> bounding_box() const;
  /// Intersections of the last updated state, by exact predicates (see count_intersections).
  GlobalIndex num_intersections(std::vector<std::string>* first = nullptr) const;

  std::int64_t num_searches() const { return search_.num_searches(); }
  const collide::Traffic& traffic() const { return search_.traffic(); }

private:
  Field owned(const std::vector<Point>& known) const;
  double collision_free(const std::vector<Point>& from, const std::vector<Point>& motion, double longest,
                        double largest_kept);

  std::unique_ptr<const surface::Surface<dim>> surface_;
  ContactParameters<dim> parameters_;
  const ContactState* leader_;
  Barrier<dim> barrier_;
  ContactSearch<dim> search_;
  std::vector<double> obstacle_displacement_;

  std::vector<Point> known_; ///< positions of the last update, of all vertices of the surface known here
  bool valid_ = false;       ///< pairs_ belong to known_ and to the vertices of the search
  std::shared_ptr<const surface::StencilVertices<dim>> vertices_;
  std::vector<Point> positions_; ///< positions of vertices_
  std::shared_ptr<const std::vector<ContactPair<dim>>> pairs_;
  Field start_;
  Friction<dim> friction_;
  LaggedAt lagged_at_ = LaggedAt::start;
  std::vector<Point> friction_positions_;
};

} // namespace recoil::potentials
