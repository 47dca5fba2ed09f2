#pragma once

#include <string>
#include <vector>

#include "linalg/scoped_options.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace recoil::linalg {

/// A sequential sparse Cholesky factorisation that notices indefinite matrices.
OptionList factorization_options(const std::string& prefix);

/// A sparse LDL' factorisation, on one rank, that takes indefinite matrices as they are.
OptionList indefinite_options(const std::string& prefix, int num_ranks);

/// The built-in choices of a method as PETSc options, which may depend on those that the user has made.
OptionList default_options(LinearMethod method, const std::string& prefix, int num_ranks,
                           const OptionList& of_user);

/// What the user's PETSc options say about the solver with `prefix`: those with the prefix, and those on
/// matrix products, which have none. Must be asked for while no defaults are in the database.
OptionList user_options(const std::string& prefix);

/// False if `options` choose something known to give other last bits in every run on `num_ranks` ranks.
bool are_repeatable(const OptionList& options, int num_ranks);

} // namespace recoil::linalg
