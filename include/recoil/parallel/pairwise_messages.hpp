#pragma once

#include <deque>
#include <span>
#include <vector>

#include "recoil/parallel/communicator.hpp"

namespace recoil::parallel {

/// Short messages between pairs of ranks that both expect in one order, in rounds that any rank may break
/// off. What is sent is kept until it has been received, so no rank waits for another to send.
class PairwiseMessages {
public:
  /// Collective.
  explicit PairwiseMessages(const Communicator& comm);
  ~PairwiseMessages();
  PairwiseMessages(const PairwiseMessages&) = delete;
  PairwiseMessages& operator=(const PairwiseMessages&) = delete;

  void send(int to, std::span<const double> numbers);
  /// Waits for the next message of a rank, which has as many numbers. False: that rank has broken off the
  /// round, and `numbers` are unchanged.
  bool receive(int from, std::span<double> numbers);
  /// Ends the round; messages that nobody waits for any more are dropped. True if a rank has broken it off.
  /// Collective.
  bool finish(bool broken);

  static constexpr std::size_t max_numbers = 64; ///< of a message

private:
  struct Sent {
    std::vector<double> numbers;
    MPI_Request request;
  };
  /// Tag of the message received.
  int receive_any(int from, std::span<double> numbers);
  void post(int to, std::span<const double> numbers, int tag);

  Communicator comm_;
  std::deque<Sent> sent_;   ///< that may be on their way
  std::vector<bool> ended_; ///< whether a rank has ended this round
  bool heard_of_break_ = false;
};

} // namespace recoil::parallel
