#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "recoil/checkpoint/state.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::checkpoint {

struct WriterOptions {
  /// Stored states per file (`output/chunk`); a file ends with a nominal step, so it may have a few more.
  int states_per_file = 16;
  /// States that the next step may need, the newest included (m for BDFm).
  int history = 1;
  /// JSON text (an object) kept with the trajectory: solver, scheme, versions.
  std::string metadata = "{}";
};

/// Writes a trajectory: mesh.h5 once, then one file per `states_per_file` stored states, manifest.json and
/// trajectory.xdmf. A file is written aside state by state, synced, checked and renamed; then the manifest
/// that names it is renamed into place. Whenever the process dies, the manifest on disk describes complete
/// files, the last of which ends with a restart point. All members are collective and throw the same
/// FileError on all ranks; after an error only destruction is allowed. Typical use: write_mesh,
/// append(initial state), flush, then append after each accepted step, flush at the end.
class TrajectoryWriter {
public:
  /// A new trajectory in `folder`, which is made. `comm` must outlive the writer.
  TrajectoryWriter(const parallel::Communicator& comm, std::filesystem::path folder, WriterOptions options);
  /// Continues `trajectory` after `point`: removes leftovers of a killed run and whatever was computed after
  /// `point`. `options.metadata` is ignored.
  TrajectoryWriter(const parallel::Communicator& comm, const TrajectoryReader& trajectory,
                   const RestartPoint& point, WriterOptions options);
  /// Drops states since the last closed file. Not collective.
  ~TrajectoryWriter();
  TrajectoryWriter(TrajectoryWriter&&) noexcept;
  TrajectoryWriter& operator=(TrajectoryWriter&&) noexcept;

  /// Writes what does not change in time. Once, before the first state; not after a restart.
  void write_mesh(const DrawnMesh& mesh, std::span<const StaticArray> arrays = {});
  /// Takes the next accepted state (ids without gaps). Its arrays go to the file if `stored`; else a copy of
  /// its restart fields is kept in memory while a restart could need it. Closes the file when it is full.
  /// `extra`: what else the solver wants back, as JSON text (an object).
  void append(const stepping::StepRecord& record, std::span<const Field> fields, bool stored = true,
              const std::string& extra = "{}");
  /// Closes the current file now, so that the run can be continued from the last appended state. No effect if
  /// nothing was appended since the last file.
  void flush();
  /// Bytes written so far to closed files.
  std::uint64_t bytes_written() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace recoil::checkpoint
