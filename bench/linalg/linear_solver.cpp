// Linear solves of an elastic box clamped on one face: iterations, time and memory of one method at one size.
//
//   mpirun -n 2 bench_linear_solver -dim 3 -n 32 -method amg|direct|automatic [-courant 10] [-rtol 1e-8]
//                                   [-repetitions 1] [-poisson 0.3] [-recoil_.. ..]
//
// Writes one line of JSON. Any PETSc option of the solver (prefix recoil_) can be added.
#include <string>

#include "elastic_solve.hpp"

int main(int argc, char** argv) {
  using namespace recoil;
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(PETSC_COMM_WORLD);
  std::array<char, 32> name{"automatic"};
  RECOIL_PETSC(PetscOptionsGetString(nullptr, nullptr, "-method", name.data(), name.size(), nullptr));
  const std::string text = name.data();
  const auto method = text == "amg"      ? linalg::LinearMethod::amg
                      : text == "direct" ? linalg::LinearMethod::direct
                                         : linalg::LinearMethod::automatic;
  const auto divisions = static_cast<int>(bench::option("-n", 16));
  const auto repetitions = static_cast<int>(bench::option("-repetitions", 1));
  const double courant = bench::option("-courant", 0), tolerance = bench::option("-rtol", 1e-8);
  const auto measured = bench::option("-dim", 3) == 2
                            ? bench::measure<2>(comm, method, divisions, courant, tolerance, repetitions)
                            : bench::measure<3>(comm, method, divisions, courant, tolerance, repetitions);
  if (comm.rank() == 0) measured.print();
}
