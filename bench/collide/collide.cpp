// Broad phase: time of the search, and what travels between ranks.
//
//   bench_collide [repeats]                 search on one rank, random small boxes
//   mpirun -n 4 bench_collide [repeats]     the same items cut into blocks, one per rank
//
// Boxes of equal size with centres uniform in the unit cube, or on its faces ("surface"), so large that each
// meets about 8 others. Wall time of find_candidates, smallest of the repeats, between barriers; traffic is
// the largest of any rank and the sum. One line of JSON per case.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "recoil/base/timer.hpp"
#include "recoil/collide/candidates.hpp"
#include "recoil/parallel/environment.hpp"

namespace {

using namespace recoil;
using Point = Eigen::Vector3d;

// Numbers of blocks per direction, as equal as the ranks allow.
std::array<int, 3> blocks(int ranks) {
  std::array<int, 3> result{ranks, 1, 1};
  for (int a = 1; a <= ranks; ++a)
    for (int b = 1; a * b <= ranks; ++b)
      if (ranks % (a * b) == 0 && a + b + ranks / (a * b) < result[0] + result[1] + result[2])
        result = {a, b, ranks / (a * b)};
  return result;
}

int block_of(const Point& point, const std::array<int, 3>& count) {
  int rank = 0;
  for (int k = 0; k < 3; ++k) {
    const int n = count[static_cast<std::size_t>(k)];
    rank = rank * n + std::min(n - 1, static_cast<int>(point[k] * n));
  }
  return rank;
}

// This rank's part of `count` boxes.
collide::ItemSet<3> items(const parallel::Communicator& comm, int count, bool surface) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double half = surface ? 0.5 * std::sqrt(8 * 6.0 / 4 / count) : 0.5 * std::cbrt(1.0 / count);
  const auto cut = blocks(comm.size());
  collide::ItemSet<3> set;
  for (GlobalIndex i = 0; i < count; ++i) {
    Point centre(uniform(random), uniform(random), uniform(random));
    if (surface) centre[static_cast<int>(random() % 3)] = static_cast<double>(random() % 2);
    if (block_of(centre, cut) != comm.rank()) continue;
    set.boxes.emplace_back(centre - Point::Constant(half), centre + Point::Constant(half));
    set.labels.push_back({i, -1, -1});
    set.groups.push_back(0);
  }
  return set;
}

void run(const parallel::Communicator& comm, int count, bool surface, int repeats) {
  const std::vector<collide::ItemSet<3>> sets{items(comm, count, surface)};
  const std::vector<collide::SetPair> which{{0, 0}};
  double best = 1e99;
  collide::Candidates candidates;
  for (int i = 0; i < repeats; ++i) {
    comm.barrier();
    const Stopwatch watch;
    candidates = collide::find_candidates<3>(comm, sets, which, {});
    best = std::min(best, comm.max(watch.seconds()));
  }
  const auto& traffic = candidates.traffic;
  const double pairs = comm.sum(static_cast<double>(candidates.pairs[0].size()));
  const double most_pairs = comm.max(static_cast<double>(candidates.pairs[0].size()));
  const double tests = comm.sum(static_cast<double>(traffic.tests));
  const GlobalIndex boxes = comm.sum(traffic.boxes_sent), bytes = comm.sum(traffic.bytes_sent);
  const GlobalIndex most_boxes = comm.max(traffic.boxes_sent), most_bytes = comm.max(traffic.bytes_sent);
  const GlobalIndex most_met = comm.max(GlobalIndex(traffic.ranks_met));
  if (comm.rank() != 0) return;
  std::printf(
      "{\"items\": %d, \"placed\": \"%s\", \"ranks\": %d, \"ms\": %.3f, \"us_per_item\": %.4f, "
      "\"pairs_per_item\": %.2f, \"pairs_max_to_mean\": %.2f, \"tests_per_item\": %.1f, "
      "\"boxes_sent\": %lld, \"boxes_sent_max\": %lld, \"bytes_sent\": %lld, \"bytes_sent_max\": %lld, "
      "\"ranks_met_max\": %lld}\n",
      count, surface ? "surface" : "volume", comm.size(), 1e3 * best, 1e6 * best / count, pairs / count,
      most_pairs * comm.size() / pairs, tests / count, static_cast<long long>(boxes),
      static_cast<long long>(most_boxes), static_cast<long long>(bytes), static_cast<long long>(most_bytes),
      static_cast<long long>(most_met));
}

} // namespace

int main(int argc, char** argv) {
  const parallel::Environment environment(argc, argv);
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  for (const bool surface : {false, true})
    for (const int count : {10000, 100000, 1000000}) run(comm, count, surface, repeats);
  return 0;
}
