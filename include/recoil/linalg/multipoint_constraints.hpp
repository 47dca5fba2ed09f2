#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/vector.hpp"

namespace recoil::linalg {

/// Multipoint constraints, homogeneous: some entries of a vector follow others,
///   x_s = sum_k w_sk x_k,
/// where no x_k follows an entry itself. With T the matrix that says so, x = T q holds for every x that is
/// consistent with them, q the vector with zeros in place of the entries that follow. They are eliminated: a
/// function of x has the gradient T' g and the Hessian T' H T as one of q [Cook, Malkus and Plesha,
/// Concepts and Applications of Finite Element Analysis, section 9.2], which stay symmetric and, if H is
/// definite, definite.
class MultipointConstraints {
public:
  struct Term {
    GlobalIndex entry; ///< global number: block number times block size plus component
    double weight;
  };
  struct Row {
    std::int64_t entry;      ///< of this rank's owned ones, that follows
    std::vector<Term> terms; ///< none: the entry is fixed
  };

  /// @param rows of owned entries, each once, in any order. Collective.
  MultipointConstraints(std::shared_ptr<const VectorLayout> layout, std::span<const Row> rows);

  /// Sets the entries that follow, and updates ghosts: x = T x. Collective.
  void expand(Vector& x) const;
  /// g = T' g: what works on an entry that follows works on those that it follows; its own is zero. Owned
  /// entries alone are set. Collective.
  void gather(Vector& g) const;
  /// One flag per local entry of the layout, ghosts included: 1 = it follows.
  std::span<const char> flags() const { return flags_; }
  Mat get() const { return transfer_.get(); }

private:
  MatHandle transfer_; ///< T, with explicit zeros on the diagonal
  std::vector<char> flags_;
};

/// The matrix T' A T of MultipointConstraints, with a layout of its own: the owned blocks are those of A, the
/// ghosts are others, as it couples nodes that no element does.
class CondensedMatrix {
public:
  /// @param A any values; its pattern counts.
  /// @param fixed a flag per local entry of A: rows and columns that are to be those of a diagonal matrix,
  /// entries that follow among them. Collective.
  CondensedMatrix(const BlockMatrix& A, const MultipointConstraints& constraints,
                  std::span<const char> fixed);

  /// Takes the values of A, whose pattern has not changed, and clears the rows and columns of fixed entries
  /// (BlockMatrix::set_identity_rows). Collective.
  void assemble(const BlockMatrix& A);
  BlockMatrix& matrix() { return matrix_; }
  const BlockMatrix& matrix() const { return matrix_; }

private:
  MatHandle transfer_, product_;
  BlockMatrix matrix_;
};

} // namespace recoil::linalg
