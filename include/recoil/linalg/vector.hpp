#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recoil/base/types.hpp"
#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Which blocks (nodes) of a distributed vector this rank owns and of which others it keeps copies. Global
/// block numbers are contiguous per rank; local numbers count the owned blocks first, then the ghosts in the
/// order given here.
struct VectorLayout {
  /// The Vec that all vectors of a layout are duplicates of, so that they share its scatter to the ghosts,
  /// which costs more than a small vector. The first of them makes it; a copied layout has its own.
  struct Prototype {
    Prototype() = default;
    Prototype(const Prototype&) {}
    Prototype& operator=(const Prototype&) {
      vec = VecHandle();
      return *this;
    }
    VecHandle vec;
  };

  const parallel::Communicator* comm = nullptr;
  int block_size = 1;
  LocalIndex num_owned = 0;        ///< blocks
  GlobalIndex offset = 0;          ///< global number of the first owned block
  GlobalIndex num_global = 0;      ///< blocks over all ranks
  std::vector<GlobalIndex> ghosts; ///< global numbers of the ghost blocks
  mutable Prototype prototype{};

  LocalIndex num_local() const { return num_owned + static_cast<LocalIndex>(ghosts.size()); }
  /// Global number of the owned or ghost block `local`.
  GlobalIndex global(LocalIndex local) const {
    return local < num_owned ? offset + local : ghosts[local - num_owned];
  }
};

/// Distributed vector of doubles with ghosts, on PETSc's ghosted Vec. Copies are deep; moves are free.
class Vector {
public:
  Vector() = default;
  /// Zero vector. Collective.
  explicit Vector(std::shared_ptr<const VectorLayout> layout);
  /// Vector with these owned entries and their ghosts. Collective.
  Vector(std::shared_ptr<const VectorLayout> layout, std::span<const double> owned);
  Vector(const Vector& other);
  Vector& operator=(const Vector& other);
  Vector(Vector&&) noexcept = default;
  Vector& operator=(Vector&&) noexcept = default;

  const VectorLayout& layout() const { return *layout_; }
  std::shared_ptr<const VectorLayout> shared_layout() const { return layout_; }

  /// Owned entries, then ghosts, for reading; ghosts are as of the last update_ghosts().
  std::span<const double> local() const { return values_; }
  std::span<const double> owned() const { return local().first(owned_size()); }
  /// Owned entries and ghosts for writing. Ask again after every other operation on the vector: PETSc caches
  /// norms until then.
  std::span<double> write_local();
  std::span<double> write_owned() { return write_local().first(owned_size()); }

  /// Copies owned entries to the ghosts on other ranks. Collective.
  void update_ghosts();
  /// Adds the ghosts to the owned entries that they are copies of, the transpose of update_ghosts(), and
  /// leaves zeros there. Collective.
  void add_ghosts_to_owners();
  /// Sets owned and ghost entries.
  void fill(double value);
  /// Copies owned and ghost entries of a vector with the same layout.
  void copy_from(const Vector& other);
  /// this += factor * other, on owned and ghost entries.
  void add(double factor, const Vector& other);
  void scale(double factor);
  /// Collective.
  double dot(const Vector& other) const;
  /// Euclidean norm. Collective.
  double norm() const;
  /// Largest absolute value. Collective.
  double norm_infinity() const;

  Vec get() const { return vec_.get(); }

private:
  std::size_t owned_size() const { return layout_->num_owned * layout_->block_size; }

  std::shared_ptr<const VectorLayout> layout_;
  VecHandle vec_;
  std::span<double> values_; ///< of vec_
};

} // namespace recoil::linalg
