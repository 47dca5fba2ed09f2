#include "recoil/solvers/bdem/particle_work.hpp"

#include <algorithm>

namespace recoil::solvers {

namespace {

// Measured (docs/performance.md); that of a particle includes the blocks of its bonds in the matrix, which
// stay when these break.
constexpr int work_of_particle = 10, work_of_bond_end = 1, work_of_contact_end = 4;

/// Adds those of contacts to the work of owned particles.
void add_contacts(const BondedParticles& problem, std::span<double> work,
                  std::vector<std::array<GlobalIndex, 2>>& contacts) {
  const potentials::SphereContact& pairs = *problem.contact;
  const potentials::Spheres& spheres = *pairs.spheres();
  const std::vector<double> own(problem.particles->ids.begin(), problem.particles->ids.end());
  const std::vector<double> ids = spheres.gather(own, 1);
  std::vector<double> ends(spheres.size(), 0.0);
  for (const potentials::SphereTouch& touch : pairs.touching()) {
    const LocalIndex a = touch.pair.a, b = touch.pair.b;
    ends[a] += work_of_contact_end;
    if (b < 0) continue;
    ends[b] += work_of_contact_end;
    const double first = std::min(ids[a], ids[b]), second = std::max(ids[a], ids[b]);
    contacts.push_back({GlobalIndex(first), GlobalIndex(second)});
  }
  spheres.add_to_owners(ends, 1, 1, work);
}

} // namespace

ParticleWork work_of(const BondedParticles& problem, double time, std::span<const double> u) {
  const particles::DistributedParticles& particles = *problem.particles;
  std::vector<double> work(particles.num_owned(), work_of_particle);
  for (std::size_t k = 0; k < particles.bonds.size(); ++k) {
    if (problem.bonds->is_broken(LocalIndex(k))) continue;
    for (const LocalIndex end : {particles.bonds[k].a, particles.bonds[k].b})
      if (end < particles.num_owned()) work[end] += work_of_bond_end;
  }
  ParticleWork result;
  if (problem.contact) {
    problem.contact->begin_step(time, 0, u);
    add_contacts(problem, work, result.contacts);
  }
  result.of_owned.assign(work.begin(), work.end());
  return result;
}

} // namespace recoil::solvers
