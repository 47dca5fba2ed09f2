#include "collide/group_table.hpp"

namespace recoil::collide {

std::int32_t GroupTable::number(std::int32_t group) {
  // Neighbours in a set mostly belong to one body.
  if (last_number_ >= 0 && groups_[last_number_] == group) return last_number_;
  const auto [entry, is_new] = numbers_.try_emplace(group, static_cast<std::int32_t>(groups_.size()));
  if (is_new) groups_.push_back(group);
  return last_number_ = entry->second;
}

} // namespace recoil::collide
