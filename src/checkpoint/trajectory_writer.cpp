#include "recoil/checkpoint/trajectory_writer.hpp"

#include <algorithm>
#include <deque>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "checkpoint/reader_state.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"

namespace recoil::checkpoint {
namespace fs = std::filesystem;

namespace {

constexpr const char* aside = ".part";

FieldEntry entry_of(const Field& field) {
  RECOIL_ASSERT(field.layout && field.components > 0);
  return {field.name, field.components, field.centre, field.restart, field.layout->global_size()};
}

void write_field(io::Hdf5Writer& file, const std::string& group, const Field& field) {
  std::vector<double> block = field.layout->to_blocks<double>(field.owned, field.components);
  const FieldEntry entry = entry_of(field);
  const std::size_t from = entry.components, to = entry.columns();
  if (from != to) {
    std::vector<double> padded(block.size() / from * to, 0.0);
    for (std::size_t row = 0; row * from < block.size(); ++row)
      std::copy_n(block.begin() + row * from, from, padded.begin() + row * to);
    block = std::move(padded);
  }
  file.write_rows<double>(group + "/" + field.name, block, entry.columns());
}

} // namespace

struct TrajectoryWriter::Impl {
  /// A state that the next steps may need. Its fields are held only while no file has them.
  struct Recent {
    GlobalIndex id = 0;
    std::vector<Field> fields;
    std::vector<std::vector<double>> values;
  };

  const parallel::Communicator& comm;
  fs::path folder;
  WriterOptions options;
  Manifest manifest;
  GlobalIndex next_id = 0;
  std::deque<Recent> recent; // newest first
  StateFile current;
  int stored_in_current = 0;
  std::unique_ptr<io::Hdf5Writer> file;
  fs::path part;
  std::unique_ptr<io::XdmfWriter> xdmf; // first rank

  Impl(const parallel::Communicator& communicator, fs::path trajectory, WriterOptions writer_options)
      : comm(communicator), folder(std::move(trajectory)), options(std::move(writer_options)) {
    RECOIL_ASSERT(options.states_per_file > 0 && options.history > 0);
  }
  ~Impl() { drop_part(); }

  void drop_part() {
    file.reset();
    std::error_code ignored;
    if (comm.rank() == 0 && !part.empty()) fs::remove(part, ignored);
    part.clear();
  }

  /// Runs `work` on the first rank.
  template <class Work>
  void on_first(Work&& work) const {
    parallel::collectively(comm, [&] {
      if (comm.rank() == 0) work();
    });
  }

  /// Removes whatever a killed run or an abandoned future left: everything of ours that the manifest does not
  /// name.
  void clean() const {
    std::vector<std::string> known = {manifest.mesh.name, manifest_name, xdmf_name};
    for (const StateFile& entry : manifest.files) known.push_back(entry.name);
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      const bool ours = name.ends_with(aside) || name == mesh_name ||
                        (name.starts_with("states_") && name.ends_with(".h5"));
      if (ours && !holds(known, name)) fs::remove(entry.path(), error);
      if (error) break;
    }
    if (error)
      throw FileError(folder.string() + ": cannot remove what an earlier run left: " + error.message());
  }

  io::Hdf5Writer& open_aside(const std::string& name) {
    if (!file) {
      part = folder / (name + aside);
      file = std::make_unique<io::Hdf5Writer>(comm, part);
    }
    return *file;
  }

  /// Completes the file written aside: on disk, with its digest, under its name.
  void complete(FileEntry& entry, const std::string& name) {
    file->close();
    file.reset();
    entry.name = name;
    entry.digest = io::digest(comm, part);
    on_first([&] { rename_durably(part, folder / name); });
    part.clear();
  }

  void write_manifest() const {
    on_first([&] { write_file_atomically(folder / manifest_name, manifest.to_text()); });
  }

  void write_xdmf() {
    on_first([&] {
      if (xdmf) {
        xdmf->append(xdmf_states(manifest, manifest.files.back()));
        return;
      }
      std::vector<io::XdmfState> states;
      for (const StateFile& entry : manifest.files)
        for (io::XdmfState& state : xdmf_states(manifest, entry)) states.push_back(std::move(state));
      xdmf = std::make_unique<io::XdmfWriter>(folder / xdmf_name, xdmf_mesh(manifest), states);
    });
  }

  void remember(GlobalIndex id, std::span<const Field> fields, bool stored) {
    Recent state{id, {}, {}};
    if (!stored)
      for (const Field& field : fields) {
        if (!field.restart) continue;
        state.values.emplace_back(field.owned.begin(), field.owned.end());
        state.fields.push_back(field);
        state.fields.back().owned = state.values.back();
      }
    recent.push_front(std::move(state));
    if (std::ssize(recent) > options.history) recent.pop_back();
  }

