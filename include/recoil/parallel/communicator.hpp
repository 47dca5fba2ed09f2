#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mpi.h>

#include "recoil/base/error.hpp"
#include "recoil/base/types.hpp"
#include "recoil/base/unique_handle.hpp"

namespace recoil::parallel {

struct CommunicatorTraits {
  using Handle = MPI_Comm;
  static Handle null() { return MPI_COMM_NULL; }
  static void release(Handle& comm) noexcept;
};

/// A group of ranks. Owns a duplicate of the MPI communicator that it is made from, so that messages of
/// different components never mix; move-only. All member functions but rank(), size() and get() are
/// collective.
class Communicator {
public:
  /// Duplicates `comm`. Collective.
  explicit Communicator(MPI_Comm comm);

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm get() const { return handle_.get(); }

  double sum(double value) const;
  GlobalIndex sum(GlobalIndex value) const;
  double min(double value) const;
  double max(double value) const;
  GlobalIndex min(GlobalIndex value) const;
  GlobalIndex max(GlobalIndex value) const;
  /// Element-wise sum, in place.
  void sum(std::span<double> values) const;
  /// Sum over the lower ranks (0 on rank 0).
  GlobalIndex exclusive_scan(GlobalIndex value) const;
  /// True on every rank if true on all.
  bool all(bool value) const;
  bool any(bool value) const;
  void barrier() const;
  void broadcast(std::span<std::byte> bytes, int root = 0) const;
  void broadcast(std::string& text, int root = 0) const;
  /// Names without line breaks, any number.
  void broadcast(std::vector<std::string>& names, int root = 0) const;
  /// Resizes `values` to the root's size and copies the root's entries.
  template <class T>
  void broadcast(std::vector<T>& values, int root = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    values.resize(agreed_size(std::ssize(values), root));
    broadcast(std::as_writable_bytes(std::span(values)), root);
  }
  /// One value per rank, on every rank.
  std::vector<GlobalIndex> all_gather(GlobalIndex value) const;
  std::vector<double> all_gather(double value) const;
  /// The values of all ranks, one rank after the other, on every rank; equally many on each.
  std::vector<double> all_gather(std::span<const double> values) const;
  /// The values of all ranks in rank order, any number of them on each.
  std::vector<GlobalIndex> all_gather_parts(std::span<const GlobalIndex> values) const;
  /// One text per rank, on every rank; meant for short ones (names, messages).
  std::vector<std::string> all_gather(const std::string& text) const;

  /// The sub-communicator of all ranks that give the same `color` (>= 0), ordered by `key`, then by rank
  /// here.
  Communicator split(int color, int key = 0) const;

  /// Tag of the next sparse exchange: successive ones alternate between two tags, so that a rank that runs
  /// ahead cannot be heard in the exchange before. Used by exchange_bytes only.
  int next_exchange_tag() const { return exchange_parity_ ^= 1; }
  /// Tag of messages along fixed patterns, apart from those of sparse exchanges (0 and 1). Used by Halo only.
  static constexpr int halo_tag = 2;

private:
  explicit Communicator(UniqueHandle<CommunicatorTraits> handle);
  GlobalIndex agreed_size(GlobalIndex size, int root) const;

  UniqueHandle<CommunicatorTraits> handle_;
  int rank_ = 0, size_ = 1;
  mutable int exchange_parity_ = 0;
};

/// Makes an error that some ranks met an error on all of them: `message` is empty where all went well. When
/// any rank has one, every rank throws the error of the lowest such rank, of the type that belongs to its
/// exit code `code`. Collective.
void agree(const Communicator& comm, int code, const std::string& message);

/// Runs `work` and turns a recoil::Error or std::exception thrown on some ranks into the same error on all;
/// returns what `work` returns. `work` must not communicate after the point where it may throw on one rank
/// only. Collective.
template <class Work>
std::invoke_result_t<Work> collectively(const Communicator& comm, Work&& work) {
  using Result = std::invoke_result_t<Work>;
  static_assert(!std::is_reference_v<Result>, "return a value or a pointer");
  constexpr bool returns_nothing = std::is_void_v<Result>;
  std::conditional_t<returns_nothing, int, std::optional<Result>> result{};
  int code = 0;
  std::string message;
  try {
    if constexpr (returns_nothing)
      std::forward<Work>(work)();
    else
      result.emplace(std::forward<Work>(work)());
  } catch (const std::exception& error) {
    const Failure failure = describe_failure(error, comm.rank());
    code = static_cast<int>(failure.code);
    message = failure.message.empty() ? "unknown error" : failure.message;
  }
  agree(comm, code, message);
  if constexpr (!returns_nothing) return std::move(*result);
}

} // namespace recoil::parallel
