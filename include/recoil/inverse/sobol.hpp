#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace recoil::inverse {

/// The first points of a Sobol sequence in (0, 1)^d, one vector each, with the direction numbers of Joe and
/// Kuo (SIAM J. Sci. Comput. 30, 2635, 2008: new-joe-kuo-6) and a random digital shift: to every coordinate
/// the bits of a random number are added (exclusive or), the same for all points. The first 2^k points have
/// one in each of the 2^k equal parts of every axis, whatever the seed, and each point alone is uniformly
/// distributed over the seeds. @throws InputError where d is 0 or above 64.
std::vector<std::vector<double>> sobol_points(std::size_t count, std::size_t dimension, std::uint64_t seed);

} // namespace recoil::inverse
