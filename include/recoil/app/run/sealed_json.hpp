#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

using Json = nlohmann::ordered_json;

/// CRC-32 of a text.
std::uint32_t checksum_of(const std::string& text);

/// The text of a file on every rank; none where there is no such file. Collective; rank 0 reads.
/// @throws FileError on every rank for a file that is there and cannot be read.
std::optional<std::string> read_if_there(const parallel::Communicator& comm,
                                         const std::filesystem::path& path);

/// Replaces `path` atomically. Collective; rank 0 writes. @throws FileError on every rank.
void write_on_first(const parallel::Communicator& comm, const std::filesystem::path& path,
                    const std::string& text);

/// Replaces `path` atomically by {"crc32": .., "content": `content`}. As write_on_first().
void write_sealed_json(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const Json& content);

/// The content in a text of write_sealed_json(); none if its checksum does not hold. Not collective.
/// @throws FileError naming `path` for a text that is nested deeper than anything that recoil writes.
std::optional<Json> unsealed(const std::string& text, const std::filesystem::path& path);

/// What a sealed file holds, on every rank; `exists` tells an absent file from a damaged one.
struct SealedJson {
  bool exists = false;
  std::optional<Json> content; ///< none where it is absent or its checksum does not hold
};

/// Reads a sealed file. Collective; rank 0 reads. @throws as read_if_there().
SealedJson read_sealed_json(const parallel::Communicator& comm, const std::filesystem::path& path);

} // namespace recoil::app
