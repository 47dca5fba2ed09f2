#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "recoil/mesh/input/body_mesh.hpp"
#include "recoil/mesh/simplex_mesh.hpp"

namespace recoil::app {

/// A body of a scene with its ids, as files have it: vertices numbered from its own first one, volume ids
/// as tags of its cells. Serial.
struct BodyPart {
  struct Ids {
    std::int32_t id;
    std::vector<std::int32_t> vertices; ///< of a facet, or the only one
  };
  mesh::BodyMesh mesh;
  std::vector<Ids> facets, points;
  std::int32_t first_vertex = 0, first_cell = 0; ///< in the mesh of all bodies
};

/// Body number `body` of a mesh.
BodyPart part_of(const mesh::SimplexMesh& mesh, std::int32_t body);

/// Files of a body: text(ending, text) takes a mesh, ".msh", and the rows of ids, "-facets.txt" and
/// "-points.txt"; rows may be empty.
void write_body(const BodyPart& part,
                const std::function<void(const std::string& ending, const std::string& text)>& text);

} // namespace recoil::app
