#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <sys/resource.h>

#include "linalg/elastic_box.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace recoil::bench {

/// A number among the PETSc options.
inline double option(const char* name, double fallback) {
  PetscReal value = fallback;
  RECOIL_PETSC(PetscOptionsGetReal(nullptr, nullptr, name, &value, nullptr));
  return value;
}

inline const char* name_of(linalg::LinearMethod method) {
  return method == linalg::LinearMethod::amg ? "amg" : "direct";
}

inline const char* name_of(linalg::LinearOutcome outcome) {
  constexpr std::array<const char*, 4> names{"converged", "indefinite", "not_converged", "failed"};
  return names[static_cast<std::size_t>(outcome)];
}

struct Measurement {
  int dim = 0, num_ranks = 0;
  GlobalIndex num_unknowns = 0;
  double courant = 0;
  linalg::LinearMethod method = linalg::LinearMethod::automatic;
  linalg::LinearResult result;
  double set_up_s = 1e99, refresh_s = 1e99, solve_s = 1e99; ///< best of the repetitions
  double matrix_mb = 0, peak_mb = 0; ///< resident memory over all ranks, before and at the end
  GlobalIndex bits = 0;              ///< changes with every bit of the solution

  /// Time per linear solve where three Newton iterations share one hierarchy.
  double per_newton_s() const { return (set_up_s + 2 * refresh_s) / 3 + solve_s; }

  void print() const {
    std::printf("{\"dim\": %d, \"ranks\": %d, \"dofs\": %lld, \"courant\": %g, \"method\": \"%s\", "
                "\"iterations\": %d, "
                "\"setup_s\": %.4g, \"refresh_s\": %.4g, \"solve_s\": %.4g, \"per_newton_s\": %.4g, "
                "\"residual\": %.2g, "
                "\"outcome\": \"%s\", \"matrix_mb\": %.0f, \"peak_mb\": %.0f, \"bits\": \"%llx\"}\n",
                dim, num_ranks, static_cast<long long>(num_unknowns), courant, name_of(method),
                result.iterations, set_up_s, refresh_s, solve_s, per_newton_s(), result.relative_residual,
                name_of(result.outcome), matrix_mb, peak_mb, static_cast<unsigned long long>(bits));
    std::fflush(stdout);
  }
};

/// Largest resident memory so far, summed over the ranks. Collective.
inline double resident_megabytes(const parallel::Communicator& comm) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return comm.sum(static_cast<double>(usage.ru_maxrss) / 1024);
}

inline GlobalIndex fingerprint(const parallel::Communicator& comm, const linalg::Vector& x) {
  std::uint64_t hash = 1469598103934665603u + static_cast<unsigned>(comm.rank());
  for (const double value : x.owned()) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211u;
  return comm.sum(static_cast<GlobalIndex>(hash >> 8));
}

/// Solves the elastic box under its weight, clamped on one face; `courant` is c dt / h with c = sqrt(E /
/// rho), 0 means static. Collective.
template <int dim>
Measurement measure(const parallel::Communicator& comm, linalg::LinearMethod method, int divisions,
                    double courant, double relative_tolerance, int repetitions) {
  testing::ElasticParameters parameters;
  parameters.poisson = option("-poisson", parameters.poisson);
  parameters.dt = courant / divisions / std::sqrt(parameters.young / parameters.density);
  const testing::ElasticBox<dim> box(comm, divisions);
  linalg::BlockMatrix matrix(box.layout, box.graph);
  testing::assemble(box, parameters, matrix);
  const linalg::Vector b = testing::weight(box, parameters.density);
  linalg::Vector x(box.layout);
  const linalg::Vector positions = box.positions();
  linalg::LinearSolver solver(box.layout, {.dimension = dim, .method = method});
  const auto modes = [&] { return linalg::rigid_body_modes(positions, box.constrained); };

  Measurement measured{dim, comm.size(), box.layout->num_global * dim, courant, solver.method(), {}};
  measured.matrix_mb = resident_megabytes(comm);
  const auto clock = [&](double& best, auto work) {
    comm.barrier();
    const double start = MPI_Wtime();
    work();
    comm.barrier();
    best = std::min(best, MPI_Wtime() - start);
  };
  // Makes PETSc take the matrix for a new one.
  const auto touch = [&] {
    matrix.begin_filling();
    matrix.finish_filling();
  };
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    touch();
    solver.update(matrix, modes);
    clock(measured.set_up_s, [&] { solver.prepare(linalg::Renewal::everything); });
    touch();
    clock(measured.refresh_s, [&] { solver.prepare(linalg::Renewal::operators); });
    clock(measured.solve_s, [&] { measured.result = solver.solve(b, x, relative_tolerance, 2000); });
  }
  measured.bits = fingerprint(comm, x);
  measured.peak_mb = resident_megabytes(comm);
  return measured;
}

} // namespace recoil::bench
