// Linear solves of an elastic box clamped on one face: time, iterations and memory of one method at one size.
//
//   mpirun -n 2 bench_linear_solver -dim 3 -n 32 -method amg|direct [-courant 10] [-rtol 1e-8] [-repeat 1] [-recoil_.. ..]
//
// `courant` is c dt / h with c = sqrt(E/rho); 0 (default) is the static problem. One line of JSON.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <sys/resource.h>

#include "linalg/elastic_box.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace {

using namespace recoil;

double option(const char* name, double fallback) {
  PetscReal value = fallback;
  RECOIL_PETSC(PetscOptionsGetReal(nullptr, nullptr, name, &value, nullptr));
  return value;
}

double resident_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Changes with every bit of the owned entries.
long long fingerprint(const parallel::Communicator& comm, const linalg::Vector& x) {
  std::uint64_t hash = 1469598103934665603u + static_cast<unsigned>(comm.rank());
  for (const double value : x.owned()) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211u;
  return comm.sum(static_cast<GlobalIndex>(hash >> 8));
}

const char* name_of(linalg::LinearOutcome outcome) {
  switch (outcome) {
  case linalg::LinearOutcome::converged: return "converged";
  case linalg::LinearOutcome::indefinite: return "indefinite";
  case linalg::LinearOutcome::not_converged: return "not_converged";
  case linalg::LinearOutcome::failed: break;
  }
  return "failed";
}

template <int dim>
void run(const parallel::Communicator& comm, linalg::LinearMethod method) {
  const int divisions = static_cast<int>(option("-n", 16));
  const double courant = option("-courant", 0);
  testing::ElasticParameters parameters;
  parameters.dt = courant / divisions / std::sqrt(parameters.young / parameters.density);

  const testing::ElasticBox<dim> box(comm, divisions);
  linalg::BlockMatrix matrix(box.layout, box.graph);
  testing::assemble(box, parameters, matrix);
  const linalg::Vector b = testing::weight(box, parameters.density);
  const double before = comm.sum(resident_megabytes());

  linalg::LinearSolver solver(box.layout, method);
  std::array<double, 4> times{};
  const auto clock = [&](std::size_t k, auto work) {
    comm.barrier();
    const double start = MPI_Wtime();
    work();
    comm.barrier();
    times[k] = MPI_Wtime() - start;
  };
  linalg::Vector x(box.layout);
  linalg::LinearResult result;
  std::array<double, 4> best;
  best.fill(1e99);
  for (int repeat = 0; repeat < static_cast<int>(option("-repeat", 1)); ++repeat) {
    clock(0, [&] { solver.rebuild(matrix, box.positions(), box.constrained); });
    clock(1, [&] { result = solver.solve(b, x, option("-rtol", 1e-8), 2000); });
    testing::assemble(box, parameters, matrix);
    clock(2, [&] { solver.refresh(); });
    clock(3, [&] { result = solver.solve(b, x, option("-rtol", 1e-8), 2000); });
    for (std::size_t k = 0; k < times.size(); ++k) best[k] = std::min(best[k], times[k]);
  }
  const long long bits = fingerprint(comm, x);
  const double peak = comm.sum(resident_megabytes());
  if (comm.rank() != 0) return;
  std::printf("{\"dim\": %d, \"ranks\": %d, \"dofs\": %lld, \"courant\": %g, \"method\": \"%s\", \"iterations\": %d, "
              "\"setup_s\": %.4g, \"refresh_s\": %.4g, \"solve_s\": %.4g, \"residual\": %.2g, \"outcome\": \"%s\", "
              "\"matrix_mb\": %.0f, \"peak_mb\": %.0f, \"bits\": \"%llx\"}\n",
              dim, comm.size(), static_cast<long long>(box.layout->num_global * dim), courant,
              solver.method() == linalg::LinearMethod::amg ? "amg" : "direct", result.iterations, best[0], best[2],
              std::min(best[1], best[3]), result.relative_residual, name_of(result.outcome), before, peak, bits);
}

} // namespace

int main(int argc, char** argv) {
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(PETSC_COMM_WORLD);
  std::array<char, 32> name{"automatic"};
  RECOIL_PETSC(PetscOptionsGetString(nullptr, nullptr, "-method", name.data(), name.size(), nullptr));
  const std::string text = name.data();
  const auto method = text == "amg"      ? linalg::LinearMethod::amg
                      : text == "direct" ? linalg::LinearMethod::direct
                                         : linalg::LinearMethod::automatic;
  if (option("-dim", 3) == 2)
    run<2>(comm, method);
  else
    run<3>(comm, method);
}
