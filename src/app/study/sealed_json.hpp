#pragma once

#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>

#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// Replaces `path` atomically by {"crc32": .., "content": `content`}. Collective; rank 0 writes.
/// @throws FileError on every rank.
void write_sealed_json(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const nlohmann::ordered_json& content);

/// What a sealed file holds, on every rank; `exists` tells an absent file from a damaged one.
struct SealedJson {
  bool exists = false;
  std::optional<nlohmann::ordered_json> content; ///< none where it is absent or its checksum does not hold
};

/// Collective; rank 0 reads. @throws FileError on every rank for a file that is there and cannot be read.
SealedJson read_sealed_json(const parallel::Communicator& comm, const std::filesystem::path& path);

} // namespace recoil::app
