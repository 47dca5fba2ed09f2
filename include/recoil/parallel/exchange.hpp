#pragma once

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "recoil/parallel/communicator.hpp"

namespace recoil::parallel {

/// Bytes received from one rank.
struct Message {
  int rank;
  std::vector<std::byte> bytes;
};

/// Sends `outgoing` to the ranks named in it and returns what others sent here, sorted by sender: sparse
/// neighbour exchange by the NBX algorithm [Hoefler, Siebert, Lumsdaine 2010], cost independent of the number
/// of ranks not concerned. A rank may send to itself. Messages travel in parts of `part_bytes` (> 0, at most
/// INT_MAX, the same on all ranks). Collective.
std::vector<Message> exchange_bytes(const Communicator& comm, std::vector<Message> outgoing,
                                    std::size_t part_bytes = std::size_t(1) << 30);

/// Typed form: `outgoing[r]` goes to rank r (size() entries; empty ones cost nothing). Returns one vector per
/// rank. Collective.
template <class T>
std::vector<std::vector<T>> exchange(const Communicator& comm, const std::vector<std::vector<T>>& outgoing) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<Message> messages;
  for (int rank = 0; rank < std::ssize(outgoing); ++rank) {
    if (outgoing[rank].empty()) continue;
    Message message{rank, std::vector<std::byte>(outgoing[rank].size() * sizeof(T))};
    std::memcpy(message.bytes.data(), outgoing[rank].data(), message.bytes.size());
    messages.push_back(std::move(message));
  }
  std::vector<std::vector<T>> incoming(comm.size());
  for (const Message& message : exchange_bytes(comm, std::move(messages))) {
    auto& values = incoming[message.rank];
    values.resize(message.bytes.size() / sizeof(T));
    std::memcpy(values.data(), message.bytes.data(), message.bytes.size());
  }
  return incoming;
}

/// What every rank sends to `host`, in rank order; empty elsewhere. Collective.
template <class T>
std::vector<T> gather(const Communicator& comm, int host, std::vector<T> values) {
  if (comm.size() == 1) return values;
  std::vector<std::vector<T>> outgoing(comm.size());
  outgoing[host] = std::move(values);
  std::vector<T> result;
  for (const std::vector<T>& part : parallel::exchange(comm, outgoing))
    result.insert(result.end(), part.begin(), part.end());
  return result;
}

} // namespace recoil::parallel
