#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "recoil/geometry/quaternion.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/particles/periodic_cell.hpp"
#include "recoil/potentials/bonds/bond_potential.hpp"
#include "recoil/potentials/contact/contact_pair.hpp"
#include "recoil/potentials/spheres/spheres.hpp"

namespace recoil::potentials {

class RepeatedBoxes;

/// What spheres meet beside each other, whole on every rank: triangles and planes, which move as they are
/// told. Triangles push on either side, planes on that of their normal alone.
struct SphereObstacles {
  std::vector<Eigen::Vector3d> vertices; ///< at rest [m]
  std::vector<std::array<LocalIndex, 3>> triangles;
  std::vector<std::int32_t> bodies; ///< of the triangles; numbers after those of the bodies of particles
  std::vector<Plane<3>> planes;
  /// Where the vertices are at a time [s]; empty: at rest.
  std::function<std::vector<Eigen::Vector3d>(double time)> place;
  /// Where the points of the planes are at a time; planes keep their normals.
  std::function<std::vector<Eigen::Vector3d>(double time)> place_planes;
};

/// A pair of spheres, or a sphere and an obstacle. In a cell that repeats a meets the image of the other one
/// that is F H shift away from it.
struct SpherePair {
  LocalIndex a, b;     ///< Spheres numbers, a of an owned one; b = -1: an obstacle
  LocalIndex obstacle; ///< triangle, or number of triangles + plane; -1: none
  LocalIndex bond;     ///< local bond between them, broken or not; -1: none
  particles::CellShift shift = {};
};

/// A pair that is closer than dhat.
struct SphereTouch {
  SpherePair pair;
  double gap;             ///< [m]
  double length;          ///< between the centres, or of a and the obstacle [m]
  Eigen::Vector3d normal; ///< from b, or the obstacle, or its image, to a
  Eigen::Matrix3d slope;  ///< of the normal by the place of a [1/m]
  Eigen::Vector3d share;  ///< of the vertices of the triangle in its closest point
};

/// The pairs of spheres, and of spheres and obstacles, that may touch. Two spheres keep apart by r_a + r_b;
/// those of one body that lie closer at rest, or whose bond broke closer, by the distance they had then less
/// dhat, so that neither a start nor a breaking adds energy. Bonded pairs do not touch.
class SphereContact {
public:
  using Vector3d = Eigen::Vector3d;

  /// `particles`, `prescribed` (6 flags a particle), `bonds` and `motion` of the cell of the particles, if
  /// they have one, must outlive it. Obstacles repeat with the cell. Collective.
  SphereContact(const particles::DistributedParticles& particles, std::span<const char> prescribed,
                const BondPotential& bonds, SphereObstacles obstacles, double dhat,
                particles::CellMotion* motion = nullptr);

  /// @throws InputError where the cell is too narrow at a time [s], or has planes across it or longer meshes.
  /// @pre there is a cell.
  void require_fitting_cell(double time) const;

  double dhat() const { return dhat_; }
  const parallel::Communicator& communicator() const { return *particles_->points->comm; }
  const particles::DistributedParticles& particles() const { return *particles_; }
  const SphereObstacles& obstacles() const { return obstacles_; }

  /// Starts a step of length dt to `time` from the positions u (owned): forgets earlier pairs, so that they
  /// and their order do not depend on the past, and puts obstacles and cell where they are at its start.
  /// Collective. @throws InputError where the cell comes to be too narrow, or to have planes across it.
  void begin_step(double time, double dt, std::span<const double> u);
  /// Share of the motion of obstacles and cell in the step so far; the cell deforms linearly in it.
  double obstacle_share() const { return obstacle_share_; }
  void move_obstacles(double share);
  /// Leaves a plane to move_plane() alone. It recedes from particles, as far as it has to: no way of theirs
  /// is cut for it.
  void free_plane(std::size_t plane);
  /// Puts a free plane that far along its normal from where it is at rest [m].
  void move_plane(std::size_t plane, double way);
  /// Vertices of obstacles: those of triangles, then the points of planes [m].
  const std::vector<Vector3d>& obstacle_vertices() const { return obstacle_vertices_; }
  /// Way of a point of an obstacle since the start of the step, `share` of the vertices of a triangle.
  Vector3d obstacle_way(LocalIndex obstacle, const Vector3d& share) const {
    return obstacle_share_ * obstacle_motion(obstacle, share);
  }
  /// Way of a point of an obstacle in the whole step [m].
  Vector3d obstacle_motion(LocalIndex obstacle, const Vector3d& share) const;
  /// The derivative of that way by where the point lies on a triangle at the start of the step; zero of
  /// planes.
  Eigen::Matrix3d obstacle_motion_gradient(LocalIndex obstacle) const;
  /// Rotation of an obstacle in the first `share` of its motion in the step: of a triangle as its first edge
  /// and its normal turn; planes do not.
  geometry::Quaternion obstacle_turn(LocalIndex obstacle, double share) const;

  /// From the other side of a pair to its image that a meets, F H shift [m].
  Vector3d offset(const SpherePair& pair) const {
    if (particles::is_zero(pair.shift)) return Vector3d::Zero();
    return motion_->cell().vector(pair.shift, motion_->now());
  }
  /// The way to a sphere from the image of the other one, or from its contact with an obstacle, with 7
  /// numbers a sphere [m].
  Vector3d branch(const SphereTouch& touch, const std::vector<double>& states) const;
  /// Whether the other side of a pair moves as an obstacle or the cell does.
  static bool is_driven(const SpherePair& pair) {
    return pair.obstacle >= 0 || !particles::is_zero(pair.shift);
  }
  /// The way that it goes by this, since the start of the step [m].
  Vector3d way_of_other(const SphereTouch& touch) const { return obstacle_share_ * motion_of_other(touch); }
  /// That way in the whole step [m].
  Vector3d motion_of_other(const SphereTouch& touch) const;

