#include "recoil/app/run/sealed_json.hpp"

#include <span>
#include <system_error>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/json_depth.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

std::uint32_t checksum_of(const std::string& text) { return crc32(std::as_bytes(std::span(text))); }

std::optional<std::string> read_if_there(const parallel::Communicator& comm, const fs::path& path) {
  std::optional<std::string> text;
  parallel::collectively(comm, [&] {
    std::error_code error;
    if (comm.rank() == 0 && fs::status(path, error).type() != fs::file_type::not_found)
      text = read_file(path);
  });
  if (!comm.any(text.has_value())) return {};
  if (!text) text.emplace();
  comm.broadcast(*text);
  return text;
}

void write_on_first(const parallel::Communicator& comm, const fs::path& path, const std::string& text) {
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) write_file_atomically(path, text);
  });
}

void write_sealed_json(const parallel::Communicator& comm, const fs::path& path, const Json& content) {
  const Json sealed{{"crc32", checksum_of(content.dump())}, {"content", content}};
  write_on_first(comm, path, sealed.dump(1) + "\n");
}

std::optional<Json> unsealed(const std::string& text, const fs::path& path) {
  require_shallow_json(text, path);
  try {
    const Json sealed = Json::parse(text);
    if (sealed.at("crc32") == checksum_of(sealed.at("content").dump())) return sealed.at("content");
  } catch (const nlohmann::json::exception&) {
  }
  return {};
}

SealedJson read_sealed_json(const parallel::Communicator& comm, const fs::path& path) {
  const std::optional<std::string> text = read_if_there(comm, path);
  return {text.has_value(), unsealed(text.value_or(""), path)};
}

} // namespace recoil::app
