#include "recoil/potentials/contact/approach.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace recoil::potentials {

namespace {
/// Share of its gap, or of dhat, that a pair is first expected to keep.
constexpr double first_share = 0.5;
constexpr double noticeable_factor = 2;
constexpr int max_gap_iterations = 50;
constexpr double gap_tolerance = 1e-3;
} // namespace

template <int dim>
Approach<dim>::Approach(ContactState<dim>& state, std::span<const double> u, std::span<const double> d,
                        std::span<const double> obstacle_motion, double stiffness,
                        const ContactState<dim>* adhesive)
    : state_(&state) {
  const std::vector<ContactPair<dim>> pairs = state.pairs_on_path(u, d, obstacle_motion);
  vertices_ = state.vertices();
  for (const ContactState<dim>* one : {static_cast<const ContactState<dim>*>(&state), adhesive})
    if (one != nullptr && one->friction().vertices()) sliding_.push_back({one, one->friction_positions()});
  for (const ContactPair<dim>& pair : pairs) {
    const double strength = stiffness * pair.weight * pair.mollifier.value;
    if (pair.continues || !(strength > 0) || !(pair.closest.distance_squared > 0)) continue;
    const double gap = std::sqrt(pair.closest.distance_squared);
    geometry::StencilVector<dim> slope = geometry::distance_squared_gradient<dim>(pair.closest) / (2 * gap);
    stencils_.push_back({pair.num_vertices, pair.vertices, slope, gap, strength, gap});
  }
}

template <int dim>
double Approach<dim>::gap_after(const Stencil& stencil, const std::vector<Point>& motion) const {
  double gap = stencil.gap;
  for (int i = 0; i < stencil.num_vertices; ++i)
    gap += stencil.slope.template segment<dim>(dim * i).dot(motion[stencil.vertices[i]]);
  return gap;
}

/// Where the barrier of weight 1 exerts `force`, by Newton's method kept within a bracket.
template <int dim>
double Approach<dim>::expected_gap(const Stencil& stencil, double force) const {
  double low = 0, high = std::min(stencil.gap, barrier().dhat());
  double gap = std::min(stencil.expected, high);
  for (int iteration = 0; iteration < max_gap_iterations && high - low > gap_tolerance * low; ++iteration) {
    const auto at = force_at(gap);
    const double excess = at.value - force;
    (excess > 0 ? low : high) = gap;
    const double next = gap - excess / at.slope;
    if (std::abs(next - gap) < gap_tolerance * gap) break;
    gap = next > low && next < high ? next : 0.5 * (low + high);
  }
  return gap;
}

template <int dim>
GlobalIndex Approach<dim>::fit(std::span<const double> d, std::span<const double> obstacle_motion) {
  const std::vector<Point> motion = vertices_->gather(state_->at_owned(d, obstacle_motion));
  GlobalIndex num_changed = 0;
  for (Stencil& stencil : stencils_) num_changed += fit(stencil, gap_after(stencil, motion)) ? 1 : 0;
  return state_->surface().comm().sum(num_changed);
}

template <int dim>
void Approach<dim>::fit_sliding(std::span<const double> d, std::span<const double> obstacle_motion) {
  const auto motion_of_all = state_->at_owned(d, obstacle_motion);
  for (Sliding& sliding : sliding_) {
    const std::vector<Point> motion = sliding.state->friction().vertices()->gather(motion_of_all);
    sliding.end = sliding.state->friction_positions();
    for (std::size_t v = 0; v < motion.size(); ++v) sliding.end[v] += motion[v];
  }
}

/// `gap`: at the end of the motion. True if the expected force has changed.
template <int dim>
bool Approach<dim>::fit(Stencil& stencil, double gap) const {
  if (stencil.expected == stencil.gap) {
    const double range = std::min(stencil.gap, barrier().dhat());
    // Rounding of motions that keep the distance is no approach.
    if (gap >= (1 - gap_tolerance) * range) return false;
    stencil.expected = std::max(gap, first_share * range);
    return true;
  }
  const auto expected = force_at(stencil.expected);
  const double force = expected.value + expected.slope * (gap - stencil.expected);
  if (force <= force_at(stencil.gap).value) {
    stencil.expected = stencil.gap;
    return true;
  }
  stencil.expected = expected_gap(stencil, force);
  return force > noticeable_factor * expected.value || noticeable_factor * force < expected.value;
}

template <int dim>
double Approach<dim>::smallest_expected_gap() const {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Stencil& stencil : stencils_)
    if (stencil.expected != stencil.gap) smallest = std::min(smallest, stencil.expected);
  return state_->surface().comm().min(smallest);
}

template <int dim>
std::vector<typename Approach<dim>::Point> Approach<dim>::gradient(const std::vector<Point>& motion) const {
  std::vector<Point> result(vertices_->size(), Point::Zero());
  for (const Stencil& stencil : stencils_) {
    if (stencil.expected == stencil.gap) continue;
    const double gap = gap_after(stencil, motion);
    const auto then = force_at(stencil.expected), now = force_at(stencil.gap);
    const double force = stencil.strength * (then.value + then.slope * (gap - stencil.expected) - now.value -
                                             now.slope * (gap - stencil.gap));
    for (int i = 0; i < stencil.num_vertices; ++i)
      result[stencil.vertices[i]] -= force * stencil.slope.template segment<dim>(dim * i);
  }
  return result;
}

template <int dim>
void Approach<dim>::add_gradient(double scale, std::span<const double> d,
                                 std::span<const double> obstacle_motion, std::span<double> y) const {
  const auto motion = state_->at_owned(d, obstacle_motion);
  state_->add_to_nodes(state_->sum_at_owners(*vertices_, gradient(vertices_->gather(motion))), 1, y);
  for (const Sliding& sliding : sliding_) {
    const Friction<dim>& friction = sliding.state->friction();
    const auto secants = friction.secant_product(sliding.end, friction.vertices()->gather(motion));
    state_->add_to_nodes(state_->sum_at_owners(*friction.vertices(), secants), scale, y);
  }
}

template <int dim>
void Approach<dim>::add_hessian(double scale, linalg::StencilSink& H) const {
  for (const Stencil& stencil : stencils_) {
    if (stencil.expected == stencil.gap) continue;
    const double curvature =
        stencil.strength * (force_at(stencil.gap).slope - force_at(stencil.expected).slope);
    geometry::StencilMatrix<dim> block = curvature * stencil.slope * stencil.slope.transpose();
    std::array<LocalIndex, 4> vertices = stencil.vertices;
    for (int i = 0; i < stencil.num_vertices; ++i)
      if (stencil.slope.template segment<dim>(dim * i).isZero(0)) vertices[i] = -1;
    add_block<dim>(*vertices_, std::span(vertices).first(stencil.num_vertices), block, H);
  }
  for (const Sliding& sliding : sliding_) sliding.state->friction().add_secants(sliding.end, scale, H);
}

template class Approach<2>;
template class Approach<3>;

} // namespace recoil::potentials
