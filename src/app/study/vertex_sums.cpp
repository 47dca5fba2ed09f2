#include "app/study/vertex_sums.hpp"

#include <algorithm>
#include <unordered_map>

#include "recoil/parallel/exchange.hpp"
#include "recoil/parallel/halo.hpp"

namespace recoil::app {

template <int dim>
void add_to_vertex_owners(const mesh::DistributedMesh<dim>& mesh, int width, std::span<double> values) {
  const std::size_t size = mesh.comm->size();
  std::vector<std::vector<GlobalIndex>> wanted(size);
  std::vector<std::vector<LocalIndex>> copies(size);
  for (LocalIndex vertex = mesh.num_owned_vertices; vertex < mesh.num_vertices(); ++vertex) {
    const std::size_t v = vertex;
    const std::size_t owner = mesh.vertex_owner[v];
    wanted[owner].push_back(mesh.vertex_ids[v]);
    copies[owner].push_back(vertex);
  }
  std::unordered_map<GlobalIndex, LocalIndex> owned;
  for (LocalIndex vertex = 0; vertex < mesh.num_owned_vertices; ++vertex)
    owned[mesh.vertex_ids[vertex]] = vertex;
  const auto questions = parallel::exchange(*mesh.comm, wanted);
  std::vector<std::vector<LocalIndex>> answers(size);
  for (std::size_t rank = 0; rank < size; ++rank)
    for (const GlobalIndex id : questions[rank]) answers[rank].push_back(owned.at(id));
  const parallel::Halo halo(*mesh.comm, parallel::exchange(*mesh.comm, answers));

  const std::size_t w = width;
  std::vector<double> ghosts;
  for (const auto& part : copies)
    for (const LocalIndex vertex : part) {
      const auto share = values.subspan(vertex * w, w);
      ghosts.insert(ghosts.end(), share.begin(), share.end());
      std::ranges::fill(share, 0.0);
    }
  halo.add_back(ghosts, width, values.first(mesh.num_owned_vertices * w));
}

template void add_to_vertex_owners(const mesh::DistributedMesh<2>&, int, std::span<double>);
template void add_to_vertex_owners(const mesh::DistributedMesh<3>&, int, std::span<double>);

} // namespace recoil::app
