#include "recoil/app/impact/impact.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/impact/bonded_shape.hpp"
#include "app/impact/impact_folder.hpp"
#include "app/impact/write_fractured.hpp"
#include "recoil/app/breakable/open_shape.hpp"
#include "recoil/app/run/interrupts.hpp"
#include "recoil/app/run/sealed_json.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/progress.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_logged = 100; ///< impacts with a line each in the log

/// Tells what all folders hold; written last.
void write_manifest(const parallel::Communicator& comm, const ImpactFolder& folder, std::size_t count,
                    int dim, bool has_bonds) {
  const std::string text = parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return std::string();
    Json impacts = Json::array();
    std::size_t pieces = 0;
    double worst = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const Json json = read_pieces_file(folder.pieces(k));
      const Json& sums = json.at("sums");
      impacts.push_back({{"folder", folder.fractured(k).filename().string()},
                         {"fragments", json.at("fragments").size()},
                         {"pieces", sums.at("pieces")},
                         {"crc32", json.at("crc32")}});
      pieces += sums.at("pieces").get<std::size_t>();
      worst = std::max(worst, sums.at("relative_difference").get<double>());
    }
    Json manifest{{"version", version()},
                  {"dim", dim},
                  {"pieces", pieces},
                  {"largest_relative_difference", worst},
                  {"impacts", impacts}};
    if (has_bonds) manifest["bonded"] = "bonded";
    log_info(fmt::format("{} impacts, {} pieces; their volumes add up to that of the body within {:.1e}",
                         count, pieces, worst));
    return manifest.dump(1) + "\n";
  });
  write_on_first(comm, folder.manifest(), text);
}

template <int dim>
void write_bonds(const parallel::Communicator& comm, const BreakableShape<dim>& shape,
                 const ImpactsFile& file, const ImpactFolder& folder) {
  if constexpr (dim == 3)
    if (file.bonds)
      parallel::collectively(comm, [&] {
        if (comm.rank() != 0) return;
        fs::create_directories(folder.bonded());
        write_bonded_shape(shape, *file.bonds, folder.bonded());
      });
}

/// Breaks the shape by all impacts, each rank by every so many of them. Returns false once a signal has come.
template <int dim>
bool apply_impacts(const parallel::Communicator& comm, BreakableShape<dim>& shape,
                   const std::vector<PlannedImpact<dim>>& impacts, const ImpactsFile& file,
                   const ImpactFolder& folder, const Interrupts& interrupts) {
  Fracturer<dim> fracturer(shape, file);
  ProgressLine line;
  RemainingTime time(std::ssize(impacts));
  const auto ranks = static_cast<std::size_t>(comm.size());
  for (std::size_t first = 0; first < impacts.size(); first += ranks) {
    if (interrupts.pending()) return false;
    const Stopwatch watch;
    parallel::collectively(comm, [&] {
      const std::size_t k = first + static_cast<std::size_t>(comm.rank());
      if (k < impacts.size() && !folder.is_done(k)) fracturer.write(impacts[k], folder.fractured(k));
    });
    for (std::size_t k = first; k < std::min(first + ranks, impacts.size()); ++k)
      time.step_done(watch.seconds() / double(ranks));
    line.show(time);
  }
  return true;
}

void log_impacts(const parallel::Communicator& comm, const ImpactFolder& folder, std::size_t count) {
  if (comm.rank() != 0 || count > most_logged) return;
  for (std::size_t k = 0; k < count; ++k) {
    const Json json = read_pieces_file(folder.pieces(k));
    log_info(fmt::format("impact {}: {} fragments, {} pieces{}", k, json.at("fragments").size(),
                         json.at("pieces").size(), json.contains("repair") ? ", of a repaired surface" : ""));
  }
}

template <int dim>
ExitCode run(const parallel::Communicator& comm, const ImpactCommand& command, const fs::path& modes,
             ModesFile&& modes_file, const ImpactsFile& file, std::optional<ImpactFolder>& folder,
             const Interrupts& interrupts) {
  // What is wrong with places is told before a folder is made.
  BreakableShape<dim> shape =
      parallel::collectively(comm, [&] { return open_shape<dim>(std::move(modes_file), modes.string()); });
  shape.least_piece = file.least_piece;
  if (file.smoothing_length) shape.smoothing_length = *file.smoothing_length;
  const auto impacts = parallel::collectively(comm, [&] { return plan_impacts<dim>(shape, file); });
  const bool is_new = !folder.has_value();
  if (is_new) folder = ImpactFolder::create(comm, command.output);
  start_log(comm, command.console, folder->log());
  log_info(build_info());
  for (const std::string& note : file.notes) log_debug(note);
  log_info(fmt::format("{}: {} elements in {} pieces of {} modes, {} impacts", modes.string(),
                       shape.mesh.cells.size(), shape.model.num_pieces, shape.model.num_modes,
                       impacts.size()));
  if (shape.solid && !shape.solid->repair.empty())
    log_warning(fmt::format("the surface {}; a repaired one is cut in its place", shape.solid->repair));
  if (is_new) folder->begin(comm, modes, file.resolved);
  try {
    write_bonds<dim>(comm, shape, file, *folder);
  } catch (const InputError&) {
    if (is_new) {
      start_log(comm, command.console);
      folder->discard(comm);
    }
    throw;
  }
  if (!apply_impacts<dim>(comm, shape, impacts, file, *folder, interrupts)) {
    log_warning("interrupted; run again with --restart to continue");
    return ExitCode::interrupted;
  }
  parallel::collectively(comm, [&] { log_impacts(comm, *folder, impacts.size()); });
  write_manifest(comm, *folder, impacts.size(), dim, file.bonds.has_value());
  return ExitCode::done;
}

} // namespace

ExitCode impact(const parallel::Communicator& comm, const ImpactCommand& command) {
  const Interrupts interrupts(comm);
  std::optional<ImpactFolder> folder;
  if (!command.restart.empty()) folder = ImpactFolder::open(comm, command.restart);
  const fs::path modes = folder ? folder->modes() : command.modes;
  const fs::path impacts = folder ? folder->impacts() : command.impacts;
  ModesFile modes_file = parallel::collectively(comm, [&] { return read_modes(modes); });
  const ImpactsFile file =
      parallel::collectively(comm, [&] { return read_impacts(impacts, modes_file.dim); });
  return modes_file.dim == 2 ? run<2>(comm, command, modes, std::move(modes_file), file, folder, interrupts)
                             : run<3>(comm, command, modes, std::move(modes_file), file, folder, interrupts);
}

} // namespace recoil::app
