#pragma once

#include <string>
#include <vector>

#include "recoil/parallel/communicator.hpp"

namespace recoil::mesh {

/// Gives every rank the names that rank 0 holds; names hold no line break. Collective.
inline void broadcast_names(const parallel::Communicator& comm, std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += name + '\n';
  comm.broadcast(joined);
  names.clear();
  for (std::size_t begin = 0; begin < joined.size();) {
    const std::size_t end = joined.find('\n', begin);
    names.push_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
}

} // namespace recoil::mesh
