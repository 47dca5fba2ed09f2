#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace recoil {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, no place
/// edited twice (optimal string alignment form of Damerau-Levenshtein). Cost O(|a| |b|).
int edit_distance(std::string_view a, std::string_view b);

/// With the letters A to Z made small.
std::string in_lower_case(std::string text);

/// The candidate nearest to `name`, letter case counting little; empty when none is near (more than a third
/// of the letters, at least 2, differ). The first of equally near ones.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" for the end of an error message, or empty when no candidate is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// "a, b and c" with the word `last` for "and".
std::string list_names(const std::vector<std::string>& names, std::string_view last);

} // namespace recoil
