#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace recoil::particles {

/// How radii of random packings are distributed. All but sieves are distributions of the number of particles.
struct RadiusDistribution {
  enum class Kind {
    uniform,    ///< between the bounds
    normal,     ///< of mean and standard deviation, between the bounds
    log_normal, ///< the same of radii whose logarithms are normal
    sieves      ///< by mass: between two openings diameters are uniform
  };
  Kind kind = Kind::uniform;
  double min = 0, max = 0; ///< [m]; of sieves half of the least and the largest opening
  double mean = 0, sd = 0; ///< of the radii, without the bounds [m]
  /// Of sieves: openings [m], which are diameters, and the share of the mass that passes each; both
  /// ascending, from 0 to 1.
  std::vector<std::array<double, 2>> sieves;
};

/// A radius from numbers that are uniform in [0, 1). @throws InputError naming `where` if hardly any radius
/// of a normal or log-normal distribution lies between the bounds.
double draw_radius(const RadiusDistribution& distribution, const std::function<double()>& uniform,
                   const std::string& where);

} // namespace recoil::particles
