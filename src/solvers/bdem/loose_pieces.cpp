#include "solvers/bdem/loose_pieces.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "recoil/linalg/dense.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/particles/fragments.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

using Eigen::Vector3d;
using particles::CellShift;

namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

/// A particle as it travels to the first rank.
struct Member {
  GlobalIndex piece, id;
  std::array<double, 3> place;
  std::array<double, 4> turn;
  double radius;
  std::array<char, 6> prescribed;
  char touches; ///< something other than its own piece
};

struct Piece {
  GlobalIndex particles = 0, first = 0;
  bool touches = false;
  std::vector<const Member*> held;
  const Member* member = nullptr; ///< the first one
  std::vector<Vector3d> periods;  ///< by which its bonds lead to images of itself
};

/// A bond that holds, as it travels to the first rank.
struct Link {
  GlobalIndex a, b; ///< ids
  CellShift shift;  ///< of b
};

/// The pieces of a cell as bonds lead through its faces.
struct Unfolded {
  std::vector<CellShift> shifts; ///< of each particle, by id, from the first one of its piece
  std::map<GlobalIndex, std::set<CellShift>> periods; ///< of pieces that lead to themselves, by first ids
};

/// Flags of owned particles that touch obstacles, or particles of other pieces. Collective.
std::vector<double> touching(const BondedParticles& problem, const std::vector<GlobalIndex>& piece) {
  std::vector<double> owned(piece.size(), 0.0);
  if (!problem.contact) return owned;
  const potentials::SphereContact& pairs = *problem.contact;
  const potentials::Spheres& spheres = *pairs.spheres();
  const std::vector<double> numbers = spheres.gather(std::vector<double>(piece.begin(), piece.end()), 1);
  std::vector<double> flags(spheres.size(), 0.0);
  for (const potentials::SphereTouch& touch : pairs.touching()) {
    if (touch.pair.b >= 0 && numbers[touch.pair.a] == numbers[touch.pair.b]) continue;
    flags[touch.pair.a] = 1;
    if (touch.pair.b >= 0) flags[touch.pair.b] = 1;
  }
  spheres.add_to_owners(flags, 1, 1, owned);
  return owned;
}

std::vector<Link> links_of(const BondedParticles& problem) {
  const particles::DistributedParticles& particles = *problem.particles;
  std::vector<Link> links;
  for (std::size_t k = 0; k < particles.bonds.size(); ++k) {
    const auto& bond = particles.bonds[k];
    if (particles.owns(bond) && problem.bonds->broken()[k] == 0)
      links.push_back({particles.ids[bond.a], particles.ids[bond.b], particles.bond_shifts[k]});
  }
  return links;
}

CellShift sum(const CellShift& a, const CellShift& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

Unfolded unfold(GlobalIndex num_particles, const std::vector<Link>& links) {
  std::vector<std::vector<std::pair<GlobalIndex, CellShift>>> neighbours(num_particles);
  for (const auto& [a, b, shift] : links) {
    neighbours[a].emplace_back(b, shift);
    neighbours[b].emplace_back(a, particles::opposite(shift));
  }
  Unfolded result{std::vector<CellShift>(num_particles), {}};
  std::vector<char> seen(num_particles, 0);
  for (GlobalIndex first = 0; first < num_particles; ++first) {
    if (seen[first] != 0) continue;
    seen[first] = 1;
    for (std::vector<GlobalIndex> open{first}; !open.empty();) {
      const GlobalIndex at = open.back();
      open.pop_back();
      for (const auto& [next, shift] : neighbours[at]) {
        const CellShift there = sum(result.shifts[at], shift);
        if (seen[next] == 0) {
          seen[next] = 1;
          result.shifts[next] = there;
          open.push_back(next);
        } else if (there != result.shifts[next]) {
          result.periods[first].insert(sum(there, particles::opposite(result.shifts[next])));
        }
      }
    }
  }
  return result;
}

/// How many of the six rigid motions of a piece its prescribed components hold, and the images that it is
/// bonded to: these turn about themselves, not with it.
int num_held_motions(const Piece& piece) {
  if (piece.held.empty()) return 0;
  Vector3d centre = Vector3d::Zero();
  for (const Member* at : piece.held) centre += Vector3d(at->place.data()) / double(piece.held.size());
  double size = 0;
  for (const Member* at : piece.held)
    size = std::max({size, at->radius, (Vector3d(at->place.data()) - centre).norm()});
  Matrix6 sum = Matrix6::Zero();
  for (const Member* at : piece.held) {
    const Vector3d arm = (Vector3d(at->place.data()) - centre) / size;
    const Eigen::Matrix3d axes = geometry::rotation_matrix(geometry::Quaternion(at->turn.data()));
    for (int i = 0; i < 3; ++i) {
      Vector6 shift, turn;
      shift << Vector3d::Unit(i), arm.cross(Vector3d::Unit(i));
      turn << Vector3d::Zero(), axes.col(i);
      if (at->prescribed[i] != 0) sum += shift * shift.transpose();
      if (at->prescribed[3 + i] != 0) sum += turn * turn.transpose();
    }
  }
  for (const Vector3d& period : piece.periods)
    for (int i = 0; i < 3; ++i) {
      Vector6 turn;
      turn << Vector3d::Zero(), period.normalized().cross(Vector3d::Unit(i));
      sum += turn * turn.transpose();
    }
  const Eigen::VectorXd values = linalg::symmetric_eigen(sum).values;
  return int((values.array() > 1e-10 * values.maxCoeff()).count());
}

/// "particle 7 of 'bar'", without its place.
std::string name_of(const BondedParticles& problem, GlobalIndex id, std::int32_t body) {
  return fmt::format("particle {} of '{}'", id, problem.particles->body_names[body]);
}

std::string describe(const Piece& piece, int held, const std::string& name) {
  const auto& [x, y, z] = piece.member->place;
  const std::string what =
      fmt::format("{} at ({:.6g}, {:.6g}, {:.6g}){}", name, x, y, z,
                  piece.particles > 1 ? fmt::format(" and the {} bonded to it", piece.particles - 1) : "");
  return held == 0 ? "nothing holds " + what
                   : "nothing holds " + what + " against all shifts and turns: prescribed motion leaves " +
                         std::to_string(6 - held) + " of six rigid motions free";
}

} // namespace

