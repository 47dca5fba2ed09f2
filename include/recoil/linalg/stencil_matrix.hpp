#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/block_sink.hpp"

namespace recoil::linalg {

/// Symmetric matrix C over a VectorLayout that is the sum of small dense blocks on a few nodes each
/// (stencils), rebuilt with another pattern at every assembly: contact pairs, springs.
/// Nodes have any number of components (VectorLayout::block_size). Rows live with the owner of their node;
/// blocks may come from any rank. Blocks that are all zero leave no trace, so rows and columns of prescribed
/// components may have been zeroed before.
///
///     begin();  add(..) ...;  finish();
///
/// Two assemblies of the same blocks give the same bits; which rank adds a block may change the last ones.
class StencilMatrix final : public StencilSink {
public:
  /// Compressed block rows on this rank; row k belongs to owned node nodes[k].
  struct Rows {
    std::vector<LocalIndex> nodes;    ///< owned nodes with a row, ascending
    std::vector<std::size_t> offsets; ///< nodes.size() + 1
    std::vector<GlobalIndex> columns; ///< global block numbers, ascending in each row
    std::vector<double> blocks;       ///< block_size x block_size each, row-major
    bool same_pattern(const Rows& other) const {
      return nodes == other.nodes && offsets == other.offsets && columns == other.columns;
    }
  };

  /// Zero matrix. Collective.
  explicit StencilMatrix(std::shared_ptr<const VectorLayout> layout);

  /// Forgets all blocks; the matrix of the last finish() stays until the next one, softened() does not. Not
  /// collective.
  void begin();
  void add(std::span<const GlobalIndex> nodes, const double* block, int stride) override;
  /// Sends rows to their owners, sums them by rank of origin and then in the order of add(), so that the
  /// result repeats and is symmetric to the last bit, and builds the matrix; keeps the PETSc matrix where its
  /// pattern stays. Collective. Cost O(blocks log(blocks of a row)), plus O(owned nodes) for a new pattern.
  void finish();

  /// The rows of the sum of the last finish() with stencils made softer: each is scaled down, if need be,
  /// until its largest diagonal entry is at most the smallest of the `limits` (> 0, one per owned node) of
  /// its nodes. Scaling whole stencils keeps them positive semidefinite and keeps what they do not resist
  /// (motions without change of distance). Same pattern as rows(). Collective.
  Rows softened(std::span<const double> limits) const;

  /// No block on any rank, the same answer on every rank.
  bool empty() const { return num_nodes_ == 0; }
  /// Nodes with a nonzero row over all ranks.
  GlobalIndex num_nodes() const { return num_nodes_; }
  /// Owned nodes with a row, ascending.
  std::span<const LocalIndex> nodes() const { return rows_.nodes; }
  const Rows& rows() const { return rows_; }
  /// y = C x on owned entries. Collective.
  void multiply(const Vector& x, Vector& y) const;
  const VectorLayout& layout() const { return *layout_; }
  /// AIJ matrix with the block size of the layout; it is another object after a finish() that changed the
  /// pattern.
  Mat get() const { return matrix_.get(); }

private:
  struct Entry {
    GlobalIndex row, column;
  };
  struct Item {
    GlobalIndex column;
    std::uint32_t order;
    double factor;
    const double* block;
  };
  /// A block as it was added.
  struct Stencil {
    double largest;    ///< diagonal entry
    std::size_t begin; ///< of its nodes in stencil_nodes_
  };
  template <class T>
  using PerRank = std::vector<std::vector<T>>;

  std::size_t owner(GlobalIndex node) const;
  void add_row(std::span<const GlobalIndex> nodes, std::size_t a, const double* block, int stride);
  template <class T>
  PerRank<T> send(const PerRank<T>& outgoing) const;
  PerRank<double> limits_of_nodes(std::span<const double> limits) const;
  Rows merge(const PerRank<double>* factors) const;
  void merge_row(std::span<Item> items, Rows& rows) const;
  void create_matrix();
  void fill_matrix();

  std::shared_ptr<const VectorLayout> layout_;
  std::vector<GlobalIndex> rank_offsets_; ///< first node of every rank
  std::size_t block_entries_;             ///< numbers in a block
  PerRank<Entry> outgoing_;               ///< by owner of the row
  PerRank<double> outgoing_blocks_;       ///< row-major, of every entry
  PerRank<std::uint32_t> origins_;        ///< number of the stencil of every entry sent
  PerRank<Entry> incoming_;               ///< by rank of origin
  PerRank<double> incoming_blocks_;
  std::vector<Stencil> stencils_;
  std::vector<GlobalIndex> stencil_nodes_;
  Rows rows_;
  GlobalIndex num_nodes_ = 0;
  BlockMatrix matrix_;
};

} // namespace recoil::linalg
