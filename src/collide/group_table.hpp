#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "recoil/collide/candidates.hpp"

namespace recoil::collide {

/// Gives groups small numbers and remembers what the filter says about them: it is asked about each pair of
/// groups once, and so cheap enough to prune whole branches of a search.
class GroupTable {
public:
  explicit GroupTable(const GroupFilter& filter) : filter_(filter) {}

  /// The number of `group`, counted from 0 in the order of first appearance.
  std::int32_t number(std::int32_t group);
  /// Whether items of the groups with these numbers may pair up.
  bool admits(std::int32_t a, std::int32_t b) {
    if (!filter_) return true;
    if (a >= remembered || b >= remembered) return ask(a, b);
    std::int8_t& answer = answers_[a * remembered + b];
    if (answer < 0) answer = ask(a, b);
    return answer != 0;
  }

private:
  // A table of all pairs of groups would grow with the square of the bodies; beyond this the filter is asked.
  static constexpr std::int32_t remembered = 256;

  bool ask(std::int32_t a, std::int32_t b) const { return filter_(groups_[a], groups_[b]); }

  const GroupFilter& filter_;
  std::vector<std::int32_t> groups_; // by number
  std::unordered_map<std::int32_t, std::int32_t> numbers_;
  std::vector<std::int8_t> answers_ = std::vector<std::int8_t>(std::size_t(remembered) * remembered, -1);
  std::int32_t last_number_ = -1;
};

} // namespace recoil::collide
