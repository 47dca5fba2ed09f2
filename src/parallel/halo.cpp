#include "recoil/parallel/halo.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "recoil/base/error.hpp"
#include "recoil/parallel/environment.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::parallel {

namespace {

// One tag serves all halos of a communicator: receives name their sender, MPI keeps messages between two
// ranks in order, and all ranks pass through the collective calls in the same order.
constexpr int tag = Communicator::halo_tag;

// Counts of MPI calls are ints: longer messages go in parts.
constexpr std::size_t part_bytes = std::size_t(1) << 30;

// Calls `work` with the parts of [begin, begin + size).
template <class Byte, class Work>
void for_parts(Byte* begin, std::size_t size, Work&& work) {
  for (std::size_t done = 0; done < size; done += part_bytes)
    work(begin + done, std::min(part_bytes, size - done));
}

} // namespace

Halo::Halo(const Communicator& comm, const std::vector<std::vector<LocalIndex>>& wanted) : comm_(comm.get()) {
  RECOIL_ASSERT(std::ssize(wanted) == comm.size());
  RECOIL_ASSERT(wanted[comm.rank()].empty());
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (wanted[rank].empty()) continue;
    const std::size_t begin = num_ghosts_, end = begin + wanted[rank].size();
    ghost_parts_.push_back({rank, begin, end});
    num_ghosts_ = end;
  }

  const auto requests = exchange(comm, wanted);
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (requests[rank].empty()) continue;
    sent_parts_.push_back({rank, sent_.size(), sent_.size() + requests[rank].size()});
    sent_.insert(sent_.end(), requests[rank].begin(), requests[rank].end());
  }
  if (sent_.empty()) return;
  const auto [lowest, highest] = std::minmax_element(sent_.begin(), sent_.end());
  RECOIL_ASSERT(*lowest >= 0);
  min_owned_ = *highest + 1;
}

int Halo::num_neighbours() const {
  std::set<int> ranks;
  for (const auto& parts : {ghost_parts_, sent_parts_})
    for (const Part& part : parts) ranks.insert(part.rank);
  return ranks.size();
}

void Halo::transfer(const std::vector<Part>& from, const std::byte* outgoing, const std::vector<Part>& to,
                    std::byte* incoming, std::size_t entry_bytes) const {
  std::vector<MPI_Request> requests;
  for (const Part& part : to)
    for_parts(incoming + part.begin * entry_bytes, (part.end - part.begin) * entry_bytes,
              [&](std::byte* bytes, int count) {
                RECOIL_MPI(
                    MPI_Irecv(bytes, count, MPI_BYTE, part.rank, tag, comm_, &requests.emplace_back()));
              });
  for (const Part& part : from)
    for_parts(outgoing + part.begin * entry_bytes, (part.end - part.begin) * entry_bytes,
              [&](const std::byte* bytes, int count) {
                RECOIL_MPI(
                    MPI_Isend(bytes, count, MPI_BYTE, part.rank, tag, comm_, &requests.emplace_back()));
              });
  RECOIL_MPI(MPI_Waitall(requests.size(), requests.data(), MPI_STATUSES_IGNORE));
}

void Halo::forward_bytes(std::span<const std::byte> owned, std::size_t entry_bytes,
                         std::span<std::byte> ghosts) const {
  RECOIL_ASSERT(owned.size() >= min_owned_ * entry_bytes);
  RECOIL_ASSERT(ghosts.size() == num_ghosts_ * entry_bytes);
  std::vector<std::byte> outgoing(sent_.size() * entry_bytes);
  for (std::size_t i = 0; i < sent_.size(); ++i)
    std::memcpy(outgoing.data() + i * entry_bytes, owned.data() + sent_[i] * entry_bytes, entry_bytes);
  transfer(sent_parts_, outgoing.data(), ghost_parts_, ghosts.data(), entry_bytes);
}

void Halo::forward(std::span<const double> owned, int width, std::span<double> ghosts) const {
  RECOIL_ASSERT(width > 0);
  forward_bytes(std::as_bytes(owned), width * sizeof(double), std::as_writable_bytes(ghosts));
}

void Halo::add_back(std::span<const double> ghosts, int width, std::span<double> owned) const {
  RECOIL_ASSERT(width > 0);
  const std::size_t n = width;
  RECOIL_ASSERT(owned.size() >= min_owned_ * n);
  RECOIL_ASSERT(ghosts.size() == num_ghosts_ * n);
  std::vector<double> incoming(sent_.size() * n);
  transfer(ghost_parts_, std::as_bytes(ghosts).data(), sent_parts_,
           std::as_writable_bytes(std::span(incoming)).data(), n * sizeof(double));
  // Nothing is added before all has come: the order of arrival must not show in the last bit.
  for (std::size_t i = 0; i < sent_.size(); ++i)
    for (std::size_t k = 0; k < n; ++k) owned[sent_[i] * n + k] += incoming[i * n + k];
}

} // namespace recoil::parallel
