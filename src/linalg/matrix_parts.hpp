#pragma once

#include "recoil/linalg/petsc.hpp"

namespace recoil::linalg {

/// Rows and values of the two parts of an AIJ matrix on this rank, for reading; valid until the matrix is
/// changed or freed. The off-diagonal part is empty on one rank.
struct MatrixParts {
  const PetscInt *diagonal_rows = nullptr, *off_diagonal_rows = nullptr;
  const PetscScalar *diagonal = nullptr, *off_diagonal = nullptr;
};

/// Not collective.
MatrixParts read_parts(Mat matrix);

} // namespace recoil::linalg
