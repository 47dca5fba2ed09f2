#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "recoil/base/file_cursor.hpp"
#include "recoil/particles/read_particles.hpp"

namespace recoil::particles {

/// At the begin of a text, behind a byte order mark if it has one.
FileCursor begin_of_text(std::string_view content, const std::filesystem::path& path);

/// The number that all of `word` is. @throws InputError at `position` unless it is one and finite.
double parse_number(const FileCursor& file, std::size_t position, std::string_view word, const char* what);
std::int64_t parse_integer(const FileCursor& file, std::size_t position, std::string_view word,
                           const char* what);

// One reader per format, behind read_particles().
ParticleSet read_csv(FileCursor& file, const ParticleFileOptions& options);
ParticleSet read_lammps(FileCursor& file, const ParticleFileOptions& options);
ParticleSet read_vtk(FileCursor& file, const ParticleFileOptions& options);

} // namespace recoil::particles
