#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "recoil/parallel/ask_owners.hpp"
#include "recoil/particles/particle_slices.hpp"

namespace recoil::particles {

/// The place of `id` among `ids`, ascending, or -1.
inline std::int64_t place_of_id(const std::vector<GlobalIndex>& ids, GlobalIndex id) {
  // Most slices are a piece of one body, without gaps.
  if (const GlobalIndex guess = ids.empty() ? -1 : id - ids.front();
      guess >= 0 && guess < std::ssize(ids) && ids[guess] == id)
    return guess;
  const auto place = std::ranges::lower_bound(ids, id);
  return place != ids.end() && *place == id ? place - ids.begin() : -1;
}

/// Values of all ends of the bonds of a rank, from those that each rank has for its particles.
template <class Value>
class EndValues {
public:
  /// `slices` must outlive it. Collective.
  EndValues(const parallel::Communicator& comm, const ParticleSlices& slices, const std::vector<Value>& own)
      : slices_(&slices), own_(&own),
        others_(parallel::ask_owners(
            comm, slices.other_ends, [](const auto& end) { return end.rank; },
            [&](const auto& end, int) { return own[place_of_id(slices.ids, end.id)]; })) {}

  const Value& operator[](GlobalIndex id) const {
    if (const std::int64_t place = place_of_id(slices_->ids, id); place >= 0) return (*own_)[place];
    return others_[std::ranges::lower_bound(slices_->other_ends, id, {}, &ParticleSlices::OtherEnd::id) -
                   slices_->other_ends.begin()];
  }

private:
  const ParticleSlices* slices_;
  const std::vector<Value>* own_;
  std::vector<Value> others_;
};

} // namespace recoil::particles
