#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/solvers/async_contact/ledger.hpp"
#include "recoil/solvers/async_contact/ticks.hpp"

namespace recoil::solvers::async_contact {

/// A vertex where it was last integrated: it is at q + (t - tick) v at later times.
struct VertexState {
  Eigen::Vector3d q, v; ///< [m], [m/s]
  Tick tick;
  double inverse_mass; ///< 0: prescribed
  /// Impulses that elements have given ahead of their time: of each, which acts at the times of its clock for
  /// half a step before and after, the part of the time to come [N s]; and the sum of their forces [N], by
  /// which it declines. Zero in models without losses, which they are for.
  Eigen::Vector3d ahead = Eigen::Vector3d::Zero(), force = Eigen::Vector3d::Zero();
};

/// Friction of a pair that sticks.
struct AnchorState {
  std::uint64_t pair; ///< its number
  Tick last_contact;  ///< last integration of layer 1 with a force
  struct Friction {
    Eigen::Vector3d displacement = Eigen::Vector3d::Zero(); ///< of the tangential spring [m]
    Eigen::Matrix<double, 3, 4> points = Eigen::Matrix<double, 3, 4>::Zero(); ///< then, of its vertices [m]
    double mean = 0;     ///< exponential mean of the normal force [N]
    double owed = 0;     ///< impulses of layers less those of the normal force that bounds friction [N s]
    double pressing = 0; ///< impulses of layers since the anchor's last integration [N s]
  } friction;
};

/// All that a run needs to go on as if it had not been interrupted, bit for bit: clocks are at the multiples
/// of their steps, and layers, certificates and pairs are found anew, on which the motion does not depend.
/// (Layers that are not aligned to their clocks are no part of it.)
struct IntegratorState {
  Tick tick = 0;
  std::vector<VertexState> vertices;
  std::vector<double> rest_angles; ///< of hinges
  /// Of elements at their last integration, which losses are measured from: length of springs, three strains
  /// of membranes, angle of hinges, each with the impulses on its vertices in models with losses.
  std::vector<double> shapes;
  std::vector<AnchorState> anchors;
  Ledger ledger;
};

/// The state as finite numbers, from which `from_numbers` makes the same state, bit for bit.
std::vector<double> to_numbers(const IntegratorState& state);
/// @throws InputError if the numbers are not those of a state.
IntegratorState from_numbers(std::span<const double> numbers);

} // namespace recoil::solvers::async_contact