  /// Writes the arrays of a state to the file of the current states.
  void write_arrays(StateEntry& entry, StateEntry::Kept kept, std::span<const Field> fields) {
    entry.kept = kept;
    const std::string group = state_group(entry.record.id, kept);
    io::Hdf5Writer& target = open_aside(state_file_name(manifest.files.size()));
    std::vector<FieldEntry> list;
    for (const Field& field : fields) {
      write_field(target, group, field);
      list.push_back(entry_of(field));
    }
    entry.fields = manifest.field_list(list);
  }

  /// Puts the recent states that no file has into the current one.
  void write_history() {
    for (Recent& state : recent) {
      current.restart.push_back(state.id);
      if (state.fields.empty()) continue;
      const GlobalIndex first = current.states.front().record.id;
      write_arrays(current.states.at(state.id - first), StateEntry::Kept::history, state.fields);
      state.fields.clear();
      state.values.clear();
    }
  }

  void close_file() {
    write_history();
    // Without a file nothing would carry the run on: unstored states need restart fields.
    RECOIL_ASSERT(file != nullptr);
    complete(current, state_file_name(manifest.files.size()));
    manifest.files.push_back(std::exchange(current, {}));
    stored_in_current = 0;
    write_manifest();
    write_xdmf();
  }
};

TrajectoryWriter::TrajectoryWriter(const parallel::Communicator& comm, fs::path folder, WriterOptions options)
    : impl_(std::make_unique<Impl>(comm, std::move(folder), std::move(options))) {
  impl_->manifest.metadata = impl_->options.metadata;
  impl_->on_first([&] {
    std::error_code error;
    fs::create_directories(impl_->folder, error);
    if (error) throw FileError(impl_->folder.string() + ": cannot make the folder: " + error.message());
    if (fs::exists(impl_->folder / manifest_name, error))
      throw InputError(impl_->folder.string(),
                       "the folder already holds a trajectory; continue it with --restart or "
                       "choose a new folder");
    impl_->clean();
  });
}

TrajectoryWriter::TrajectoryWriter(const parallel::Communicator& comm, const TrajectoryReader& trajectory,
                                   const RestartPoint& point, WriterOptions options)
    : impl_(std::make_unique<Impl>(comm, trajectory.impl_->folder, std::move(options))) {
  RECOIL_ASSERT(!point.states.empty());
  Manifest& manifest = impl_->manifest;
  manifest = trajectory.impl_->manifest;
  const std::size_t found = manifest.files.size();
  while (!manifest.files.empty() && manifest.files.back().restart != point.states) manifest.files.pop_back();
  RECOIL_ASSERT(!manifest.files.empty());
  impl_->next_id = point.states.front() + 1;
  for (const GlobalIndex id : point.states) impl_->recent.push_back({id, {}, {}});
  if (manifest.files.size() < found) impl_->write_manifest();
  impl_->on_first([&] { impl_->clean(); });
  impl_->write_xdmf();
}

TrajectoryWriter::~TrajectoryWriter() = default;
TrajectoryWriter::TrajectoryWriter(TrajectoryWriter&&) noexcept = default;
TrajectoryWriter& TrajectoryWriter::operator=(TrajectoryWriter&&) noexcept = default;

void TrajectoryWriter::write_mesh(const DrawnMesh& mesh, std::span<const StaticArray> arrays) {
  RECOIL_ASSERT(impl_->manifest.mesh.name.empty() && impl_->next_id == 0);
  MeshFile entry = write_mesh_arrays(impl_->open_aside(mesh_name), mesh, arrays);
  impl_->complete(entry, mesh_name);
  impl_->manifest.mesh = std::move(entry);
}

void TrajectoryWriter::append(const stepping::StepRecord& record, std::span<const Field> fields, bool stored,
                              const std::string& extra) {
  RECOIL_ASSERT(!impl_->manifest.mesh.name.empty() && record.id == impl_->next_id);
  RECOIL_ASSERT(nlohmann::json::accept(extra));
  StateEntry entry{record, extra, StateEntry::Kept::no, -1};
  if (stored) {
    impl_->write_arrays(entry, StateEntry::Kept::stored, fields);
    ++impl_->stored_in_current;
  }
  impl_->current.states.push_back(std::move(entry));
  impl_->remember(record.id, fields, stored);
  ++impl_->next_id;
  // Inside of a step that was taken in parts no run can be continued.
  if (impl_->stored_in_current >= impl_->options.states_per_file && record.completes_nominal)
    impl_->close_file();
}

void TrajectoryWriter::flush() {
  if (!impl_->current.states.empty()) impl_->close_file();
}

std::uint64_t TrajectoryWriter::bytes_written() const {
  std::uint64_t bytes = impl_->manifest.mesh.digest.bytes;
  for (const StateFile& file : impl_->manifest.files) bytes += file.digest.bytes;
  return bytes;
}

} // namespace recoil::checkpoint
