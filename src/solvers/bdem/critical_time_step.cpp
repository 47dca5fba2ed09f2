#include "recoil/solvers/bdem/critical_time_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace recoil::solvers {

double critical_time_step(const BondedParticles& problem, LocalIndex bond) {
  constexpr double largest_eigenvalue = 17.9;
  const auto& ends = problem.particles->bonds[bond];
  const double m = std::min(problem.mass[ends.a], problem.mass[ends.b]),
               stiffer = std::max(problem.bonds->form(bond).shear_correction, 1.0);
  return 2 / std::sqrt(stiffer * largest_eigenvalue * problem.bonds->stiffness(bond).stretch / m);
}

double critical_time_step(const BondedParticles& problem) {
  double shortest = std::numeric_limits<double>::infinity();
  for (LocalIndex bond = 0; bond < std::ssize(problem.particles->bonds); ++bond)
    shortest = std::min(shortest, critical_time_step(problem, bond));
  return problem.particles->points->comm->min(shortest);
}

} // namespace recoil::solvers
