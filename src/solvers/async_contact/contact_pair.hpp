#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/base/types.hpp"
#include "recoil/solvers/async_contact/state.hpp"
#include "solvers/async_contact/event_heap.hpp"

namespace recoil::solvers::async_contact {

enum class PairKind : std::uint8_t { vertex_triangle, edge_edge, spheres, sphere_plane };

/// Numbers of pairs: two bits of the kind, then 23 bits for each of the primitives.
inline constexpr int primitive_bits = 23;
inline constexpr int pair_bits = 2 + 2 * primitive_bits;

inline std::uint64_t pair_number(PairKind kind, std::uint64_t first, std::uint64_t second) {
  return (static_cast<std::uint64_t>(kind) << 2 * primitive_bits) | (first << primitive_bits) | second;
}

/// Classes of events of one time, in their order.
enum class EventClass : std::uint8_t { prescribed, material, penalty, certificate };

inline std::uint64_t event_order(EventClass event_class, std::uint64_t layer, std::uint64_t number) {
  return (static_cast<std::uint64_t>(event_class) << 62) | (layer << pair_bits) | number;
}

/// Next time of a layer, and its step.
struct LayerClock {
  Tick next, step;
};

/// Two primitives that may touch within the window, with their layers 1 .. depth that are integrated and the
/// certificate that layer depth + 1 is not needed yet.
struct ContactPair {
  std::array<LocalIndex, 4> vertices; ///< those of the first primitive come first
  PairKind kind;
  std::uint8_t num_first, num_vertices;
  double radii;              ///< sum of the radii of spheres
  double mass;               ///< lower bound of the reduced mass
  std::uint64_t number;      ///< pair_number
  Eigen::Vector3d direction; ///< in which the slab lies between them, from the second to the first
  double thickness;          ///< of the slab: D of layer depth + 1, and the radii
  Tick certificate;          ///< the slab fits in until this time, that included
  int depth = 0;
  std::span<const LocalIndex> stencil() const { return {vertices.data(), num_vertices}; }
  std::vector<LayerClock> layers; ///< the first `depth` are active

  // Friction by an anchor.
  LayerClock anchor{never, 0};
  Tick last_contact = -1; ///< last time at which layer 1 had a force
  AnchorState::Friction friction;
};

/// Gap of a pair, its direction (from the second primitive to the first) and the weights of the closest
/// points: gap = normal . sum_i weights_i x_i - radii.
struct Gap {
  double value;
  Eigen::Vector3d normal;
  Eigen::Vector4d weights;
  Eigen::Matrix<double, 3, 4> points;
};

} // namespace recoil::solvers::async_contact
