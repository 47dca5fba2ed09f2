#pragma once

#include <cmath>
#include <sstream>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/particles/closed_surface.hpp"

namespace recoil::particles {

inline void check_radius(const ClosedSurface& surface, double radius) {
  if (!(radius > 0) || !std::isfinite(radius))
    throw InputError(surface.name(),
                     "particles of radius " + std::to_string(radius) + "; it must be positive");
}

/// "radius r in a body of x times y times z m".
inline std::string radius_and_extents(const ClosedSurface& surface, double radius) {
  const Eigen::Vector3d size = surface.box().sizes();
  std::ostringstream text;
  text << "radius " << radius << " m in a body that measures " << size.x() << " x " << size.y() << " x "
       << size.z() << " m";
  return text.str();
}

[[noreturn]] inline void throw_nothing_fits(const ClosedSurface& surface, double radius,
                                            const std::string& cure) {
  throw InputError(surface.name(), "no particle fits: " + radius_and_extents(surface, radius) + "; " + cure);
}

[[noreturn]] inline void throw_too_many(const ClosedSurface& surface, double radius, double count) {
  std::ostringstream text;
  text << "about " << count << " particles, more than 2^31: " << radius_and_extents(surface, radius)
       << "; take a larger radius";
  throw InputError(surface.name(), text.str());
}

} // namespace recoil::particles
