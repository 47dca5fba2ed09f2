#include "app/solvers/bonded_particles/contact_network.hpp"

#include <algorithm>
#include <array>

namespace recoil::app {

std::vector<double> coordination_numbers(const solvers::BondedParticles& problem) {
  const particles::DistributedParticles& particles = *problem.particles;
  std::vector<double> numbers(particles.num_owned(), 0.0);
  for (LocalIndex bond = 0; bond < std::ssize(particles.bonds); ++bond) {
    if (problem.bonds->is_broken(bond)) continue;
    for (const LocalIndex end : {particles.bonds[bond].a, particles.bonds[bond].b})
      if (end < particles.num_owned()) ++numbers[end];
  }
  if (!problem.contact) return numbers;
  const potentials::Spheres& spheres = *problem.contact->spheres();
  std::vector<double> ends(spheres.size(), 0.0);
  for (const potentials::SphereTouch& touch : problem.contact->touching()) {
    if (touch.pair.b < 0 || !(problem.barrier->force(touch) > 0)) continue;
    ++ends[touch.pair.a];
    ++ends[touch.pair.b];
  }
  spheres.add_to_owners(ends, 1, 1, numbers);
  return numbers;
}

namespace {

/// The springs of pairs as the last step has left them; without a force where friction has none. Collective.
std::vector<potentials::PairSpring> springs_of(const solvers::BondedParticles& problem,
                                               const std::vector<potentials::SphereTouch>& touches) {
  if (!problem.has_springs()) return std::vector<potentials::PairSpring>(touches.size());
  std::vector<potentials::SpherePair> pairs;
  for (const potentials::SphereTouch& touch : touches) pairs.push_back(touch.pair);
  return potentials::springs_for_pairs(*problem.contact, *problem.contact->spheres(), pairs,
                                       problem.friction->springs_at_start());
}

} // namespace

std::vector<ContactRow> pressing_contacts(const solvers::BondedParticles& problem) {
  const potentials::SphereContact& pairs = *problem.contact;
  const potentials::Spheres& spheres = *pairs.spheres();
  const std::vector<double> own(problem.particles->ids.begin(), problem.particles->ids.end());
  const std::vector<double> ids = spheres.gather(own, 1);
  const std::vector<potentials::PairSpring> springs = springs_of(problem, pairs.touching());
  std::vector<ContactRow> rows;
  for (std::size_t k = 0; k < springs.size(); ++k) {
    const potentials::SphereTouch& touch = pairs.touching()[k];
    const double force = problem.barrier->force(touch);
    if (!(force > 0)) continue;
    const potentials::SpherePair& pair = touch.pair;
    const double r = spheres[pair.a].radius,
                 share = pair.b < 0 ? 1 : touch.length / (r + spheres[pair.b].radius);
    Eigen::Vector3d place =
        Eigen::Map<const Eigen::Vector3d>(pairs.states().data() + 7 * std::size_t(pair.a)) -
        share * r * touch.normal;
    if (problem.cell_motion) place = problem.cell_motion->cell().wrapped(place, problem.cell_motion->now());
    ContactRow row{GlobalIndex(ids[pair.a]),
                   pair.b < 0 ? -1 : GlobalIndex(ids[pair.b]),
                   pairs.body_of(pair),
                   touch.gap,
                   force,
                   {},
                   {},
                   {}};
    const bool turn = row.b >= 0 && row.b < row.a;
    if (turn) {
      std::swap(row.a, row.b);
      row.body = spheres[pair.a].body;
    }
    for (int i = 0; i < 3; ++i) {
      row.normal[i] = (turn ? -1 : 1) * touch.normal[i];
      row.place[i] = place[i];
      row.tangential[i] = (turn ? 1 : -1) * springs[k].stiffness * springs[k].stretch[i];
    }
    rows.push_back(row);
  }
  std::ranges::sort(rows, {}, [](const ContactRow& row) {
    return std::array{row.a, row.b, GlobalIndex(row.body)};
  });
  return rows;
}

} // namespace recoil::app
