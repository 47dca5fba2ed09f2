#pragma once

#include <cmath>
#include <random>

#include "recoil/solvers/async_contact/model.hpp"

namespace recoil::solvers::async_contact::testing {

/// Discs of radius 1 cm on a grid in a square box, with random velocities of up to 10 m/s.
inline Model random_discs(int count, double size, double restitution) {
  Model model;
  const int rows = static_cast<int>(std::lround(std::sqrt(count)));
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> number(0, 1);
  for (int i = 0; i < count; ++i) {
    const double speed = 10 * number(generator), angle = 2 * M_PI * number(generator);
    model.add_sphere({(i % rows + 0.5) * size / rows, (i / rows + 0.5) * size / rows, 0},
                     {speed * std::cos(angle), speed * std::sin(angle), 0}, 1, 0.01);
  }
  model.add_plane({0, 0, 0}, {1, 0, 0});
  model.add_plane({0, 0, 0}, {0, 1, 0});
  model.add_plane({size, 0, 0}, {-1, 0, 0});
  model.add_plane({0, size, 0}, {0, -1, 0});
  model.contact = {.eta = 1e-3, .stiffness = 1e7, .alpha = 0.01, .restitution = restitution};
  return model;
}

} // namespace recoil::solvers::async_contact::testing
