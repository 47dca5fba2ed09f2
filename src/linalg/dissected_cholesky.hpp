#pragma once

#include <array>
#include <span>
#include <vector>

#include "linalg/dissection.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Cholesky factorisation of a symmetric positive definite matrix of node blocks by several ranks: the
/// multifrontal method [Duff, Reid 1983] on a nested dissection. Each rank eliminates the nodes of its part;
/// what that leaves on the separators goes up the tree of these, from two ranks to one of them at each, and
/// solutions come down again. All sums go in the order of the tree: the same bits in every run on as many
/// ranks.
///
/// Separators of surfaces are short: of two square plates in contact the last one, which one rank eliminates
/// while the others wait, takes a fiftieth of the work.
class DissectedCholesky {
public:
  /// @param couplings pairs of nodes with a block, each pair and each node with itself given once on one of
  /// the ranks.
  /// @param num_owned nodes in this rank's share of vectors; numbers go on from rank to rank.
  /// @param num_parts how many ranks factor: a power of two, at most their number. Collective.
  /// @throws LibraryError if METIS fails, on every rank.
  DissectedCholesky(const parallel::Communicator& comm, int block_size, LocalIndex num_owned,
                    std::span<const Coupling> couplings, int num_parts);

  /// `blocks`: per coupling block_size x block_size entries, row-major. Returns an error code of this rank:
  /// PETSC_ERR_MAT_CH_ZRPVT if the matrix is not positive definite, found on at least one rank. Collective.
  PetscErrorCode factor(std::span<const double> blocks);
  /// x = A^-1 x. Collective. @pre the last factor() gave 0 on all ranks.
  PetscErrorCode solve(Vec x) const;

private:
  /// Where a block goes: its entry (i, j) to place + i * row_stride + j * column_stride.
  struct Target {
    std::size_t place, row_stride, column_stride;
  };
  /// Updates that wait for the front that takes them: last in, first out among those of even and those of odd
  /// depth.
  struct Stack {
    std::vector<double> numbers;
    std::size_t top = 0;
  };

  std::size_t num_own(const Front& front) const { return std::size_t(front.size) * block_size_; }
  std::size_t num_border(std::span<const LocalIndex> border) const { return border.size() * block_size_; }
  std::size_t height(const Front& front) const { return num_own(front) + num_border(front.border); }
  void place_fronts();
  void place_couplings();
  void create_vectors(LocalIndex num_owned);
  void take_values(std::span<const double> blocks);
  void add_updates(const Front& front, double* columns, double* update);
  void add_update(const Front& front, std::span<const LocalIndex> border, const double* from, double* columns,
                  double* update);
  bool eliminate(std::size_t k);
  template <class Act>
  void for_entries(std::span<const LocalIndex> nodes, Act act) const;
  void solve_forward(double* x) const;
  void solve_backward(double* x) const;

  const parallel::Communicator& comm_;
  int block_size_;
  Dissection tree_;
  std::vector<std::size_t> starts_; ///< of the columns of every front in factor_
  std::vector<double> factor_;      ///< columns of fronts, of the height of the front each
  std::array<Stack, 2> updates_;
  std::vector<std::vector<Target>> targets_; ///< by rank of origin
  std::vector<std::size_t> places_;          ///< of an update in its front
  VecHandle work_;                           ///< entries of the local numbers
  ScatterHandle scatter_;                    ///< vectors to the entries of work_ that this rank eliminates
  mutable std::vector<double> message_;      ///< entries of a border
};

} // namespace recoil::linalg
