#include "objectives/ghost_cells.hpp"

#include <algorithm>
#include <unordered_map>

#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::objectives {

namespace {

struct OwnedCell {
  GlobalIndex id;
  LocalIndex index; ///< on its owner
};
struct CellAddress {
  int rank;
  LocalIndex index;
};

} // namespace

template <int dim>
GhostCells find_ghost_cells(const mesh::DistributedMesh<dim>& mesh) {
  const parallel::Communicator& comm = *mesh.comm;
  const int size = comm.size();
  const auto id = [&](LocalIndex cell) { return mesh.cell_ids[cell]; };
  const auto directory = [&](GlobalIndex cell) { return cell % size; };

  std::vector<std::vector<OwnedCell>> entries(size);
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    entries[directory(id(cell))].push_back({id(cell), cell});
  std::unordered_map<GlobalIndex, CellAddress> addresses;
  const auto listed = parallel::exchange(comm, entries);
  for (int rank = 0; rank < size; ++rank)
    for (const OwnedCell& cell : listed[rank]) addresses[cell.id] = {rank, cell.index};

  std::vector<std::vector<GlobalIndex>> questions(size);
  std::vector<std::vector<LocalIndex>> asked(size);
  for (LocalIndex cell = mesh.num_owned_cells; cell < mesh.num_cells(); ++cell) {
    questions[directory(id(cell))].push_back(id(cell));
    asked[directory(id(cell))].push_back(cell);
  }
  const auto received = parallel::exchange(comm, questions);
  std::vector<std::vector<CellAddress>> replies(size);
  for (int rank = 0; rank < size; ++rank)
    for (const GlobalIndex cell : received[rank]) replies[rank].push_back(addresses.at(cell));
  const auto answers = parallel::exchange(comm, replies);

  std::vector<std::vector<LocalIndex>> wanted(size), ghosts(size);
  for (int rank = 0; rank < size; ++rank) {
    RECOIL_ASSERT(answers[rank].size() == asked[rank].size());
    for (std::size_t k = 0; k < asked[rank].size(); ++k) {
      const std::size_t owner = answers[rank][k].rank;
      wanted[owner].push_back(answers[rank][k].index);
      ghosts[owner].push_back(asked[rank][k]);
    }
  }
  GhostCells result{parallel::Halo(comm, wanted), {}};
  for (const auto& part : ghosts) result.cells.insert(result.cells.end(), part.begin(), part.end());
  return result;
}

template GhostCells find_ghost_cells(const mesh::DistributedMesh<2>&);
template GhostCells find_ghost_cells(const mesh::DistributedMesh<3>&);

} // namespace recoil::objectives
