#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/distribution.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "support/hdf5_array.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::io {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

template <class T>
T value_at(GlobalIndex row, int column) {
  return static_cast<T>(row * 7 - 3 * column);
}

/// Rows begin..end-1 of the test array.
template <class T>
std::vector<T> rows_of(GlobalIndex begin, GlobalIndex end, int columns) {
  std::vector<T> rows;
  for (GlobalIndex row = begin; row < end; ++row)
    for (int c = 0; c < columns; ++c) rows.push_back(value_at<T>(row, c));
  return rows;
}

/// Uneven consecutive parts: the rank `empty` has none, others have shares growing with the rank.
std::pair<GlobalIndex, GlobalIndex> uneven_part(GlobalIndex rows, int rank, int size, int empty) {
  std::vector<GlobalIndex> weight;
  GlobalIndex total = 0;
  for (int r = 0; r < size; ++r) total += r == empty && size > 1 ? 0 : r + 1;
  GlobalIndex before = 0;
  for (int r = 0; r < rank; ++r) before += r == empty && size > 1 ? 0 : r + 1;
  const GlobalIndex here = rank == empty && size > 1 ? 0 : rank + 1;
  return {rows * before / total, rows * (before + here) / total};
}

template <class T>
void check_round_trip(const parallel::Communicator& comm, GlobalIndex rows, int columns, int empty) {
  const TemporaryFolder folder(comm);
  const auto path = folder / "file.h5";
  const auto [begin, end] = uneven_part(rows, comm.rank(), comm.size(), empty);
  {
    Hdf5Writer file(comm, path);
    file.write_rows<T>("a/b/values", rows_of<T>(begin, end, columns), columns);
    file.write_attribute("a/b", "note", "text with \"quotes\" and µ");
    file.close();
  }
  const Hdf5Reader file(path);
  EXPECT_TRUE(file.contains("a/b/values"));
  EXPECT_FALSE(file.contains("a/x/values"));
  EXPECT_EQ(file.children("a"), std::vector<std::string>{"b"});
  EXPECT_EQ(file.read_attribute("a/b", "note"), "text with \"quotes\" and µ");
  const ArrayShape shape = file.shape("a/b/values");
  EXPECT_EQ(shape.rows, rows);
  EXPECT_EQ(shape.columns, columns);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const GlobalIndex from = block_begin(rows, rank, comm.size()),
                      to = block_begin(rows, rank + 1, comm.size());
    EXPECT_EQ(file.read_rows<T>("a/b/values", from, to), rows_of<T>(from, to, columns));
  }
}

TEST(Hdf5File, GivesBackRowsOfUnevenAndEmptyRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (int empty = 0; empty < comm.size(); ++empty)
    for (const GlobalIndex rows : {0, 1, 5, 1000}) {
      check_round_trip<double>(comm, rows, 3, empty);
      check_round_trip<std::int32_t>(comm, rows, 1, empty);
      check_round_trip<std::int64_t>(comm, rows, 4, empty);
    }
}

TEST(Hdf5File, GivesBackArraysOfManyChunks) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  check_round_trip<double>(comm, 300'001, 3, 0);
  check_round_trip<std::int32_t>(comm, 1'000'003, 1, comm.size() - 1);
}

TEST(Hdf5File, BytesDoNotDependOnTheDistribution) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  std::vector<FileDigest> digests;
  for (const int empty : {0, comm.size() - 1}) {
    const auto [begin, end] = uneven_part(200'000, comm.rank(), comm.size(), empty);
    Hdf5Writer file(comm, folder / "file.h5");
    file.write_rows<double>("values", rows_of<double>(begin, end, 3), 3);
    file.close();
    const Hdf5Reader reader(folder / "file.h5");
    EXPECT_EQ(reader.read_rows<double>("values", 0, 200'000), rows_of<double>(0, 200'000, 3));
    digests.push_back(digest(comm, folder / "file.h5"));
  }
  EXPECT_EQ(digests[0], digests[1]);
}

TEST(Hdf5File, DigestIsThatOfTheWholeFile) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  for (const std::string& content : {std::string(), std::string("x"), std::string(100'000, 'q') + "end"}) {
    if (comm.rank() == 0) std::ofstream(folder / "file") << content;
    comm.barrier();
    const FileDigest found = digest(comm, folder / "file");
    EXPECT_EQ(found.bytes, content.size());
    EXPECT_EQ(found.crc32, crc32(std::as_bytes(std::span(content))));
    comm.barrier();
  }
  EXPECT_THROW(digest(comm, folder / "none"), FileError);
}

/// Message of the FileError that `work` throws.
template <class Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no FileError";
}

