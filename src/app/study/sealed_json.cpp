#include "app/study/sealed_json.hpp"

#include <system_error>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/read_file.hpp"

namespace recoil::app {

namespace {

std::uint32_t checksum(const nlohmann::ordered_json& content) {
  const std::string text = content.dump();
  return crc32(std::as_bytes(std::span(text)));
}

} // namespace

void write_sealed_json(const parallel::Communicator& comm, const std::filesystem::path& path,
                       const nlohmann::ordered_json& content) {
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    const nlohmann::ordered_json sealed{{"crc32", checksum(content)}, {"content", content}};
    write_file_atomically(path, sealed.dump(1) + "\n");
  });
}

SealedJson read_sealed_json(const parallel::Communicator& comm, const std::filesystem::path& path) {
  std::string text;
  SealedJson result;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    result.exists = std::filesystem::status(path, error).type() != std::filesystem::file_type::not_found;
    if (result.exists) text = read_file(path);
  });
  result.exists = comm.any(result.exists);
  comm.broadcast(text);
  try {
    const auto sealed = nlohmann::ordered_json::parse(text);
    if (sealed.at("crc32") == checksum(sealed.at("content"))) result.content = sealed.at("content");
  } catch (const nlohmann::json::exception&) {
    result.content.reset();
  }
  return result;
}

} // namespace recoil::app
