#pragma once

#include <string>

#include "recoil/particles/particle_set.hpp"

namespace recoil::particles {

/// A body as the two CSV files that read_particles() takes.
struct CsvTables {
  std::string particles, bonds;
};

/// Body number `body` of a set, which reading gives back to the bit. Bonds have a column for each constant
/// that is their own; all of the body have it or none. Serial.
CsvTables csv_tables(const ParticleSet& set, std::int32_t body);

} // namespace recoil::particles
