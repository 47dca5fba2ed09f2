#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recoil/checkpoint/state.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "recoil/io/xdmf.hpp"
#include "recoil/stepping/step_record.hpp"

namespace recoil::checkpoint {

/// What the manifest says of a field of a state.
struct FieldEntry {
  std::string name;
  int components = 1;
  io::Centre centre = io::Centre::node;
  bool restart = true;
  GlobalIndex rows = 0;

  /// Columns in the file: plane vectors are drawn, hence stored, with a zero third component.
  int columns() const { return components == 2 ? 3 : components; }
  friend bool operator==(const FieldEntry&, const FieldEntry&) = default;
};

/// One accepted state; those that are neither stored nor kept for a restart have no fields.
struct StateEntry {
  enum class Kept { no, stored, history };
  stepping::StepRecord record;
  std::string extra = "{}"; ///< of TrajectoryWriter::append()
  Kept kept = Kept::no;
  /// Index into Manifest::field_lists; -1 without arrays.
  int fields = -1;
};

/// A file of states, or mesh.h5.
struct FileEntry {
  std::string name;
  io::FileDigest digest;
};

/// A file of states with the accepted states since the file before.
struct StateFile : FileEntry {
  std::vector<StateEntry> states;
  /// States from which the run continues after the last state of this file, newest first.
  std::vector<GlobalIndex> restart;
  /// The file's line in the manifest once made: files do not change, and a long run has many.
  mutable std::string line;
};

struct StaticEntry {
  std::string name;
  io::ArrayShape shape;
  io::Centre centre = io::Centre::none;
};

struct MeshFile : FileEntry {
  GlobalIndex cells = 0;
  std::optional<io::CellShape> shape;
  std::vector<StaticEntry> arrays;
};

/// Writes coordinates, cells and further arrays in the order of their ids; the entry still lacks name and
/// digest. Collective.
MeshFile write_mesh_arrays(io::Hdf5Writer& file, const DrawnMesh& mesh, std::span<const StaticArray> arrays);

/// What a trajectory consists of; read first, renamed into place last.
struct Manifest {
  std::string metadata = "{}";
  MeshFile mesh;
  std::vector<std::vector<FieldEntry>> field_lists;
  std::vector<StateFile> files;

  /// Valid JSON whose first line carries the CRC-32 of the others.
  std::string to_text() const;
  /// @throws FileError naming `path` when the text is not what to_text wrote.
  static Manifest parse(const std::string& text, const std::filesystem::path& path);

  /// Index of `list` in field_lists, added if new.
  int field_list(const std::vector<FieldEntry>& list);
};

/// Where the arrays of a state lie.
struct StateLocation {
  std::size_t file = 0;
  std::string group;
  int fields = -1;
  StateEntry::Kept kept = StateEntry::Kept::no;
};

/// Index of the states of a manifest by id.
class StateIndex {
public:
  explicit StateIndex(const Manifest& manifest);
  const std::vector<stepping::StepRecord>& records() const { return records_; }
  const std::string& extra(GlobalIndex id) const { return extras_[id]; }
  /// None where the arrays were not kept.
  const std::optional<StateLocation>& location(GlobalIndex id) const;

private:
  std::vector<stepping::StepRecord> records_;
  std::vector<std::string> extras_;
  std::vector<std::optional<StateLocation>> locations_;
};

inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* mesh_name = "mesh.h5";
inline constexpr const char* xdmf_name = "trajectory.xdmf";

/// "states_00012.h5".
std::string state_file_name(std::size_t number);
/// Group of a state in its file.
std::string state_group(GlobalIndex id, StateEntry::Kept kept);

/// The description of mesh and states for XDMF.
io::XdmfMesh xdmf_mesh(const Manifest& manifest);
std::vector<io::XdmfState> xdmf_states(const Manifest& manifest, const StateFile& file);

} // namespace recoil::checkpoint
