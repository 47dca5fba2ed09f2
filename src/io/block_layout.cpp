#include "recoil/io/block_layout.hpp"

#include <cstring>
#include <type_traits>

#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::io {

int rank_of_row(GlobalIndex row, GlobalIndex rows, int size) {
  return static_cast<int>(((row + 1) * size - 1) / rows);
}

GlobalIndex block_begin(GlobalIndex rows, int rank, int size) {
  // rows * rank may not fit for byte counts, hence quotient and remainder.
  const GlobalIndex quotient = rows / size, remainder = rows % size;
  return quotient * rank + remainder * rank / size;
}

BlockLayout::BlockLayout(const parallel::Communicator& comm, std::span<const GlobalIndex> ids)
    : comm_(&comm) {
  const int size = comm.size();
  global_size_ = comm.sum(std::ssize(ids));
  block_begin_ = io::block_begin(global_size_, comm.rank(), size);
  block_end_ = io::block_begin(global_size_, comm.rank() + 1, size);

  std::vector<std::vector<GlobalIndex>> outgoing(size);
  for (const GlobalIndex id : ids) {
    RECOIL_ASSERT(id >= 0 && id < global_size_);
    outgoing[rank_of_row(id, global_size_, size)].push_back(id);
  }
  std::vector<LocalIndex> next(size, 0);
  LocalIndex total = 0;
  for (int rank = 0; rank < size; ++rank) {
    const LocalIndex count = outgoing[rank].size();
    next[rank] = total;
    total += count;
    if (count > 0) sent_.push_back({rank, count});
  }
  slot_of_owned_.reserve(ids.size());
  for (const GlobalIndex id : ids) slot_of_owned_.push_back(next[rank_of_row(id, global_size_, size)]++);

  const auto incoming = parallel::exchange(comm, outgoing);
  std::vector<char> seen(block_end_ - block_begin_, 0);
  for (int rank = 0; rank < size; ++rank) {
    const auto& rows = incoming[rank];
    if (!rows.empty()) received_.push_back({rank, static_cast<LocalIndex>(rows.size())});
    for (const GlobalIndex row : rows) {
      const GlobalIndex local = row - block_begin_;
      RECOIL_ASSERT(local >= 0 && row < block_end_ && !seen[local]);
      seen[local] = 1;
      block_row_.push_back(static_cast<LocalIndex>(local));
    }
  }
  RECOIL_ASSERT(block_row_.size() == seen.size());
}

template <class T>
std::vector<T> BlockLayout::to_blocks(std::span<const T> owned, int components) const {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t width = components;
  RECOIL_ASSERT(owned.size() == slot_of_owned_.size() * width);
  std::vector<T> packed(owned.size());
  for (std::size_t row = 0; row < slot_of_owned_.size(); ++row)
    std::memcpy(packed.data() + slot_of_owned_[row] * width, owned.data() + row * width, width * sizeof(T));

  std::vector<parallel::Message> messages;
  const T* from = packed.data();
  for (const Neighbour& neighbour : sent_) {
    const std::size_t count = neighbour.rows * width;
    const auto bytes = std::as_bytes(std::span(from, count));
    messages.push_back({neighbour.rank, {bytes.begin(), bytes.end()}});
    from += count;
  }
  packed = {};
  const auto incoming = parallel::exchange_bytes(*comm_, std::move(messages));
  RECOIL_ASSERT(incoming.size() == received_.size());

  std::vector<T> block(block_row_.size() * width);
  std::size_t arrived = 0;
  for (std::size_t n = 0; n < received_.size(); ++n) {
    const std::size_t rows = received_[n].rows;
    RECOIL_ASSERT(incoming[n].rank == received_[n].rank &&
                  incoming[n].bytes.size() == rows * width * sizeof(T));
    for (std::size_t row = 0; row < rows; ++row, ++arrived)
      std::memcpy(block.data() + block_row_[arrived] * width,
                  incoming[n].bytes.data() + row * width * sizeof(T), width * sizeof(T));
  }
  return block;
}

template <class T>
std::vector<T> BlockLayout::from_blocks(std::span<const T> block, int components) const {
  const std::size_t width = components;
  RECOIL_ASSERT(block.size() == block_row_.size() * width);
  std::vector<parallel::Message> messages;
  std::size_t sent = 0;
  for (const Neighbour& neighbour : received_) {
    const std::size_t rows = neighbour.rows;
    parallel::Message message{neighbour.rank, std::vector<std::byte>(rows * width * sizeof(T))};
    for (std::size_t row = 0; row < rows; ++row, ++sent)
      std::memcpy(message.bytes.data() + row * width * sizeof(T), block.data() + block_row_[sent] * width,
                  width * sizeof(T));
    messages.push_back(std::move(message));
  }
  const auto incoming = parallel::exchange_bytes(*comm_, std::move(messages));
  RECOIL_ASSERT(incoming.size() == sent_.size());

  std::vector<T> packed(slot_of_owned_.size() * width);
  T* to = packed.data();
  for (std::size_t n = 0; n < sent_.size(); ++n) {
    const std::size_t count = sent_[n].rows * width;
    RECOIL_ASSERT(incoming[n].rank == sent_[n].rank && incoming[n].bytes.size() == count * sizeof(T));
    std::memcpy(to, incoming[n].bytes.data(), count * sizeof(T));
    to += count;
  }
  std::vector<T> owned(packed.size());
  for (std::size_t row = 0; row < slot_of_owned_.size(); ++row)
    std::memcpy(owned.data() + row * width, packed.data() + slot_of_owned_[row] * width, width * sizeof(T));
  return owned;
}

template std::vector<double> BlockLayout::to_blocks(std::span<const double>, int) const;
template std::vector<std::int32_t> BlockLayout::to_blocks(std::span<const std::int32_t>, int) const;
template std::vector<std::int64_t> BlockLayout::to_blocks(std::span<const std::int64_t>, int) const;
template std::vector<double> BlockLayout::from_blocks(std::span<const double>, int) const;
template std::vector<std::int32_t> BlockLayout::from_blocks(std::span<const std::int32_t>, int) const;
template std::vector<std::int64_t> BlockLayout::from_blocks(std::span<const std::int64_t>, int) const;

} // namespace recoil::io
