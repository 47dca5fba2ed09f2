#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recoil/app/scene/keys.hpp"
#include "recoil/app/scene/scene.hpp"
#include "recoil/base/option_names.hpp"

namespace recoil::app {

class Item;

/// A key that scenes of one solver do not have, with all that stands below it.
struct AbsentKey {
  const char* pattern; ///< as Key::pattern, of one row or the beginning of several
  const char* instead; ///< what to do, for the message
};

/// The key by which users give an option of a kernel (base/option_names.hpp).
struct OptionKey {
  const char* option;
  const char* key;
};

/// What scenes of one solver hold besides what all scenes have, and how it is read. A solver's room has one.
struct SceneKind {
  const char* name;   ///< of the solver, `solver/type`
  const char* things; ///< what it simulates, for messages: "finite elements"
  /// Rows of keys that scenes of this solver alone have, by the sections of the documentation that they are
  /// in.
  std::vector<KeySection> (*keys)();
  /// Keys of all scenes that this solver has no use for, and what to write in the place of those of others.
  std::span<const AbsentKey> absent;
  /// Keys among those of other solvers that scenes of this one have, too; may be nullptr.
  std::vector<std::string> (*shared)() = nullptr;
  /// Keys of options that kernels of this solver alone speak of.
  std::span<const OptionKey> options = {};
  /// Names of `materials/*/type`.
  std::vector<std::string> (*materials)();
  /// Whether an entry of `geometry` gives its shape by a key of this solver, so that it needs no mesh; may be
  /// nullptr.
  bool (*has_own_shape)(const Item& entry);
  /// A part with default values, which bound members are then written to.
  std::unique_ptr<SolverScene> (*make)();
  /// Reads the rest of the part and checks it, after all shared parts of the scene have been read and before
  /// these are checked.
  /// @throws InputError.
  void (*build)(const Item& root, Scene& scene);
};

/// The scenes that a program reads: the kinds of solvers and the table of all their keys.
class SceneFormat {
public:
  /// The first kind is that of scenes that name no solver. All must outlive the format.
  explicit SceneFormat(std::vector<const SceneKind*> kinds);
  SceneFormat(const SceneFormat&) = delete;
  SceneFormat& operator=(const SceneFormat&) = delete;

  const KeyTable& keys() const { return table_; }
  /// The keys of all options that kernels speak of.
  OptionNames option_names() const;
  /// @pre a kind has this name.
  const SceneKind& kind(std::string_view name) const;
  /// Refuses what is written in a scene of this kind and belongs to others, unless it has its default.
  /// `root`: checked, with defaults filled in. @throws InputError with place and cure.
  void refuse_absent_keys(const SceneKind& kind, const Item& root, const UnitSystem& units) const;

private:
  std::vector<const SceneKind*> kinds_;
  std::deque<std::vector<Key>> rows_;
  std::deque<std::vector<std::string>> solvers_; ///< of the rows
  std::vector<KeySection> sections_;
  KeyTable table_;
};

/// JSON Schema (draft 2020-12) of scene files.
std::string scene_json_schema(const SceneFormat& format);

/// docs/scene.md.
std::string scene_markdown(const SceneFormat& format);

} // namespace recoil::app
