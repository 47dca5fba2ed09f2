// Continuous collision detection: processor time of a query, and its ratio to one evaluation of the distance.
//
//   bench_ccd                               random pairs, one rank
//   mpirun -n 2 bench_ccd scene.json        candidate pairs of a scene, per query and per surface primitive
//
// Random pairs are of the size of the unit cube. `hitting` ones meet at a random time, at random inner points
// of both; `passing` ones do not, though the boxes around their paths overlap, so that a search would find
// them; `sliding` ones are a thousandth apart and slide, closing in by up to three times that.
//
// Of a scene (bench/pile/pile.py writes such) all vertices of bodies move from where it starts, each in a
// direction of its own by up to dhat. `bounded_ns` is with queries that end at the earliest stop so far, as
// in a line search; the others look at the whole way. Times of a scene contain the gathering of points.
// Smallest of the repeats. One line of JSON per case.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "recoil/base/error.hpp"
#include "recoil/geometry/additive_ccd.hpp"
#include "recoil/geometry/closest_points.hpp"
#include "support/processor_time.hpp"
#include "support/scene_main.hpp"
#include "support/scene_surface.hpp"

namespace {

using namespace recoil;
using geometry::StencilKind;
using Points = geometry::StencilPoints<3>;
using Generator = std::mt19937_64;

constexpr int repeats = 5;

// Random pairs

/// Few enough to stay in the cache, too many for the branch prediction to learn them.
constexpr int num_queries = 4096, rounds = 10;
/// In units of the size of the primitives: half the side of the box that displacements are drawn from, and
/// the distance of close pairs.
constexpr double motion = 0.5, close_gap = 1e-3;

struct Query {
  Points start, displacement;
};

double uniform(Generator& generator, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(generator);
}

Points random_points(Generator& generator, double half_side) {
  Points points;
  for (double& value : points.reshaped()) value = uniform(generator, -half_side, half_side);
  return points;
}

Query random_query(Generator& generator) {
  const Points start = random_points(generator, 0.5);
  return {start, random_points(generator, motion)};
}

void move_first(StencilKind kind, const Eigen::Vector3d& shift, Points& points) {
  points.leftCols(geometry::num_first_points(kind)).colwise() += shift;
}

/// Lets a random inner point of the first primitive coincide with one of the second.
void bring_together(Generator& generator, StencilKind kind, Points& z) {
  const double x = uniform(generator, 0, 1), y = uniform(generator, 0, 1);
  Eigen::Vector4d weights;
  if (kind == StencilKind::vertex_face)
    weights << -1, 1 - std::max(x, y), std::min(x, y), std::abs(x - y);
  else
    weights << x - 1, -x, 1 - y, y;
  move_first(kind, z * weights, z);
}

Query hitting(Generator& generator, StencilKind kind) {
  Query query = random_query(generator);
  bring_together(generator, kind, query.start);
  query.start -= uniform(generator, 0, 1) * query.displacement;
  return query;
}

Eigen::AlignedBox3d path_box(const Points& start, const Points& end, int begin, int count) {
  Eigen::AlignedBox3d box;
  for (int i = begin; i < begin + count; ++i) box.extend(start.col(i)).extend(end.col(i));
  return box;
}

Query passing(Generator& generator, StencilKind kind) {
  const int first = geometry::num_first_points(kind);
  for (;;) {
    const Query query = random_query(generator);
    const Points end = query.start + query.displacement;
    if (path_box(query.start, end, 0, first).intersects(path_box(query.start, end, first, 4 - first)) &&
        geometry::additive_ccd<3>(kind, query.start, query.displacement) >= 1)
      return query;
  }
}

Query sliding(Generator& generator, StencilKind kind) {
  auto [z, displacement] = random_query(generator);
  bring_together(generator, kind, z);
  const Eigen::Vector3d across = z.col(3) - z.col(2),
                        along = z.col(1) - z.col(kind == StencilKind::edge_edge ? 0 : 2);
  const Eigen::Vector3d normal = along.cross(across).normalized();
  displacement -= normal * (normal.transpose() * displacement);
  move_first(kind, close_gap * normal, z);
  move_first(kind, -uniform(generator, 0, 3) * close_gap * normal, displacement);
  return {z, displacement};
}

struct Case {
  const char* name;
  Query (*query)(Generator&, StencilKind);
};
constexpr std::array<Case, 3> cases{{{"hitting", hitting}, {"passing", passing}, {"sliding", sliding}}};

/// Nanoseconds of `one` per query.
template <class One>
double mean_ns(const std::vector<Query>& queries, One&& one) {
  const double seconds = bench::smallest(repeats, [&] {
    return bench::processor_seconds([&] {
      for (int round = 0; round < rounds; ++round)
        for (const Query& query : queries) one(query);
    });
  });
  return 1e9 * seconds / (rounds * static_cast<double>(queries.size()));
}

void run_random(StencilKind kind, const Case& what) {
  Generator generator(7);
  std::vector<Query> queries;
  for (int i = 0; i < num_queries; ++i) queries.push_back(what.query(generator, kind));
  double stopped = 0, squares = 0;
  const double query_ns = mean_ns(queries, [&](const Query& query) {
    stopped += geometry::additive_ccd<3>(kind, query.start, query.displacement) < 1;
  });
  const double distance_ns = mean_ns(
      queries, [&](const Query& query) { squares += geometry::distance_squared<3>(kind, query.start); });
  constexpr double evaluations = double(repeats) * rounds * num_queries;
  std::printf("{\"kind\": \"%s\", \"pairs\": \"%s\", \"stopped\": %.3f, \"rms_distance\": %.3g, "
              "\"query_ns\": %.1f, \"distance_ns\": %.1f, \"query_to_distance\": %.2f}\n",
              kind == StencilKind::vertex_face ? "vertex_face" : "edge_edge", what.name,
              stopped / evaluations, std::sqrt(squares / evaluations), query_ns, distance_ns,
              query_ns / distance_ns);
}

// A scene

/// As potentials::Contact stops bodies on collision course, in units of dhat.
constexpr double stopping_gap = 0.5;

using Positions = std::vector<Eigen::Vector3d>;

/// Displacements of all vertices known here; those of a vertex do not depend on the partition.
Positions random_motion(const surface::Surface<3>& surface, double largest) {
  Positions result;
  for (LocalIndex v = 0; v < surface.num_vertices(); ++v) {
    Generator generator(static_cast<std::uint64_t>(surface.vertices()[static_cast<std::size_t>(v)].id));
    Eigen::Vector3d direction;
    for (double& value : direction) value = uniform(generator, -1, 1);
    const bool moves = !surface.is_obstacle(surface.vertices()[static_cast<std::size_t>(v)].body);
    result.emplace_back(moves ? Eigen::Vector3d(largest / std::sqrt(3.0) * direction)
                              : Eigen::Vector3d::Zero());
  }
  return result;
}

/// The candidates of one search with positions and displacements of their vertices.
class SceneQueries {
public:
  SceneQueries(const surface::Surface<3>& surface, double dhat)
      : search_(surface, dhat), largest_gap_(stopping_gap * dhat) {
    const std::vector<double> rest(static_cast<std::size_t>(surface.num_nodes()) * 3, 0.0);
    const std::vector<double> fixed(static_cast<std::size_t>(surface.num_obstacle_vertices()) * 3, 0.0);
    const Positions from = surface.positions(rest, fixed), way = random_motion(surface, dhat);
    Positions to = from;
    for (std::size_t v = 0; v < to.size(); ++v) to[v] += way[v];
    covered_ = search_.cover(from, to);
    const auto owned = static_cast<std::size_t>(surface.num_owned());
    start_ = search_.vertices()->gather({from.data(), owned});
    motion_ = search_.vertices()->gather({way.data(), owned});
  }

