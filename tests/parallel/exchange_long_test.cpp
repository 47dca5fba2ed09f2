#include "recoil/parallel/exchange.hpp"

#include <gtest/gtest.h>

namespace recoil::parallel {
namespace {

/// Takes 6 GB of memory per rank.
TEST(Exchange, MessageBeyondTwoGigabytes) {
  const Communicator comm(MPI_COMM_WORLD);
  const std::size_t size = (std::size_t(1) << 31) + 12'345;
  std::vector<Message> outgoing;
  if (comm.rank() == 0) {
    outgoing.push_back({comm.size() - 1, std::vector<std::byte>(size, std::byte{7})});
    outgoing[0].bytes.back() = std::byte{9};
  }
  const auto incoming = exchange_bytes(comm, std::move(outgoing));
  if (comm.rank() != comm.size() - 1) return;
  ASSERT_EQ(incoming.size(), 1u);
  ASSERT_EQ(incoming[0].bytes.size(), size);
  EXPECT_EQ(incoming[0].bytes[size - 2], std::byte{7});
  EXPECT_EQ(incoming[0].bytes.back(), std::byte{9});
}

} // namespace
} // namespace recoil::parallel
