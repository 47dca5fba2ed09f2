#include "recoil/potentials/contact/contact_state.hpp"

#include <algorithm>

#include "recoil/base/phases.hpp"
#include "recoil/geometry/additive_ccd.hpp"

namespace recoil::potentials {

namespace {

/// A vertex keeps this share of its distance to a plane.
constexpr double plane_gap = 0.1;
/// Bodies on collision course stop within the range of the barrier, in units of dhat and of expected gaps.
constexpr double stopping_gap = 0.5;
/// Length of the part of a way that is looked at first, in mean edges, and factor from part to part.
constexpr double first_piece = 2, growth_of_pieces = 8;

template <int dim>
geometry::StencilPoints<dim> gather(const ContactCandidate& candidate,
                                    const std::vector<Eigen::Matrix<double, dim, 1>>& values) {
  geometry::StencilPoints<dim> points = geometry::StencilPoints<dim>::Zero();
  for (int i = 0; i < geometry::num_points(candidate.kind); ++i)
    points.col(i) = values[candidate.vertices[i]];
  return points;
}

template <class Point>
double longest(const parallel::Communicator& comm, const std::vector<Point>& motion) {
  double length = 0;
  for (const Point& x : motion) length = std::max(length, x.norm());
  return comm.max(length);
}

} // namespace

template <int dim>
ContactState<dim>::ContactState(std::unique_ptr<const surface::Surface<dim>> surface,
                                ContactParameters<dim> parameters, const ContactState* leader)
    : surface_(std::move(surface)), parameters_(std::move(parameters)), leader_(leader),
      barrier_(parameters_.dhat, parameters_.form, parameters_.planes),
      search_(*surface_, parameters_.dhat, {}, parameters_.form.geometric.has_value(),
              parameters_.sieve_from),
      obstacle_displacement_(std::size_t{dim} * surface_->num_obstacle_vertices(), 0.0),
      pairs_(std::make_shared<const std::vector<ContactPair<dim>>>()) {}

template <int dim>
void ContactState<dim>::set_obstacle_displacement(std::vector<double> displacement) {
  RECOIL_ASSERT(leader_ == nullptr && displacement.size() == obstacle_displacement_.size());
  obstacle_displacement_ = std::move(displacement);
}

template <int dim>
typename ContactState<dim>::Field ContactState<dim>::owned(const std::vector<Point>& known) const {
  return {known.begin(), known.begin() + surface_->num_owned()};
}

template <int dim>
typename ContactState<dim>::Field ContactState<dim>::at_owned(std::span<const double> d,
                                                              std::span<const double> obstacle_motion) const {
  return owned(surface_->displacements(d, obstacle_motion));
}

template <int dim>
typename ContactState<dim>::Field ContactState<dim>::at_owned(std::span<const double> d) const {
  return at_owned(d, std::vector<double>(obstacle_displacement_.size(), 0.0));
}

template <int dim>
void ContactState<dim>::update(std::span<const double> u) {
  const PhaseScope phase(Phase::contact);
  std::vector<Point> known = surface_->positions(u, obstacle_displacement());
  if (surface_->comm().all(valid_ && known == known_)) return;
  known_ = std::move(known);
  search_.cover(known_, known_);
  vertices_ = search_.vertices();
  positions_ = vertices_->gather(owned(known_));
  pairs_ = std::make_shared<const std::vector<ContactPair<dim>>>(
      barrier_.active_pairs(search_.candidates(), *vertices_, positions_));
  if (friction_.vertices()) friction_positions_ = friction_.vertices()->gather(owned(known_));
  valid_ = true;
}

template <int dim>
typename ContactState<dim>::Field
ContactState<dim>::sum_at_owners(const surface::StencilVertices<dim>& vertices,
                                 std::vector<Point> field) const {
  vertices.add_to_owners(field);
  field.resize(vertices.num_owned());
  return field;
}

template <int dim>
void ContactState<dim>::add_to_nodes(const Field& field, double factor, std::span<double> g) const {
  for (LocalIndex v = 0; v < std::ssize(field); ++v) {
    const LocalIndex node = surface_->node(v);
    if (node < 0) break; // obstacles follow the nodes
    Eigen::Map<Point>(g.data() + std::ptrdiff_t{dim} * node) += factor * field[v];
  }
  surface_->add_to_ends(field, factor, g);
}

template <int dim>
double ContactState<dim>::longest_motion(std::span<const double> d,
                                         std::span<const double> obstacle_motion) const {
  return longest(surface_->comm(), surface_->displacements(d, obstacle_motion));
}

template <int dim>
std::vector<ContactPair<dim>> ContactState<dim>::pairs_on_path(std::span<const double> u,
                                                               std::span<const double> d,
                                                               std::span<const double> obstacle_motion) {
  const std::vector<Point> from = surface_->positions(u, obstacle_displacement());
  const std::vector<Point> motion = surface_->displacements(d, obstacle_motion);
  const double length = longest(surface_->comm(), motion);
  std::vector<Point> to = from;
  for (std::size_t v = 0; v < to.size(); ++v) to[v] += motion[v];
  search_.cover(from, to);
  valid_ = valid_ && vertices_ == search_.vertices();
  update(u);
  return barrier_.pairs_within(parameters_.dhat + 2 * length, search_.candidates(), *vertices_, positions_);
}

/// The search covers the motion piece by piece: most long motions end soon, and the pairs along the whole of
/// them are many.
template <int dim>
double ContactState<dim>::max_step(std::span<const double> u, std::span<const double> d,
                                   std::span<const double> obstacle_motion, double expected_gap) {
  const PhaseScope phase(Phase::contact);
  const std::vector<Point> from = surface_->positions(u, obstacle_displacement());
  const std::vector<Point> motion = surface_->displacements(d, obstacle_motion);
  const double length = longest(surface_->comm(), motion);
  const double first = first_piece * search_.mean_edge();
  for (double share = length > first ? first / length : 1;; share = std::min(1.0, growth_of_pieces * share)) {
    std::vector<Point> to = from;
    for (std::size_t v = 0; v < to.size(); ++v) to[v] += share * motion[v];
    const double covered = share * search_.cover(from, to);
    const double step =
        collision_free(from, motion, covered, stopping_gap * std::min(parameters_.dhat, expected_gap));
    if (step < covered || covered < share || share >= 1) return step;
  }
}

/// max_step() for a way of length `longest` that the search covers.
template <int dim>
double ContactState<dim>::collision_free(const std::vector<Point>& from, const std::vector<Point>& motion,
                                         double longest, double largest_kept) {
  valid_ = valid_ && vertices_ == search_.vertices();
  const auto& vertices = *search_.vertices();
  const std::vector<Point> x = vertices.gather(owned(from)), dx = vertices.gather(owned(motion));
  double step = longest;
  for (const ContactCandidate& candidate : search_.candidates())
    step = std::min(step, geometry::additive_ccd<dim>(candidate.kind, gather<dim>(candidate, x),
                                                      gather<dim>(candidate, dx), 0, step, largest_kept));
  for (const Plane<dim>& plane : parameters_.planes)
    for (std::size_t v = 0; v < vertices.num_owned(); ++v) {
      const double approach = -plane.normal.dot(dx[v]);
      const double distance = plane.normal.dot(x[v] - plane.point);
      const double room = distance - std::min(plane_gap * distance, largest_kept);
      if (vertices[v].block >= 0 && room < approach * step) step = room / approach;
    }
  return surface_->comm().min(step);
}

template <int dim>
void ContactState<dim>::start_step(std::span<const double> u) {
  const PhaseScope phase(Phase::contact);
  // A restart has no candidates of earlier steps.
  search_.forget();
  valid_ = false;
  update(u);
  start_ = owned(surface_->positions(u, obstacle_displacement()));
}

template <int dim>
double ContactState<dim>::obstacle_work(const Field& field) const {
  double work = 0;
  for (LocalIndex v = 0; v < std::ssize(field); ++v)
    if (surface_->node(v) < 0) work += field[v].dot(known_[v] - start_[v]);
  return work;
}

template <int dim>
void ContactState<dim>::lag_friction(double stiffness, double dt, LaggedAt at) {
  const PhaseScope phase(Phase::contact);
  RECOIL_ASSERT(valid_);
  if (!parameters_.friction) return;
  friction_ = Friction<dim>(barrier_, pairs_, vertices_, vertices_->gather(start_), stiffness,
                            parameters_.eps_v * dt, parameters_.friction);
  friction_positions_ = positions_;
  lagged_at_ = at;
}

template <int dim>
GlobalIndex ContactState<dim>::num_pairs() const {
  const GlobalIndex here = std::ranges::count_if(*pairs_, [](const auto& pair) { return !pair.continues; });
  return surface_->comm().sum(here);
}

template <int dim>
FrictionCounts ContactState<dim>::friction_counts() const {
  if (!parameters_.friction) return {};
  const FrictionCounts here = friction_.vertices() ? friction_.count(friction_positions_) : FrictionCounts();
  return {surface_->comm().sum(here.sticking), surface_->comm().sum(here.sliding)};
}

template <int dim>
double ContactState<dim>::min_distance() const {
  double squared = std::numeric_limits<double>::infinity();
  for (const auto& pair : *pairs_) squared = std::min(squared, pair.closest.distance_squared);
  return std::sqrt(surface_->comm().min(squared));
}

template <int dim>
Eigen::AlignedBox<double, dim> ContactState<dim>::bounding_box() const {
  Eigen::AlignedBox<double, dim> box;
  for (LocalIndex v = 0; v < surface_->num_owned(); ++v) box.extend(known_[v]);
  const auto& comm = surface_->comm();
  Point low = box.min(), high = box.max();
  for (int i = 0; i < dim; ++i) {
    low[i] = comm.min(low[i]);
    high[i] = comm.max(high[i]);
  }
  return {low, high};
}

template class ContactState<2>;
template class ContactState<3>;

} // namespace recoil::potentials
