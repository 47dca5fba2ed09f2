#include "recoil/potentials/spheres/sphere_contact.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <Eigen/Geometry>
#include <fmt/format.h>

#include "potentials/spheres/image_search.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/phases.hpp"
#include "recoil/geometry/additive_ccd.hpp"
#include "recoil/geometry/closest_points.hpp"

namespace recoil::potentials {

using Eigen::Vector3d;

namespace {

/// Boxes grow by this share of the smallest radius, so that short ways need no new search.
constexpr double margin_of_radius = 0.25;
/// Share of its gap that a pair keeps on a way.
constexpr double kept_gap = 0.1;

collide::Box<3> swept(const Vector3d& from, const Vector3d& way, double inflation) {
  const Vector3d to = from + way;
  return {from.cwiseMin(to).array() - inflation, from.cwiseMax(to).array() + inflation};
}

Vector3d vector_at(std::span<const double> values, int width, LocalIndex k) {
  return Eigen::Map<const Vector3d>(values.data() + std::size_t(width) * k);
}

geometry::StencilPoints<3> stencil(const Vector3d& p, const std::array<LocalIndex, 3>& triangle,
                                   const std::vector<Vector3d>& vertices) {
  geometry::StencilPoints<3> points;
  points.col(0) = p;
  for (int i = 0; i < 3; ++i) points.col(i + 1) = vertices[triangle[i]];
  return points;
}

/// Any item may meet any other.
void label_alike(collide::ItemSet<3>& set) {
  set.labels.assign(set.boxes.size(), {-1, -1, -1});
  set.groups.assign(set.boxes.size(), 0);
}

/// Axes along the first edge of a triangle and its normal.
Eigen::Matrix3d frame(const std::array<Vector3d, 3>& corners) {
  Eigen::Matrix3d axes;
  axes.col(0) = (corners[1] - corners[0]).normalized();
  axes.col(2) = axes.col(0).cross(corners[2] - corners[0]).normalized();
  axes.col(1) = axes.col(2).cross(axes.col(0));
  return axes;
}

/// Time in [0, 1] at which two points that move apart by d + s w come down to the distance `least`.
double time_of_approach(const Vector3d& d, const Vector3d& w, double least) {
  const double a = w.squaredNorm(), b = d.dot(w), c = (d.norm() - least) * (d.norm() + least);
  if (b >= 0) return 1;
  const double discriminant = b * b - a * c;
  if (discriminant <= 0) return 1;
  return std::min(1.0, c / (-b + std::sqrt(discriminant)));
}

} // namespace

SphereContact::SphereContact(const particles::DistributedParticles& particles,
                             std::span<const char> prescribed, const BondPotential& bonds,
                             SphereObstacles obstacles, double dhat, particles::CellMotion* motion)
    : particles_(&particles), prescribed_(prescribed), bonds_(&bonds), obstacles_(std::move(obstacles)),
      dhat_(dhat), motion_(motion), alone_(std::make_unique<const parallel::Communicator>(MPI_COMM_SELF)) {
  double smallest = std::numeric_limits<double>::max(), largest = 0;
  for (const double r : particles.radii) {
    smallest = std::min(smallest, r);
    largest = std::max(largest, r);
  }
  margin_ = margin_of_radius * particles.points->comm->min(smallest);
  largest_radius_ = particles.points->comm->max(largest);
  for (std::size_t bond = 0; bond < particles.bonds.size(); ++bond) {
    const auto& [a, b, id] = particles.bonds[bond];
    const GlobalIndex first = number_of(a), second = number_of(b);
    bonded_.push_back({std::min(first, second), std::max(first, second), LocalIndex(bond)});
    bond_distance_.push_back(sum_of_radii(LocalIndex(bond)));
  }
  std::ranges::sort(bonded_);
  obstacle_vertices_ = obstacles_.vertices;
  for (const Plane<3>& plane : obstacles_.planes) obstacle_vertices_.push_back(plane.point);
  obstacle_start_ = obstacle_end_ = obstacle_vertices_;
  free_planes_.resize(obstacles_.planes.size(), 0);
}

void SphereContact::free_plane(std::size_t plane) { free_planes_[plane] = 1; }

void SphereContact::move_plane(std::size_t plane, double way) {
  const std::size_t point = obstacles_.vertices.size() + plane;
  obstacle_end_[point] = obstacle_vertices_[point] =
      obstacles_.planes[plane].point + way * obstacles_.planes[plane].normal;
}

/// Vertices of triangles, then points of planes.
std::vector<Vector3d> SphereContact::obstacles_at(double time) const {
  std::vector<Vector3d> places = obstacles_.place ? obstacles_.place(time) : obstacles_.vertices;
  if (obstacles_.place_planes)
    std::ranges::copy(obstacles_.place_planes(time), std::back_inserter(places));
  else
    for (const Plane<3>& plane : obstacles_.planes) places.push_back(plane.point);
  return places;
}

GlobalIndex SphereContact::number_of(LocalIndex particle) const {
  const linalg::VectorLayout& points = *particles_->points;
  return particle < points.num_owned ? points.offset + particle : points.ghosts[particle - points.num_owned];
}

RepeatedBoxes SphereContact::repeated() const {
  const particles::PeriodicCell& cell = motion_->cell();
  return {cell, motion_->start() * cell.edges, motion_->end() * cell.edges};
}

void SphereContact::begin_step(double time, double dt, std::span<const double> u) {
  has_searched_ = false;
  least_gap_ = std::numeric_limits<double>::infinity();
  if (obstacles_.place || obstacles_.place_planes) {
    obstacle_start_ = obstacles_at(time - dt);
    obstacle_end_ = obstacles_at(time);
  }
  if (motion_) {
    motion_->begin_step(time, dt);
    require_fitting_cell(time);
  }
  for (std::size_t plane = 0; plane < free_planes_.size(); ++plane)
    if (const std::size_t point = obstacles_.vertices.size() + plane; free_planes_[plane] != 0)
      obstacle_start_[point] = obstacle_end_[point] = obstacle_vertices_[point];
  move_obstacles(0);
  search(u, {});
  update(u);
}

/// Pairs reach over one face at most, and planes look the same from all images of a sphere.
void SphereContact::require_fitting_cell(double time) const {
  const Eigen::Matrix3d F = motion_->at(time);
  const particles::PeriodicCell& cell = motion_->cell();
  particles::require_wide(cell, 2 * largest_radius_ + dhat_,
                          fmt::format("<periodic_boundary>, at t = {:g} s", time), F);
  constexpr double most_slope = 1e-9;
  for (const Plane<3>& plane : obstacles_.planes)
    for (int k = 0; k < 3; ++k) {
      const Vector3d edge = (F * cell.edges.col(k)).normalized();
      if (cell.repeats[k] && std::abs(plane.normal.dot(edge)) > most_slope)
        throw InputError(
            "<periodic_boundary>",
            fmt::format("a plane with the normal ({:.6g}, {:.6g}, {:.6g}) lies across edge {} of "
                        "the cell, along which it repeats, at t = {:g} s; take planes that run "
                        "along it, or a cell that does not repeat there",
                        plane.normal[0], plane.normal[1], plane.normal[2], "xyz"[k], time));
    }
  require_fitting_meshes(time);
}

/// Images of a mesh must not overlap: a sphere would be pressed by each of them.
void SphereContact::require_fitting_meshes(double time) const {
  const particles::PeriodicCell& cell = motion_->cell();
  const Eigen::Matrix3d to_shares = (motion_->at(time) * cell.edges).inverse();
  const std::vector<Vector3d> places = obstacles_at(time);
  std::map<std::int32_t, Eigen::AlignedBox3d> bodies;
  for (std::size_t triangle = 0; triangle < obstacles_.triangles.size(); ++triangle)
    for (const LocalIndex vertex : obstacles_.triangles[triangle])
      bodies[obstacles_.bodies[triangle]].extend(to_shares * places[vertex]);
  constexpr double most = 1 + 1e-9;
  for (const auto& [body, box] : bodies)
    for (int k = 0; k < 3; ++k)
      if (cell.repeats[k] && box.sizes()[k] > most)
        throw InputError(
            "<periodic_boundary>",
            fmt::format("a mesh of an obstacle is {:.6g} times as long as the cell along edge {}, along "
                        "which both repeat, at t = {:g} s: its images overlap, and meshes do not "
                        "deform with the cell; take a shorter mesh, or a plane",
                        box.sizes()[k], "xyz"[k], time));
}

void SphereContact::move_obstacles(double share) {
  obstacle_share_ = share;
  if (motion_) motion_->go(share);
  const std::size_t num_vertices = obstacles_.vertices.size();
  for (std::size_t v = 0; v < obstacle_vertices_.size(); ++v)
    if (v < num_vertices || free_planes_[v - num_vertices] == 0)
      obstacle_vertices_[v] = obstacle_start_[v] + share * (obstacle_end_[v] - obstacle_start_[v]);
}

Vector3d SphereContact::obstacle_motion(LocalIndex obstacle, const Vector3d& share) const {
  if (is_plane(obstacle)) {
    const std::size_t point = point_of_plane(obstacle);
    return obstacle_end_[point] - obstacle_start_[point];
  }
  Vector3d way = Vector3d::Zero();
  for (int i = 0; i < 3; ++i) {
    const LocalIndex v = obstacles_.triangles[obstacle][i];
    way += share[i] * (obstacle_end_[v] - obstacle_start_[v]);
  }
  return way;
}

Vector3d SphereContact::branch(const SphereTouch& touch, const std::vector<double>& states) const {
  const SpherePair& pair = touch.pair;
  if (pair.obstacle >= 0) return (*spheres_)[pair.a].radius * touch.normal;
  return vector_at(states, 7, pair.a) - offset(pair) - vector_at(states, 7, pair.b);
}

Vector3d SphereContact::motion_of_other(const SphereTouch& touch) const {
  Vector3d way = Vector3d::Zero();
  if (!particles::is_zero(touch.pair.shift))
    way = motion_->cell().vector(touch.pair.shift, motion_->end() - motion_->start());
  return touch.pair.obstacle < 0 ? way : Vector3d(way + obstacle_motion(touch.pair.obstacle, touch.share));
}

Eigen::Matrix3d SphereContact::obstacle_motion_gradient(LocalIndex obstacle) const {
  if (is_plane(obstacle)) return Eigen::Matrix3d::Zero();
  const auto& [a, b, c] = obstacles_.triangles[obstacle];
  Eigen::Matrix<double, 3, 2> edges, changes;
  edges << obstacle_start_[b] - obstacle_start_[a], obstacle_start_[c] - obstacle_start_[a];
  changes << obstacle_end_[b] - obstacle_end_[a], obstacle_end_[c] - obstacle_end_[a];
  changes -= edges;
  return changes * (edges.transpose() * edges).inverse() * edges.transpose();
}

geometry::Quaternion SphereContact::obstacle_turn(LocalIndex obstacle, double share) const {
  if (is_plane(obstacle) || !obstacles_.place) return geometry::identity_quaternion();
  std::array<Vector3d, 3> start, now;
  for (int i = 0; i < 3; ++i) {
    const LocalIndex v = obstacles_.triangles[obstacle][i];
    start[i] = obstacle_start_[v];
    now[i] = start[i] + share * (obstacle_end_[v] - start[i]);
  }
  return Eigen::Quaterniond(frame(now) * frame(start).transpose()).normalized().coeffs();
}

/// The way, or u where du is empty.
bool SphereContact::still_covers(std::span<const double> u, std::span<const double> du) const {
  bool inside = has_searched_;
  for (LocalIndex k = 0; k < particles_->num_owned() && inside; ++k) {
    const Vector3d p = vector_at(u, 7, k);
    inside = covered_[k].contains(p) && (du.empty() || covered_[k].contains(p + vector_at(du, 6, k)));
  }
  return particles_->points->comm->all(inside);
}

/// Pairs that may touch on the way; without du at u alone.
void SphereContact::search(std::span<const double> u, std::span<const double> du) {
  covered_.clear();
  std::vector<collide::Box<3>> boxes;
  for (LocalIndex k = 0; k < particles_->num_owned(); ++k) {
    const Vector3d p = vector_at(u, 7, k), way = du.empty() ? Vector3d::Zero() : vector_at(du, 6, k);
    covered_.push_back(swept(p, way, margin_));
    const double inflation = particles_->radii[k] + dhat_ / 2;
    boxes.emplace_back(covered_.back().min().array() - inflation, covered_.back().max().array() + inflation);
  }
  candidates_.clear();
  search_spheres(boxes);
  search_triangles(boxes, dhat_ / 2);
  search_planes(boxes, dhat_ / 2);
  has_searched_ = true;
}

void SphereContact::search_spheres(const std::vector<collide::Box<3>>& boxes) {
  const parallel::Communicator& comm = *particles_->points->comm;
  if (motion_) {
    const ImagePairs found = find_image_pairs(comm, repeated(), boxes, particles_->points->offset);
    spheres_ = std::make_shared<const Spheres>(*particles_, prescribed_, found.foreign);
    for (const auto& [a, b, shift] : found.pairs)
      candidates_.push_back({a, b, -1, find_bond(a, b, shift), shift});
    return;
  }
  const std::array<collide::ItemSet<3>, 1> sets{
      collide::ItemSet<3>{boxes, std::vector<std::array<GlobalIndex, 3>>(boxes.size(), {-1, -1, -1}),
                          std::vector<std::int32_t>(boxes.size(), 0)}};
  const std::array<collide::SetPair, 1> which{collide::SetPair{0, 0}};
  const auto found = collide::find_candidates<3>(comm, sets, which, {});
  spheres_ = std::make_shared<const Spheres>(*particles_, prescribed_, found.remote[0]);
  for (const auto& [a, b] : found.pairs[0]) candidates_.push_back({a, b, -1, find_bond(a, b, {})});
}

/// Spheres are taken to the triangles by their images.
void SphereContact::search_triangles(const std::vector<collide::Box<3>>& boxes, double margin) {
  const std::size_t num_triangles = obstacles_.triangles.size();
  if (num_triangles == 0) return;
  std::vector<collide::Box<3>> ways;
  collide::Box<3> around;
  for (const auto& triangle : obstacles_.triangles) {
    collide::Box<3> box;
    for (const LocalIndex v : triangle)
      for (const Vector3d& at : {obstacle_start_[v], obstacle_end_[v]}) box.extend(at);
    ways.emplace_back(box.min().array() - margin, box.max().array() + margin);
    around.extend(ways.back());
  }
  std::array<collide::ItemSet<3>, 2> sets;
  std::vector<SphereImage> images;
  for (LocalIndex k = 0; k < std::ssize(boxes); ++k) {
    const auto add = [&](const particles::CellShift& shift, const collide::Box<3>& box) {
      images.push_back({k, shift});
      sets[0].boxes.push_back(box);
    };
    if (motion_)
      repeated().for_images_in(repeated().shares(around), boxes[k], add);
    else
      add({}, boxes[k]);
  }
  label_alike(sets[0]);
  const auto around_spheres = collide::boxes_around<3>(*alone_, std::span(sets).first(1));
  std::vector<LocalIndex> near; // of a fine mesh few triangles are
  for (std::size_t k = 0; k < num_triangles; ++k) {
    if (std::ranges::none_of(around_spheres, [&](const auto& other) { return other.intersects(ways[k]); }))
      continue;
    sets[1].boxes.push_back(ways[k]);
    near.push_back(LocalIndex(k));
  }
  label_alike(sets[1]);
  const std::array<collide::SetPair, 1> which{collide::SetPair{0, 1}};
  const auto found = collide::find_candidates<3>(*alone_, sets, which, {});
  for (const auto& [a, triangle] : found.pairs[0])
    candidates_.push_back({images[a].sphere, -1, near[triangle], -1, particles::opposite(images[a].shift)});
}

void SphereContact::search_planes(const std::vector<collide::Box<3>>& boxes, double margin) {
  for (std::size_t plane = 0; plane < obstacles_.planes.size(); ++plane)
    for (std::size_t k = 0; k < boxes.size(); ++k) {
      const Vector3d& normal = obstacles_.planes[plane].normal;
      const Vector3d corner =
          (normal.array() > 0).select(boxes[k].min(), boxes[k].max()); // nearest to the plane
      const auto obstacle = LocalIndex(obstacles_.triangles.size() + plane);
      const std::size_t point = point_of_plane(obstacle);
      if (is_free(obstacle) || normal.dot(corner - obstacle_start_[point]) < margin ||
          normal.dot(corner - obstacle_end_[point]) < margin)
        candidates_.push_back({LocalIndex(k), -1, obstacle, -1});
    }
}

int SphereContact::most_triangles_at_once(double radius) const {
  if (obstacles_.triangles.empty()) return 0;
  const double reach = std::sqrt(dhat_ * (2 * radius + dhat_));
  std::array<collide::ItemSet<3>, 2> sets;
  for (const Vector3d& vertex : obstacles_.vertices) sets[0].boxes.push_back(swept(vertex, {0, 0, 0}, reach));
  for (const auto& triangle : obstacles_.triangles) {
    collide::Box<3> box;
    for (const LocalIndex v : triangle) box.extend(obstacles_.vertices[v]);
    sets[1].boxes.push_back(box);
  }
  for (auto& set : sets) label_alike(set);
  const std::array<collide::SetPair, 1> which{collide::SetPair{0, 1}};
  std::vector<int> counts(obstacles_.vertices.size(), 0);
  const auto found = collide::find_candidates<3>(*alone_, sets, which, {});
  for (const auto& [vertex, triangle] : found.pairs[0]) {
    const auto points =
        stencil(obstacles_.vertices[vertex], obstacles_.triangles[triangle], obstacles_.vertices);
    if (geometry::distance_squared<3>(geometry::StencilKind::vertex_face, points) < reach * reach)
      ++counts[vertex];
  }
  return *std::ranges::max_element(counts);
}

/// Between a and that image of b.
LocalIndex SphereContact::find_bond(LocalIndex a, LocalIndex b, const particles::CellShift& shift) const {
  const GlobalIndex first = std::min((*spheres_)[a].node, (*spheres_)[b].node),
                    second = std::max((*spheres_)[a].node, (*spheres_)[b].node);
  const auto found = std::ranges::lower_bound(bonded_, Key{first, second, 0});
  if (found == bonded_.end() || found->first != first || found->second != second) return -1;
  if (!motion_) return found->bond;
  const particles::CellShift& own = particles_->bond_shifts[found->bond];
  const bool same_way = number_of(particles_->bonds[found->bond].a) == (*spheres_)[a].node;
  return shift == (same_way ? own : particles::opposite(own)) ? found->bond : -1;
}

bool SphereContact::is_bonded(const SpherePair& pair) const {
  return pair.bond >= 0 && !bonds_->is_broken(pair.bond);
}

double SphereContact::least_distance(const SpherePair& pair) const {
  if (pair.bond >= 0) return bond_distance_[pair.bond];
  const Sphere &a = (*spheres_)[pair.a], &b = (*spheres_)[pair.b];
  if (a.body != b.body) return a.radius + b.radius;
  Vector3d at_rest = Eigen::Map<const Vector3d>(a.rest.data()) - Eigen::Map<const Vector3d>(b.rest.data());
  if (motion_) at_rest -= motion_->cell().vector(pair.shift);
  return std::min(a.radius + b.radius, at_rest.norm() - dhat_);
}

/// From b, or its image, to a.
Vector3d SphereContact::way_between_ends(LocalIndex bond, std::span<const double> u) const {
  const auto& [a, b, id] = particles_->bonds[bond];
  const Vector3d way = vector_at(u, 7, a) - vector_at(u, 7, b);
  if (!motion_) return way;
  return way - motion_->cell().vector(particles_->bond_shifts[bond], motion_->now());
}

void SphereContact::separate(LocalIndex bond, std::span<const double> u) {
  bond_distance_[bond] = std::min(sum_of_radii(bond), way_between_ends(bond, u).norm() - dhat_);
}

Vector3d SphereContact::separation_gradient(LocalIndex bond, std::span<const double> u) const {
  const Vector3d d = way_between_ends(bond, u);
  return d.norm() - dhat_ < sum_of_radii(bond) ? d.normalized() : Vector3d::Zero();
}

std::int32_t SphereContact::body_of(const SpherePair& pair) const {
  if (pair.obstacle < 0) return (*spheres_)[pair.b].body;
  return is_plane(pair.obstacle) ? plane(pair.obstacle).body : obstacles_.bodies[pair.obstacle];
}

/// False where the pair is at least dhat apart.
bool SphereContact::touch(const SpherePair& pair, SphereTouch& result) const {
  const Vector3d p = place(pair.a) - offset(pair);
  result.pair = pair;
  result.share.setZero();
  if (pair.obstacle < 0) {
    const Vector3d d = p - place(pair.b);
    const double least = least_distance(pair);
    const double far = least + dhat_;
    if (d.squaredNorm() >= far * far) return false;
    result.length = d.norm();
    result.gap = result.length - least;
    result.normal = d / result.length;
    result.slope = (Eigen::Matrix3d::Identity() - result.normal * result.normal.transpose()) / result.length;
    return true;
  }
  const double radius = (*spheres_)[pair.a].radius;
  if (is_plane(pair.obstacle)) {
    result.normal = plane(pair.obstacle).normal;
    result.length = result.normal.dot(p - obstacle_vertices_[point_of_plane(pair.obstacle)]);
    result.gap = result.length - radius;
    result.slope.setZero();
    return result.gap < dhat_;
  }
  const auto points = stencil(p, obstacles_.triangles[pair.obstacle], obstacle_vertices_);
  const auto closest = geometry::closest_points<3>(geometry::StencilKind::vertex_face, points);
  result.length = std::sqrt(closest.distance_squared);
  result.gap = result.length - radius;
  if (result.gap >= dhat_) return false;
  result.normal = closest.separation / result.length;
  result.share = -closest.weights.tail<3>();
  const Eigen::Matrix3d squared =
      geometry::distance_squared_hessian<3>(closest, points).topLeftCorner<3, 3>();
  result.slope = (squared / 2 - result.normal * result.normal.transpose()) / result.length;
  return true;
}

void SphereContact::update(std::span<const double> u) {
  const PhaseScope phase(Phase::contact);
  states_ = spheres_->gather(u, 7);
  touching_.clear();
  overlaps_ = false;
  SphereTouch next;
  for (const SpherePair& pair : candidates_) {
    if (is_bonded(pair) || !touch(pair, next)) continue;
    if (!(next.gap > 0)) overlaps_ = true;
    touching_.push_back(next);
  }
  if (overlaps_) return;
  least_gap_ = std::numeric_limits<double>::infinity();
  for (const SphereTouch& at : touching_) least_gap_ = std::min(least_gap_, at.gap);
}

double SphereContact::max_step(const SpherePair& pair, std::span<const double> way,
                               const std::vector<Vector3d>& obstacle_way, double obstacle_share) const {
  const Vector3d p = place(pair.a) - offset(pair);
  Vector3d move = vector_at(way, 6, pair.a);
  if (!particles::is_zero(pair.shift))
    move -= (obstacle_share - obstacle_share_) *
            motion_->cell().vector(pair.shift, motion_->end() - motion_->start());
  if (pair.obstacle < 0) {
    const Vector3d d = p - place(pair.b);
    const double least = least_distance(pair);
    return time_of_approach(d, move - vector_at(way, 6, pair.b), least + kept_gap * (d.norm() - least));
  }
  const double radius = (*spheres_)[pair.a].radius;
  if (is_plane(pair.obstacle)) {
    const Vector3d& normal = plane(pair.obstacle).normal;
    const std::size_t point = point_of_plane(pair.obstacle);
    const double gap = normal.dot(p - obstacle_vertices_[point]) - radius,
                 speed = normal.dot(obstacle_way[point] - move);
    return speed > 0 ? std::min(1.0, (1 - kept_gap) * gap / speed) : 1;
  }
  const auto& triangle = obstacles_.triangles[pair.obstacle];
  return geometry::additive_ccd<3>(geometry::StencilKind::vertex_face,
                                   stencil(p, triangle, obstacle_vertices_),
                                   stencil(move, triangle, obstacle_way), radius);
}

double SphereContact::max_step(std::span<const double> u, std::span<const double> du, double obstacle_share) {
  const PhaseScope phase(Phase::contact);
  cover(u, du);
  update(u);
  const std::vector<double> way = spheres_->gather(du, 6);
  std::vector<Vector3d> obstacle_way(obstacle_vertices_.size());
  for (std::size_t v = 0; v < obstacle_way.size(); ++v)
    obstacle_way[v] = (obstacle_share - obstacle_share_) * (obstacle_end_[v] - obstacle_start_[v]);
  double share = 1;
  for (const SpherePair& pair : candidates_)
    if (!is_bonded(pair) && !is_free(pair.obstacle))
      share = std::min(share, max_step(pair, way, obstacle_way, obstacle_share));
  return particles_->points->comm->min(share);
}

} // namespace recoil::potentials
