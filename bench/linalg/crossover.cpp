// From which size on multigrid beats the factorisation, for the elastic box clamped on one face, static and
// dynamic (c dt / h = 10), solved to 1e-8.
//
//   mpirun -n 2 bench_crossover [-dim 2] [-max_dofs 100000] [-repetitions 3] > crossover.jsonl
//
// Sizes double; per dimension it stops once multigrid has been twice as fast or the size limit is reached.
// Lines of JSON.
#include "elastic_solve.hpp"

namespace {

using namespace recoil;

template <int dim>
void sweep(const parallel::Communicator& comm) {
  const auto repetitions = static_cast<int>(bench::option("-repetitions", 3));
  const double limit = bench::option("-max_dofs", 100000);
  for (const double courant : {0.0, 10.0}) {
    for (double size = 500; size <= limit; size *= 2) {
      const int divisions = static_cast<int>(std::lround(std::pow(size / dim, 1.0 / dim))) - 1;
      std::array<double, 2> times{};
      for (const auto method : {linalg::LinearMethod::direct, linalg::LinearMethod::amg}) {
        const auto measured = bench::measure<dim>(comm, method, divisions, courant, 1e-8, repetitions);
        times[method == linalg::LinearMethod::amg ? 1 : 0] = measured.per_newton_s();
        if (comm.rank() == 0) measured.print();
      }
      if (comm.any(times[0] > 2 * times[1])) break;
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(PETSC_COMM_WORLD);
  const double dim = bench::option("-dim", 0);
  if (dim != 3) sweep<2>(comm);
  if (dim != 2) sweep<3>(comm);
}
