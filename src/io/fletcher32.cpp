#include "io/fletcher32.hpp"

#include <algorithm>

namespace recoil::io {

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffu) + (sum >> 16); };
  const auto* word = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size() / 2;
  std::uint32_t first = 0, second = 0;
  while (left > 0) {
    // 360 words is the longest run after which the second sum still fits in 32 bits.
    std::size_t run = std::min<std::size_t>(left, 360);
    left -= run;
    for (; run > 0; --run, word += 2) {
      first += static_cast<std::uint32_t>(word[0] << 8 | word[1]);
      second += first;
    }
    first = fold(first);
    second = fold(second);
  }
  first = fold(first);
  second = fold(second);
  return second << 16 | first;
}

} // namespace recoil::io
