#pragma once

#include <cstdint>
#include <vector>

#include "recoil/parallel/communicator.hpp"
#include "recoil/parallel/pairwise_messages.hpp"
#include "recoil/solvers/async_contact/state.hpp"
#include "solvers/async_contact/contact_pair.hpp"

namespace recoil::solvers::async_contact {

/// What a window began with, to begin it again.
struct WindowStart {
  std::vector<VertexState> vertices;
  std::vector<double> rest_angles, shapes;
  std::vector<ContactPair> pairs;
  Ledger ledger;
};

/// The part of an engine that several ranks need. Each moves the vertices that it owns; an event is handled
/// by all ranks that own one of its vertices, with the same result, after they have told each other where
/// these are. Between such meetings, which all ranks have in the order of the events, each goes at its own
/// pace. Prescribed vertices belong to nobody; everybody moves them.
struct Ranks {
  parallel::Communicator comm;
  parallel::PairwiseMessages messages;
  std::vector<int> owner; ///< of each vertex; -1: prescribed
  WindowStart start;
  bool broken = false;   ///< the window is of no use: a bound has been exceeded here, or another rank says so
  bool exceeded = false; ///< here
  Ledger others;         ///< impulses of events that another rank counts
  Ledger sum;            ///< of all ranks, at the end of the last run
  std::vector<AnchorState> anchors; ///< the same
  double contact = 0, anchor = 0;   ///< energies of all ranks then [J]

  Ranks(const parallel::Communicator& of, std::vector<int> owner_)
      : comm(of.get()), messages(of), owner(std::move(owner_)) {}
};

/// Owners of the vertices by METIS, weighted with how often they are moved.
std::vector<int> find_owners(const Model& model, int num_ranks);

} // namespace recoil::solvers::async_contact
