#include "recoil/app/study/base/experiment_scene.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/app/scene/build.hpp"

namespace recoil::app {
namespace {

/// @return false where the selection gives its id to all that is left.
bool add_ids(const mesh::Selection& selection, KnownIds& known) {
  if (std::holds_alternative<mesh::FileSelection>(selection.shape) ||
      std::holds_alternative<mesh::IdOffsetSelection>(selection.shape)) {
    known.complete = false;
  } else if (const auto* sides = std::get_if<mesh::ThresholdSelection>(&selection.shape)) {
    for (int side = 1; side <= 7; ++side) known.ids.insert(sides->id_offset + side);
  } else {
    known.ids.insert(selection.id);
  }
  return !std::holds_alternative<mesh::EverythingSelection>(selection.shape);
}

} // namespace

void ExperimentScene::fail(const Places& places, const std::string& key, const std::string& what) const {
  throw InputError(places.of(key) + ": experiment '" + experiment.name + "'", what);
}

void require_deformable(const ExperimentScene& at, const std::vector<std::string>& bodies,
                        const std::string& where) {
  for (const std::string& body : bodies)
    check_body(at.scene, body, where + ": experiment '" + at.experiment.name + "'");
}

void require_count(std::size_t given, int expected, int dim, const std::string& where,
                   const std::string& what) {
  if (std::cmp_not_equal(given, expected))
    throw InputError(where, what + " needs " + std::to_string(expected) +
                                (expected == 1 ? " component in " : " components in ") + std::to_string(dim) +
                                "D, has " + std::to_string(given));
}

KnownIds volume_ids(const mesh::GeometrySpec& body) {
  KnownIds known;
  for (const mesh::Selection& selection : body.volume_selection)
    if (!add_ids(selection, known)) return known;
  // Elements that no selection takes keep the tag of their file.
  const auto extension = body.mesh.extension();
  if (extension == ".msh" || extension == ".mesh") known.complete = false;
  known.ids.insert(0);
  return known;
}

KnownIds surface_ids(const mesh::GeometrySpec& body) {
  KnownIds known;
  for (const auto* list : {&body.surface_selection, &body.point_selection})
    for (const mesh::Selection& selection : *list) add_ids(selection, known);
  return known;
}

KnownIds surface_ids(const Scene& scene) {
  KnownIds all;
  for (const mesh::GeometrySpec& body : scene.geometry) {
    if (body.is_obstacle) continue;
    const KnownIds known = surface_ids(body);
    all.ids.insert(known.ids.begin(), known.ids.end());
    all.complete = all.complete && known.complete;
  }
  return all;
}

bool is_plane(const Scene& scene, const std::string& name) { return holds(names_of(scene.planes), name); }

bool has_friction(const Scene& scene) {
  const ContactSpec& contact = scene.contact;
  return contact.enabled && contact.friction_iterations != 0 &&
         (contact.friction_coefficient != 0 || !contact.friction_pairs.empty() ||
          (contact.adhesion_enabled && contact.tangential_adhesion));
}

std::string list_of(const std::set<int>& ids) {
  return ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, ", "));
}

bool is_static(const Scene& scene) { return scene.time.kind == TimeKind::statics; }

} // namespace recoil::app
