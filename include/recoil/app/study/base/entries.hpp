#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/app/scene/item.hpp"
#include "recoil/app/study/base/study.hpp"

/// What readers of the entries of a study share. All throw InputError at the entry.
namespace recoil::app {

Places places_of(const Item& entry);

/// Index of `name` in `names`. @throws InputError at the item: "there is no <what> 'name'", with the nearest.
int index_of(const Item& name, const std::vector<std::string>& names, const char* what);

/// The texts of a list, also where a single one stood for a list of one. Refuses one that stands there twice.
std::vector<std::string> distinct_texts(const Item& list);

/// Refuses a second entry of the same name, and names that could not stand in a file. Names the files.
std::vector<std::string> unique_names(const std::vector<Item>& entries, const char* what);

/// Refuses keys that are in neither list, and missing ones; `owner` is what takes them: "friction". The table
/// of keys has refused what no entry takes.
void check_keys(const Item& entry, const std::string& owner, const std::vector<std::string>& common,
                const std::vector<std::string>& takes, const std::vector<std::string>& needs);

/// `["a", "b"]`, the names of some rows as choices.
template <class Rows>
std::string names_as_json(const Rows& rows) {
  return fmt::format("[\"{}\"]", fmt::join(names_of(rows), "\", \""));
}

} // namespace recoil::app
