#include "app/fracture/search_modes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/progress.hpp"
#include "recoil/linalg/dense.hpp"
#include "recoil/solvers/fracture_modes/full_modes.hpp"

namespace recoil::app {

namespace {

namespace fm = solvers::fracture_modes;

/// Follows a search: tells of modes, shows what is left, saves its state from time to time and when a signal
/// has come.
class SearchWatch {
public:
  /// `kind`: of modes, for messages.
  SearchWatch(const FractureJob& job, SearchFiles& files, std::string kind)
      : job_(job), files_(files), kind_(std::move(kind)) {}

  /// The observer of find_modes() and find_vector_modes(). Collective. @throws Error of ExitCode::interrupted
  /// on every rank.
  void operator()(const fm::SearchProgress& progress) {
    tell(progress);
    const bool ends = job_.interrupts.pending();
    if (ends || job_.comm.any(is_due())) {
      const Stopwatch saving;
      files_.write_state(progress.state());
      last_save_ = saving.seconds();
      since_save_ = {};
    }
    if (ends)
      throw Error(ExitCode::interrupted, "interrupted with " + std::to_string(progress.modes) + " of " +
                                             std::to_string(job_.shape.modes.count) + " " + kind_ +
                                             "s; run again with --restart to continue");
  }

private:
  /// A large state is not written so often that this takes much of the time.
  bool is_due() const {
    const double interval = job_.shape.save_interval;
    return interval == 0 || since_save_.seconds() >= std::max(interval, 20 * last_save_);
  }

  void tell(const fm::SearchProgress& progress) {
    if (known_ < 0) known_ = start_modes_ = progress.modes;
    // A mode may come before earlier ones, or in their place.
    if (progress.modes != known_ && progress.modes > 0)
      log_info(fmt::format("{} of {} {}s: energies {:.8g} to {:.8g}", progress.modes, job_.shape.modes.count,
                           kind_, progress.energies.front(), progress.energies.back()));
    known_ = progress.modes;
    const double all = job_.shape.modes.count, done = progress.modes + progress.part_of_next;
    const double here = done - start_modes_;
    line_.show(fmt::format("{} {} of {}, {} left", kind_,
                           std::min(progress.modes + 1, job_.shape.modes.count), job_.shape.modes.count,
                           format_duration(here > 0 ? since_.seconds() / here * (all - done) : -1)));
  }

