#pragma once

#include "recoil/app/study/base/study_options.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// Minimises the objective of a study over its parameters, and writes fit.json, fit.h5 where values belong to
/// elements or vertices, posterior.h5 and `posterior-<field>.xdmf` for fields with a correlated prior,
/// history.csv, scenes/ with the fitted values, and evaluations/ with all that has been evaluated. With
/// `restart` it continues from whatever an earlier call has left, on any number of ranks and groups: no
/// evaluation of an experiment that was finished is repeated. Returns ExitCode::no_solution where the start
/// values have no objective or an iterate no gradient; signals and errors as in gradient().
ExitCode optimize(const parallel::Communicator& comm, const StudyOptions& options);

} // namespace recoil::app
