#include "recoil/base/suggest.hpp"

#include <algorithm>
#include <cctype>

namespace recoil {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string wanted = in_lower_case(std::string(name));
  // Letters weigh so much more than their case that the case decides only between equally near names.
  constexpr int weight = 1000;
  int best = weight * std::max(2, static_cast<int>(name.size()) / 3) + weight;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const int letters = edit_distance(wanted, in_lower_case(candidate));
    // With no letter in common a short name is no suggestion.
    if (letters >= static_cast<int>(std::max(name.size(), candidate.size()))) continue;
    const int distance = weight * letters + std::min(weight - 1, edit_distance(name, candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::string list_names(const std::vector<std::string>& names, std::string_view last) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 < names.size() ? ", " : " " + std::string(last) + " ";
    list += names[i];
  }
  return list;
}

} // namespace recoil
