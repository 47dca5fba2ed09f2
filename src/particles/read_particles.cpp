#include "recoil/particles/read_particles.hpp"

#include <cmath>

#include "particles/readers.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::particles {

ParticleSet read_particles(const std::filesystem::path& path, const ParticleFileOptions& options) {
  const std::string extension = in_lower_case(path.extension().string());
  const bool csv = extension == ".csv", vtk = extension == ".vtk";
  if (!csv && !vtk && extension != ".lmp" && extension != ".data" && extension != ".lammps")
    throw InputError(path.string(),
                     "unknown particle format '" + extension +
                         "'; known are .csv, .lmp, .data and .lammps (LAMMPS data files), .vtk");
  if (options.bonds && !csv)
    throw InputError(path.string(), "the bonds in " + options.bonds->string() +
                                        " belong beside a CSV file of particles; this file has its own");
  if (options.radius && (!(*options.radius > 0) || !std::isfinite(*options.radius)))
    throw InputError(path.string(),
                     "particles of radius " + std::to_string(*options.radius) + "; it must be positive");
  const std::string content = read_input_file(path);
  FileCursor file = begin_of_text(content, path);
  return csv ? read_csv(file, options) : vtk ? read_vtk(file, options) : read_lammps(file, options);
}

} // namespace recoil::particles
