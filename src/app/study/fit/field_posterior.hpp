#pragma once

#include <filesystem>
#include <span>

#include "recoil/app/study/evaluation/study_objective.hpp"

namespace recoil::app {

/// What data and prior together say of fields at the end x of a fit with the objective `squares`, by
/// inverse::laplace_posterior(): writes into the folder `root` posterior.h5 with a mesh and the arrays
/// `estimate`, `prior_mean`, `prior_sd` and `posterior_sd` for every field with a correlated prior, and
/// posterior-<field>.xdmf for ParaView; gives the member `posterior` of fit.json. Deviations are those of
/// what the optimiser sees, where the scale is log of ln q. Collective. @throws InputError where the
/// objective is no chi^2 or some variable has no prior; FileError; Error after a signal.
Json write_field_posterior(const parallel::Communicator& world, const Study& study, StudyObjective& objective,
                           std::span<const double> x, double squares, const std::filesystem::path& root);

} // namespace recoil::app
