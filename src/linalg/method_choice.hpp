#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linalg/elimination_graph.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace recoil::linalg {

/// Multiplications and additions of the Cholesky factorisation of a matrix with `dim` x `dim` blocks on
/// `graph` whose nodes are eliminated in the order of `places`: the sum of the squared column counts of the
/// factor, which follow from the elimination tree [Liu 1990]. Not collective. Time of the order of the
/// factor's entries divided by dim^2, memory of the order of the graph.
double factorization_work(const EliminationGraph& graph, std::span<const idx_t> places, int dim);

/// The work of a factorisation in the order of nested_dissection(). @throws LibraryError if METIS fails.
double factorization_work(const EliminationGraph& graph, int dim);

/// The work where every group stands for as many nodes as it is wide. @throws LibraryError if METIS fails.
double factorization_work(const QuotientGraph& quotient, int dim);

/// An empirical lower bound of factorization_work() in a twentieth of its time: the work for groups of nodes,
/// divided by more than the most by which that was measured to be larger (docs/performance.md).
/// @throws LibraryError if METIS fails.
double least_factorization_work(const EliminationGraph& graph, int dim);

/// Whether a factorisation, which one rank does, is faster than multigrid on any mesh: up to a number of
/// unknowns measured on cubes for dimension and ranks. Not collective.
bool is_below_crossover(int dimension, GlobalIndex num_unknowns, int num_ranks);

/// Stands behind LinearMethod::automatic. Beyond the small systems it compares the work of factoring K + C,
/// by its symbolic elimination, with that of multigrid on all ranks, which grows with the entries: thin and
/// slender bodies factor with little fill, thick ones do not, which least_factorization_work() shows. The
/// factorisation in StiffSubset counts as multigrid's; where nearly all nodes
/// are stiff, as those of a pile in contact, it costs as much as that of K + C.
class MethodChoice {
public:
  /// @param dimension of the space that the nodes lie in, 2 or 3
  MethodChoice(std::shared_ptr<const VectorLayout> layout, int dimension)
      : layout_(std::move(layout)), dimension_(dimension) {}

  /// What small and large systems are solved by before their matrices are known. Not collective.
  LinearMethod before_matrix() const;
  /// `direct` or `amg` for K with `graph` and the stiff terms C (null: none). The work on K alone is
  /// remembered. Collective. @throws LibraryError if METIS fails, on every rank.
  LinearMethod operator()(const std::shared_ptr<const NodeGraph>& graph, const StencilMatrix* stiff);

  /// Whether a factorisation of K would have been done long before a solve that took so many iterations of
  /// multigrid, as on meshes of flat cells. False where it fills too much, or has not been weighed.
  /// Collective. @throws LibraryError if METIS fails, on every rank.
  bool factors_faster_than(int iterations);

private:
  void weigh_alone(const NodeGraph& graph);
  void weigh_nodes(const EliminationGraph& whole);
  bool pays_with_stiff_terms(const NodeGraph& graph, const StencilMatrix& stiff) const;

  std::shared_ptr<const VectorLayout> layout_;
  int dimension_;
  std::shared_ptr<const NodeGraph> graph_;
  double work_ = 0;           ///< of factoring K, or less than that
  bool is_exact_ = false;     ///< whether it is the work itself
  double multigrid_work_ = 0; ///< what may be spent in its place
};

} // namespace recoil::linalg
