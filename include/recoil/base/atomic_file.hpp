#pragma once

#include <filesystem>
#include <string_view>

/// Files that are complete or absent, whatever ends the program or the machine. Nothing here is collective:
/// one rank calls it. All functions throw FileError with the path and the system's reason ("No space left on
/// device").
namespace recoil {

/// Replaces or creates `path` with `text`: writes "<name>.part" in the same folder, syncs it, renames it,
/// syncs the folder. On failure the old file stands and the part is removed. The folder must exist.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Adds `bytes` to the end of a file, which it makes where there is none; a link is not followed. False where
/// that fails, with errno; does not throw.
bool append_to_file(const std::filesystem::path& path, std::string_view bytes);

/// Brings the contents of a file to the disk. A FileError here may be the first news of a full disk.
void fsync_file(const std::filesystem::path& path);

/// Brings names created, renamed or removed in a folder to the disk; does nothing on file systems that
/// cannot.
void fsync_folder(const std::filesystem::path& folder);

/// Renames a synced file over `to`, which is replaced at once, and syncs the folders concerned.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

} // namespace recoil
