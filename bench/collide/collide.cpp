// Broad phase: time of the search, and what travels between ranks.
//
//   bench_collide [repeats]                 search on one rank, random small boxes
//   mpirun -n 4 bench_collide [repeats]     the same items cut into one part per rank
//
// Boxes of equal size with centres uniform in the unit cube, or on its faces ("surface"), so large that each
// meets about 8 others. Parts are blocks of the cube or, with slanted borders as partitioners make them, the
// cells nearest to random points. Wall time of find_candidates between barriers and processor time of the
// slowest rank, smallest of the repeats; traffic is the largest of any rank and the sum. One line of JSON per
// case.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "recoil/base/timer.hpp"
#include "recoil/collide/candidates.hpp"
#include "recoil/parallel/environment.hpp"
#include "support/count_messages.hpp"

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

// The rank whose point is nearest.
int cell_of(const Point& point, int ranks) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  int nearest = 0;
  double distance = 1e99;
  for (int rank = 0; rank < ranks; ++rank) {
    const Point centre(uniform(random), uniform(random), uniform(random));
    if ((centre - point).squaredNorm() >= distance) continue;
    distance = (centre - point).squaredNorm();
    nearest = rank;
  }
  return nearest;
}

struct Case {
  int count;
  bool surface, cells;
};

// This rank's part of the boxes.
collide::ItemSet<3> items(const parallel::Communicator& comm, const Case& what) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double half =
      what.surface ? 0.5 * std::sqrt(8 * 6.0 / 4 / what.count) : 0.5 * std::cbrt(1.0 / what.count);
  const auto cut = blocks(comm.size());
  collide::ItemSet<3> set;
  for (GlobalIndex i = 0; i < what.count; ++i) {
    Point centre(uniform(random), uniform(random), uniform(random));
    if (what.surface) centre[static_cast<int>(random() % 3)] = static_cast<double>(random() % 2);
    if ((what.cells ? cell_of(centre, comm.size()) : block_of(centre, cut)) != comm.rank()) continue;
    set.boxes.emplace_back(centre - Point::Constant(half), centre + Point::Constant(half));
    set.labels.push_back({i, -1, -1});
    set.groups.push_back(0);
  }
  return set;
}

void run(const parallel::Communicator& comm, const Case& what, int repeats) {
  const std::vector<collide::ItemSet<3>> sets{items(comm, what)};
  const double count = what.count;
  const std::vector<collide::SetPair> which{{0, 0}};
  double best = 1e99, best_cpu = 1e99;
  collide::Candidates candidates;
  bench::Messages sent;
  for (int i = 0; i < repeats; ++i) {
    comm.barrier();
    const Stopwatch watch;
    const bench::Messages before = bench::messages_sent();
    const std::clock_t begin = std::clock();
    candidates = collide::find_candidates<3>(comm, sets, which, {});
    sent = bench::messages_sent() - before;
    best_cpu = std::min(best_cpu, comm.max(double(std::clock() - begin) / CLOCKS_PER_SEC));
    best = std::min(best, comm.max(watch.seconds()));
  }
  const auto& traffic = candidates.traffic;
  const double pairs = comm.sum(static_cast<double>(candidates.pairs[0].size()));
  const double most_pairs = comm.max(static_cast<double>(candidates.pairs[0].size()));
  const double tests = comm.sum(static_cast<double>(traffic.tests));
  const auto boxes = bench::over_ranks(comm, traffic.boxes_sent);
  const auto messages = bench::over_ranks(comm, sent.count), bytes = bench::over_ranks(comm, sent.bytes);
  const GlobalIndex most_met = comm.max(GlobalIndex(traffic.ranks_met));
  if (comm.rank() != 0) return;
  std::printf(
      "{\"items\": %d, \"placed\": \"%s\", \"parts\": \"%s\", \"ranks\": %d, \"ms\": %.3f, \"cpu_ms\": %.3f, "
      "\"cpu_us_per_item\": %.4f, "
      "\"pairs_per_item\": %.2f, \"pairs_max_to_mean\": %.2f, \"tests_per_item\": %.1f, "
      "\"boxes_sent\": %lld, \"boxes_sent_max\": %lld, \"messages\": %lld, \"messages_max\": %lld, "
      "\"bytes_sent\": %lld, \"bytes_sent_max\": %lld, \"ranks_met_max\": %lld}\n",
      what.count, what.surface ? "surface" : "volume", what.cells ? "cells" : "blocks", comm.size(),
      1e3 * best, 1e3 * best_cpu, 1e6 * best_cpu / count, pairs / count, most_pairs * comm.size() / pairs,
      tests / count, static_cast<long long>(boxes.sum), static_cast<long long>(boxes.max),
      static_cast<long long>(messages.sum), static_cast<long long>(messages.max),
      static_cast<long long>(bytes.sum), static_cast<long long>(bytes.max), static_cast<long long>(most_met));
}

} // namespace

int main(int argc, char** argv) {
  const parallel::Environment environment(argc, argv);
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  for (const bool cells : {false, true}) {
    if (cells && comm.size() == 1) break;
    for (const bool surface : {false, true})
      for (const int count : {10000, 100000, 1000000}) run(comm, {count, surface, cells}, repeats);
  }
  return 0;
}
