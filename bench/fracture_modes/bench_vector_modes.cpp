// Time and energy of vector modes of a necked bar of 12 n^3 tetrahedra beside scalar ones.
//   mpirun -n 2 build/ci/bench_vector_modes [n = 7] [modes = 3] [largest eigenvalue of the tensors = 1, their
//   axis turns along the bar] [replicated elements = 40000]

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <Eigen/Geometry>

#include "fracture_modes/bars.hpp"
#include "recoil/linalg/petsc.hpp"
#include "recoil/solvers/fracture_modes/vector_modes.hpp"

namespace {

using namespace recoil;
using namespace recoil::solvers::fracture_modes;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(int n, const VectorModeOptions& options, double stretch) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = mesh::distribute<3>(comm, comm.rank() == 0 ? test::necked_bar({2 * n, n, n}, 0.2 / n, 3)
                                                               : test::Broken<3>::empty());
  const ElementGraph graph = explode<3>(mesh);
  const VertexMatrices<3> matrices(mesh);
  const auto starts = start_fields(matrices, options.count + 2);
  JumpTensors<3> tensors;
  if (stretch != 1)
    for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
      const Eigen::Matrix3d turn =
          Eigen::AngleAxisd(graph.centres[cell].x(), Eigen::Vector3d::UnitZ()).toRotationMatrix();
      tensors.push_back(turn * Eigen::Vector3d(stretch, 1, 1).asDiagonal() * turn.transpose());
      tensors.back() = (tensors.back() + tensors.back().transpose()).eval() / 2;
    }
  auto start = std::chrono::steady_clock::now();
  const FractureModes scalar = find_modes(graph, starts, {.count = options.count});
  const double of_scalar = seconds_since(start);
  start = std::chrono::steady_clock::now();
  const VectorModes modes = find_vector_modes<3>(graph, tensors, starts, scalar, options);
  const double of_vector = seconds_since(start);
  if (comm.rank() != 0) return;
  std::printf("%ld elements, %d ranks: %zu scalar modes, %.2f s each; %zu vector modes, %.2f s each\n",
              long(mesh.num_cells_global), comm.size(), scalar.modes.size(), of_scalar / options.count,
              modes.modes.size(), of_vector / options.count);
  for (const FractureMode& mode : scalar.modes) std::printf("  scalar E %.10f\n", mode.energy);
  for (const VectorMode& mode : modes.modes)
    std::printf("  vector E %.10f  gap %.1e  %d convex problems from start %d\n", mode.energy, mode.gap,
                mode.iterations, mode.start);
}

double argument(int argc, char** argv, int place, double value) {
  return argc > place ? std::atof(argv[place]) : value;
}

} // namespace

int main(int argc, char** argv) {
  const recoil::linalg::PetscSession session(&argc, &argv);
  VectorModeOptions options;
  options.count = static_cast<int>(argument(argc, argv, 2, 3));
  options.replicated_elements =
      static_cast<GlobalIndex>(argument(argc, argv, 4, double(options.replicated_elements)));
  run(static_cast<int>(argument(argc, argv, 1, 7)), options, argument(argc, argv, 3, 1));
  return 0;
}
