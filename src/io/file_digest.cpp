#include <string>
#include <system_error>

#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::io {

FileDigest digest(const parallel::Communicator& comm, const std::filesystem::path& path) {
  const GlobalIndex bytes = parallel::collectively(comm, [&] {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) throw FileError(path.string() + ": cannot read the file: " + error.message());
    return size;
  });
  // A file that changes while it is read has no digest, but the ranks must agree on how it is divided.
  const GlobalIndex size = comm.min(bytes);
  const auto begin = [&](int rank) { return block_begin(size, rank, comm.size()); };
  const GlobalIndex mine = begin(comm.rank() + 1) - begin(comm.rank());
  const std::uint32_t part =
      parallel::collectively(comm, [&] { return file_crc32(path, begin(comm.rank()), mine); });
  const auto parts = comm.all_gather(GlobalIndex{part});
  FileDigest result{static_cast<std::uint64_t>(size), static_cast<std::uint32_t>(parts[0])};
  for (int rank = 1; rank < comm.size(); ++rank)
    result.crc32 =
        crc32_combine(result.crc32, static_cast<std::uint32_t>(parts[rank]), begin(rank + 1) - begin(rank));
  return result;
}

} // namespace recoil::io
