#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace recoil::io {

/// Fletcher's checksum of 16-bit words as HDF5's filter of that name computes it: words are read most
/// significant byte first, sums are kept modulo 65535 and never folded to 0. An even number of bytes.
std::uint32_t fletcher32(std::span<const std::byte> bytes);

} // namespace recoil::io
