#include <algorithm>
#include <cmath>

#include "recoil/base/log.hpp"
#include "solvers/elastodynamics/incremental_potential.hpp"

namespace recoil::solvers {

namespace {
// Gaps are closed by motions themselves; without contact they only have to start Newton's method well.
constexpr double tolerance_in_contact = 1e-4, tolerance_without_contact = 1e-3;
/// Linear solves for one motion that closes gaps. It takes two to know what friction does.
constexpr int most_solves = 8, least_solves = 2;
/// Share of the most pairs that one solve has changed that may still change at the last one.
constexpr double settled_share = 0.001;
/// Gaps are linear in the motion while it is not longer than this, in mean edges of the surface.
constexpr double longest_motion = 2;

void scale_by(double factor, std::vector<double>& values) {
  for (double& value : values) value *= factor;
}
} // namespace

/// H d_f = -(force + what `approach` adds) for the free entries, with the Hessian of the point that `force`
/// belongs to. False if the linear solve fails; the motion then stays.
template <int dim>
bool IncrementalPotential<dim>::respond(const linalg::Vector& u, const linalg::Vector& prescribed,
                                        std::span<const double> obstacles, const linalg::Vector& force,
                                        const potentials::Approach<dim>* approach, Extension& extension) {
  linalg::Vector rhs = force, response(force.shared_layout());
  if (problem_.contact) {
    const linalg::HessianSink contact{nullptr, contact_matrix_.get()};
    contact_matrix_->begin();
    problem_.barrier->add_hessian(u.local(), stiffness_.value, newton::Projection::per_element, contact);
    if (approach != nullptr) {
      approach->add_hessian(scale_, *contact_matrix_);
      approach->add_gradient(scale_, prescribed.local(), obstacles, rhs.write_owned());
    } else {
      problem_.friction->add_hessian(u.local(), scale_, newton::Projection::per_element, contact);
      if (problem_.tangential_adhesion != nullptr)
        problem_.tangential_adhesion->add_hessian(u.local(), scale_, newton::Projection::per_element,
                                                  contact);
    }
    contact_matrix_->finish();
    if (begin_with_rest()) {
      assemble(u, newton::Projection::per_element, false);
      matrix_.set_identity_rows(1);
    }
  }
  rhs.scale(-1);
  problem_.dirichlet->clear(rhs.write_owned());
  hessian_changed();
  const double tolerance = problem_.contact ? tolerance_in_contact : tolerance_without_contact;
  const linalg::LinearResult result = solve(rhs, response, tolerance);
  ++extension.linear_solves;
  extension.linear_iterations += result.iterations;
  if (result.outcome != linalg::LinearOutcome::converged) return false;
  response.update_ghosts();
  extension.motion.copy_from(prescribed);
  extension.motion.add(1, response);
  extension.found = true;
  return true;
}

/// The free entries get out of the way of what the motion runs into: its pairs are given the stiffness that
/// they will have.
template <int dim>
void IncrementalPotential<dim>::close_gaps(const linalg::Vector& u, const linalg::Vector& prescribed,
                                           std::span<const double> obstacles, const linalg::Vector& force,
                                           const std::function<bool()>& interrupted, Extension& extension) {
  potentials::ContactState<dim>& contact = *problem_.contact;
  potentials::Approach<dim> approach(contact, u.local(), prescribed.local(), obstacles, stiffness_.value,
                                     problem_.adhesion != nullptr ? &problem_.adhesion->state() : nullptr);
  extension.motion.copy_from(prescribed);
  GlobalIndex most = 0;
  const int least = problem_.has_friction() ? least_solves : 1;
  // The search for collisions on the motion costs as much as its linear solve: only for motions that may be
  // the last.
  bool searched = true;
  double expected_gap = 0;
  const auto search_path = [&] {
    if (!searched) extension.max_step = max_step(u, extension.motion, obstacles, expected_gap);
    searched = true;
    return extension.max_step;
  };
  for (int round = 0; round < most_solves; ++round) {
    const GlobalIndex changed = approach.fit(extension.motion.local(), obstacles);
    most = std::max(most, changed);
    if (round > 0) approach.fit_sliding(extension.motion.local(), obstacles);
    const bool settled = changed <= settled_share * most;
    if (round >= least && (changed == 0 || (settled && round > 1 && search_path() >= 1))) break;
    extension.interrupted = round > 0 && interrupted && interrupted();
    if (extension.interrupted) return;
    contact.update(u.local());
    if (!respond(u, prescribed, obstacles, force, &approach, extension)) break;
    searched = false;
    expected_gap = approach.smallest_expected_gap();
    log_debug("motion " + std::to_string(round + 1), {{"changed_pairs", static_cast<double>(changed)},
                                                      {"way", extension.way},
                                                      {"length", extension.motion.norm_infinity()}});
  }
  search_path();
}

/// H_ff d_f = -H_fp d_p at first, with the projected Hessian of u. With contact the remaining gradient at u
/// belongs to it, so that this is the Newton step of a problem whose prescribed entries are at the end of
/// their way.
template <int dim>
Extension IncrementalPotential<dim>::extend(const linalg::Vector& u, const linalg::Vector& prescribed,
                                            std::span<const double> obstacles,
                                            const std::function<bool()>& interrupted) {
  Extension extension;
  extension.motion = prescribed;
  extension.obstacles.assign(obstacles.begin(), obstacles.end());
  linalg::Vector start(prescribed.shared_layout()), force(prescribed.shared_layout());
  if (problem_.contact) gradient(u, start);
  if (!problem_.contact) begin_with_rest();
  assemble(u, newton::Projection::per_element, false);
  note_positions(u);
  matrix_.multiply(prescribed, force);
  matrix_.set_identity_rows(1);
  if (problem_.contact)
    problem_.contact->add_to_nodes(
        problem_.barrier->hessian_product(problem_.contact->at_owned(prescribed.local(), obstacles),
                                          newton::Projection::per_element),
        stiffness_.value, force.write_owned());
  const double length =
      problem_.contact ? problem_.contact->longest_motion(prescribed.local(), obstacles) : 0;
  const double limit = problem_.contact ? longest_motion * problem_.contact->mean_edge() : 1;
  if (length == 0 || length > limit) {
    if (!respond(u, prescribed, obstacles, force, nullptr, extension)) return extension;
    extension.max_step = max_step(u, extension.motion, obstacles);
    if (!problem_.contact || extension.max_step >= 1) return extension;
    extension.way = length > limit ? limit / length : 1;
    extension.found = false;
  }
  linalg::Vector part = prescribed;
  part.scale(extension.way);
  scale_by(extension.way, extension.obstacles);
  force.scale(extension.way);
  force.add(1, start);
  close_gaps(u, part, extension.obstacles, force, interrupted, extension);
  return extension;
}

template Extension IncrementalPotential<2>::extend(const linalg::Vector&, const linalg::Vector&,
                                                   std::span<const double>, const std::function<bool()>&);
template Extension IncrementalPotential<3>::extend(const linalg::Vector&, const linalg::Vector&,
                                                   std::span<const double>, const std::function<bool()>&);

} // namespace recoil::solvers