std::string describe_particle(const BondedParticles& problem, std::span<const double> u,
                              LocalIndex particle) {
  const Vector3d p = particle_at(u, particle).p;
  return fmt::format("{} at ({:.6g}, {:.6g}, {:.6g})",
                     name_of(problem, problem.particles->ids[particle], problem.particles->body[particle]),
                     p[0], p[1], p[2]);
}

std::string describe_loose_piece(const BondedParticles& problem, std::span<const double> u) {
  const particles::DistributedParticles& particles = *problem.particles;
  const parallel::Communicator& comm = *particles.points->comm;
  const std::vector<char> broken(problem.bonds->broken().begin(), problem.bonds->broken().end());
  const std::vector<GlobalIndex> piece = find_fragments(particles, broken).of_owned;
  const std::vector<double> touches = touching(problem, piece);
  std::vector<Member> members;
  for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
    const potentials::Particle at = particle_at(u, k);
    Member member{piece[k], particles.ids[k], {}, {}, particles.radii[k], {}, touches[k] > 0 ? '\1' : '\0'};
    std::copy_n(at.p.data(), 3, member.place.begin());
    std::copy_n(at.q.data(), 4, member.turn.begin());
    std::copy_n(problem.prescribed.begin() + 6 * std::size_t(k), 6, member.prescribed.begin());
    members.push_back(member);
  }
  members = parallel::gather(comm, 0, std::move(members));
  Unfolded unfolded;
  const auto period_of = [&](const CellShift& shift) {
    return particles.cell->vector(shift, problem.cell_motion->now());
  };
  if (particles.cell) {
    const std::vector<Link> links = parallel::gather(comm, 0, links_of(problem));
    if (comm.rank() == 0) unfolded = unfold(particles.points->num_global, links);
    for (Member& member : members) {
      const Vector3d period = period_of(unfolded.shifts[member.id]);
      for (int i = 0; i < 3; ++i) member.place[i] += period[i];
    }
  }
  std::map<GlobalIndex, Piece> pieces;
  for (const Member& member : members) {
    Piece& of = pieces[member.piece];
    ++of.particles;
    of.touches = of.touches || member.touches != 0;
    if (of.member == nullptr || member.id < of.member->id) of.member = &member;
    if (std::ranges::any_of(member.prescribed, [](char flag) { return flag != 0; }))
      of.held.push_back(&member);
  }
  for (auto& [number, of] : pieces)
    if (const auto at = unfolded.periods.find(of.member->id); at != unfolded.periods.end())
      std::ranges::transform(at->second, std::back_inserter(of.periods), period_of);
  GlobalIndex loose = 0, first = -1;
  int held_of_first = 0;
  const Piece* worst = nullptr;
  for (const auto& [number, of] : pieces) {
    const int held = num_held_motions(of);
    if (of.touches || held == 6) continue;
    if (++loose > 1) continue;
    worst = &of;
    held_of_first = held;
    first = of.member->id;
  }
  // The name of its body is known where the particle lies.
  first = comm.max(first);
  std::string name;
  for (LocalIndex k = 0; k < particles.num_owned(); ++k)
    if (particles.ids[k] == first) name = name_of(problem, first, particles.body[k]);
  for (const std::string& text : comm.all_gather(name))
    if (!text.empty()) name = text;
  std::string told;
  if (worst != nullptr) {
    told = describe(*worst, held_of_first, name);
    if (loose > 1)
      told += fmt::format("; {} more {} loose", loose - 1, loose == 2 ? "piece is" : "pieces are");
  }
  for (const std::string& text : comm.all_gather(told))
    if (!text.empty()) told = text;
  return told;
}

} // namespace recoil::solvers
