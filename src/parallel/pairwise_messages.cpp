#include "recoil/parallel/pairwise_messages.hpp"

#include "recoil/base/error.hpp"
#include "recoil/parallel/environment.hpp"

namespace recoil::parallel {

namespace {

// The communicator of these messages has no others.
constexpr int data_tag = 0, end_tag = 1, break_tag = 2;

} // namespace

PairwiseMessages::PairwiseMessages(const Communicator& comm)
    : comm_(comm.get()), ended_(static_cast<std::size_t>(comm.size()), false) {}

PairwiseMessages::~PairwiseMessages() {
  if (mpi_is_active())
    for (Sent& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
}

void PairwiseMessages::post(int to, std::span<const double> numbers, int tag) {
  for (int done = 1; !sent_.empty() && done;) {
    RECOIL_MPI(MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE));
    if (done) sent_.pop_front();
  }
  Sent& sent = sent_.emplace_back(Sent{{numbers.begin(), numbers.end()}, MPI_REQUEST_NULL});
  RECOIL_MPI(MPI_Isend(sent.numbers.data(), static_cast<int>(sent.numbers.size()), MPI_DOUBLE, to, tag,
                       comm_.get(), &sent.request));
}

void PairwiseMessages::send(int to, std::span<const double> numbers) {
  RECOIL_ASSERT(numbers.size() <= max_numbers);
  post(to, numbers, data_tag);
}

int PairwiseMessages::receive_any(int from, std::span<double> numbers) {
  MPI_Status status;
  RECOIL_MPI(MPI_Recv(numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, from, MPI_ANY_TAG,
                      comm_.get(), &status));
  if (status.MPI_TAG != data_tag) {
    ended_[from] = true;
    if (status.MPI_TAG == break_tag) heard_of_break_ = true;
  }
  return status.MPI_TAG;
}

bool PairwiseMessages::receive(int from, std::span<double> numbers) {
  if (ended_[from]) return false;
  const int tag = receive_any(from, numbers);
  RECOIL_ASSERT(tag != end_tag); // a rank ends its round only where it expects no more
  return tag == data_tag;
}

bool PairwiseMessages::finish(bool broken) {
  for (int rank = 0; rank < comm_.size(); ++rank)
    if (rank != comm_.rank()) post(rank, {}, broken ? break_tag : end_tag);
  std::vector<double> dropped(max_numbers);
  for (int rank = 0; rank < comm_.size(); ++rank)
    while (rank != comm_.rank() && !ended_[rank]) receive_any(rank, dropped);
  for (Sent& sent : sent_) RECOIL_MPI(MPI_Wait(&sent.request, MPI_STATUS_IGNORE));
  sent_.clear();
  const bool result = broken || heard_of_break_;
  ended_.assign(ended_.size(), false);
  heard_of_break_ = false;
  return result;
}

} // namespace recoil::parallel
