#include "recoil/linalg/multipoint_constraints.hpp"

#include <algorithm>
#include <unordered_map>

namespace recoil::linalg {

namespace {

/// T: unit rows but for those of `rows`, which keep a zero on the diagonal, so that products have it in their
/// pattern.
MatHandle create_transfer(const VectorLayout& layout,
                          std::span<const MultipointConstraints::Row* const> row_of_entry) {
  const PetscInt size = layout.block_size;
  const GlobalIndex first = layout.offset * size;
  std::vector<PetscInt> offsets{0}, columns;
  std::vector<PetscScalar> values;
  for (std::size_t entry = 0; entry < row_of_entry.size(); ++entry) {
    const GlobalIndex own = first + GlobalIndex(entry);
    std::vector<MultipointConstraints::Term> terms;
    if (row_of_entry[entry] != nullptr) terms = row_of_entry[entry]->terms;
    terms.push_back({own, row_of_entry[entry] == nullptr ? 1.0 : 0.0});
    std::ranges::sort(terms, {}, &MultipointConstraints::Term::entry);
    const std::size_t begin = columns.size();
    for (const auto& [column, weight] : terms) {
      if (columns.size() > begin && columns.back() == column) {
        values.back() += weight;
      } else {
        columns.push_back(petsc_int(column));
        values.push_back(weight);
      }
    }
    offsets.push_back(petsc_int(columns.size()));
  }
  MatHandle mat;
  const PetscInt num_rows = petsc_int(row_of_entry.size()), num_global = petsc_int(layout.num_global * size);
  RECOIL_PETSC(MatCreate(layout.comm->get(), mat.put()));
  RECOIL_PETSC(MatSetSizes(mat.get(), num_rows, num_rows, num_global, num_global));
  RECOIL_PETSC(MatSetType(mat.get(), MATAIJ));
  RECOIL_PETSC(MatSeqAIJSetPreallocationCSR(mat.get(), offsets.data(), columns.data(), values.data()));
  RECOIL_PETSC(MatMPIAIJSetPreallocationCSR(mat.get(), offsets.data(), columns.data(), values.data()));
  return mat;
}

/// Blocks of the owned block row `node`, by global number, and the block itself.
std::vector<GlobalIndex> columns_of(Mat mat, const VectorLayout& layout, LocalIndex node) {
  std::vector<GlobalIndex> result{layout.global(node)};
  for (int i = 0; i < layout.block_size; ++i) {
    const PetscInt row = petsc_int(layout.global(node) * layout.block_size + i);
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    RECOIL_PETSC(MatGetRow(mat, row, &count, &columns, nullptr));
    for (PetscInt k = 0; k < count; ++k) result.push_back(columns[k] / layout.block_size);
    RECOIL_PETSC(MatRestoreRow(mat, row, &count, &columns, nullptr));
  }
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

/// A zero matrix with all blocks in which `product` has an entry; its layout has the ghosts for that.
BlockMatrix block_matrix_like(Mat product, const VectorLayout& old) {
  auto layout = std::make_shared<VectorLayout>(old);
  layout->ghosts.clear();
  std::vector<std::vector<GlobalIndex>> rows;
  for (LocalIndex node = 0; node < old.num_owned; ++node) {
    rows.push_back(columns_of(product, old, node));
    for (const GlobalIndex column : rows.back())
      if (column < old.offset || column >= old.offset + old.num_owned) layout->ghosts.push_back(column);
  }
  std::ranges::sort(layout->ghosts);
  layout->ghosts.erase(std::ranges::unique(layout->ghosts).begin(), layout->ghosts.end());
  auto graph = std::make_shared<NodeGraph>();
  graph->offsets.push_back(0);
  for (const auto& row : rows) {
    for (const GlobalIndex column : row) {
      const bool is_owned = column >= old.offset && column < old.offset + old.num_owned;
      graph->neighbours.push_back(is_owned ? LocalIndex(column - old.offset)
                                           : old.num_owned +
                                                 LocalIndex(std::ranges::lower_bound(layout->ghosts, column) -
                                                            layout->ghosts.begin()));
    }
    graph->offsets.push_back(std::ssize(graph->neighbours));
  }
  return {std::move(layout), std::move(graph)};
}

/// Flags of the local entries of a layout, from those of the owned ones. Collective.
std::vector<char> with_ghosts(std::shared_ptr<const VectorLayout> layout, std::span<const char> owned) {
  Vector marks(std::move(layout));
  std::ranges::copy(owned, marks.write_owned().begin());
  marks.update_ghosts();
  std::vector<char> flags(marks.local().size());
  std::ranges::transform(marks.local(), flags.begin(), [](double mark) { return mark != 0; });
  return flags;
}

} // namespace

MultipointConstraints::MultipointConstraints(std::shared_ptr<const VectorLayout> layout,
                                             std::span<const Row> rows) {
  std::vector<const Row*> row_of_entry(std::size_t(layout->num_owned) * layout->block_size, nullptr);
  std::vector<char> follows(row_of_entry.size(), 0);
  for (const Row& row : rows) {
    row_of_entry.at(row.entry) = &row;
    follows[row.entry] = 1;
  }
  transfer_ = create_transfer(*layout, row_of_entry);
  flags_ = with_ghosts(std::move(layout), follows);
}

void MultipointConstraints::expand(Vector& x) const {
  const Vector q = x;
  RECOIL_PETSC(MatMult(transfer_.get(), q.get(), x.get()));
  x.update_ghosts();
}

void MultipointConstraints::gather(Vector& g) const {
  const Vector full = g;
  RECOIL_PETSC(MatMultTranspose(transfer_.get(), full.get(), g.get()));
}

CondensedMatrix::CondensedMatrix(const BlockMatrix& A, const MultipointConstraints& constraints,
                                 std::span<const char> fixed)
    : transfer_(share<MatHandle>(constraints.get())) {
  RECOIL_PETSC(MatPtAP(A.get(), transfer_.get(), MAT_INITIAL_MATRIX, PETSC_DEFAULT, product_.put()));
  matrix_ = block_matrix_like(product_.get(), A.layout());
  const std::size_t num_owned = std::size_t(A.layout().num_owned) * A.layout().block_size;
  matrix_.choose_identity_rows(with_ghosts(matrix_.shared_layout(), fixed.first(num_owned)));
}

void CondensedMatrix::assemble(const BlockMatrix& A) {
  Mat product = product_.get();
  RECOIL_PETSC(MatPtAP(A.get(), transfer_.get(), MAT_REUSE_MATRIX, PETSC_DEFAULT, &product));
  matrix_.set_zero();
  RECOIL_PETSC(MatAXPY(matrix_.get(), 1, product, SUBSET_NONZERO_PATTERN));
  matrix_.set_identity_rows(1);
}

} // namespace recoil::linalg
