#pragma once

#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "recoil/parallel/communicator.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::app {

/// A bar of 96 tetrahedra, changed by a JSON merge patch.
inline std::string changed_shape(const std::string& merge_patch) {
  auto shape = nlohmann::json::parse(R"({
    "geometry": [{
      "name": "bar",
      "generator": {"type": "box", "size": [2, 1, 1], "divisions": [4, 2, 2]}
    }],
    "modes": {"count": 2},
    "output": {"save_interval": 0}
  })");
  shape.merge_patch(nlohmann::json::parse(merge_patch));
  return shape.dump(1);
}

/// A unit cube as a closed surface.
inline constexpr const char* cube_obj =
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
    "f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\n"
    "f 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8\n";

/// A folder with files that shapes name. Collective.
class ShapeFolder : public testing::TemporaryFolder {
public:
  explicit ShapeFolder(const parallel::Communicator& comm) : TemporaryFolder(comm), comm_(comm) {
    write("cube.obj", cube_obj);
    write("square.obj", "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nl 1 2 3 4 1\n");
    write("lifted.obj", "v 0 0 0\nv 1 0 0\nv 1 1 3\nl 1 2 3 1\n");
    write("flat.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n");
    write("points.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\n");
    write("nan.obj", std::string(cube_obj) + "v nan 0 0\nf 1 2 9\n");
    write("three.txt", "1\n2\n3\n");
  }
  /// Writes a file on the first rank. Collective. Returns its path.
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    if (comm_.rank() == 0) std::ofstream(*this / name, std::ios::binary) << text;
    comm_.barrier();
    return *this / name;
  }

private:
  const parallel::Communicator& comm_;
};

} // namespace recoil::app
