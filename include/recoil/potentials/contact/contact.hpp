#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recoil/linalg/vector.hpp"
#include "recoil/parameters/physical_gradient.hpp"
#include "recoil/potentials/contact/approach.hpp"
#include "recoil/potentials/contact/friction.hpp"

namespace recoil::potentials {

template <int dim>
struct ContactParameters {
  double dhat = 1e-3; ///< [m]
  BarrierForm form = BarrierForm::plain;
  std::vector<Plane<dim>> planes;
  double eps_v = 1e-3;           ///< speed below which friction is smoothed [m/s]
  FrictionCoefficients friction; ///< empty = no friction
};

/// What the closest pair of a state is, for messages.
template <int dim>
struct ClosestPair {
  double distance = std::numeric_limits<double>::infinity(); ///< [m]
  std::string description;                                   ///< bodies, primitives, place
};

/// Contact and friction of one configuration (u, obstacle displacement), kept up to date as that moves. The
/// energy of a step holds stiffness * barrier + scale * friction. Everything is collective unless it says
/// otherwise.
template <int dim>
class Contact {
public:
  using Point = typename fem::CollisionSurface<dim>::Point;

  Contact(std::unique_ptr<const fem::CollisionSurface<dim>> surface, ContactParameters<dim> parameters);

  const fem::CollisionSurface<dim>& surface() const { return *surface_; }
  const ContactParameters<dim>& parameters() const { return parameters_; }
  const Barrier<dim>& barrier() const { return barrier_; }

  /// Where the obstacles are: displacement from rest, dim entries per local obstacle vertex. Not collective.
  std::span<const double> obstacle_displacement() const { return obstacle_displacement_; }
  void set_obstacle_displacement(std::vector<double> displacement);

  /// Brings the pairs up to date with (u, obstacles); cheap if nothing has moved. All functions below speak
  /// of the last update.
  void update(const linalg::Vector& u);

  /// This rank's shares; not collective.
  double barrier_value() const { return barrier_.value(*pairs_); }
  double friction_value() const;
  /// Gradients of the unscaled barrier and of friction at the owned surface vertices, obstacles included.
  std::vector<Point> barrier_gradient() const;
  std::vector<Point> friction_gradient() const;
  /// g += factor * field at the nodes of the owned surface vertices. Not collective.
  void add_to_nodes(const std::vector<Point>& field, double factor, std::span<double> g) const;

  /// H = stiffness d2B/dx2 + scale d2Phi_f/dx2; with per_element the projected blocks of the barrier and the
  /// secants of friction.
  void assemble_hessian(double stiffness, double scale, newton::Projection projection,
                        linalg::StencilMatrix& H) const;
  /// y += stiffness d2B/dx2 (d, obstacle motion) at owned nodes, with projected blocks.
  void add_barrier_hessian_product(double stiffness, const linalg::Vector& d,
                                   std::span<const double> obstacle_motion, std::span<double> y) const;

  /// (stiffness d2B/dx2 + scale d2Phi_f/dx2) p at the owned surface vertices, obstacles included, without
  /// projection; p is zero on obstacles.
  std::vector<Point> hessian_product(double stiffness, double scale, const linalg::Vector& p) const;
  /// scale * L' p at the owned surface vertices, obstacles included, with L the derivative of the friction
  /// forces by the positions that frames and normal forces were lagged at, at fixed sliding:
  /// normal forces and tangent frames vary.
  std::vector<Point> lag_product(double scale, const linalg::Vector& p) const;
  /// The same by the positions that sliding is measured from: -scale * H p with the Hessian H of friction.
  std::vector<Point> start_product(double scale, const linalg::Vector& p) const;
  /// lag_product() + start_product(): by the positions at the start of the step, where friction is lagged
  /// there too.
  std::vector<Point> previous_product(double scale, const linalg::Vector& p) const;
  /// What contact and friction depend on beside the state.
  std::vector<parameters::Quantity> quantities() const;
  /// g += p' d(stiffness dB/dx + scale dPhi_f/dx)/dq for rest positions and coefficients of friction, at
  /// fixed displacements and stiffnesses.
  void add_parameter_products(double stiffness, double scale, const linalg::Vector& p,
                              parameters::PhysicalGradient<dim>& g) const;

  /// Largest share of the straight motion from (u, obstacles) by (d, obstacle_motion) before which nothing
  /// touches, 1 if nothing does. Pairs on collision course keep a tenth of their gap, but no more than half
  /// of dhat or of `expected_gap` [m].
  double max_step(const linalg::Vector& u, const linalg::Vector& d, std::span<const double> obstacle_motion,
                  double expected_gap = std::numeric_limits<double>::infinity());

