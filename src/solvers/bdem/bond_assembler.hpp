#pragma once

#include <array>
#include <vector>

#include "recoil/linalg/block_sink.hpp"
#include "recoil/particles/distributed_particles.hpp"

namespace recoil::solvers {

/// Adds the 12 x 12 matrices of bonds to a BlockMatrix over the graph of particles, at positions that are
/// looked up once.
class BondAssembler final : public linalg::ElementSink {
public:
  /// Both must outlive the assembler. Not collective.
  BondAssembler(const particles::DistributedParticles& particles, linalg::BlockMatrix& matrix)
      : particles_(&particles), matrix_(&matrix) {
    for (const auto& [a, b, id] : particles.bonds)
      for (const LocalIndex row : {a, b})
        for (const LocalIndex column : {a, b})
          positions_.push_back(row < num_owned() ? matrix.position(row, column) : 0);
    for (LocalIndex row = 0; row < num_owned(); ++row) diagonal_.push_back(matrix.position(row, row));
  }

  /// Opens the matrix for adding; values are kept.
  void begin() { values_ = matrix_->begin_filling(); }
  void end() { matrix_->finish_filling(); }

  void add_element(LocalIndex bond, const double* K) override {
    const auto& [a, b, id] = particles_->bonds[bond];
    const std::array<LocalIndex, 2> ends{a, b};
    for (int row = 0; row < 2; ++row)
      for (int column = 0; column < 2; ++column)
        // Column-major block (b, a) read row by row is block (a, b).
        if (ends[row] < num_owned())
          values_.add<size>(ends[row], positions_[4 * std::size_t(bond) + 2 * row + column],
                            row <= column ? K + size * (2 * size * column + row)
                                          : K + size * (2 * size * row + column),
                            row <= column ? 1 : 2 * size, row <= column ? 2 * size : 1);
  }
  void add_element_block(LocalIndex bond, int a, int b, const double* block) override {
    const auto& [first, second, id] = particles_->bonds[bond];
    const LocalIndex row = a == 0 ? first : second;
    if (row < num_owned()) values_.add<size>(row, positions_[4 * std::size_t(bond) + 2 * a + b], block, size);
  }
  void add_identities(std::span<const double> scalars, double factor) override {
    matrix_->add_scaled_identities(scalars, factor);
  }
  /// Adds a row-major 6 x 6 block on the diagonal.
  void add_diagonal(LocalIndex particle, const double* block) {
    values_.add<size>(particle, diagonal_[particle], block, size);
  }

private:
  static constexpr int size = 6;
  LocalIndex num_owned() const { return particles_->tangents->num_owned; }

  const particles::DistributedParticles* particles_;
  linalg::BlockMatrix* matrix_;
  std::vector<std::int32_t> positions_, diagonal_;
  linalg::BlockMatrix::Values values_;
};

} // namespace recoil::solvers
