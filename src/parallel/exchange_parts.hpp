#pragma once

#include "recoil/parallel/exchange.hpp"

namespace recoil::parallel {

/// exchange_bytes with messages cut into parts of `part_bytes` (> 0, at most INT_MAX, the same on all ranks).
std::vector<Message> exchange_in_parts(const Communicator& comm, std::vector<Message> outgoing,
                                       std::size_t part_bytes);

} // namespace recoil::parallel
