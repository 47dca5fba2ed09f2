#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "recoil/solvers/async_contact/ticks.hpp"

namespace recoil::solvers::async_contact {

/// Periodic events in the order of (time, slot), for forces whose times are known beforehand: those of a
/// slice of time are listed and sorted at once, which costs a fraction of what a heap does.
class EventBatches {
public:
  struct Event {
    Tick tick;
    std::int32_t slot;
  };

  void clear() {
    periods_.clear();
    sorted_.clear();
    next_ = 0;
    start_ = 0;
    rate_ = 0;
    top_ = {never, -1};
  }
  /// An event of period `step` that next happens at `first`. Slots come in ascending order.
  void add(std::int32_t slot, Tick first, Tick step) {
    periods_.push_back({first, step, slot});
    rate_ += 1 / static_cast<double>(step);
  }
  /// Begins, after all events have been added.
  void begin() { set_top(); }
  /// The first event that has not been removed, at `never` if there is none.
  const Event& first() const { return top_; }
  void remove_first() {
    ++next_;
    set_top();
  }
  /// Slot of an event a few places behind the first one, or -1: to fetch what it needs from memory.
  std::int32_t slot_ahead(std::size_t places) const {
    return next_ + places < sorted_.size() ? slot_of(sorted_[next_ + places]) : -1;
  }

private:
  struct Period {
    Tick next, step;
    std::int32_t slot;
  };
  static constexpr int digit_bits = 11;
  static constexpr std::uint64_t num_digits = 1U << digit_bits;
  /// Events of a slice are numbers of the time since its start, then the slot.
  static constexpr int slot_bits = 32;
  static constexpr Tick longest_slice = (Tick(1) << slot_bits) - 1;

  static std::int32_t slot_of(std::uint64_t event) { return static_cast<std::int32_t>(event & 0xffffffff); }

  void set_top() {
    if (next_ >= sorted_.size()) fill();
    top_ = sorted_.empty()
               ? Event{never, -1}
               : Event{start_ + static_cast<Tick>(sorted_[next_] >> slot_bits), slot_of(sorted_[next_])};
  }
  void fill() {
    sorted_.clear();
    next_ = 0;
    if (periods_.empty()) return;
    const double length = static_cast<double>(4096 + 4 * periods_.size()) / rate_;
    start_ = std::ranges::min_element(periods_, {}, &Period::next)->next;
    const Tick end = start_ + static_cast<Tick>(std::clamp(length, 1.0, static_cast<double>(longest_slice)));
    for (Period& period : periods_)
      for (; period.next < end; period.next += period.step)
        sorted_.push_back(static_cast<std::uint64_t>(period.next - start_) << slot_bits |
                          static_cast<std::uint32_t>(period.slot));
    sort(static_cast<std::uint64_t>(end - start_));
  }
  /// By time, digit by digit; slots, in whose order events are listed, stay in order.
  void sort(std::uint64_t times) {
    other_.resize(sorted_.size());
    for (int shift = 0; times >> shift > 0; shift += digit_bits) {
      const auto digit = [&](std::uint64_t event) { return event >> (slot_bits + shift) & (num_digits - 1); };
      std::array<std::uint32_t, num_digits> place{};
      for (const std::uint64_t event : sorted_) ++place[digit(event)];
      std::uint32_t sum = 0;
      for (std::uint32_t& count : place) {
        const std::uint32_t here = count;
        count = sum;
        sum += here;
      }
      for (const std::uint64_t event : sorted_) other_[place[digit(event)]++] = event;
      sorted_.swap(other_);
    }
  }

  std::vector<Period> periods_;
  std::vector<std::uint64_t> sorted_, other_;
  std::size_t next_ = 0;
  Tick start_ = 0;  ///< of the slice
  double rate_ = 0; ///< events per tick
  Event top_{never, -1};
};

} // namespace recoil::solvers::async_contact
