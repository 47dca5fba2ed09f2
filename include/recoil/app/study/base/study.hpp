#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recoil/base/lookup.hpp"
#include "recoil/base/units.hpp"
#include "recoil/mesh/input/remesh.hpp"
#include "recoil/objectives/composition.hpp"
#include "recoil/objectives/robust_loss.hpp"
#include "recoil/parameters/variable_map.hpp"

namespace recoil::objectives {
template <int dim>
class Objective;
} // namespace recoil::objectives

/// A study as `recoil gradient` and `recoil optimize` use it: typed, complete, free of JSON; bodies by name,
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
  bool is_candidate = false;   ///< one that might be made next: no part of the fit
  Places where;
};

struct ShapeForm;
template <int dim>
class SlotBuilder;
template <int dim>
struct ParameterField;

/// What moves the vertices of a shape: what the bases of all forms have. A class for each form, in
/// src/app/study/shapes, holds the rest.
class ShapeBasis {
public:
  const ShapeForm* form = nullptr;
  bool starts_at_meshes = false; ///< the meshes of the scene are the shape at the start values, not at 0

  virtual ~ShapeBasis() = default;
  /// Files that it reads.
  virtual std::vector<std::filesystem::path> files() const { return {}; }
  /// @throws InputError at `where` for one that cannot be of `dim` dimensions.
  virtual void check_dimension(int, const std::string& /*where*/) const {}
  /// Whether the other one has as many values, as far as that is known without a mesh.
  virtual bool is_as_large_as(const ShapeBasis& other) const { return form == other.form; }
  /// Whether vertices inside of bodies follow those that the values move.
  virtual bool extends() const { return false; }
  /// Gives a field the slots of the basis and what these move, of the selected local vertices. Collective.
  /// @throws InputError on every rank.
  virtual void make_slots(const SlotBuilder<2>& builder, ParameterField<2>& field,
                          const std::vector<char>& selected) const = 0;
  virtual void make_slots(const SlotBuilder<3>& builder, ParameterField<3>& field,
                          const std::vector<char>& selected) const = 0;
};

struct ParameterKind;

/// The place of start values that are no numbers of the study.
struct StartFile {
  std::filesystem::path file;
  std::string dataset;   ///< of an HDF5 file; empty: of a fit.json
  std::string parameter; ///< whose value a fit.json gives
};

/// A normal distribution that is known beforehand, of each component or of all of them alike.
struct PriorSpec {
  struct Normal {
    double mean, sd;
  };
  std::vector<double> mean, sd;             ///< of the physical value
  std::optional<double> correlation_length; ///< of values per element [m]; empty: they are independent

  /// The prior of what the optimiser sees of a component: around the variable of `mean`, with `sd` carried
  /// over to first order, sd / (dq/dx). So it is sd / mean where the scale is log.
  Normal of_variable(const parameters::Scaling& scale, std::size_t component) const {
    const double x = scale.variable(mean[std::min(component, mean.size() - 1)]);
    return {x, sd[std::min(component, sd.size() - 1)] / scale.slope(x)};
  }
};

/// Over what a parameter has one value (with all its components) each.
enum class Per { global, body, element, vertex, node, bond };
const char* name_of(Per per);
/// Whether that is over a mesh or over bonds, so that there are many values.
inline bool is_per_place(Per per) { return per != Per::global && per != Per::body; }

struct ParameterSpec {
  std::string name;
  const ParameterKind* kind = nullptr;
  std::vector<std::string> bodies; ///< of friction: the pair; otherwise empty means all that it can act on
  std::vector<int> regions;        ///< volume ids; empty means all
  std::optional<int> boundary;     ///< surface id; empty means all that carry the load
  Per per = Per::global;
  bool per_step = false;        ///< one value (with all components) per time step
  std::vector<int> experiments; ///< indices in Study::experiments, ascending, never empty
  /// Components of the start value, the same wherever there is one (`per`, `per_step`). Empty for a shape: it
  /// starts from the meshes.
  std::vector<double> initial;
  std::optional<StartFile> initial_file;       ///< in place of `initial`
  std::optional<PriorSpec> prior;              ///< of every value
  std::optional<std::array<double, 2>> bounds; ///< of every component
  /// In place of `bounds`: those of each component, where it has some.
  std::vector<std::optional<std::array<double, 2>>> component_bounds;
  std::vector<char> held;    ///< components that stay at their start values; empty: none
  std::string unit = "1";    ///< in the units of the study
  parameters::Scaling scale; ///< how the optimiser sees a value; a logit is between `bounds`
  /// Index of the parameter whose value this one has, itself not tied; `initial`, `bounds` and `scale` are
  /// then copies of its.
  std::optional<int> tie;
  std::shared_ptr<const ShapeBasis> basis; ///< of a shape, else null
  Places where;

  /// Whether it acts on a body: one of `bodies`, which are all where there are none.
  bool takes_body(const std::string& body) const { return bodies.empty() || holds(bodies, body); }
  /// Whether an entry of a scene with ids is that of `boundary`, or one of all.
  template <class Entry>
  bool sets(const Entry& entry) const {
    return !boundary || acts_on(entry, *boundary);
  }
  bool is_held(std::size_t component) const { return component < held.size() && held[component] != 0; }
  std::optional<std::array<double, 2>> bounds_of(std::size_t component) const {
    return component < component_bounds.size() ? component_bounds[component] : bounds;
  }
  /// Whether each component that is not held has bounds.
  bool is_bounded() const {
    if (component_bounds.empty()) return bounds.has_value();
    for (std::size_t c = 0; c < component_bounds.size(); ++c)
      if (!component_bounds[c] && !is_held(c)) return false;
    return true;
  }
  bool acts_in(int experiment) const { return std::ranges::binary_search(experiments, experiment); }
};