TEST(Hdf5File, ChecksumOfTheChunkCatchesAFlippedBit) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  const auto path = folder / "file.h5";
  const auto [begin, end] = uneven_part(400'000, comm.rank(), comm.size(), -1);
  Hdf5Writer file(comm, path);
  file.write_rows<double>("values", rows_of<double>(begin, end, 1), 1);
  file.close();
  if (comm.rank() == 0) {
    std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(2'000'000);
    const char byte = static_cast<char>(bytes.get() ^ 4);
    bytes.seekp(2'000'000);
    bytes.put(byte);
  }
  comm.barrier();
  const Hdf5Reader reader(path);
  const std::string message = message_of([&] { reader.read_rows<double>("values", 0, 400'000); });
  EXPECT_THAT(message, HasSubstr(path.string()));
  EXPECT_THAT(message, HasSubstr("'values'"));
  EXPECT_THAT(message, HasSubstr("fletcher32"));
}

TEST(Hdf5File, ErrorsNamePathArrayAndReason) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  const auto path = folder / "file.h5";
  EXPECT_THAT(message_of([&] { Hdf5Reader reader(path); }), HasSubstr(path.string()));
  EXPECT_THAT(message_of([&] { Hdf5Reader reader(path); }), HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { Hdf5Writer writer(comm, folder / "none/file.h5"); }),
              HasSubstr("No such file"));
  Hdf5Writer file(comm, path);
  file.write_rows<double>("values", rows_of<double>(0, 2, 1), 1);
  EXPECT_THAT(message_of([&] { file.write_rows<double>("values", rows_of<double>(0, 2, 1), 1); }),
              HasSubstr("'values'"));
  file.close();
  const Hdf5Reader reader(path);
  EXPECT_THAT(message_of([&] { reader.read_rows<double>("other", 0, 1); }), HasSubstr("'other'"));
  EXPECT_THAT(message_of([&] { reader.read_rows<std::int32_t>("values", 0, 1); }), HasSubstr("element type"));
  EXPECT_THAT(message_of([&] { reader.read_rows<double>("values", 0, 100); }), HasSubstr("rows"));
  EXPECT_THAT(message_of([&] { reader.read_attribute("/", "none"); }), HasSubstr("'none'"));
}

// As other programs write them.
TEST(Hdf5File, ArraysOfAnyDimensionAndNumber) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  std::vector<double> entries;
  for (int i = 0; i < 24; ++i) entries.push_back(i - 7);
  int file_number = 0;
  for (const hid_t type : {H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_STD_I16LE}) {
    const auto path = folder / (std::to_string(file_number++) + ".h5");
    if (comm.rank() == 0)
      testing::write_arrays(path, {{"a", {{2, 3, 4}, entries}}, {"one", {{}, {5}}}}, type);
    comm.barrier();
    const Hdf5Reader file(path);
    EXPECT_EQ(file.extents("a"), (std::vector<GlobalIndex>{2, 3, 4}));
    EXPECT_EQ(file.read_all("a"), entries);
    EXPECT_TRUE(file.extents("one").empty());
    EXPECT_EQ(file.read_all("one"), std::vector<double>{5});
    EXPECT_THAT(message_of([&] { static_cast<void>(file.shape("a")); }),
                HasSubstr("neither a list nor a table"));
    EXPECT_THAT(message_of([&] { static_cast<void>(file.extents("b")); }), HasSubstr("'b'"));
  }
}

TEST(Hdf5File, AnUnfinishedFileDoesNotHinderTheNext) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  const auto path = folder / "file.h5";
  {
    Hdf5Writer file(comm, path);
    file.write_rows<double>("values", rows_of<double>(0, 2, 1), 1);
  }
  comm.barrier();
  check_round_trip<double>(comm, 10, 1, 0);
  Hdf5Writer file(comm, path);
  file.write_rows<double>("values", rows_of<double>(0, 2, 1), 1);
  file.close();
  EXPECT_EQ(Hdf5Reader(path).shape("values").rows, 2 * comm.size());
}

} // namespace
} // namespace recoil::io