  /// Largest t in [0, 1] such that no pair of this rank comes closer than a tenth of its gap on the straight
  /// way u + s du, s <= t; obstacles and cell move on to `obstacle_share` of their motion meanwhile. Makes
  /// the pairs valid for the whole way. u and du of owned particles. Collective; the answer is that of all
  /// ranks.
  double max_step(std::span<const double> u, std::span<const double> du, double obstacle_share);

  /// Makes the pairs valid at u (owned) and on the whole straight way from there along `du`, if any.
  /// Collective.
  void cover(std::span<const double> u, std::span<const double> du = {}) {
    if (!still_covers(u, du)) search(u, du);
  }
  /// Finds the touching pairs at u (owned), which lies on a way of max_step() or has been covered.
  /// Collective.
  void update(std::span<const double> u);
  const std::vector<SphereTouch>& touching() const { return touching_; }
  const std::shared_ptr<const Spheres>& spheres() const { return spheres_; }
  /// 7 numbers a sphere, as of update().
  const std::vector<double>& states() const { return states_; }
  /// Least gap of the touching pairs of this rank at the last update() without overlap [m]; infinite without.
  double least_gap() const { return least_gap_; }
  /// Whether two overlap on this rank.
  bool overlaps() const { return overlaps_; }

  /// How many triangles at rest a sphere of this radius that lies on a flat part of the obstacles touches at
  /// most: those within sqrt(dhat (2 r + dhat)) of a vertex. Not collective.
  int most_triangles_at_once(double radius) const;

  /// Number of the body of b, or of the obstacle.
  std::int32_t body_of(const SpherePair& pair) const;
  /// Least distance of a pair of spheres [m].
  double least_distance(const SpherePair& pair) const;
  /// The bond has broken with its ends at u: all ranks that hold it must say so. Not collective.
  void separate(LocalIndex bond, std::span<const double> u);
  /// The least distance that it gets there, by the place of its end a; by that of b the opposite.
  Vector3d separation_gradient(LocalIndex bond, std::span<const double> u) const;
  /// r_a + r_b of the ends of a bond [m].
  double sum_of_radii(LocalIndex bond) const {
    return particles_->radii[particles_->bonds[bond].a] + particles_->radii[particles_->bonds[bond].b];
  }
  /// Least distances of the bonds of this rank [m], of use once they are broken.
  std::vector<double>& bond_distances() { return bond_distance_; }
  const std::vector<double>& bond_distances() const { return bond_distance_; }

private:
  struct Key {
    GlobalIndex first, second;
    LocalIndex bond;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Vector3d> obstacles_at(double time) const;
  bool is_plane(LocalIndex obstacle) const { return obstacle >= std::ssize(obstacles_.triangles); }
  const Plane<3>& plane(LocalIndex obstacle) const {
    return obstacles_.planes[obstacle - obstacles_.triangles.size()];
  }
  /// Number of its point among obstacle_vertices().
  std::size_t point_of_plane(LocalIndex obstacle) const {
    return obstacles_.vertices.size() + obstacle - obstacles_.triangles.size();
  }
  bool is_free(LocalIndex obstacle) const {
    return obstacle >= 0 && is_plane(obstacle) && free_planes_[obstacle - obstacles_.triangles.size()] != 0;
  }
  bool still_covers(std::span<const double> u, std::span<const double> du) const;
  void search(std::span<const double> u, std::span<const double> du);
  GlobalIndex number_of(LocalIndex particle) const;
  void require_fitting_meshes(double time) const;
  RepeatedBoxes repeated() const;
  void search_spheres(const std::vector<collide::Box<3>>& boxes);
  void search_triangles(const std::vector<collide::Box<3>>& boxes, double margin);
  void search_planes(const std::vector<collide::Box<3>>& boxes, double margin);
  Vector3d way_between_ends(LocalIndex bond, std::span<const double> u) const;
  LocalIndex find_bond(LocalIndex a, LocalIndex b, const particles::CellShift& shift) const;
  bool is_bonded(const SpherePair& pair) const;
  bool touch(const SpherePair& pair, SphereTouch& result) const;
  double max_step(const SpherePair& pair, std::span<const double> way,
                  const std::vector<Vector3d>& obstacle_way, double obstacle_share) const;
  Vector3d place(LocalIndex sphere) const {
    return Eigen::Map<const Vector3d>(states_.data() + 7 * std::size_t(sphere));
  }

  const particles::DistributedParticles* particles_;
  std::span<const char> prescribed_;
  const BondPotential* bonds_;
  SphereObstacles obstacles_;
  double dhat_, margin_;
  particles::CellMotion* motion_; ///< null: nothing repeats
  double largest_radius_;
  std::unique_ptr<const parallel::Communicator> alone_; ///< of this rank, for obstacles
  std::vector<double> bond_distance_;
  std::vector<Key> bonded_; ///< by both global numbers
  std::vector<Vector3d> obstacle_start_, obstacle_end_, obstacle_vertices_;
  std::vector<char> free_planes_; ///< one flag a plane
  double obstacle_share_ = 0;
  std::vector<collide::Box<3>> covered_; ///< of owned spheres; empty before a search
  bool has_searched_ = false;
  std::vector<SpherePair> candidates_;
  std::shared_ptr<const Spheres> spheres_;
  std::vector<double> states_;
  std::vector<SphereTouch> touching_;
  double least_gap_ = std::numeric_limits<double>::infinity();
  bool overlaps_ = false;
};

} // namespace recoil::potentials