  const FractureJob& job_;
  SearchFiles& files_;
  std::string kind_;
  ProgressLine line_;
  Stopwatch since_, since_save_;
  double last_save_ = 0; ///< [s]
  int known_ = -1, start_modes_ = 0;
};

const char* kind_of(const Shape& shape) {
  return shape.type == ModeType::vector ? "vector mode" : shape.type == ModeType::full ? "full mode" : "mode";
}

/// Starts and state of an earlier job, or new starts.
template <int dim>
SearchStarts starts_of(const FractureJob& job, const fm::VertexMatrices<dim>& matrices, SearchFiles& files,
                       std::optional<fm::SearchState>& state, FractureTimes& times) {
  if (files.exists()) {
    SearchStarts starts = files.read(state);
    log_info(fmt::format("continues with {} of {} {} found", state ? state->modes.size() : 0,
                         job.shape.modes.count,
                         starts.scalar_modes ? std::string(kind_of(job.shape)) + "s" : "modes"));
    return starts;
  }
  const Stopwatch watch;
  // One eigenvector is constant, and one more may be as good as the last.
  SearchStarts starts{fm::start_fields(matrices, job.shape.modes.count + 2), {}, {}};
  times.starts = watch.seconds();
  files.write_eigenvectors(starts.eigenvectors);
  log_info(fmt::format("{} eigenvectors to start from, {}", starts.eigenvectors.size(),
                       format_duration(times.starts)));
  return starts;
}

/// Modes with given owned entries, with their energies.
fm::FractureModes modes_with(const fm::ElementGraph& graph, const ElementFields& fields) {
  fm::FractureModes modes = fm::find_modes(graph, {}, {.count = 0});
  for (const auto& field : fields) {
    linalg::Vector values(graph.layout, field);
    const double energy = fm::discontinuity_energy(graph, values.local());
    modes.modes.push_back({std::move(values), energy});
  }
  return modes;
}

ElementFields owned_fields(const fm::FractureModes& modes) {
  ElementFields fields;
  for (const fm::FractureMode& mode : modes.modes)
    fields.emplace_back(mode.field.owned().begin(), mode.field.owned().end());
  return fields;
}

fm::VectorModeOptions vector_options(const fm::ModeOptions& options) {
  return {.count = options.count,
          .cut_starts = options.cut_starts,
          .eigenvector_starts = options.eigenvector_starts,
          .random_starts = options.random_starts,
          .seed = options.seed,
          .replicated_elements = options.replicated_elements};
}

/// Component of a field of vectors along a direction, on all local elements.
template <int dim>
linalg::Vector component(const fm::ElementGraph& graph, const linalg::Vector& motion,
                         const Eigen::Matrix<double, dim, 1>& direction) {
  linalg::Vector result(graph.layout);
  const auto values = result.write_local();
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = direction.dot(
        Eigen::Map<const Eigen::Matrix<double, dim, 1>>(motion.local().data() + e * std::size_t(dim)));
  return result;
}

template <int dim>
Eigen::Matrix<double, dim, 1> principal_direction(const fm::ElementGraph& graph,
                                                  const linalg::Vector& motion) {
  std::vector<double> sums(dim * dim, 0.0);
  Eigen::Map<Eigen::Matrix<double, dim, dim>> moment(sums.data());
  for (LocalIndex e = 0; e < graph.layout->num_owned; ++e) {
    const Eigen::Map<const Eigen::Matrix<double, dim, 1>> u(motion.local().data() + std::size_t(e) * dim);
    moment += graph.masses[e] * u * u.transpose();
  }
  graph.comm().sum(sums);
  return linalg::symmetric_eigen(moment).vectors.col(dim - 1);
}

/// Strained motions of the body that does not break, beyond those without strain.
template <int dim>
void find_strains(const FractureJob& job, const mesh::DistributedMesh<dim>& mesh,
                  const fm::ElementGraph& graph, std::size_t components, SearchStarts& starts) {
  const bool rotates = job.shape.strain == fm::StrainEnergy::elastic;
  const std::size_t without_strain = components * std::size_t(rotates ? dim * (dim + 1) / 2 : dim);
  fm::StrainModes strains =
      fm::strain_modes<dim>(mesh, graph, strain_material_of(job.shape, mesh),
                            static_cast<int>(without_strain) + job.shape.modes.count + 1);
  if (strains.values.size() <= without_strain)
    throw InputError(
        "/modes/type: the shape has too few elements for full modes; refine it or take \"scalar\"");
  starts.strain_eigenvalue = strains.values[without_strain];
  starts.strains = std::move(strains.fields);
}

/// @pre the starts are complete.
template <int dim>
void search_full(const FractureJob& job, const mesh::DistributedMesh<dim>& mesh,
                 const fm::ElementGraph& graph, const SearchStarts& starts, SearchFiles& files,
                 const fm::SearchState* from, SearchedModes& found) {
  if (found.amplitudes.modes.empty())
    throw InputError("/modes/type: the shape has no fault to compare strain with; nothing of it may break");
  fm::StrainMaterial material = strain_material_of(job.shape, mesh);
  found.omega_star = starts.strain_eigenvalue / (2 * found.amplitudes.modes.front().energy);
  found.omega = material.omega = job.shape.relative_omega * found.omega_star;
  log_info(
      fmt::format("omega {:.6g}, at {:.6g} strain and faults cost the same", found.omega, found.omega_star));
  ElementFields cuts = starts.eigenvectors;
  cuts.insert(cuts.end(), starts.scalar_modes->begin(), starts.scalar_modes->end());
  SearchWatch observer(job, files, kind_of(job.shape));
  fm::FullModes modes =
      fm::find_full_modes<dim>(mesh, graph, jump_tensors_of(job.shape, mesh), material, starts.strains, cuts,
                               vector_options(job.shape.modes), std::ref(observer), from);
  found.amplitudes = single_amplitudes<dim>(graph, motions_of_pieces(mesh, graph, modes),
                                            std::move(found.amplitudes.constants));
  found.motions = mean_motions<dim>(graph, modes);
  for (fm::FullMode& mode : modes.modes) {
    found.strain_energies.push_back(mode.strain_energy);
    found.corners.push_back(std::move(mode.field));
  }
}

template <int dim>
void search_vectors(const FractureJob& job, const mesh::DistributedMesh<dim>& mesh,
                    const fm::ElementGraph& graph, const SearchStarts& starts, SearchFiles& files,
                    const fm::SearchState* from, SearchedModes& found) {
  SearchWatch observer(job, files, kind_of(job.shape));
  fm::VectorModes modes =
      fm::find_vector_modes<dim>(graph, jump_tensors_of(job.shape, mesh), starts.eigenvectors,
                                 found.amplitudes, vector_options(job.shape.modes), std::ref(observer), from);
  found.amplitudes = single_amplitudes<dim>(graph, modes, std::move(found.amplitudes.constants));
  for (fm::VectorMode& mode : modes.modes) found.motions.push_back(std::move(mode.field));
}

} // namespace

template <int dim>
fm::FractureModes single_amplitudes(const fm::ElementGraph& graph, const fm::VectorModes& modes,
                                    std::vector<linalg::Vector> constants) {
  constexpr double tilt = 0.01, least = 1e-3;
  const Eigen::Matrix<double, dim, 1> generic = Eigen::Vector3d(0.8, 0.5, 0.3).head<dim>().normalized();
  fm::FractureModes result{std::move(constants), {}};
  for (const fm::VectorMode& mode : modes.modes) {
    const Eigen::Matrix<double, dim, 1> principal = principal_direction<dim>(graph, mode.field);
    linalg::Vector field = component<dim>(graph, mode.field, (principal + tilt * generic).normalized());
    for (int sweep = 0; sweep < 2; ++sweep)
      for (const fm::FractureMode& before : result.modes)
        field.add(-fm::mass_product(graph, field.local(), before.field.local()), before.field);
    const double norm = std::sqrt(fm::mass_product(graph, field.local(), field.local()));
    if (norm > least)
      field.scale(1 / norm);
    else
      field.fill(0);
    result.modes.push_back({std::move(field), mode.energy, mode.gap, mode.iterations, mode.start});
  }
  return result;
}

template <int dim>
SearchedModes search_modes(const FractureJob& job, const mesh::DistributedMesh<dim>& mesh,
                           const fm::ElementGraph& graph, const fm::VertexMatrices<dim>& matrices,
                           SearchFiles& files, FractureTimes& times) {
  std::optional<fm::SearchState> state;
  SearchStarts starts = starts_of(job, matrices, files, state, times);
  job.interrupts.stop_if_pending();
  const Stopwatch watch;
  const bool is_scalar = job.shape.type == ModeType::scalar;
  const auto from = [&state] { return state ? &*state : nullptr; };
  SearchedModes found;
  if (starts.scalar_modes) {
    found.amplitudes = modes_with(graph, *starts.scalar_modes);
  } else {
    SearchWatch observer(job, files, is_scalar ? "mode" : "scalar mode");
    found.amplitudes =
        fm::find_modes(graph, starts.eigenvectors, job.shape.modes, std::ref(observer), from());
    if (!is_scalar) {
      starts.scalar_modes = owned_fields(found.amplitudes);
      if (job.shape.type == ModeType::full)
        find_strains(job, mesh, graph, found.amplitudes.constants.size(), starts);
      files.write_second(starts);
    }
    state.reset();
  }
  if (job.shape.type == ModeType::vector) search_vectors(job, mesh, graph, starts, files, from(), found);
  if (job.shape.type == ModeType::full) search_full(job, mesh, graph, starts, files, from(), found);
  times.search = watch.seconds();
  return found;
}

template SearchedModes search_modes(const FractureJob&, const mesh::DistributedMesh<2>&,
                                    const fm::ElementGraph&, const fm::VertexMatrices<2>&, SearchFiles&,
                                    FractureTimes&);
template SearchedModes search_modes(const FractureJob&, const mesh::DistributedMesh<3>&,
                                    const fm::ElementGraph&, const fm::VertexMatrices<3>&, SearchFiles&,
                                    FractureTimes&);

} // namespace recoil::app
