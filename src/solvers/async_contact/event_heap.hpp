#pragma once

#include <cstdint>
#include <vector>

#include "recoil/solvers/async_contact/ticks.hpp"

namespace recoil::solvers::async_contact {

/// When an event happens and, among events of one time, after which others: a total order.
struct EventKey {
  Tick tick;
  std::uint64_t order;
  friend bool operator<(const EventKey& a, const EventKey& b) {
    return a.tick != b.tick ? a.tick < b.tick : a.order < b.order;
  }
};

/// Events by their keys, earliest first, each of which can be moved: a heap of four children per node that
/// knows where each event is.
class EventHeap {
public:
  struct Entry {
    EventKey key;
    std::int32_t slot;
  };

  /// Makes room for events 0 .. n - 1; those beyond are dropped.
  void resize(std::int32_t n) {
    for (std::int32_t slot = n; slot < static_cast<std::int32_t>(places_.size()); ++slot) remove(slot);
    places_.resize(static_cast<std::size_t>(n), -1);
  }
  const Entry& top() const { return entries_.front(); }
  std::size_t size() const { return entries_.size(); }

  /// Puts event `slot` at `key`, whether it is in the heap or not; at `never` it is taken out.
  void put(std::int32_t slot, const EventKey& key) {
    if (key.tick == never) return remove(slot);
    std::int32_t place = places_[static_cast<std::size_t>(slot)];
    if (place < 0) {
      place = static_cast<std::int32_t>(entries_.size());
      entries_.push_back({key, slot});
      rise(place, {key, slot});
    } else {
      settle(place, {key, slot});
    }
  }
  void remove(std::int32_t slot) {
    const std::int32_t place = places_[static_cast<std::size_t>(slot)];
    if (place < 0) return;
    places_[static_cast<std::size_t>(slot)] = -1;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (last.slot != slot) settle(place, last);
  }

private:
  void settle(std::int32_t place, const Entry& entry) {
    if (place > 0 && entry.key < at((place - 1) / 4).key)
      rise(place, entry);
    else
      sink(place, entry);
  }
  void rise(std::int32_t place, const Entry& entry) {
    while (place > 0) {
      const std::int32_t parent = (place - 1) / 4;
      if (!(entry.key < at(parent).key)) break;
      set(place, at(parent));
      place = parent;
    }
    set(place, entry);
  }
  void sink(std::int32_t place, const Entry& entry) {
    const auto end = static_cast<std::int32_t>(entries_.size());
    for (std::int32_t child = 4 * place + 1; child < end; child = 4 * place + 1) {
      std::int32_t least = child;
      const std::int32_t last = child + 4 < end ? child + 4 : end;
      for (std::int32_t other = child + 1; other < last; ++other)
        if (at(other).key < at(least).key) least = other;
      if (!(at(least).key < entry.key)) break;
      set(place, at(least));
      place = least;
    }
    set(place, entry);
  }
  const Entry& at(std::int32_t place) const { return entries_[static_cast<std::size_t>(place)]; }
  void set(std::int32_t place, const Entry& entry) {
    entries_[static_cast<std::size_t>(place)] = entry;
    places_[static_cast<std::size_t>(entry.slot)] = place;
  }

  std::vector<Entry> entries_;
  std::vector<std::int32_t> places_;
};

} // namespace recoil::solvers::async_contact
