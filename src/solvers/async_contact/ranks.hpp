#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "recoil/parallel/communicator.hpp"
#include "recoil/parallel/pairwise_messages.hpp"
#include "recoil/solvers/async_contact/state.hpp"
#include "solvers/async_contact/contact_pair.hpp"

namespace recoil::solvers::async_contact {

/// What moves and what remembers, at one time.
struct WindowState {
  std::vector<VertexState> vertices;
  std::vector<double> rest_angles, shapes;
  std::vector<ContactPair> pairs;
  std::vector<AnchorState> restored;
};

/// Ledgers of a window by bodies, so that those of some can be begun again.
struct WindowBooks {
  std::vector<std::int32_t> number;                   ///< of each body: its ledger in `books`, or -1
  std::vector<std::pair<std::int32_t, Ledger>> books; ///< with their bodies

  Ledger& of(std::int32_t body) {
    std::int32_t& index = number[body];
    if (index < 0) {
      index = static_cast<std::int32_t>(books.size());
      books.emplace_back(body, Ledger());
    }
    return books[index].second;
  }
  void clear() {
    for (const auto& book : books) number[book.first] = -1;
    books.clear();
  }
};

/// The part of an engine that several ranks need. Each moves the vertices that it owns; an event is handled
/// by all ranks that own one of its vertices, with the same result, after they have told each other where
/// these are. Between such meetings, which all ranks have in the order of the events, each goes at its own
/// pace. Prescribed vertices belong to nobody; everybody moves them.
///
/// Bounds of velocities that a window relies on are not widened within it. It goes on to its end, and if one
/// was exceeded, the bodies that the vertex may have touched within the window, by way of others too, go back
/// to its start and are integrated again, on the ranks that have vertices of them; all others stay.
struct Ranks {
  parallel::Communicator comm;
  parallel::PairwiseMessages messages;
  std::vector<int> owner;         ///< of each vertex; -1: prescribed
  std::vector<std::int32_t> body; ///< of each vertex: what elements connect; -1: prescribed
  std::int32_t num_bodies = 0;
  /// Primitives by their ranks: points, triangles, edges, spheres.
  std::array<std::vector<std::vector<std::int32_t>>, 4> items;
  WindowState start;
  WindowBooks books;
  std::vector<std::uint8_t> is_touched; ///< bodies that are integrated again; empty: all are integrated
  std::vector<std::array<std::int32_t, 2>>
      links;                        ///< bodies of this rank's pairs that have events in the window
  std::vector<LocalIndex> exceeded; ///< vertices of this rank that have exceeded their bounds
  bool broken = false;              ///< the window is of no use: a rank has failed
  double caution = 1.5;             ///< factor of bounds of velocities
  std::vector<std::int64_t> work;   ///< events of each vertex of this rank since owners were last looked at
  std::int64_t crossing = 0, least_crossing = -1; ///< events of several ranks, now and at best, of all
  std::int64_t windows = 0;
  Ledger others;                    ///< impulses of events that another rank counts
  Ledger sum;                       ///< of all ranks, at the end of the last run
  std::vector<AnchorState> anchors; ///< the same
  double contact = 0, anchor = 0;   ///< energies of all ranks then [J]

  Ranks(const parallel::Communicator& of, const Model& model);
  /// Gives vertices to ranks.
  void set_owners(const Model& model, std::vector<int> owner_);
  /// The rank that searches a primitive: of its first vertex that is not prescribed.
  int searcher(std::span<const LocalIndex> of, std::size_t number) const {
    for (const LocalIndex v : of)
      if (owner[v] >= 0) return owner[v];
    return static_cast<int>(number % static_cast<std::size_t>(comm.size()));
  }
  /// Whether events of these vertices are due in this pass over the window.
  bool takes_part(std::span<const LocalIndex> of) const {
    if (is_touched.empty()) return true;
    for (const LocalIndex v : of)
      if (body[v] >= 0) return is_touched[body[v]] != 0;
    return false;
  }
};

/// Owners of the vertices at `positions` by METIS, weighted with `events`, how often they are moved; without,
/// with how often elements are.
std::vector<int> find_owners(const Model& model, std::span<const Eigen::Vector3d> positions,
                             std::span<const double> events, int num_ranks);

} // namespace recoil::solvers::async_contact
