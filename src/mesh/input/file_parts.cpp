#include "mesh/input/file_parts.hpp"

#include <algorithm>

namespace recoil::mesh {

FileParts::FileParts(const std::filesystem::path& path, std::int64_t window)
    : in_(path, std::ios::binary | std::ios::ate), window_(window) {
  if (!in_) throw InputError(path.string(), "does not open");
  size_ = std::int64_t(in_.tellg());
}

std::string_view FileParts::read(std::int64_t begin, std::int64_t end) {
  if (begin < 0 || begin > end || end > size_) throw InputError("a mesh file ends early");
  if (begin < first_ || end > first_ + std::ssize(buffer_)) {
    const std::int64_t bytes = std::min(size_ - begin, std::max(end - begin, window_));
    buffer_.resize(std::size_t(bytes));
    first_ = begin;
    in_.seekg(begin);
    if (!in_.read(buffer_.data(), bytes)) {
      buffer_.clear();
      throw InputError("a mesh file cannot be read");
    }
  }
  return std::string_view(buffer_).substr(std::size_t(begin - first_), std::size_t(end - begin));
}

std::optional<LineIndex> LineIndex::make(const parallel::Communicator& comm,
                                         const std::filesystem::path& path) {
  constexpr std::int64_t every = 256;
  std::vector<GlobalIndex> own; // lines counted here, and where they begin
  GlobalIndex lines = 0;
  const bool fine = all_succeed(comm, [&] {
    FileParts file(path, std::int64_t(1) << 20);
    const std::int64_t end = file.size() * (comm.rank() + 1) / comm.size();
    for (std::int64_t begin = file.size() * comm.rank() / comm.size(); begin < end;) {
      const std::string_view text = file.read(begin, std::min(end, begin + file.window()));
      for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
        if (lines++ % every == 0) own.insert(own.end(), {lines, begin + std::int64_t(at) + 1});
      begin += std::ssize(text);
    }
  });
  if (!fine) return {};
  const GlobalIndex before = comm.exclusive_scan(lines);
  for (std::size_t k = 0; k < own.size(); k += 2) own[k] += before;
  LineIndex index;
  const std::vector<GlobalIndex> all = comm.all_gather_parts(own);
  for (std::size_t k = 0; k < all.size(); k += 2) index.known_.emplace_back(all[k], all[k + 1]);
  return index;
}

std::int64_t LineIndex::byte_of(FileParts& file, std::int64_t line) const {
  auto near = std::ranges::upper_bound(known_, line, {}, &std::pair<std::int64_t, std::int64_t>::first) - 1;
  auto [at, byte] = *near;
  while (at < line) {
    const std::string_view text = file.read(byte, std::min(file.size(), byte + 4096));
    if (text.empty()) throw InputError("a mesh file has too few lines");
    std::size_t used = 0;
    for (; at < line; ++at) {
      const auto end = text.find('\n', used);
      if (end == std::string_view::npos) break;
      used = end + 1;
    }
    byte += std::int64_t(at == line ? used : text.size());
  }
  return byte;
}

} // namespace recoil::mesh
