#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "recoil/app/study/quantities.hpp"

/// A study as `recoil gradient` uses it: typed, complete, free of JSON; bodies by name,
/// entries of the study by their index. Names and meaning follow docs/study.md.
namespace recoil::app {

/// File, line and JSON pointer of an entry and of its keys, for messages.
struct Places {
  std::string entry;
  std::map<std::string, std::string> keys;

  /// The place of a key; of the entry where the key is not written.
  const std::string& of(const std::string& key) const {
    const auto found = keys.find(key);
    return found == keys.end() ? entry : found->second;
  }
};

struct Experiment {
  std::string name;
  std::filesystem::path scene; ///< absolute
  Places where;
};

/// How the optimiser sees a value q.
struct Scale {
  enum class Kind {
    linear,    ///< q
    logarithm, ///< ln q
    logit,     ///< ln((q - low) / (high - q)), between the bounds
    factor     ///< q / factor
  };
  Kind kind = Kind::linear;
  double factor = 1;
};

/// What moves the vertices of a shape.
struct ShapeBasis {
  enum class Kind { vertices, boundary_vertices, affine, box, modes };
  Kind kind = Kind::vertices;
  std::vector<int> box; ///< control points per axis
  std::filesystem::path modes;
};

struct ParameterSpec {
  std::string name;
  Quantity quantity = Quantity::young_modulus;
  std::vector<std::string> bodies; ///< of friction: the pair; otherwise empty means all that it can act on
  std::vector<int> regions;        ///< volume ids; empty means all
  std::optional<int> boundary;     ///< surface id; empty means all that carry the load
  Per per = Per::global;
  bool per_step = false;        ///< one value (with all components) per time step
  std::vector<int> experiments; ///< indices in Study::experiments, ascending, never empty
  /// Components of the start value, the same wherever there is one (`per`, `per_step`). Empty for a shape: it
  /// starts from the meshes.
  std::vector<double> initial;
  std::optional<std::array<double, 2>> bounds; ///< of every component
  Scale scale;
  /// Index of the parameter whose value this one has, itself not tied; `initial`, `bounds` and `scale` are
  /// then copies of its.
  std::optional<int> tie;
  std::optional<ShapeBasis> basis; ///< of a shape
  Places where;

  bool acts_in(int experiment) const { return std::ranges::binary_search(experiments, experiment); }
};

/// Which states count, with which weights; 0 is the initial state.
struct TimeIntegral {};
struct FinalTime {};
struct StepList {
  std::vector<int> steps; ///< ascending
};
struct TimeList {
  std::vector<double> times; ///< [s], ascending
};
using ObservedTimes = std::variant<TimeIntegral, FinalTime, StepList, TimeList>;

enum class StressKind { first_piola, cauchy };
enum class Over { volume, boundary };

struct ObjectiveSpec {
  std::string name;
  ObjectiveType type = ObjectiveType::elastic_energy;
  int experiment = 0;                ///< index in Study::experiments
  std::vector<std::string> bodies;   ///< empty: all deformable ones
  double weight = 1, power = 1;      ///< weight * (sum over time)^power
  std::optional<ObservedTimes> time; ///< empty: not written; see observed_times()
  double p = 2;                      ///< stress_norm, boundary_smoothing
  StressKind stress = StressKind::first_piola;
  double limit = 0; ///< [Pa] or [m^dim]
  Over over = Over::volume;
  std::filesystem::path reference;     ///< run folder or HDF5 file
  std::filesystem::path target;        ///< CSV of markers and of the centre of mass
  std::vector<double> target_velocity; ///< [m/s]
  int axis = 0;                        ///< 0 .. 2 of height
  Places where;
};

/// The states that an objective looks at: what it says, else the integral, in statics the final state.
ObservedTimes observed_times(const ObjectiveSpec& objective, bool is_static);

/// A point of a body that is observed.
struct MarkerSpec {
  std::string name, body;
  std::vector<double> rest; ///< [m]
  Places where;
};

struct SweepSpec {
  int store_every = 1;
  std::optional<int> state_budget; ///< states held at a time; empty: all
  double tolerance = 1e-10;        ///< relative, of the adjoint's linear solves
  std::string where_budget;        ///< place of `state_budget`
};

struct CheckSpec {
  int directions = 3;
  std::vector<double> steps; ///< relative, descending
};

struct Study {
  std::vector<Experiment> experiments;
  std::vector<ParameterSpec> parameters;
  std::vector<ObjectiveSpec> objectives;
  std::vector<MarkerSpec> markers;
  SweepSpec sweep;
  CheckSpec check;

  std::vector<std::string> warnings; ///< accepted, but probably not meant
};

} // namespace recoil::app
