#include "recoil/app/fracture/fracture.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/fracture/fracture_folder.hpp"
#include "app/fracture/fracture_jobs.hpp"
#include "app/fracture/search_modes.hpp"
#include "app/fracture/shape_body.hpp"
#include "app/fracture/write_modes.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/memory.hpp"
#include "recoil/base/progress.hpp"
#include "recoil/base/version.hpp"
#include "recoil/solvers/fracture_modes/vertex_matrices.hpp"

namespace recoil::app {

namespace {

namespace fm = solvers::fracture_modes;

template <int dim>
Json summary_of(const FractureJob& job, const FoundModes<dim>& found, const FractureTimes& times,
                const io::FileDigest& digest) {
  const fm::ImpactModel& model = found.pieces.model;
  Json energies = Json::array(), gaps = Json::array();
  for (const fm::FractureMode& mode : found.modes.amplitudes.modes) {
    energies.push_back(mode.energy);
    gaps.push_back(mode.gap);
  }
  return {{"version", version()},
          {"dim", dim},
          {"elements", found.mesh.num_cells_global},
          {"vertices", found.mesh.num_vertices_global},
          {"components", found.modes.amplitudes.constants.size()},
          {"type", !found.modes.corners.empty()   ? "full"
                   : !found.modes.motions.empty() ? "vector"
                                                  : "scalar"},
          {"omega", found.modes.omega},
          {"omega_star", found.modes.omega_star},
          {"modes", found.modes.amplitudes.modes.size()},
          {"energies", energies},
          {"gaps", gaps},
          {"pieces", model.num_pieces},
          {"volumes", model.volumes},
          {"blur_length", found.blur_length},
          {"smoothing_length", found.smoothing_length},
          {"has_surface", job.shape.cage.has_value()},
          {"repair_elements", found.repair_elements},
          {"seconds",
           {{"starts", times.starts},
            {"search", times.search},
            {"impacts", times.impacts},
            {"all", job.watch.seconds()}}},
          {"memory_mb", job.comm.all_gather(peak_memory_mb())},
          {"modes.h5", to_json(digest)}};
}

void log_result(const Json& summary, int wanted) {
  const std::vector<double> memory = summary.at("memory_mb");
  log_info(fmt::format("{} modes, {} pieces; {} in all, at most {:.0f} MB per rank",
                       summary.at("modes").get<int>(), summary.at("pieces").get<int>(),
                       format_duration(summary.at("seconds").at("all").get<double>()),
                       *std::ranges::max_element(memory)));
  if (summary.at("modes") < wanted)
    log_warning(fmt::format("{} modes were asked for: the elements and the faces between them that may break "
                            "allow no more, or the search met none",
                            wanted));
}

template <int dim>
void break_body(const FractureJob& job) {
  const auto mesh = mesh::distribute<dim>(job.comm, job.body.mesh);
  const fm::ElementGraph graph = fm::explode<dim>(mesh, material_of<dim>(job.shape, mesh));
  const fm::VertexMatrices<dim> matrices(mesh);
  log_info(fmt::format("{} {}, {} vertices", mesh.num_cells_global, dim == 2 ? "triangles" : "tetrahedra",
                       mesh.num_vertices_global));
  job.interrupts.stop_if_pending();
  const io::BlockLayout elements(job.comm, std::span(mesh.cell_ids).first(mesh.num_owned_cells));
  SearchFiles files(job.comm, job.paths, elements);
  FractureTimes times;
  const SearchedModes modes = search_modes(job, mesh, graph, matrices, files, times);
  const Stopwatch watch;
  const double blur = job.shape.blur_length.value_or((mesh.max_corner - mesh.min_corner).norm() / 10);
  const fm::ImpactPieces pieces = fm::prepare_impacts(matrices, graph, modes.amplitudes,
                                                      {.blur_length = blur,
                                                       .piece_threshold = job.shape.piece_threshold,
                                                       .least_piece = job.shape.smallest_piece});
  times.impacts = watch.seconds();
  const FoundModes<dim> found{mesh,     graph,
                              modes,    pieces,
                              job.body, job.shape.cage.value_or(CageSpec()).repair_elements,
                              blur,     job.shape.smoothing_length.value_or(mean_edge_length(mesh))};
  const io::FileDigest digest = write_modes(job.paths, found);
  const Json summary = summary_of(job, found, times, digest);
  write_sealed_json(job.comm, job.paths.summary(), summary);
  files.discard();
  log_result(summary, job.shape.modes.count);
}

/// Whether an earlier job has come to the end. @throws FileError on every rank where its files are damaged.
bool is_done(const parallel::Communicator& comm, const FracturePaths& paths) {
  const SealedJson summary = read_sealed_json(comm, paths.summary());
  if (!summary.exists) return false;
  const auto refuse = [&](const std::filesystem::path& file, const std::string& damage) {
    throw FileError(file.string() + ": the file " + damage +
                    "; put a sound copy of it in its place, or remove " + paths.summary().string() +
                    " and run again with --restart");
  };
  if (!summary.content) refuse(paths.summary(), "is damaged: its checksum is another one");
  if (const std::string damage = damage_of(comm, paths.modes(), summary.content->at("modes.h5"));
      !damage.empty())
    refuse(paths.modes(), damage);
  return true;
}

ExitCode run_fracture(const parallel::Communicator& comm, const ConsoleOptions& console,
                      const ShapeFile& file, const ShapeBody& body, const FracturePaths& paths,
                      const Interrupts& interrupts) {
  start_log(comm, console, paths.log());
  log_info(build_info());
  for (const auto* warnings : {&file.shape.geometry.warnings, &body.warnings})
    for (const std::string& warning : *warnings) log_warning(warning);
  for (const std::string& note : body.notes) log_info(note);
  for (const std::string& note : file.notes) log_debug(note);
  const FractureJob job{comm, file.shape, body, paths, interrupts, {}};
  try {
    interrupts.stop_if_pending();
    (body.dim == 2 ? break_body<2> : break_body<3>)(job);
  } catch (const Error& error) {
    if (error.code() != ExitCode::interrupted) throw;
    log_warning(error.what());
    return error.code();
  }
  return ExitCode::done;
}

} // namespace

ExitCode begin_fracture(const parallel::Communicator& comm, const ShapeFile& file,
                        const std::filesystem::path& output, const ConsoleOptions& console,
                        const Interrupts& interrupts) {
  // A shape that cannot be read must not leave a folder behind.
  const ShapeBody body = load_body(comm, file.shape);
  FractureFolder folder = FractureFolder::create(comm, output);
  folder.begin(comm, file.resolved, input_files(file.shape));
  try {
    return run_fracture(comm, console, file, body, folder, interrupts);
  } catch (const InputError&) {
    // A corrected shape is to find an empty folder; the log file in it is closed first.
    start_log(comm, console);
    folder.discard(comm);
    throw;
  }
}

ExitCode continue_fracture(const parallel::Communicator& comm, const std::filesystem::path& root,
                           const ConsoleOptions& console, const Interrupts& interrupts) {
  const FractureFolder folder = FractureFolder::open(comm, root);
  folder.require_inputs(comm);
  if (is_done(comm, folder)) {
    start_log(comm, console, folder.log());
    log_info("all modes have been found; nothing is left to do");
    return ExitCode::done;
  }
  const ShapeFile file = load_shape(comm, folder.shape());
  return run_fracture(comm, console, file, load_body(comm, file.shape), folder, interrupts);
}

ExitCode fracture(const parallel::Communicator& comm, const FractureOptions& options) {
  const Interrupts interrupts(comm);
  if (!options.pieces.empty())
    return begin_pieces(comm, load_shape(comm, options.shape).resolved, options.pieces, options.output,
                        options.console, interrupts);
  if (options.restart.empty())
    return begin_fracture(comm, load_shape(comm, options.shape), options.output, options.console, interrupts);
  if (are_pieces(comm, options.restart))
    return continue_pieces(comm, options.restart, options.console, interrupts);
  return continue_fracture(comm, options.restart, options.console, interrupts);
}

} // namespace recoil::app
