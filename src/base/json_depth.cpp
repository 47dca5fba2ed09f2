#include "recoil/base/json_depth.hpp"

#include <algorithm>
#include <string>

#include "recoil/base/error.hpp"

namespace recoil {

int json_depth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

void require_shallow_json(std::string_view text, const std::filesystem::path& path) {
  constexpr int most = 100;
  if (const int depth = json_depth(text); depth > most)
    throw FileError(path.string() + ": the file is nested " + std::to_string(depth) +
                    " deep, which no file of recoil is; put a sound copy in its place");
}

} // namespace recoil
