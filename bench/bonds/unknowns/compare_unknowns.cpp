// The unknowns in which Newton's method for implicit bonded particles may be written, on the same steps of
// backward Euler of an hcp bar whose end is pulled or turned: iterations, energies and time as Markdown.
//
//   bench_unknowns [-nx 32] [-across 6] [-duration 1200] [-samples 5] [-descent 2000] [-projected]
//
// A run of `duration` critical time steps T is taken in steps of 5, 20, 100 and 600 T; on `samples` of these,
// evenly spread, every kind of unknowns starts from the same state and must end within 1e-5 r of the same
// minimum (Variant::tolerance), found by recoil's unknowns to 1e-9 r. Derivatives of every kind are compared
// with central differences before. Ends with 1 if a derivative is wrong or a minimum is not reached; only
// first-order optimisation may give up, after `descent` iterations. Serial. Cells are means per step: Newton
// iterations / linear ones / energies / milliseconds of processor time; "projected" are the iterations in all
// sampled steps of the four runs that needed the projected Hessian, "off by" the largest distance from the
// minimum [r].
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "bonds/unknowns/bars.hpp"
#include "bonds/unknowns/differences.hpp"
#include "bonds/unknowns/variants.hpp"
#include "recoil/linalg/petsc.hpp"
#include "solvers/bdem/explicit_steps.hpp"
#include "solvers/bdem/incremental_potential.hpp"
#include "support/processor_time.hpp"

namespace {

using namespace recoil;
using namespace recoil::bench;

constexpr double reference_tolerance = 1e-9; // in radii
constexpr double derivative_tolerance = 1e-6;

PetscInt option(const char* name, PetscInt fallback) {
  RECOIL_PETSC(PetscOptionsGetInt(nullptr, nullptr, name, &fallback, nullptr));
  return fallback;
}

bool is_set(const char* name) {
  PetscBool set = PETSC_FALSE;
  RECOIL_PETSC(PetscOptionsHasName(nullptr, nullptr, name, &set));
  return set == PETSC_TRUE;
}

Variants make_variants(const Bar& bar) {
  return {bar.problem(), int(option("-descent", 2000)), is_set("-projected")};
}

/// Moves and turns every particle at random by up to `size`, lengths of quaternions too if asked for.
Points shaken(Points x, double size, double lengths) {
  for (LocalIndex k = 0; k < LocalIndex(x.size() / 7); ++k) {
    const auto from = solvers::particle_at(x, k);
    solvers::set_particle(
        x, k,
        {from.p + size * bar_radius * Eigen::Vector3d::Random(),
         (1 + lengths * Eigen::Vector2d::Random()[0]) *
             geometry::product(from.q, geometry::quaternion_exponential(size * Eigen::Vector3d::Random()))});
  }
  return x;
}

linalg::Vector vector_of(const solvers::BondedParticles& problem, const Points& x) {
  linalg::Vector result(problem.particles->points);
  std::ranges::copy(x, result.write_local().begin());
  return result;
}

/// Relative difference of the first kind's energy and gradient from those of recoil's solver.
double compare_with_recoil(Bar& bar, const Variant& variant, const Points& from, const Points& target,
                           double dt, const Points& x) {
  solvers::BondedParticles& problem = bar.problem();
  solvers::BondedParticlesOptions options;
  options.dt = dt;
  solvers::ParticleIncrementalPotential objective(problem, options);
  const linalg::Vector start = vector_of(problem, from), goal = vector_of(problem, target),
                       at = vector_of(problem, x);
  objective.begin_step(start, goal, dt, dt);
  linalg::Vector g(problem.particles->tangents);
  objective.gradient(at, g);
  Eigen::VectorXd ours;
  variant.unknowns->gradient(x, {}, ours);
  const Eigen::Map<const Eigen::VectorXd> theirs(g.owned().data(), Eigen::Index(g.owned().size()));
  const double value = objective.value(at);
  return std::max((ours - theirs).norm() / theirs.norm(),
                  std::abs(variant.unknowns->value(x, {}) / value - 1));
}

/// On a small bar far from equilibrium.
bool check_derivatives(const parallel::Communicator& comm) {
  Bar bar(comm, 4, 3, 3, Motion::twist);
  Variants variants = make_variants(bar);
  const double dt = 5 * solvers::critical_time_step(bar.problem());
  const Points start = shaken(bar.at_rest(), 0.2, 0), target = shaken(start, 0.2, 0);
  variants.begin_step(start, target, dt);
  DerivativeErrors worst;
  for (Variant& variant : variants.all()) {
    const bool free_length = variant.unknowns->size() == 7;
    const DerivativeErrors errors =
        compare_with_differences(*variant.unknowns, shaken(start, 0.3, free_length ? 0.1 : 0),
                                 free_length ? variant.unknowns->energy().stiffness() : 0);
    worst.gradient = std::max(worst.gradient, errors.gradient);
    worst.hessian = std::max(worst.hessian, errors.hessian);
    if (std::max(errors.gradient, errors.hessian) > derivative_tolerance)
      std::printf("%s: derivatives off by %.1e and %.1e\n", variant.name.c_str(), errors.gradient,
                  errors.hessian);
  }
  const double against =
      compare_with_recoil(bar, variants.all().front(), start, target, dt, shaken(start, 0.3, 0));
  std::printf(
      "Gradients and Hessians of all kinds agree with central differences to %.0e and %.0e, energy and "
      "gradient on S^3 with those of recoil's solver to %.0e.\n",
      worst.gradient, worst.hessian, against);
  return std::max(worst.gradient, worst.hessian) <= derivative_tolerance && against < 1e-12;
}

/// Sums over the sampled steps of a run.
struct Cell {
  Effort effort;
  double seconds = 0, distance = 0;
  int steps = 0;

