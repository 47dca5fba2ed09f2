#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Which blocks of a part of a matrix there are: compressed rows. PETSc stores the entries of a block row one
/// scalar row after the other, each through all blocks.
struct BlockPattern {
  std::vector<PetscInt> starts{0}, columns;

  PetscInt count(std::size_t row) const { return starts[row + 1] - starts[row]; }
  std::span<const PetscInt> row(std::size_t row) const {
    return std::span(columns).subspan(starts[row], count(row));
  }
};

/// The rows of an AIJ matrix on this rank, by blocks.
struct BlockRows {
  BlockPattern own, other; ///< columns that this rank owns, counted from its first; numbers in `ghosts`
  std::vector<GlobalIndex> ghosts; ///< global block columns of other ranks, ascending
};

/// The Galerkin product C = P'A P of distributed AIJ matrices all of whose blocks are full, as those of
/// elasticity and of smoothed aggregation are. Blocks are multiplied as wholes, and A P exists one block row
/// at a time; PETSc's products go by single entries and keep A P, copies of the rows of P and places of
/// every entry, which takes a multiple of the time and of the memory on ranks that share a matrix. Values are
/// added in an order that depends on the patterns alone, so that a product repeats to the bit.
class BlockTripleProduct {
public:
  /// Reads the patterns of A and P; null where a block is not full on some rank, or where loops are not
  /// unrolled for blocks of this size. Collective.
  static std::unique_ptr<BlockTripleProduct> make(Mat A, Mat P);

  /// Gives `product`, a matrix without a type, its sizes and its pattern. Returns PETSc's error code.
  /// Collective.
  PetscErrorCode create(Mat product);
  /// The values. A and P must have the patterns that make() has read. Returns PETSc's error code,
  /// PETSC_ERR_ARG_SIZ on every rank where A or P has another number of entries. Collective.
  PetscErrorCode fill(Mat A, Mat P, Mat product);

private:
  explicit BlockTripleProduct(MPI_Comm comm) : comm_(comm) {}

  int owner_of_row(GlobalIndex node) const;
  int owner_of_column(GlobalIndex node) const;
  bool owns_column(GlobalIndex node) const;
  PetscInt local_column(GlobalIndex node) const;
  GlobalIndex global_column(PetscInt local) const;

  void fetch_rows_of_others();
  void number_columns();
  using Rows = std::vector<std::vector<PetscInt>>;        ///< local columns of the rows of C
  using Messages = std::vector<std::vector<GlobalIndex>>; ///< by rank
  Rows local_rows() const;
  Messages exchange_rows(const Rows& rows) const;
  void add_ghosts(const Messages& incoming, Rows& rows);
  void unite_rows(const Messages& incoming, Rows& rows);
  void find_places(const Messages& incoming);
  std::pair<std::vector<PetscInt>, std::vector<PetscInt>> scalar_rows() const;
  /// The arrays of PETSc's matrices.
  struct Values {
    const double *A_own, *A_other, *P_own, *P_other;
  };
  template <int height, int width>
  PetscErrorCode fill_by(Mat A, Mat P, bool fetches, Mat product);
  template <int height, int width>
  std::vector<double> fetch_values(const double* own, const double* other) const;
  template <int height, int width>
  std::vector<double> multiply(const Values& values) const;
  template <int width>
  void add_blocks_of_others(std::vector<double>& blocks) const;
  template <int width>
  void clear_rounding(std::vector<double>& blocks) const;
  template <int width>
  PetscErrorCode write(std::span<const double> blocks, Mat product) const;

  parallel::Communicator comm_;
  int fine_size_ = 0, coarse_size_ = 0;                 ///< of the blocks of P: nodes of A and of C
  std::vector<GlobalIndex> row_ranges_, column_ranges_; ///< first nodes of the ranks, then their number
  PetscInt num_own_ = 0;                                ///< rows of C
  BlockRows A_, P_;
  std::vector<std::vector<PetscInt>> rows_to_send_; ///< by rank: own rows of P that it needs
  BlockPattern fetched_;                            ///< rows of P of A_.ghosts
  std::vector<double> fetched_values_;              ///< of P as it was when it had this state
  PetscObjectId fetched_id_ = 0;
  PetscObjectState fetched_state_ = 0;
  std::vector<GlobalIndex> ghosts_; ///< columns and rows of C that others own, ascending
  /// Rows of C: own ones, then what belongs to the rows `ghosts_`. Columns count own ones, then ghosts.
  BlockPattern product_;
  std::vector<std::vector<PetscInt>>
      places_of_received_; ///< by rank: places in product_ of the blocks that it sends
};

} // namespace recoil::linalg
