#pragma once

#include <span>

#include "recoil/parallel/communicator.hpp"

namespace recoil::parallel {

/// A message of any length to the rank `to`, which waits for it in receive(); of those between two ranks both
/// know the order. Returns when `numbers` may be changed, which may be as late as the other rank has them:
/// for patterns without cycles, such as trees.
void send(const Communicator& comm, int to, std::span<const double> numbers);
/// Waits for the next message of the rank `from`, which has as many numbers.
void receive(const Communicator& comm, int from, std::span<double> numbers);

} // namespace recoil::parallel
