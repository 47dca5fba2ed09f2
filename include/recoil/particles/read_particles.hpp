#pragma once

#include <filesystem>
#include <optional>

#include "recoil/particles/particle_set.hpp"

namespace recoil::particles {

struct ParticleFileOptions {
  std::optional<std::filesystem::path> bonds; ///< CSV file of bonds, only beside a CSV file of particles
  std::optional<double> radius;               ///< [m] of the particles of files without radii
};

/// Reads particles, their bodies and bonds; the extension decides the format. Lengths are taken as metres.
/// Volumes, where the file has none, are those of the spheres. A file that knows no bodies makes one, named
/// as the file without its extension.
///
/// `.csv`: a header with `x`, `y`, `z`, `radius` and, if wanted, `body` (a name) and `volume`, in any order,
/// then one row per particle. Bonds are rows `i,j` below a header of these names, particles counting from 0,
/// with columns `E` [Pa], `nu`, `tensile_strength` and `shear_strength` [Pa] for what is their own.
/// Lines that begin with # are skipped.
///
/// `.lmp`, `.data`, `.lammps`: LAMMPS data file of atom style `sphere`, `bpm/sphere` or `bond`, named behind
/// `Atoms #` or told by the number of columns; particles in the order of their ids. Images of periodic boxes
/// are unfolded. Molecules become bodies `molecule <id>`, densities are not used.
///
/// `.vtk`: legacy VTK file, versions 1 to 5, ASCII or binary: POLYDATA with lines as bonds, or
/// UNSTRUCTURED_GRID with line and polyline cells as bonds (vertex cells are skipped); point data `radius`
/// and, if wanted, `body` (integers, which become `body <number>`) and `volume`.
/// @throws InputError with file:line (binary: file and byte) for whatever cannot be read: absent or damaged
/// files, missing columns, radii that are not positive, bonds with themselves, with particles that do not
/// exist, between particles at one place, or given twice.
/// @note Serial.
ParticleSet read_particles(const std::filesystem::path& path, const ParticleFileOptions& options = {});

} // namespace recoil::particles
