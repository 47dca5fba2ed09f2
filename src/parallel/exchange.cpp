#include "recoil/parallel/exchange.hpp"

#include <algorithm>
#include <map>

#include "recoil/base/error.hpp"
#include "recoil/parallel/environment.hpp"

namespace recoil::parallel {

namespace {

// What has come from one sender: its complete messages in order, and whether the last one is still to be
// continued.
struct Inbox {
  std::vector<std::vector<std::byte>> messages;
  bool open = false;
};

void receive(MPI_Message& message, MPI_Status& status, std::size_t part_bytes,
             std::map<int, Inbox>& inboxes) {
  int count = 0;
  RECOIL_MPI(MPI_Get_count(&status, MPI_BYTE, &count));
  Inbox& inbox = inboxes[status.MPI_SOURCE];
  if (!inbox.open) inbox.messages.emplace_back();
  std::vector<std::byte>& bytes = inbox.messages.back();
  const std::size_t begin = bytes.size();
  bytes.resize(begin + count);
  RECOIL_MPI(MPI_Mrecv(bytes.data() + begin, count, MPI_BYTE, &message, MPI_STATUS_IGNORE));
  inbox.open = bytes.size() - begin == part_bytes;
}

} // namespace

std::vector<Message> exchange_bytes(const Communicator& comm, std::vector<Message> outgoing,
                                    std::size_t part_bytes) {
  const int tag = comm.next_exchange_tag();
  std::map<int, Inbox> inboxes;
  std::vector<MPI_Request> sends;
  for (Message& message : outgoing) {
    RECOIL_ASSERT(message.rank >= 0 && message.rank < comm.size());
    if (message.rank == comm.rank()) {
      inboxes[message.rank].messages.push_back(std::move(message.bytes));
      continue;
    }
    // A full part announces another one, so a length that is a multiple of the part ends with an empty part.
    // Parts between two ranks keep their order, as MPI promises for equal tags.
    std::size_t begin = 0, count = 0;
    do {
      count = std::min(part_bytes, message.bytes.size() - begin);
      sends.emplace_back();
      RECOIL_MPI(MPI_Issend(message.bytes.data() + begin, count, MPI_BYTE, message.rank, tag, comm.get(),
                            &sends.back()));
      begin += count;
    } while (count == part_bytes);
  }

  // A synchronous send is complete once it is being received: when a rank's sends are, it enters the barrier,
  // and when all have entered, nothing is under way.
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool in_barrier = false;
  for (int done = 0; !done;) {
    int found = 0;
    MPI_Message message;
    MPI_Status status;
    RECOIL_MPI(MPI_Improbe(MPI_ANY_SOURCE, tag, comm.get(), &found, &message, &status));
    if (found) {
      receive(message, status, part_bytes, inboxes);
    } else if (in_barrier) {
      RECOIL_MPI(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE));
    } else {
      int sent = 0;
      RECOIL_MPI(MPI_Testall(sends.size(), sends.data(), &sent, MPI_STATUSES_IGNORE));
      if (sent) {
        RECOIL_MPI(MPI_Ibarrier(comm.get(), &barrier));
        in_barrier = true;
      }
    }
  }

  std::vector<Message> incoming;
  for (auto& [rank, inbox] : inboxes)
    for (auto& bytes : inbox.messages) incoming.push_back({rank, std::move(bytes)});
  return incoming;
}

} // namespace recoil::parallel
