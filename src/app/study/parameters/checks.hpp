#pragma once

#include <algorithm>

#include "app/study/check_against_scenes.hpp"
#include "app/study/parameters/parameter_kind.hpp"
#include "app/study/scene_facts.hpp"

/// What the checks of several kinds of parameters share. All throw InputError at the parameter.
namespace recoil::app {

bool is_static(const Scene& scene);
std::string quoted(const Varying& varying);
/// The deformable bodies of a scene that a parameter acts on.
std::vector<const mesh::GeometrySpec*> bodies_of(const ExperimentScene& at, const ParameterSpec& parameter);
/// Bodies are deformable, and volume ids that can be known are there.
void require_bodies_and_regions(const ExperimentScene& at, const ParameterSpec& parameter);
void require_contact(const ExperimentScene& at, const ParameterSpec& parameter);
/// Whether a parameter turns a body at the start.
bool may_turn(const ExperimentScene& at, const ParameterSpec& other, const std::string& body);
/// `how`: in what the scene varies, and what to write instead.
void refuse_replaced(const ExperimentScene& at, const ParameterSpec& parameter,
                     const std::vector<Varying>& varying, const char* how);
std::string ids_of(const std::set<int>& ids, bool all);

/// The entry with the id of a parameter, or the only one where it gives none.
template <class Entry>
const Entry& find_entry(const ExperimentScene& at, const ParameterSpec& parameter,
                        const std::vector<Entry>& entries, const std::string& list, const std::string& hint) {
  std::set<int> ids;
  bool all = false;
  for (const Entry& entry : entries) {
    ids.insert(entry.ids.begin(), entry.ids.end());
    all = all || entry.all;
    if (parameter.boundary ? acts_on(entry, *parameter.boundary) : entries.size() == 1) return entry;
  }
  const std::string name = parameter.kind->name;
  if (!parameter.boundary && entries.size() > 1)
    at.fail(parameter.where, "quantity",
            name + " needs `boundary`: " + list + " has several entries, with the ids " + list_of(ids));
  at.fail(parameter.where, "boundary",
          name + " is not used: there is no " + list +
              (parameter.boundary ? " with the id " + std::to_string(*parameter.boundary) +
                                        "; ids there: " + ids_of(ids, all)
                                  : "") +
              hint);
}

/// A parameter stands for the value of whole entries, so two must not share one.
template <class Entry>
void refuse_shared_entries(const ExperimentScene& at, const ParameterSpec& parameter,
                           const std::vector<Entry>& entries) {
  for (const ParameterSpec& other : at.study.parameters) {
    if (&other == &parameter) return;
    if (other.kind != parameter.kind || !at.has(other)) continue;
    for (const Entry& entry : entries)
      if ((!other.boundary || acts_on(entry, *other.boundary)) &&
          (!parameter.boundary || acts_on(entry, *parameter.boundary)))
        at.fail(parameter.where, parameter.boundary ? "boundary" : "quantity",
                "'" + parameter.name + "' and '" + other.name + "' would both set the value of " +
                    entry.where + "; split it into one entry for each");
  }
}

} // namespace recoil::app
