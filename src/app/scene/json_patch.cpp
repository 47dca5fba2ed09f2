#include "app/scene/json_patch.hpp"

#include <algorithm>
#include <array>

#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"

namespace recoil::app {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

/// Operations that copy the scene into itself double it each time.
constexpr std::size_t max_values = 2'000'000;

/// Values of a tree, itself included.
std::size_t count_values(const json& value) {
  std::size_t count = 1;
  if (value.is_structured())
    for (const auto& child : value) count += count_values(child);
  return count;
}

int depth_of(const json& value) {
  int depth = 0;
  if (value.is_structured())
    for (const auto& child : value) depth = std::max(depth, 1 + depth_of(child));
  return depth;
}

bool is_pointer(const std::string& text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t at = text.find('~'); at != std::string::npos; at = text.find('~', at + 1))
    if (at + 1 == text.size() || (text[at + 1] != '0' && text[at + 1] != '1')) return false;
  return true;
}

/// An index of RFC 6901 that is at most `last`.
bool is_index(const std::string& text, std::size_t last) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
    return false;
  return (text == "0" || text.front() != '0') && std::stoul(text) <= last;
}

bool exists(const json& root, const Pointer& pointer) {
  if (pointer.empty()) return true;
  const Pointer above = pointer.parent_pointer();
  if (!exists(root, above)) return false;
  const json& parent = root.at(above);
  if (parent.is_object()) return parent.contains(pointer.back());
  return parent.is_array() && !parent.empty() && is_index(pointer.back(), parent.size() - 1);
}

/// One operation, checked before it changes anything.
class Operation {
public:
  Operation(const json& given, std::string where) : given_(given), where_(std::move(where)) {
    if (!given.is_object()) fail("must be an object {\"op\": .., \"path\": ..}");
    kind_ = text("op");
    constexpr std::array kinds{"add", "remove", "replace", "move", "copy", "test"};
    if (!holds(kinds, kind_)) fail("`op` must be one of add, remove, replace, move, copy, test");
    path_ = pointer("path");
  }

  void apply(json& root) const {
    if (kind_ == "test") {
      if (at(root, path_) != value()) fail("the test does not hold: " + shown(path_) + " has another value");
    } else if (kind_ == "remove") {
      remove(root, path_);
    } else if (kind_ == "replace") {
      at(root, path_) = grown(root, value());
    } else if (kind_ == "add") {
      add(root, grown(root, value()));
    } else {
      transfer(root);
    }
  }

private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(where_, what); }
  static std::string shown(const Pointer& pointer) {
    return pointer.empty() ? "the whole scene" : pointer.to_string();
  }

  std::string text(const char* name) const {
    const auto found = given_.find(name);
    if (found == given_.end() || !found->is_string()) fail(std::string("needs `") + name + "`, a text");
    return found->get<std::string>();
  }
  Pointer pointer(const char* name) const {
    const std::string written = text(name);
    if (!is_pointer(written))
      fail(std::string("`") + name +
           "` must be a JSON pointer such as /time/dt (in keys, ~0 is ~ and ~1 is /)");
    if (std::count(written.begin(), written.end(), '/') > max_json_depth)
      fail(std::string("does not apply: `") + name + "` reaches deeper than any scene");
    return Pointer(written);
  }
  const json& value() const {
    const auto found = given_.find("value");
    if (found == given_.end()) fail("`" + kind_ + "` needs a `value`");
    return *found;
  }
  json& at(json& root, const Pointer& pointer) const {
    if (!exists(root, pointer)) fail("does not apply: there is nothing at " + shown(pointer));
    return root.at(pointer);
  }
  json grown(const json& root, const json& more) const {
    if (count_values(root) + count_values(more) > max_values)
      fail("makes the scene larger than " + std::to_string(max_values) +
           " values; does the patch copy the scene into itself?");
    return more;
  }

  void add(json& root, json added) const {
    if (path_.empty()) {
      root = std::move(added);
      return;
    }
    json& parent = at(root, path_.parent_pointer());
    const std::string& last = path_.back();
    if (parent.is_object())
      parent[last] = std::move(added);
    else if (parent.is_array() && (last == "-" || is_index(last, parent.size())))
      parent.insert(last == "-" ? parent.end() : parent.begin() + std::stol(last), std::move(added));
    else
      fail("does not apply: nothing can be added at " + shown(path_));
  }
  void remove(json& root, const Pointer& pointer) const {
    at(root, pointer);
    if (pointer.empty()) fail("removes the whole scene");
    json& parent = root.at(pointer.parent_pointer());
    if (parent.is_object())
      parent.erase(pointer.back());
    else
      parent.erase(json::size_type{std::stoul(pointer.back())});
  }
  void transfer(json& root) const {
    const Pointer from = pointer("from");
    json moved = kind_ == "copy" ? grown(root, at(root, from)) : at(root, from);
    if (kind_ == "move") {
      if ((path_.to_string() + "/").starts_with(from.to_string() + "/") && path_ != from)
        fail("moves " + shown(from) + " into itself");
      remove(root, from);
    }
    add(root, std::move(moved));
  }

  const json& given_;
  std::string where_, kind_;
  Pointer path_;
};

} // namespace

void apply_json_patch(json& root, const json& operations, const Locations& places) {
  if (!operations.is_array())
    throw InputError(places.describe("/patch"), "must be a list of JSON Patch operations");
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string where = places.describe("/patch/" + std::to_string(i));
    Operation(operations[i], where).apply(root);
    if (depth_of(root) > max_json_depth) throw InputError(where, "nests the scene deeper than any scene");
  }
  if (!root.is_object()) throw InputError(places.describe("/patch"), "leaves no JSON object {..}");
}

} // namespace recoil::app
