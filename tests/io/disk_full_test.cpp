#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/limited_file_size.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::io {
namespace {

using ::testing::HasSubstr;
using testing::LimitedFileSize;
using testing::TemporaryFolder;

/// Writes arrays until one fails; the message, the same on all ranks.
std::string first_failure(const parallel::Communicator& comm, const std::filesystem::path& path,
                          std::size_t rows) {
  const std::vector<double> values(rows, 1.5);
  try {
    Hdf5Writer file(comm, path);
    for (int number = 0; number < 20; ++number)
      file.write_rows<double>(std::string(1, 'a') + std::to_string(number), values, 1);
    file.close();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no failure";
}

// A rank that waits for others in a collective call of its library would hang here.
TEST(DiskFull, IsAFileErrorOnAllRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  for (const std::size_t limit :
       {std::size_t(100), std::size_t(5'000), std::size_t(1'500'000), std::size_t(4'000'000)}) {
    std::optional<LimitedFileSize> full(limit);
    const std::string message = first_failure(comm, folder / "file.h5", 100'000);
    full.reset();
    EXPECT_THAT(message, HasSubstr((folder / "file.h5").string()));
    EXPECT_THAT(message, HasSubstr("File too large"));
    EXPECT_EQ(first_failure(comm, folder / "next.h5", 10), "no failure");
  }
}

TEST(DiskFull, OfOneRankIsAFileErrorOnAllRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  for (int rank = 0; rank < comm.size(); ++rank) {
    std::optional<LimitedFileSize> full;
    if (comm.rank() == rank) full.emplace(1'500'000);
    // Every rank has some chunks, all but those of the first begin beyond the limit.
    const std::string message = first_failure(comm, folder / "file.h5", 500'000);
    full.reset();
    EXPECT_THAT(message, HasSubstr((folder / "file.h5").string()));
    EXPECT_THAT(message, HasSubstr("File too large"));
    EXPECT_EQ(first_failure(comm, folder / "next.h5", 10), "no failure");
  }
}

} // namespace
} // namespace recoil::io
