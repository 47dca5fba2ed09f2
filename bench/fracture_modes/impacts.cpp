// Random impacts on shapes of all kinds: thin, with handles, with tunnels, of several components,
// non-manifold and self-intersecting ones. Every piece must be closed, manifold and oriented, and volumes
// must add up: of the cage to 1e-12, of the surface to 1e-6. Ends with 1 where one is not.
//   build/ci/bench_impacts [impacts = 500] [elements of each cage = 1500] [modes = 6]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "impact/breakable.hpp"
#include "recoil/linalg/petsc.hpp"

namespace {

using namespace recoil;
namespace fm = solvers::fracture_modes;

struct Counts {
  int impacts = 0, faulty = 0, broken = 0;
  std::size_t pieces = 0, most = 0;
  double worst = 0, apply_seconds = 0, cut_seconds = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void hit(app::BreakableShape<3>& shape, int impacts, std::mt19937& random, Counts& counts) {
  const app::HitFinder<3> finder(shape);
  fm::ImpactSolver solver(shape.model);
  const auto surface = app::surface_of(shape);
  const double cells = std::accumulate(shape.model.volumes.begin(), shape.model.volumes.end(), 0.0);
  for (int k = 0; k < impacts; ++k) {
    const auto projection = k % 4 == 3 ? fm::ImpactProjection::modes : fm::ImpactProjection::pieces;
    const double magnitude = std::exp2(double(random() % 1000) / 200 - 3); // 1/8 to 4
    const auto start = std::chrono::steady_clock::now();
    const auto at = finder.nearest(surface.vertices[random() % surface.vertices.size()]);
    const auto fragments = solver.apply(at.point, magnitude, 1, projection);
    counts.apply_seconds += seconds_since(start);
    const auto cut_start = std::chrono::steady_clock::now();
    const auto broken = app::break_body<3>(shape, fragments);
    counts.cut_seconds += seconds_since(cut_start);
    ++counts.impacts;
    counts.broken += solver.num_fragments() > 1;
    counts.pieces += broken.pieces.size();
    counts.most = std::max(counts.most, broken.pieces.size());
    double volume = 0;
    for (const auto& piece : broken.pieces) volume += piece.moments.volume;
    counts.worst = std::max(counts.worst, std::abs(volume / broken.volume - 1));
    if (const auto fault = test::fault_of(broken, solver.num_fragments(), cells); !fault.empty()) {
      ++counts.faulty;
      std::printf("  FAULT impact %d of %s: %s\n", k, shape.where.c_str(), fault.c_str());
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  const linalg::PetscSession session(&argc, &argv);
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 500;
  const std::int64_t cells = argc > 2 ? std::atoll(argv[2]) : 1500;
  const int modes = argc > 3 ? std::atoi(argv[3]) : 6;
  const auto all = shapes::all();
  const int each = (wanted + static_cast<int>(all.size()) - 1) / static_cast<int>(all.size());
  std::mt19937 random(11);
  Counts sum;
  for (const auto& input : all) {
    const auto start = std::chrono::steady_clock::now();
    auto shape = test::breakable_solid(input, cells, modes);
    const double prepared = seconds_since(start);
    const Counts before = sum;
    hit(shape, each, random, sum);
    const double whole = std::accumulate(shape.model.volumes.begin(), shape.model.volumes.end(), 0.0);
    std::vector<double> shares = shape.model.volumes;
    std::ranges::sort(shares, std::greater());
    std::printf("  shares of the pieces of the modes:");
    for (const double volume : shares) std::printf(" %.3g", volume / whole);
    std::printf("; energies");
    for (const double energy : shape.energies) std::printf(" %.4g", energy);
    std::printf("\n");
    std::printf(
        "%-45s %5zu cells, %3d pieces of modes (%.1f s); %d impacts, %d break it, %.1f pieces in the mean\n",
        input.name.c_str(), shape.mesh.cells.size(), shape.model.num_pieces, prepared, each,
        sum.broken - before.broken, double(sum.pieces - before.pieces) / each);
    std::fflush(stdout);
  }
  std::printf("%d impacts on %zu shapes, %d faulty; %zu pieces, at most %zu of one impact; volumes add up "
              "within %.1e; "
              "%.4f ms to find place and fragments, %.1f ms to cut the pieces\n",
              sum.impacts, all.size(), sum.faulty, sum.pieces, sum.most, sum.worst,
              1e3 * sum.apply_seconds / sum.impacts, 1e3 * sum.cut_seconds / sum.impacts);
  return sum.faulty > 0 ? 1 : 0;
}
