#pragma once

#include <array>
#include <vector>

#include "linalg/elimination_graph.hpp"

namespace recoil::linalg {

/// Nodes that are eliminated together and, as its border, the later ones that they are coupled with by then:
/// the columns and the rows of a dense piece of a Cholesky factor [Duff, Reid 1983]. In local numbers of the
/// Dissection.
struct Front {
  LocalIndex begin = 0, size = 0;
  std::vector<LocalIndex> border; ///< ascending
  /// Fronts before this one whose borders end in it; -1: none.
  std::array<int, 2> children{-1, -1};
  int sender = -1;                  ///< rank that holds one more, -1: none
  std::vector<LocalIndex> received; ///< border of that one
  int depth = 0;                    ///< below the last front of all ranks

  LocalIndex end() const { return begin + size; }
};

/// What a rank does of a nested dissection [George 1973] of a graph over several ranks. The graph is cut in
/// two by a separator, the parts are cut again, and so on until there are as many parts as are wanted. Each
/// is given to a rank, which goes on cutting down to some nodes. Of the ranks of two parts one has the
/// separator between them, too.
struct Dissection {
  std::vector<Front> fronts; ///< each after its children
  /// Numbers of the nodes of the fronts, in the order of elimination: node k has the local number k. The
  /// border of the last front has the local numbers from there on.
  std::vector<idx_t> nodes;
  int receiver = -1;      ///< rank that goes on from the last front; -1: none
  std::vector<int> hosts; ///< of every coupling of this rank, the rank of the front that holds it
  /// The couplings in fronts of this rank, by rank of origin, in local numbers.
  std::vector<std::vector<Coupling>> couplings;

  LocalIndex num_local() const {
    const auto num_outside = fronts.empty() ? 0 : std::ssize(fronts.back().border);
    return static_cast<LocalIndex>(std::ssize(nodes) + num_outside);
  }
};

/// Dissects the graph of the `couplings` of all ranks, each pair of the nodes 0 .. `num_nodes` - 1 given once
/// on one of them. `num_parts`: a power of two, at most the number of ranks. The same in every run.
/// Collective. @throws LibraryError if METIS fails, on every rank.
Dissection dissect(const parallel::Communicator& comm, idx_t num_nodes, std::span<const Coupling> couplings,
                   int num_parts);

} // namespace recoil::linalg
