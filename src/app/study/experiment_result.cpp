#include "app/study/experiment_result.hpp"

#include <fmt/format.h>

#include "app/study/file_order.hpp"
#include "app/study/sweep_files.hpp"
#include "recoil/base/log.hpp"

namespace recoil::app {

namespace {

std::string array_of(std::size_t field) { return fmt::format("gradient/{}", field); }

} // namespace

template <int dim>
void write_experiment_result(const parallel::Communicator& comm, const ExperimentFolder& folder,
                             const std::vector<ParameterField<dim>>& fields,
                             const mesh::DistributedMesh<dim>& mesh, const ForwardResult& forward,
                             const SweepResult& sweep) {
  const nlohmann::ordered_json about{{"status", "done"},
                                     {"objective", forward.objective},
                                     {"terms", forward.terms},
                                     {"newton_iterations", forward.newton_iterations},
                                     {"forward_seconds", forward.seconds},
                                     {"linear_iterations", sweep.linear_iterations},
                                     {"largest_relative_residual", sweep.largest_relative_residual},
                                     {"objective_correction", sweep.objective_correction},
                                     {"seconds", sweep.seconds}};
  write_sweep_file(comm, folder, "sweep_done.h5", about, [&](io::Hdf5Writer& file) {
    for (std::size_t k = 0; k < fields.size(); ++k)
      write_in_file_order(file, array_of(k), fields[k], mesh, sweep.values[k]);
  });
}

template <int dim>
std::optional<ExperimentResult>
read_experiment_result(const parallel::Communicator& comm, const ExperimentFolder& folder,
                       const std::vector<ParameterField<dim>>& fields, const mesh::DistributedMesh<dim>& mesh,
                       const std::string& experiment) {
  std::string why; // for the message when the sweep starts again from the end
  const std::optional<SweepFile> found = read_sweep_file(comm, folder, why);
  if (!found) return {};
  try {
    const nlohmann::ordered_json& about = found->about;
    if (about.at("status") != "done") return {};
    ExperimentResult result;
    ForwardResult& forward = result.forward;
    about.at("objective").get_to(forward.objective);
    about.at("terms").get_to(forward.terms);
    about.at("newton_iterations").get_to(forward.newton_iterations);
    about.at("forward_seconds").get_to(forward.seconds);
    forward.is_swept = true;
    SweepResult& sweep = result.sweep;
    about.at("linear_iterations").get_to(sweep.linear_iterations);
    about.at("largest_relative_residual").get_to(sweep.largest_relative_residual);
    about.at("objective_correction").get_to(sweep.objective_correction);
    about.at("seconds").get_to(sweep.seconds);
    const auto file =
        parallel::collectively(comm, [&] { return std::make_shared<const io::Hdf5Reader>(found->arrays); });
    for (std::size_t k = 0; k < fields.size(); ++k)
      sweep.values.push_back(read_in_file_order(*file, array_of(k), fields[k], mesh));
    return result;
  } catch (const nlohmann::json::exception& wrong) {
    log_warning(fmt::format("{}: the sweep is repeated: {}", experiment, wrong.what()));
  } catch (const FileError& unreadable) {
    log_warning(fmt::format("{}: the sweep is repeated: {}", experiment, unreadable.what()));
  }
  return {};
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template void write_experiment_result(                                                                     \
      const parallel::Communicator&, const ExperimentFolder&, const std::vector<ParameterField<dim>>&,       \
      const mesh::DistributedMesh<dim>&, const ForwardResult&, const SweepResult&);                          \
  template std::optional<ExperimentResult> read_experiment_result(                                           \
      const parallel::Communicator&, const ExperimentFolder&, const std::vector<ParameterField<dim>>&,       \
      const mesh::DistributedMesh<dim>&, const std::string&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app
