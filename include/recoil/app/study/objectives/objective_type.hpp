#pragma once

#include "recoil/app/scene/item.hpp"
#include "recoil/app/scene/keys.hpp"
#include "recoil/app/study/base/experiment_scene.hpp"
#include "recoil/app/study/objectives/observables.hpp"
#include "recoil/potentials/loads.hpp"

/// What a type of objective consists of, and what the types share. Each group of types is
/// one source of this folder, named in registry.cpp; reader, checks, runs, JSON Schema and docs/study.md know
/// a type by its row alone.
namespace recoil::app {

/// One row of the table of objectives.
struct ObjectiveType {
  const char* name;
  const char* doc;
  /// Its keys, in the order of the documentation, beside `name`, `type`, `experiment`, `weight`, `power`,
  /// `loss` and `sd_factor`. Types may share a key: then range and choices are the same, while types, unit
  /// and text may differ.
  std::vector<Key> keys;
  /// Reads the values of these keys from an entry that has been checked against them.
  std::unique_ptr<ObjectiveSpec> (*read)(const Item& entry);
  ObservableKind asks;             ///< what a solver must have for it
  bool observes = false;           ///< is compared with a CSV file of observations
  bool is_sampled = false;         ///< each of which counts once, where `time` is not written
  bool uses_markers = false;       ///< of the study
  bool weighs = false;             ///< depends on the density, whether there is inertia or not
  bool keeps_mesh = false;         ///< has points or nodes of the meshes of the scene, which new ones lack
  bool compares_materials = false; ///< of those without `time`: depends on the law, otherwise on the shape
  bool sees_place = false;         ///< changes where bodies move as a whole, without deforming

  /// Names of the keys, and of those that must be written.
  std::vector<std::string> takes() const;
  std::vector<std::string> needs() const;
  /// It changes in time, unlike those of rest shape and material alone.
  bool takes_time() const;
};

std::span<const ObjectiveType> objective_types();
/// Keys of all types, and those that all types share.
std::span<const Key> objective_keys();
/// nullptr for an unknown name.
const ObjectiveType* find_objective_type(const std::string& name);

/// Rows that several types have.
inline constexpr Key body_key{.pattern = "/objectives/*/body",
                              .types = one_or_list,
                              .items = text,
                              .length = {1, 1 << 30},
                              .implied = "all deformable bodies",
                              .doc = "Name or list of names."};
inline constexpr Key time_key{
    .pattern = "/objectives/*/time",
    .types = text | object,
    .implied = "`integral`, in statics `final`",
    .choices = "[\"integral\", \"final\"]",
    .doc = "The trapezoid over all states, the last state, or the sum over some of them, as below."};
inline constexpr Key exponent_key{.pattern = "/objectives/*/p",
                                  .types = number,
                                  .required = true,
                                  .range = {.min = 1, .min_open = true},
                                  .doc = "Exponent."};
inline constexpr Key direction_key{.pattern = "/objectives/*/direction",
                                   .types = list,
                                   .items = number,
                                   .length = {2, 3},
                                   .required = true,
                                   .doc = "Direction at rest; its length does not count."};
inline constexpr Key observations_key{
    .pattern = "/objectives/*/target", .types = path, .required = true, .doc = "CSV file."};
inline constexpr Key boundary_key{.pattern = "/objectives/*/boundary",
                                  .types = integer | list,
                                  .items = integer,
                                  .length = {1, 1 << 30},
                                  .doc = "Surface id, or list of them, of the facets that count."};
Key limit_key(const char* unit);
Key required(Key key);

/// The file in `target`. @throws InputError where the entry holds numbers: the target is `what`.
std::filesystem::path target_file(const Item& entry, const std::string& what);
/// The same for a file of observations.
std::filesystem::path observations_of(const Item& entry);

/// The facets of `boundary`, or those of the whole boundary.
potentials::FacetSelection facets_of(const Item& entry);
/// Refuses surface ids that no facet can have.
void require_surface_ids(const ExperimentScene& at, const ObjectiveSpec& spec,
                         const potentials::FacetSelection& facets);

/// The states that an objective looks at: what it says, else the integral, in statics the final state.
objectives::TimeSelection observed_times(const ObjectiveSpec& objective, bool is_static);
/// Whether it looks at each observation once, in place of these.
bool counts_observations_once(const ObjectiveSpec& objective, bool is_static);

/// A track as an objective looks at it: between its observations or not.
template <int dim>
objectives::Track<dim> as_observed(const ObjectiveSpec& spec, const TimeSpec& time,
                                   objectives::Track<dim> track) {
  track.is_interpolated = !counts_observations_once(spec, time.kind == TimeKind::statics);
  return track;
}

/// Times of the first and the last state that an objective looks at [s].
std::array<double, 2> observed_interval(const ObjectiveSpec& spec, const TimeSpec& time);

/// Base of a type of objective, written once for both dimensions: `Type(const Item& entry)` reads its keys,
/// `make(const Observables<dim>&)` builds it. A type that keeps something of the bodies has its own
/// `open_in`.
template <class Type>
class ObjectiveOf : public ObjectiveSpec {
public:
  static std::unique_ptr<ObjectiveSpec> read(const Item& entry) { return std::make_unique<Type>(entry); }
  ObjectiveMaker<2> open(const Specimen<2>& at) const final { return self().open_in(at); }
  ObjectiveMaker<3> open(const Specimen<3>& at) const final { return self().open_in(at); }

protected:
  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>&) const {
    return [this](const Observables<dim>& at) { return self().make(at); };
  }

private:
  const Type& self() const { return static_cast<const Type&>(*this); }
};

/// The same for what is compared with a CSV file of observations.
template <class Type>
struct ObservedObjectiveOf : ObjectiveOf<Type> {
  explicit ObservedObjectiveOf(const Item& entry) : target(observations_of(entry)) {}
  std::vector<std::filesystem::path> files() const override { return {target}; }

  std::filesystem::path target;
};

} // namespace recoil::app
