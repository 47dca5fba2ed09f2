#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "recoil/base/types.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::parallel {

/// Copies of entries that other ranks own, with a fixed pattern of who needs what. One message per neighbour
/// and direction; no barrier, nothing that grows with the number of ranks. Copying one copies its lists. The
/// communicator must outlive it.
class Halo {
public:
  /// No ghosts, and nothing sent.
  Halo() = default;
  /// `wanted[r]`: indices, in rank r's own numbering of its owned entries, of the entries that this rank
  /// wants from rank r; one list per rank, that of this rank empty. Received entries are ordered by rank,
  /// then as given. An entry may be wanted twice. Collective.
  Halo(const Communicator& comm, const std::vector<std::vector<LocalIndex>>& wanted);

  /// Number of entries received from other ranks.
  LocalIndex num_ghosts() const { return num_ghosts_; }
  /// ghosts[k * width ..] = the owner's owned[entry(k) * width ..]. `ghosts` has num_ghosts() * width
  /// entries; `owned` all entries that others want. Collective.
  void forward(std::span<const double> owned, int width, std::span<double> ghosts) const;
  /// The transposed sum: the owner's owned[entry(k) * width ..] += ghosts[k * width ..], added in the order
  /// of ranks, then as wanted, so that it repeats bitwise. Collective.
  void add_back(std::span<const double> ghosts, int width, std::span<double> owned) const;
  /// forward() of one value per entry; returns num_ghosts() values. Collective.
  template <class T>
  std::vector<T> forward(std::span<const T> owned) const {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    std::vector<T> ghosts(num_ghosts_);
    forward_bytes(std::as_bytes(owned), sizeof(T), std::as_writable_bytes(std::span(ghosts)));
    return ghosts;
  }

  /// What this rank sends in one forward() of `width` doubles per entry. Not collective.
  std::size_t bytes_per_forward(int width) const { return sent_.size() * width * sizeof(double); }
  /// Ranks that this rank receives from or sends to. Not collective.
  int num_neighbours() const;
  /// Owned entries that others want, by rank, then as wanted; an entry wanted by two ranks stands twice.
  const std::vector<LocalIndex>& sent_indices() const { return sent_; }

private:
  // The entries [begin, end) of a list concern `rank`.
  struct Part {
    int rank;
    std::size_t begin, end;
  };

  void forward_bytes(std::span<const std::byte> owned, std::size_t entry_bytes,
                     std::span<std::byte> ghosts) const;
  void transfer(const std::vector<Part>& from, const std::byte* outgoing, const std::vector<Part>& to,
                std::byte* incoming, std::size_t entry_bytes) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<Part> ghost_parts_, sent_parts_; // non-empty ones, by rank
  std::vector<LocalIndex> sent_;
  std::size_t min_owned_ = 0; // number of owned entries that `sent_` reaches into
  LocalIndex num_ghosts_ = 0;
};

} // namespace recoil::parallel