struct ObjectiveType;
struct ExperimentScene;
enum class ObservableKind;
template <int dim>
class Specimen;
template <int dim>
class Observables;

/// Builds an objective of what can be seen of a run. Collective. @throws InputError on every rank.
template <int dim>
using ObjectiveMaker = std::function<std::unique_ptr<objectives::Objective<dim>>(const Observables<dim>&)>;

/// An objective of a study: what the entries of all types have. A class for each type, in
/// src/app/study/objectives, holds the rest.
class ObjectiveSpec {
public:
  const ObjectiveType* type = nullptr;
  std::string name;
  int experiment = 0;                            ///< index in Study::experiments
  std::vector<std::string> bodies;               ///< empty: all deformable ones
  double weight = 1, power = 1;                  ///< weight * (sum over time)^power
  std::optional<objectives::TimeSelection> time; ///< empty: not written; see observed_times()
  bool once_per_observation = false;             ///< {"times": "data"}, in place of `time`
  std::optional<objectives::RobustLoss> loss;    ///< in place of the squares of data
  std::optional<int> sd_factor;                  ///< of its data: index in Study::sd_factors
  Places where;

  virtual ~ObjectiveSpec() = default;
  /// Files that it reads: a change of theirs changes its value.
  virtual std::vector<std::filesystem::path> files() const { return {}; }
  /// @throws InputError where it cannot be one of `dim` dimensions.
  virtual void check_dimension(int) const {}
  /// @throws InputError where it does not fit its scene; bodies and times have been checked.
  virtual void check(const ExperimentScene&) const {}
  /// Keys that ask more of a solver than its type does.
  virtual std::map<std::string, ObservableKind> asks_also() const { return {}; }
  /// Finds and reads, once for all runs of an experiment, what belongs to its bodies before a parameter moves
  /// them. This and the study must outlive the result. Collective. @throws InputError on every rank.
  virtual ObjectiveMaker<2> open(const Specimen<2>& at) const = 0;
  virtual ObjectiveMaker<3> open(const Specimen<3>& at) const = 0;
};

/// A point of a body that is observed.
struct MarkerSpec {
  std::string name, body;
  std::vector<double> rest; ///< [m]; empty where `id` is given
  std::optional<int> id;    ///< of bonded particles, whose mean it is
  Places where;
};

struct SweepSpec {
  int store_every = 1;
  std::optional<int> state_budget; ///< states in memory at a time; empty: all
  double tolerance = 1e-10;        ///< relative, of the adjoint's linear solves
  std::string where_budget;        ///< place of `state_budget`
};

struct CheckSpec {
  int directions = 3;
  std::vector<double> steps; ///< relative, descending
};

enum class OptimizationMethod { automatic, quasi_newton, gauss_newton, conjugate_gradients };

/// What the exit code of a fit that does not agree with the standard deviations of its data is.
enum class BadFit { report, fail };

/// What becomes of values at which an experiment fails.
enum class FailedRun {
  reject, ///< they have no objective, as if it were infinite
  drop    ///< the experiment has no part in the objective any more
};

struct OptimizerSpec {
  OptimizationMethod method = OptimizationMethod::automatic;
  std::string where_method; ///< place of `method`
  int max_iterations = 100;
  double gradient_tolerance = 1e-6; ///< see inverse::StopRules
  double step_tolerance = 1e-8;     ///< of relative changes
  double objective_tolerance = -std::numeric_limits<double>::infinity();
  bool stop_at_noise = true; ///< of the objective
  /// The first from the start values, the others between the bounds; empty: as find_starts() decides.
  std::optional<int> starts;
  int seed = 1; ///< of the others
  FailedRun on_failure = FailedRun::reject;
  BadFit on_bad_fit = BadFit::report;
  bool warm_start = true;            ///< runs start their solves near the states of the last one
  bool match_peaks = false;          ///< strengths start from where peaks of forces are those observed
  std::string where_match_peaks;     ///< place of `match_peaks`
  std::optional<int> groups;         ///< empty: as many as there are experiments and ranks
  std::optional<double> time_budget; ///< [s]
  /// Scaled Jacobians: below the first no rest shape is run; below the second the bodies that a shape moves
  /// get new interiors, 0: never.
  double min_quality = 1e-3, renew_quality = 0.1;
  mesh::Gmsh gmsh;
};

/// What is asked about the accuracy of what has been fitted.
struct UncertaintySpec {
  bool intervals = true;
  std::vector<int> profile;  ///< indices in Study::parameters
  std::string where_profile; ///< place of `profile`
  int samples = 0;           ///< of the posterior
  int seed = 1;              ///< of these
  bool bands = false;        ///< of what the experiments show
};

struct Study {
  UnitSystem units; ///< of all its numbers
  std::vector<Experiment> experiments;
  std::vector<ParameterSpec> parameters;
  std::vector<std::shared_ptr<const ObjectiveSpec>> objectives;
  /// Names of factors on standard deviations that a fit estimates, in the order of the objectives.
  std::vector<std::string> sd_factors;
  std::vector<MarkerSpec> markers;
  SweepSpec sweep;
  CheckSpec check;
  OptimizerSpec optimizer;
  UncertaintySpec uncertainty;

  std::vector<std::string> warnings; ///< accepted, but probably not meant
};

} // namespace recoil::app
