#include "recoil/inverse/sobol.hpp"

#include <random>

#include <boost/random/sobol.hpp>
#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::inverse {

namespace {

constexpr std::size_t max_dimension = 64;

/// In the middle of the 2^52 equal parts of (0, 1): neither end can be met.
double in_unit_interval(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

} // namespace

std::vector<std::vector<double>> sobol_points(std::size_t count, std::size_t dimension, std::uint64_t seed) {
  if (dimension == 0 || dimension > max_dimension)
    throw InputError(
        fmt::format("Sobol points have 1 to {} dimensions; asked for are {}", max_dimension, dimension));
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> shift(dimension);
  for (std::uint64_t& bits : shift) bits = random();
  boost::random::sobol sequence(dimension);
  std::vector<std::vector<double>> points;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double>& point = points.emplace_back(dimension);
    // Boost leaves the first point of the sequence out, the origin, without which parts stay empty.
    for (std::size_t k = 0; k < dimension; ++k)
      point[k] = in_unit_interval(shift[k] ^ (i == 0 ? 0 : sequence()));
  }
  return points;
}

} // namespace recoil::inverse
