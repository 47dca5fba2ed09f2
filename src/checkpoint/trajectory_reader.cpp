#include "recoil/checkpoint/trajectory_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

#include "checkpoint/reader_state.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::checkpoint {
namespace fs = std::filesystem;

namespace {

std::string describe(const stepping::StepRecord& record) {
  char time[40];
  std::snprintf(time, sizeof time, "time %g", record.time);
  return record.completes_nominal ? "step " + std::to_string(record.nominal_step) + ", " + time : time;
}

[[noreturn]] void refuse_rows(const fs::path& path, const std::string& array, GlobalIndex found,
                              GlobalIndex wanted) {
  throw FileError(path.string() + ": the array '" + array + "' has " + std::to_string(found) +
                  " rows, but the mesh at hand has " + std::to_string(wanted) +
                  "; the trajectory belongs to another mesh or order of elements");
}

/// Reads and checks the manifest of `folder`; one rank reads, all get it. @throws FileError. Collective.
Manifest read_manifest(const parallel::Communicator& comm, const fs::path& folder) {
  const fs::path path = folder / manifest_name;
  std::string text = parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return std::string();
    std::error_code error;
    if (fs::status(path, error).type() == fs::file_type::not_found)
      throw FileError(path.string() +
                      ": the trajectory has no manifest; the run ended before its initial state was "
                      "complete");
    return read_file(path);
  });
  comm.broadcast(text);
  return parallel::collectively(comm, [&] { return Manifest::parse(text, path); });
}

/// What is wrong with a file of a trajectory.
struct Damage {
  enum class Kind { none, missing, unreadable, changed };
  Kind kind = Kind::none;
  /// To be put behind "the file ": "is missing", why it cannot be read, or how it differs from the manifest.
  std::string text;
  bool none() const { return kind == Kind::none; }
};

/// Looks at the whole file. Collective.
Damage damage_of(const parallel::Communicator& comm, const fs::path& folder, const FileEntry& file) {
  const fs::path path = folder / file.name;
  std::error_code error;
  // The first rank's look decides, as the others may see an older state of the folder.
  const bool missing =
      comm.any(comm.rank() == 0 && fs::status(path, error).type() == fs::file_type::not_found);
  if (missing) return {Damage::Kind::missing, "is missing"};
  try {
    const io::FileDigest found = io::digest(comm, path);
    if (found.bytes != file.digest.bytes)
      return {Damage::Kind::changed, "is damaged: it has " + std::to_string(found.bytes) +
                                         " bytes instead of " + std::to_string(file.digest.bytes)};
    if (found.crc32 != file.digest.crc32)
      return {Damage::Kind::changed, "is damaged: its CRC-32 is not that of the manifest"};
    return {};
  } catch (const FileError& unreadable) {
    return {Damage::Kind::unreadable, std::string("cannot be read: ") + unreadable.what()};
  }
}

/// What to do about `damage`, as the end of a message. A file that could not be read may be sound.
std::string remedy(const Damage& damage) {
  return damage.kind == Damage::Kind::unreadable
             ? ". Check that every rank can read it, then run again"
             : ". Put a sound copy in its place, or start the run again in a new folder";
}

/// Files, by number, that a restart after file `number` needs besides mesh.h5.
std::vector<std::size_t> files_for_restart(const Manifest& manifest, const StateIndex& index,
                                           std::size_t number) {
  std::vector<std::size_t> files = {number};
  for (const GlobalIndex id : manifest.files[number].restart)
    files.push_back(index.location(id).value().file);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

} // namespace

const FieldEntry& TrajectoryReader::Impl::field(GlobalIndex id, const std::string& name) const {
  const auto& location = index.location(id);
  RECOIL_ASSERT(location.has_value());
  const auto& list = manifest.field_lists[location->fields];
  const auto found = std::ranges::find(list, name, &FieldEntry::name);
  if (found == list.end())
    throw FileError((folder / manifest.files[location->file].name).string() + ": state " +
                    std::to_string(id) + " has no field '" + name + "'");
  return *found;
}

void TrajectoryReader::Impl::check(const FileEntry& file) {
  if (checked.contains(file.name)) return;
  const Damage damage = damage_of(comm, folder, file);
  if (!damage.none())
    throw FileError((folder / file.name).string() + ": the file " + damage.text + remedy(damage));
  checked.insert(file.name);
}

