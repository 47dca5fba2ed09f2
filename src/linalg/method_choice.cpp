#include "linalg/method_choice.hpp"

#include <algorithm>
#include <array>

#include "linalg/coupled_graph.hpp"
#include "linalg/factorization_work.hpp"
#include "recoil/base/log.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::linalg {

namespace {

/// Unknowns up to which a new factorisation and one solve take less time than multigrid to 1e-8 (three solves
/// sharing one interpolation), measured with bench_crossover on 1 and 2 ranks with OpenBLAS: more than 256
/// 000 in 2D (ratio 0.5 there on one rank, 0.75 on two), 15 000 and 3 000 in 3D. With the reference BLAS it
/// would be 75 000 and 1 200 on one rank. The factorisation is done by one rank, so the limit falls with
/// their number, as fill growth commands; the floor is where multigrid is all
/// latency and contact makes it set up anew in every step.
struct Crossover {
  GlobalIndex one_rank;
  int exponent_of_ranks;
  GlobalIndex floor;
};
constexpr Crossover crossover_2d{400000, 1, 20000}, crossover_3d{12000, 2, 6000};

/// Share of the nodes in contact from which on factoring their block may cost as much as factoring all.
constexpr double notable_contact = 0.25;
/// Nodes from which on no rank is asked to look at the whole graph.
constexpr GlobalIndex many_nodes = 200000;
/// Operations of a factorisation that take as long as multigrid does per entry of K, on one rank.
constexpr double work_per_entry = 500;

} // namespace

LinearMethod automatic_method(int dimension, GlobalIndex num_unknowns, int num_ranks) {
  const Crossover& crossover = dimension == 2 ? crossover_2d : crossover_3d;
  GlobalIndex limit = crossover.one_rank;
  for (int k = 0; k < crossover.exponent_of_ranks; ++k) limit /= num_ranks;
  return num_unknowns <= std::max(limit, crossover.floor) ? LinearMethod::direct : LinearMethod::amg;
}

LinearMethod choose_method(const VectorLayout& layout, const NodeGraph& graph, const StencilMatrix* contact) {
  const int dim = layout.block_size;
  const LinearMethod method = automatic_method(dim, layout.num_global * dim, layout.comm->size());
  if (method == LinearMethod::direct || contact == nullptr || layout.num_global > many_nodes) return method;
  if (static_cast<double>(contact->num_nodes()) < notable_contact * static_cast<double>(layout.num_global))
    return method;

  const CoupledGraph coupled = couple(layout, graph, contact->rows());
  std::vector<GlobalIndex> nodes;
  for (const LocalIndex node : contact->nodes()) nodes.push_back(layout.offset + node);
  nodes = parallel::gather(*layout.comm, 0, std::move(nodes));
  const EliminationGraph whole = gather_graph(*coupled.layout, *coupled.graph);
  std::array<double, 3> sums{factorization_work(whole, dim),
                             factorization_work(restrict_to(whole, nodes), dim),
                             static_cast<double>(graph.neighbours.size())};
  layout.comm->sum(sums);
  const auto [work, block_work, blocks] = sums;
  const double multigrid_work = work_per_entry * blocks * dim * dim / layout.comm->size();
  log_debug("work of a factorisation",
            {{"all", work}, {"contact", block_work}, {"multigrid", multigrid_work}});
  return work <= block_work + multigrid_work ? LinearMethod::direct : LinearMethod::amg;
}

} // namespace recoil::linalg
