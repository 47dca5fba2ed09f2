#include "recoil/potentials/spheres/contact_springs.hpp"

#include <algorithm>
#include <tuple>

#include "recoil/parallel/ask_owners.hpp"

namespace recoil::potentials {

namespace {

using Eigen::Vector3d;

/// What tells a spring from others: a sphere may meet several images of a triangle at once.
using SpringKey = std::tuple<GlobalIndex, GlobalIndex, particles::CellShift>;

SpringKey key_of(const ContactSpring& spring) { return {spring.first, spring.other, spring.shift}; }

/// A spring, or the question for it, on its way to the rank that owns the first particle.
struct Travelling {
  std::int32_t owner; ///< that rank
  ContactSpring spring;
};

int owner_of(const Travelling& item) { return item.owner; }

bool begins_with_a(const Spheres& spheres, const SpherePair& pair) {
  return pair.b < 0 || spheres[pair.a].id < spheres[pair.b].id;
}

/// The stretch of the first particle is that of the side a, or its opposite.
Travelling travelling(const Spheres& spheres, const SpherePair& pair, const PairSpring& spring) {
  const bool begins = begins_with_a(spheres, pair);
  const Sphere& first = spheres[begins ? pair.a : pair.b];
  const GlobalIndex other =
      pair.b < 0 ? -1 - GlobalIndex(pair.obstacle) : spheres[begins ? pair.b : pair.a].id;
  const Vector3d s = begins ? spring.stretch : Vector3d(-spring.stretch);
  return {first.owner,
          {first.id,
           other,
           {s[0], s[1], s[2]},
           spring.stiffness,
           begins ? pair.shift : particles::opposite(pair.shift)}};
}

} // namespace

PairSpring carried_over(const PairSpring& spring, const Vector3d& n, double k) {
  const Vector3d s = spring.stretch - n * n.dot(spring.stretch);
  const double length = s.norm();
  if (length == 0) return {Vector3d::Zero(), k};
  return {std::min(1.0, spring.stiffness / k) * spring.stretch.norm() / length * s, k};
}

Vector3d within_reach(const Vector3d& stretch, double reach) {
  const double length = stretch.norm();
  return length > reach ? Vector3d(reach / length * stretch) : stretch;
}

std::vector<double> packed(std::span<const ContactSpring> springs) {
  std::vector<double> rows;
  for (const auto& [first, other, stretch, stiffness, shift] : springs) {
    rows.insert(rows.end(), {double(first), double(other), stretch[0], stretch[1], stretch[2], stiffness});
    rows.insert(rows.end(), shift.begin(), shift.end());
  }
  return rows;
}

std::vector<ContactSpring> unpacked(std::span<const double> rows) {
  std::vector<ContactSpring> springs;
  for (std::size_t i = 0; i < rows.size(); i += spring_width)
    springs.push_back({GlobalIndex(rows[i]),
                       GlobalIndex(rows[i + 1]),
                       {rows[i + 2], rows[i + 3], rows[i + 4]},
                       rows[i + 5],
                       {std::int32_t(rows[i + 6]), std::int32_t(rows[i + 7]), std::int32_t(rows[i + 8])}});
  return springs;
}

std::vector<ContactSpring> springs_for_owners(const SphereContact& contact, const Spheres& spheres,
                                              std::span<const SpherePair> pairs,
                                              std::span<const PairSpring> springs) {
  std::vector<Travelling> sent;
  for (std::size_t k = 0; k < pairs.size(); ++k) sent.push_back(travelling(spheres, pairs[k], springs[k]));
  std::vector<ContactSpring> owned;
  for (const auto& received : parallel::give_owners(contact.communicator(), sent, owner_of))
    for (const Travelling& item : received) owned.push_back(item.spring);
  std::ranges::sort(owned, {}, key_of);
  return owned;
}

std::vector<PairSpring> springs_for_pairs(const SphereContact& contact, const Spheres& spheres,
                                          std::span<const SpherePair> pairs,
                                          std::span<const ContactSpring> owned) {
  std::vector<Travelling> asked;
  for (const SpherePair& pair : pairs) asked.push_back(travelling(spheres, pair, {}));
  const auto found =
      parallel::ask_owners(contact.communicator(), asked, owner_of, [&](const Travelling& question, int) {
        const auto at = std::ranges::lower_bound(owned, key_of(question.spring), {}, key_of);
        return at != owned.end() && key_of(*at) == key_of(question.spring) ? *at : question.spring;
      });
  std::vector<PairSpring> springs;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const Vector3d s(found[k].stretch.data());
    springs.push_back({begins_with_a(spheres, pairs[k]) ? s : Vector3d(-s), found[k].stiffness});
  }
  return springs;
}

} // namespace recoil::potentials