const io::Hdf5Reader& TrajectoryReader::Impl::open(const FileEntry& file) {
  check(file);
  if (open_name != file.name) {
    open_file =
        parallel::collectively(comm, [&] { return std::make_unique<io::Hdf5Reader>(folder / file.name); });
    open_name = file.name;
  }
  return *open_file;
}

TrajectoryReader::TrajectoryReader(const parallel::Communicator& comm, fs::path folder) {
  Manifest manifest = read_manifest(comm, folder);
  StateIndex index(manifest);
  impl_ = std::make_unique<Impl>(
      Impl{comm, std::move(folder), std::move(manifest), std::move(index), {}, {}, {}});
}

TrajectoryReader::~TrajectoryReader() = default;
TrajectoryReader::TrajectoryReader(TrajectoryReader&&) noexcept = default;
TrajectoryReader& TrajectoryReader::operator=(TrajectoryReader&&) noexcept = default;

bool TrajectoryReader::exists(const parallel::Communicator& comm, const fs::path& folder) {
  const fs::path path = folder / manifest_name;
  return comm.any(parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return false;
    std::error_code error;
    const fs::file_type type = fs::status(path, error).type();
    if (type == fs::file_type::none)
      throw FileError(path.string() + ": cannot look for the manifest of the trajectory: " + error.message());
    return type != fs::file_type::not_found;
  }));
}

const std::string& TrajectoryReader::metadata() const { return impl_->manifest.metadata; }

const std::vector<stepping::StepRecord>& TrajectoryReader::records() const { return impl_->index.records(); }

const std::string& TrajectoryReader::extra(GlobalIndex id) const { return impl_->index.extra(id); }

bool TrajectoryReader::is_stored(GlobalIndex id) const {
  const auto& location = impl_->index.location(id);
  return location && location->kept == StateEntry::Kept::stored;
}

bool TrajectoryReader::has_arrays(GlobalIndex id) const { return impl_->index.location(id).has_value(); }

std::vector<std::string> TrajectoryReader::fields(GlobalIndex id) const {
  const auto& location = impl_->index.location(id);
  return location ? names_of(impl_->manifest.field_lists[location->fields]) : std::vector<std::string>();
}

io::ArrayShape TrajectoryReader::shape(GlobalIndex id, const std::string& field) const {
  const FieldEntry& entry = impl_->field(id, field);
  return {entry.rows, entry.components};
}

std::vector<double> TrajectoryReader::read(GlobalIndex id, const std::string& field,
                                           const io::BlockLayout& layout) {
  const FieldEntry& entry = impl_->field(id, field);
  const auto& location = impl_->index.location(id);
  const StateFile& file = impl_->manifest.files[location->file];
  const fs::path path = impl_->folder / file.name;
  if (entry.rows != layout.global_size()) refuse_rows(path, field, entry.rows, layout.global_size());

  const io::Hdf5Reader& reader = impl_->open(file);
  const std::size_t columns = entry.columns(), components = entry.components;
  std::vector<double> block = parallel::collectively(impl_->comm, [&] {
    auto rows =
        reader.read_rows<double>(location->group + "/" + field, layout.block_begin(), layout.block_end());
    const std::size_t count = layout.block_end() - layout.block_begin();
    if (rows.size() != count * columns)
      throw FileError(path.string() + ": the field '" + field + "' of state " + std::to_string(id) +
                      " has another number of components than the manifest says");
    if (columns != components)
      for (std::size_t row = 0; row < count; ++row)
        std::copy_n(rows.begin() + row * columns, components, rows.begin() + row * components);
    rows.resize(count * components);
    return rows;
  });
  return layout.from_blocks<double>(block, entry.components);
}

io::ArrayShape TrajectoryReader::static_shape(const std::string& name) const {
  const MeshFile& mesh = impl_->manifest.mesh;
  const auto entry = std::ranges::find(mesh.arrays, name, &StaticEntry::name);
  if (entry == mesh.arrays.end())
    throw FileError((impl_->folder / mesh.name).string() + ": there is no array '" + name + "'");
  return entry->shape;
}

template <class T>
std::vector<T> TrajectoryReader::read_static(const std::string& name, const io::BlockLayout& layout) {
  const MeshFile& mesh = impl_->manifest.mesh;
  const io::ArrayShape shape = static_shape(name);
  if (shape.rows != layout.global_size())
    refuse_rows(impl_->folder / mesh.name, name, shape.rows, layout.global_size());
  const io::Hdf5Reader& reader = impl_->open(mesh);
  const std::vector<T> block = parallel::collectively(
      impl_->comm, [&] { return reader.read_rows<T>(name, layout.block_begin(), layout.block_end()); });
  return layout.from_blocks<T>(block, shape.columns);
}

