#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/study/gradient_job.hpp"
#include "app/study/parameters/parameter_field.hpp"

namespace recoil::app {

/// What run and sweep of an experiment have come to.
struct ExperimentResult {
  ForwardResult forward;
  SweepResult sweep;
};

/// Keeps it in the folder of the experiment, for processes with any number of ranks. Collective.
/// @throws FileError on every rank.
template <int dim>
void write_experiment_result(const parallel::Communicator& comm, const ExperimentFolder& folder,
                             const std::vector<ParameterField<dim>>& fields,
                             const mesh::DistributedMesh<dim>& mesh, const ForwardResult& forward,
                             const SweepResult& sweep);

/// What write_experiment_result() has kept; none where no sweep has been finished, or, with a warning that
/// names the experiment, where its result cannot be read. Collective.
template <int dim>
std::optional<ExperimentResult>
read_experiment_result(const parallel::Communicator& comm, const ExperimentFolder& folder,
                       const std::vector<ParameterField<dim>>& fields, const mesh::DistributedMesh<dim>& mesh,
                       const std::string& experiment);

} // namespace recoil::app
