#include "recoil/parallel/message.hpp"

#include <algorithm>

#include "recoil/parallel/environment.hpp"

namespace recoil::parallel {

namespace {

/// Apart from those of exchanges and halos.
constexpr int message_tag = Communicator::halo_tag + 1;
/// MPI counts in int.
constexpr std::size_t part_size = std::size_t(1) << 28;

/// Calls act(first, count) for the parts that a message of `size` numbers travels in.
template <class Act>
void for_each_part(std::size_t size, Act act) {
  for (std::size_t first = 0; first < size; first += part_size)
    act(first, static_cast<int>(std::min(part_size, size - first)));
}

} // namespace

void send(const Communicator& comm, int to, std::span<const double> numbers) {
  for_each_part(numbers.size(), [&](std::size_t first, int count) {
    RECOIL_MPI(MPI_Send(numbers.data() + first, count, MPI_DOUBLE, to, message_tag, comm.get()));
  });
}

void receive(const Communicator& comm, int from, std::span<double> numbers) {
  for_each_part(numbers.size(), [&](std::size_t first, int count) {
    RECOIL_MPI(MPI_Recv(numbers.data() + first, count, MPI_DOUBLE, from, message_tag, comm.get(),
                        MPI_STATUS_IGNORE));
  });
}

} // namespace recoil::parallel