template std::vector<double> TrajectoryReader::read_static(const std::string&, const io::BlockLayout&);
template std::vector<std::int32_t> TrajectoryReader::read_static(const std::string&, const io::BlockLayout&);
template std::vector<std::int64_t> TrajectoryReader::read_static(const std::string&, const io::BlockLayout&);

void TrajectoryReader::prefetch(GlobalIndex id) const {
  const auto& location = impl_->index.location(id);
  if (!location) return;
  const StateFile& file = impl_->manifest.files[location->file];
  const int descriptor = ::open((impl_->folder / file.name).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  const GlobalIndex bytes = file.digest.bytes;
  const GlobalIndex begin = io::block_begin(bytes, impl_->comm.rank(), impl_->comm.size());
  const GlobalIndex end = io::block_begin(bytes, impl_->comm.rank() + 1, impl_->comm.size());
  ::posix_fadvise(descriptor, begin, end - begin, POSIX_FADV_WILLNEED);
  ::close(descriptor);
}

RestartPoint TrajectoryReader::restart_point() {
  const Manifest& manifest = impl_->manifest;
  const auto present = [&](const FileEntry& file) {
    std::error_code error;
    return impl_->comm.any(impl_->comm.rank() == 0 &&
                           fs::status(impl_->folder / file.name, error).type() != fs::file_type::not_found);
  };
  const auto complete = [&](std::size_t number) {
    const auto needed = files_for_restart(manifest, impl_->index, number);
    return std::all_of(needed.begin(), needed.end(),
                       [&](std::size_t file) { return present(manifest.files[file]); });
  };
  const auto newest_complete_before = [&](std::size_t number) {
    while (number > 0 && !complete(number - 1)) --number;
    return number;
  };

  impl_->check(manifest.mesh);
  const std::size_t last = manifest.files.size();
  const std::size_t found = newest_complete_before(last);
  if (found == 0)
    throw FileError(
        (impl_->folder / (last > 0 ? manifest.files[0].name : std::string(manifest_name))).string() +
        ": no restart point is complete, files of states are missing. Start the run again in a new folder");
  RestartPoint point{manifest.files[found - 1].restart, {}};
  const auto newest = [&](std::size_t number) -> const stepping::StepRecord& {
    return impl_->index.records()[manifest.files[number].restart.front()];
  };
  if (found < last)
    point.warning = (impl_->folder / manifest.files[last - 1].name).string() +
                    " or a file that it needs is missing; the run continues from " +
                    describe(newest(found - 1)) + " instead of " + describe(newest(last - 1));

  for (const std::size_t number : files_for_restart(manifest, impl_->index, found - 1)) {
    const StateFile& file = manifest.files[number];
    const Damage damage = damage_of(impl_->comm, impl_->folder, file);
    if (damage.none()) {
      impl_->checked.insert(file.name);
      continue;
    }
    const std::string what = (impl_->folder / file.name).string() + ": the file " + damage.text;
    if (damage.kind == Damage::Kind::unreadable) throw FileError(what + remedy(damage));
    std::size_t before = found - 1;
    while (before > 0) {
      before = newest_complete_before(before);
      if (before == 0) break;
      const auto needed = files_for_restart(manifest, impl_->index, before - 1);
      if (!holds(needed, number)) break;
      --before;
    }
    throw FileError(what + (before > 0 ? ". To continue from the restart point before (" +
                                             describe(newest(before - 1)) +
                                             "), remove this file and run again with --restart"
                                       : ". There is no restart point without it" + remedy(damage)));
  }
  return point;
}

std::vector<FileReport> verify(const parallel::Communicator& comm, const fs::path& folder) {
  const Manifest manifest = read_manifest(comm, folder);
  std::vector<FileReport> reports;
  reports.push_back(
      {manifest.mesh.name, manifest.mesh.digest.bytes, 0, 0, 0, damage_of(comm, folder, manifest.mesh).text});
  for (const StateFile& file : manifest.files) {
    FileReport report{file.name, file.digest.bytes, 0, 0, 0, damage_of(comm, folder, file).text};
    for (const StateEntry& entry : file.states) {
      if (entry.kept != StateEntry::Kept::stored) continue;
      if (report.states++ == 0) report.first_time = entry.record.time;
      report.last_time = entry.record.time;
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

} // namespace recoil::checkpoint