  std::string text() const {
    if (!effort.converged) return "not in " + std::to_string(effort.newton / steps);
    char result[100];
    std::snprintf(result, sizeof result, "%.1f / %.0f / %.1f / %.0f", double(effort.newton) / steps,
                  double(effort.linear) / steps, double(effort.energies) / steps, 1000 * seconds / steps);
    return result;
  }
};

/// x + (x - before), along geodesics.
Points extrapolated(const Points& before, const Points& x) {
  Points result(x);
  for (LocalIndex k = 0; k < LocalIndex(x.size() / 7); ++k) {
    const auto a = solvers::particle_at(before, k), b = solvers::particle_at(x, k);
    const geometry::Quaternion turn = geometry::product(geometry::conjugate(a.q), b.q);
    solvers::set_particle(result, k, {2 * b.p - a.p, geometry::product(b.q, turn).normalized()});
  }
  return result;
}

/// Runs a bar in steps of `ratio` T; one cell a variant.
std::vector<Cell> run(const Bar& bar, int ratio) {
  const int steps = int(option("-duration", 1200)) / ratio,
            samples = std::min(steps, int(option("-samples", 5)));
  const double dt = ratio * solvers::critical_time_step(bar.problem());
  Variants variants = make_variants(bar);
  std::vector<Cell> cells(variants.all().size());
  Points before = bar.at_rest(), x = before;
  for (int i = 0; i < steps; ++i) {
    const Points target = extrapolated(before, x);
    Points goal = target;
    const double share = double(i + 1) / steps;
    bar.move_end(share * share * (3 - 2 * share), goal);
    variants.begin_step(x, target, dt);
    Points solution = goal;
    Effort reference;
    minimise(*variants.all().front().unknowns, solution, {reference_tolerance * bar_radius}, {}, reference);
    if (!reference.converged) throw Error(ExitCode::no_solution, "a step has no minimum to compare with");
    const bool sampled = (i + 1) * samples / steps > i * samples / steps;
    for (std::size_t v = 0; sampled && v < cells.size(); ++v) {
      Variant& variant = variants.all()[v];
      Points end = goal;
      Effort effort;
      cells[v].seconds += processor_seconds([&] { variant.solve(*variant.unknowns, end, solution, effort); });
      ++cells[v].steps;
      cells[v].distance =
          std::max(cells[v].distance, distance(*variant.unknowns, end, solution) / bar_radius);
      Effort& sum = cells[v].effort;
      sum.newton += effort.newton;
      sum.linear += effort.linear;
      sum.energies += effort.energies;
      sum.projected += effort.projected;
      sum.converged = sum.converged && effort.converged;
    }
    before = std::exchange(x, solution);
  }
  return cells;
}

/// One table; false if a minimum was not reached.
bool compare(const parallel::Communicator& comm, Motion motion) {
  const int nx = int(option("-nx", 32)), across = int(option("-across", 6));
  const Bar bar(comm, nx, across, across, motion);
  const std::vector<int> ratios{5, 20, 100, 600};
  std::vector<std::vector<Cell>> columns;
  for (const int ratio : ratios) columns.push_back(run(bar, ratio));
  std::printf("\n| %s, %zu particles, %zu bonds |",
              motion == Motion::stretch ? "stretched by 20 %" : "twisted by 90 degrees",
              bar.problem().particles->ids.size(), bar.problem().particles->bonds.size());
  for (const int ratio : ratios) std::printf(" %d T |", ratio);
  std::printf(" projected | off by |\n|---|");
  for (std::size_t k = 0; k < ratios.size() + 2; ++k) std::printf("---|");
  std::printf("\n");
  bool good = true;
  Variants variants = make_variants(bar);
  for (std::size_t v = 0; v < columns[0].size(); ++v) {
    const Variant& variant = variants.all()[v];
    std::printf("| %s |", variant.name.c_str());
    double worst = 0;
    std::string projected;
    for (const auto& column : columns) {
      const Cell& cell = column[v];
      std::printf(" %s |", cell.text().c_str());
      projected += (projected.empty() ? "" : ", ") + std::to_string(cell.effort.projected);
      if (cell.effort.converged) worst = std::max(worst, cell.distance);
      good = good && (cell.effort.converged ? cell.distance <= variant.tolerance : variant.may_give_up);
    }
    std::printf(" %s | %.0e |\n", projected.c_str(), worst);
  }
  return good;
}

} // namespace

int main(int argc, char** argv) {
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(PETSC_COMM_WORLD);
  try {
    if (!check_derivatives(comm)) return 1;
    bool good = true;
    for (const Motion motion : {Motion::stretch, Motion::twist}) good = compare(comm, motion) && good;
    return good ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_unknowns: %s\n", error.what());
    return 1;
  }
}
