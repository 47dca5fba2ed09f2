#pragma once

#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

/// Searches in short lists, from the beginning to the end.
namespace recoil {

/// The place of the first entry of a list that is equal to `value`; -1 where there is none.
template <class List, class Value>
int place_in(const List& list, const Value& value) {
  const auto found = std::ranges::find(list, value);
  return found == std::ranges::end(list) ? -1 : static_cast<int>(found - std::ranges::begin(list));
}

/// Whether an entry of a list is equal to `value`.
template <class List, class Value>
bool holds(const List& list, const Value& value) {
  return place_in(list, value) >= 0;
}

/// The members `name` of the entries of a list, in their order.
template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.emplace_back(entry.name);
  return names;
}

} // namespace recoil
