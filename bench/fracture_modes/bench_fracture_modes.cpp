// Time and energy of fracture modes of a necked bar of 12 n^3 tetrahedra, and of impacts on it.
//   mpirun -n 2 build/ci/bench_fracture_modes [n = 10] [modes = 10] [replicated elements = 40000] [largest
//   move of a vertex, times n = 0.2]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "fracture_modes/bars.hpp"
#include "recoil/linalg/petsc.hpp"
#include "recoil/solvers/fracture_modes/impact.hpp"

namespace {

using namespace recoil;
using namespace recoil::solvers::fracture_modes;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(int n, const ModeOptions& options, double amount) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = mesh::distribute<3>(
      comm, comm.rank() == 0 ? test::necked_bar({2 * n, n, n}, amount / n, 3) : test::Broken<3>::empty());
  const auto start = std::chrono::steady_clock::now();
  const ElementGraph graph = explode<3>(mesh);
  const VertexMatrices<3> matrices(mesh);
  const double set_up = seconds_since(start);
  const auto starts = start_fields(matrices, options.count + 2);
  const double eigen = seconds_since(start) - set_up;
  const FractureModes modes = find_modes(graph, starts, options);
  const double total = seconds_since(start);
  const ImpactPieces pieces = prepare_impacts(matrices, graph, modes, {.blur_length = 0.2});
  const double prepared = seconds_since(start) - total;
  ImpactSolver solver(pieces.model);
  const auto impacts_start = std::chrono::steady_clock::now();
  const int impacts = static_cast<int>(pieces.model.vertices.size());
  double fragments = 0;
  for (int v = 0; v < impacts; ++v) {
    solver.apply({{v, 0, 0, 0}, {1, 0, 0, 0}}, 1, 1);
    fragments += solver.num_fragments();
  }
  const double impact_ms = 1e3 * seconds_since(impacts_start) / impacts;
  if (comm.rank() != 0) return;
  std::printf("%ld elements, %d ranks, %zu modes: set-up %.2f s, eigenvectors %.2f s, modes %.2f s (%.2f s "
              "each with all of it), "
              "impacts prepared in %.2f s, %d pieces, %.4f ms and %.1f fragments per impact\n",
              long(mesh.num_cells_global), comm.size(), modes.modes.size(), set_up, eigen,
              total - eigen - set_up, total / std::max<double>(1, modes.modes.size()), prepared,
              pieces.model.num_pieces, impact_ms, fragments / impacts);
  for (const FractureMode& mode : modes.modes)
    std::printf("  E %.10f  gap %.1e  %d convex problems from start %d\n", mode.energy, mode.gap,
                mode.iterations, mode.start);
}

double argument(int argc, char** argv, int place, double value) {
  return argc > place ? std::atof(argv[place]) : value;
}

} // namespace

int main(int argc, char** argv) {
  const recoil::linalg::PetscSession session(&argc, &argv);
  ModeOptions options;
  options.count = static_cast<int>(argument(argc, argv, 2, 10));
  options.replicated_elements =
      static_cast<GlobalIndex>(argument(argc, argv, 3, double(options.replicated_elements)));
  run(static_cast<int>(argument(argc, argv, 1, 10)), options, argument(argc, argv, 4, 0.2));
  return 0;
}
