#include "recoil/solvers/bdem/cell_stress.hpp"

#include <cmath>

#include <Eigen/LU>

#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

Eigen::Matrix3d cell_stress(const BondedParticles& problem, std::span<const double> u) {
  const particles::DistributedParticles& particles = *problem.particles;
  const particles::CellMotion& motion = *problem.cell_motion;
  Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
  for (LocalIndex bond = 0; bond < std::ssize(particles.bonds); ++bond) {
    const auto& [a, b, id] = particles.bonds[bond];
    if (!particles.owns(particles.bonds[bond]) || problem.bonds->integrity(bond) == 0) continue;
    const Eigen::Vector3d line = particle_at(u, b).p + problem.bonds->image(bond) - particle_at(u, a).p;
    sum += problem.bonds->pull_of(bond, u) * line.transpose();
  }
  particles.points->comm->sum(std::span(sum.data(), 9));
  return sum / std::abs(motion.cell().volume(motion.now()));
}

} // namespace recoil::solvers
