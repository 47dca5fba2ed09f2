#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "recoil/parallel/exchange.hpp"

namespace recoil::parallel {

/// What each rank gives to this one, by rank: items go to the rank that `owner(item)` names. Collective.
template <class Item, class Owner>
std::vector<std::vector<Item>> give_owners(const Communicator& comm, const std::vector<Item>& items,
                                           const Owner& owner) {
  std::vector<std::vector<Item>> outgoing(comm.size());
  for (const Item& item : items) outgoing[owner(item)].push_back(item);
  return parallel::exchange(comm, outgoing);
}

/// The answers to questions, in their order; `answer(question, rank that asks)` is given by the rank that
/// `owner(question)` names, once it has heard all: before that, `hear` is called with each, by ascending
/// ranks. Collective.
template <class Question, class Owner, class Answer, class Hear>
auto ask_owners(const Communicator& comm, const std::vector<Question>& asked, const Owner& owner,
                const Answer& answer, const Hear& hear) {
  using Reply = std::invoke_result_t<const Answer&, const Question&, int>;
  std::vector<std::vector<Reply>> replies(comm.size());
  const auto questions = give_owners(comm, asked, owner);
  for (int rank = 0; rank < comm.size(); ++rank)
    for (const Question& question : questions[rank]) hear(question, rank);
  for (int rank = 0; rank < comm.size(); ++rank)
    for (const Question& question : questions[rank]) replies[rank].push_back(answer(question, rank));
  replies = parallel::exchange(comm, replies);
  std::vector<std::size_t> used(comm.size(), 0);
  std::vector<Reply> result;
  result.reserve(asked.size());
  for (const Question& question : asked) {
    const auto rank = owner(question);
    result.push_back(replies[rank][used[rank]++]);
  }
  return result;
}

/// The same where no answer depends on other questions. Collective.
template <class Question, class Owner, class Answer>
auto ask_owners(const Communicator& comm, const std::vector<Question>& asked, const Owner& owner,
                const Answer& answer) {
  return ask_owners(comm, asked, owner, answer, [](const Question&, int) {});
}

} // namespace recoil::parallel
