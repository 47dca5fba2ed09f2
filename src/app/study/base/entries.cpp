#include "recoil/app/study/base/entries.hpp"

#include <algorithm>
#include <map>

#include "recoil/base/suggest.hpp"

namespace recoil::app {

namespace {

/// Folders and groups of HDF5 files have the names of experiments and parameters.
bool can_be_a_file(const std::string& name) {
  return !name.empty() && name.size() <= 200 && name != "." && name != ".." &&
         std::ranges::none_of(name, [](unsigned char c) { return c < 32 || c == 127 || c == '/'; });
}

} // namespace

Places places_of(const Item& entry) {
  Places places{entry.where(), {}};
  for (const std::string& name : entry.names()) places.keys[name] = entry[name.c_str()].where();
  return places;
}

int index_of(const Item& name, const std::vector<std::string>& names, const char* what) {
  if (const int index = place_in(names, name.text()); index >= 0) return index;
  const std::string hint = did_you_mean(name.text(), names);
  name.fail(fmt::format("there is no {} '{}'{}", what, name.text(),
                        hint.empty() ? fmt::format("; there are: {}", fmt::join(names, ", ")) : hint));
}

std::vector<std::string> unique_names(const std::vector<Item>& entries, const char* what) {
  std::map<std::string, std::string> seen;
  std::vector<std::string> names;
  for (const Item& entry : entries) {
    const Item name = entry["name"];
    names.push_back(name.text());
    if (!can_be_a_file(names.back()))
      name.fail("the name of this " + std::string(what) +
                " must be one that a file can have: 1 to 200 characters, without '/' and control characters, "
                "not \".\" or \"..\"; it is " +
                name.dump());
    if (const auto [first, fresh] = seen.emplace(names.back(), name.where()); !fresh)
      name.fail("the name '" + names.back() + "' is taken already by " + first->second +
                "; give another `name`");
  }
  return names;
}

void check_keys(const Item& entry, const std::string& owner, const std::vector<std::string>& common,
                const std::vector<std::string>& takes, const std::vector<std::string>& needs) {
  for (const std::string& name : entry.names())
    if (!holds(common, name) && !holds(takes, name))
      entry[name.c_str()].fail(
          fmt::format("`{}` does not go with {}, which takes {}; leave it out", name, owner,
                      takes.empty() ? "no keys of its own" : fmt::format("`{}`", fmt::join(takes, "`, `"))));
  for (const std::string& name : needs)
    if (!entry.has(name.c_str())) entry.fail(owner + " needs `" + name + "`");
}

std::vector<std::string> distinct_texts(const Item& list) {
  std::vector<std::string> texts;
  for (const Item& entry : list.items()) {
    if (holds(texts, entry.text())) entry.fail("'" + entry.text() + "' stands here twice; keep one");
    texts.push_back(entry.text());
  }
  return texts;
}

const char* name_of(Per per) {
  static const std::map<Per, const char*> names{{Per::global, "global"},   {Per::body, "body"},
                                                {Per::element, "element"}, {Per::vertex, "vertex"},
                                                {Per::node, "node"},       {Per::bond, "bond"}};
  return names.at(per);
}

} // namespace recoil::app