  /// Length of the longest motion of a surface vertex, over all ranks [m].
  double longest_motion(const linalg::Vector& d, std::span<const double> obstacle_motion) const;
  /// Rest length over all ranks [m].
  double mean_edge() const { return search_.mean_edge(); }
  /// The pairs that (d, obstacle_motion) and motions of free vertices that are not longer may close; none
  /// expected to close yet. Updates to (u, obstacles).
  Approach<dim> approach(const linalg::Vector& u, const linalg::Vector& d,
                         std::span<const double> obstacle_motion, double stiffness);
  /// True if any rank has terms of lagged friction.
  bool has_friction() const { return surface_->comm().sum(friction_.acts_here() ? 1.0 : 0.0) > 0; }
  /// Fits `approach` to the motion (d, obstacle_motion); for how many pairs it has changed, over all ranks.
  GlobalIndex fit(Approach<dim>& approach, const linalg::Vector& d,
                  std::span<const double> obstacle_motion) const;
  /// The same of the sliding that it expects of lagged friction; none before the first call.
  void fit_sliding(Approach<dim>& approach, const linalg::Vector& d,
                   std::span<const double> obstacle_motion) const;
  /// Smallest gap that `approach` expects of a pair it closes, over all ranks.
  double smallest_expected_gap(const Approach<dim>& approach) const {
    return surface_->comm().min(approach.smallest_expected_gap());
  }
  /// H = stiffness d2B/dx2 with projected blocks, what `approach` adds to it, and scale times the secants of
  /// friction at the sliding that it expects.
  void assemble_hessian(const Approach<dim>& approach, double stiffness, double scale,
                        linalg::StencilMatrix& H) const;
  /// y += the gradient that goes with this matrix at the motion (d, obstacle_motion), the part of
  /// add_barrier_hessian_product() excluded, at owned nodes.
  void add_gradient(const Approach<dim>& approach, double scale, const linalg::Vector& d,
                    std::span<const double> obstacle_motion, std::span<double> y) const;

  /// Takes the start of a step (positions that sliding is measured from) at (u, obstacles).
  void start_step(const linalg::Vector& u);
  /// Sum over all ranks of field . (x - x_start) at the owned surface vertices: of all, and of obstacles.
  struct Work {
    double total = 0, obstacles = 0;
  };
  Work work(const std::vector<Point>& field) const;
  /// Takes frames and normal forces (stiffness * barrier force) of friction from the last update; `dt` the
  /// length of the step.
  void lag_friction(double stiffness, double dt);
  void clear_friction() { friction_ = Friction<dim>(); }
  const Friction<dim>& friction() const { return friction_; }

  /// The terms of the barrier on this rank.
  const std::vector<ContactPair<dim>>& pairs() const { return *pairs_; }
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
  std::size_t num_candidates() const { return search_.candidates().size(); }

private:
  std::vector<Point> owned(const std::vector<Point>& known) const;
  double collision_free(const std::vector<Point>& from, const std::vector<Point>& motion, double longest,
                        double largest_kept);
  std::vector<Point> sum_at_owners(const ContactVertices<dim>& vertices, std::vector<Point> field) const;
  std::vector<Point> at_owned(const linalg::Vector& p) const;
  void add_barrier_shape_products(double stiffness, const std::vector<Point>& p, std::vector<Point>& rest,
                                  fem::AreaSum& areas) const;
  void add_friction_parameter_products(double scale, const std::vector<Point>& p, std::vector<Point>& rest,
                                       fem::AreaSum& areas, parameters::PhysicalGradient<dim>& g) const;

  std::unique_ptr<const fem::CollisionSurface<dim>> surface_;
  ContactParameters<dim> parameters_;
  Barrier<dim> barrier_;
  ContactSearch<dim> search_;
  std::vector<double> obstacle_displacement_;

  std::vector<Point> known_; ///< positions of the last update, of all vertices of the surface known here
  bool valid_ = false;       ///< pairs_ belong to known_ and to the vertices of the search
  std::shared_ptr<const ContactVertices<dim>> vertices_;
  std::vector<Point> positions_; ///< of vertices_
  std::shared_ptr<const std::vector<ContactPair<dim>>> pairs_;
  std::vector<Point> start_; ///< of owned surface vertices
  Friction<dim> friction_;
  std::vector<Point> friction_positions_;
};

} // namespace recoil::potentials
