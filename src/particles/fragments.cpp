#include "recoil/particles/fragments.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "recoil/io/block_layout.hpp"
#include "recoil/linalg/components.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::particles {

namespace {

/// The smallest id of the fragment of each owned particle. Collective.
std::vector<GlobalIndex> smallest_ids(const DistributedParticles& particles, std::span<const char> broken) {
  auto layout = std::make_shared<linalg::VectorLayout>(*particles.points);
  layout->block_size = 1;
  std::vector<std::array<LocalIndex, 2>> intact;
  for (std::size_t bond = 0; bond < particles.bonds.size(); ++bond)
    if (broken[bond] == 0) intact.push_back({particles.bonds[bond].a, particles.bonds[bond].b});
  std::vector<GlobalIndex> smallest = linalg::smallest_ids_of_components(layout, particles.ids, intact);
  smallest.resize(layout->num_owned);
  return smallest;
}

/// `count` of what has this `key`.
struct Count {
  GlobalIndex key, count;
};

std::vector<Count> count_equal(std::vector<GlobalIndex> keys) {
  std::ranges::sort(keys);
  std::vector<Count> counts;
  for (const GlobalIndex key : keys) {
    if (counts.empty() || counts.back().key != key) counts.push_back({key, 0});
    ++counts.back().count;
  }
  return counts;
}

/// A number for each of this rank's counts, from the rank home(key), which ascends in their order. `answer`
/// takes what ranks ask here, one list per rank, and puts the numbers in place of the counts. Collective.
template <class Home, class Answer>
std::vector<GlobalIndex> ask(const parallel::Communicator& comm, const std::vector<Count>& counts, Home home,
                             Answer answer) {
  std::vector<std::vector<Count>> lists(comm.size());
  for (const Count& asked : counts) lists[home(asked.key)].push_back(asked);
  lists = parallel::exchange(comm, lists);
  answer(lists);
  lists = parallel::exchange(comm, lists);
  std::vector<GlobalIndex> numbers;
  for (const std::vector<Count>& list : lists)
    for (const Count& answered : list) numbers.push_back(answered.count);
  return numbers;
}

/// The number at which those of this rank's fragments of each size begin, from how many it has of each,
/// largest size first. The first rank is home to all sizes from the number of ranks on, every other one to a
/// smaller size: so a home is asked at most once for each fragment that large, or by each rank. Collective.
std::vector<GlobalIndex> first_numbers(const parallel::Communicator& comm,
                                       const std::vector<Count>& of_size) {
  const auto home = [&](GlobalIndex size) { return std::max<GlobalIndex>(0, comm.size() - size); };
  return ask(comm, of_size, home, [&](std::vector<std::vector<Count>>& asked) {
    std::map<GlobalIndex, GlobalIndex, std::greater<>> next; // of each size its count, then the next number
    for (const std::vector<Count>& list : asked)
      for (const auto& [size, count] : list) next[size] += count;
    GlobalIndex total = 0;
    for (const auto& [size, count] : next) total += count;
    GlobalIndex begin = comm.exclusive_scan(total);
    for (auto& [size, number] : next) begin += std::exchange(number, begin);
    for (std::vector<Count>& list : asked)
      for (auto& [size, count] : list) {
        GlobalIndex& number = next.at(size);
        number += std::exchange(count, number);
      }
  });
}

/// Numbers by size, then by rank and place in `sizes`, of fragments of these sizes. Collective.
std::vector<GlobalIndex> number_by_size(const parallel::Communicator& comm,
                                        const std::vector<GlobalIndex>& sizes) {
  std::vector<Count> of_size = count_equal(sizes);
  std::ranges::reverse(of_size);
  const std::vector<GlobalIndex> first = first_numbers(comm, of_size);
  std::map<GlobalIndex, GlobalIndex> next;
  for (std::size_t i = 0; i < first.size(); ++i) next[of_size[i].key] = first[i];
  std::vector<GlobalIndex> numbers;
  for (const GlobalIndex size : sizes) numbers.push_back(next.at(size)++);
  return numbers;
}

} // namespace

Fragments find_fragments(const DistributedParticles& particles, std::span<const char> broken) {
  const parallel::Communicator& comm = *particles.points->comm;
  Fragments result;
  result.first_of_owned = smallest_ids(particles, broken);
  const std::vector<Count> shares = count_equal(result.first_of_owned);
  // Blocks of ids, so that ranks are in the order of ids, by which equally large fragments are numbered.
  const auto home = [&](GlobalIndex id) {
    return io::rank_of_row(id, particles.points->num_global, comm.size());
  };
  const std::vector<GlobalIndex> numbers =
      ask(comm, shares, home, [&](std::vector<std::vector<Count>>& asked) {
        std::map<GlobalIndex, GlobalIndex> by_first; // sizes, then numbers
        for (const std::vector<Count>& list : asked)
          for (const auto& [first, count] : list) by_first[first] += count;
        std::vector<GlobalIndex> sizes;
        for (const auto& [first, size] : by_first) sizes.push_back(size);
        result.count = comm.sum(std::ssize(sizes));
        result.larger = result.count - comm.sum(GlobalIndex(std::ranges::count(sizes, 1)));
        result.largest = comm.max(sizes.empty() ? GlobalIndex(0) : std::ranges::max(sizes));
        const std::vector<GlobalIndex> numbers_here = number_by_size(comm, sizes);
        std::size_t i = 0;
        for (auto& [first, number] : by_first) number = numbers_here[i++];
        for (std::vector<Count>& list : asked)
          for (auto& [first, count] : list) count = by_first.at(first);
      });
  for (const GlobalIndex first : result.first_of_owned)
    result.of_owned.push_back(
        numbers[std::ranges::lower_bound(shares, first, {}, &Count::key) - shares.begin()]);
  return result;
}

} // namespace recoil::particles