  double covered() const { return covered_; }
  std::size_t size() const { return search_.candidates().size(); }

  /// Where the pair has to stop, looked for up to `longest`.
  double stop(const potentials::ContactCandidate& pair, double longest) const {
    return geometry::additive_ccd<3>(pair.kind, gather(pair, start_), gather(pair, motion_), 0, longest,
                                     largest_gap_);
  }
  double distance_squared(const potentials::ContactCandidate& pair) const {
    return geometry::distance_squared<3>(pair.kind, gather(pair, start_));
  }

  /// Processor seconds of `pass` over all candidates, summed over the ranks. Collective.
  template <class Pass>
  double seconds(const parallel::Communicator& comm, Pass&& pass) const {
    return comm.sum(bench::smallest(
        repeats, [&] { return bench::processor_seconds([&] { pass(search_.candidates()); }); }));
  }

private:
  static Points gather(const potentials::ContactCandidate& pair, const Positions& values) {
    Points points = Points::Zero();
    for (std::size_t i = 0; i < static_cast<std::size_t>(geometry::num_points(pair.kind)); ++i)
      points.col(static_cast<Eigen::Index>(i)) = values[static_cast<std::size_t>(pair.vertices[i])];
    return points;
  }

  potentials::ContactSearch<3> search_;
  double largest_gap_, covered_ = 0;
  Positions start_, motion_;
};

/// Over all candidates and ranks.
struct SceneCosts {
  double whole, bounded, distance; ///< seconds
  double stopped, squares;         ///< candidates that stop, and the sum of squared distances [m^2]
};

/// Collective.
SceneCosts measure(const parallel::Communicator& comm, const SceneQueries& queries) {
  const double covered = queries.covered();
  double stopped = 0, squares = 0;
  const double whole = queries.seconds(comm, [&](const auto& pairs) {
    for (const auto& pair : pairs) stopped += queries.stop(pair, covered) < covered;
  });
  const double bounded = queries.seconds(comm, [&](const auto& pairs) {
    double earliest = covered;
    for (const auto& pair : pairs) earliest = std::min(earliest, queries.stop(pair, earliest));
  });
  const double distance = queries.seconds(comm, [&](const auto& pairs) {
    for (const auto& pair : pairs) squares += queries.distance_squared(pair);
  });
  return {whole, bounded, distance, comm.sum(stopped) / repeats, comm.sum(squares) / repeats};
}

void run_scene(const parallel::Communicator& comm, const char* path) {
  const bench::SceneSurface scene(comm, path);
  const auto surface = scene.surface();
  const SceneQueries queries(*surface, scene.dhat());
  const double count = comm.sum(static_cast<double>(queries.size()));
  if (count == 0) throw InputError(path, "no two primitives come near each other");
  const SceneCosts costs = measure(comm, queries);
  const auto primitives = static_cast<double>(bench::count_primitives(*surface));
  if (comm.rank() != 0) return;
  std::printf("{\"ranks\": %d, \"primitives\": %.0f, \"candidates\": %.0f, "
              "\"candidates_per_primitive\": %.2f, \"stopped\": %.4f, \"rms_distance\": %.3g, "
              "\"query_ns\": %.1f, \"bounded_ns\": %.1f, \"distance_ns\": %.1f, "
              "\"query_to_distance\": %.2f, \"bounded_to_distance\": %.2f, \"primitive_ns\": %.1f, "
              "\"bounded_primitive_ns\": %.1f}\n",
              comm.size(), primitives, count, count / primitives, costs.stopped / count,
              std::sqrt(costs.squares / count), 1e9 * costs.whole / count, 1e9 * costs.bounded / count,
              1e9 * costs.distance / count, costs.whole / costs.distance, costs.bounded / costs.distance,
              1e9 * costs.whole / primitives, 1e9 * costs.bounded / primitives);
}

void run(const parallel::Communicator& comm, const char* scene) {
  if (scene != nullptr) return run_scene(comm, scene);
  if (comm.rank() != 0) return;
  for (const StencilKind kind : {StencilKind::vertex_face, StencilKind::edge_edge})
    for (const Case& what : cases) run_random(kind, what);
}

} // namespace

int main(int argc, char** argv) {
  return bench::scene_main(argc, argv, "bench_ccd", bench::SceneArgument::optional, run);
}
