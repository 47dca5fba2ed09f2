#include <fstream>
#include <iterator>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/toy.hpp"
#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::checkpoint {
namespace {

using testing::differences;
using ::testing::HasSubstr;
using testing::run_toy;
using testing::TemporaryFolder;
using testing::Toy;

/// Runs `work` on the first `size` ranks, with a communicator of them.
template <class Work>
void on_ranks(int size, Work&& work) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &part);
  if (part != MPI_COMM_NULL) {
    work(parallel::Communicator(part));
    MPI_Comm_free(&part);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

class Trajectory : public ::testing::Test {
protected:
  Trajectory() : comm(MPI_COMM_WORLD), folder(comm) {}
  parallel::Communicator comm;
  TemporaryFolder folder;
};

TEST_F(Trajectory, IsReadOnAnyNumberOfRanks) {
  for (const int dim : {2, 3}) {
    const auto path = folder / ("dim" + std::to_string(dim));
    run_toy(comm, path, 6, 1, 4, dim);
    for (int size = 1; size <= comm.size(); ++size)
      on_ranks(size, [&](const parallel::Communicator& part) {
        TrajectoryReader reader(part, path);
        EXPECT_EQ(reader.metadata(), "{\"solver\":\"toy\",\"dim\":" + std::to_string(dim) + "}");
        EXPECT_EQ(reader.records().size(), 7u);
        EXPECT_EQ(reader.fields(3), (std::vector<std::string>{"u", "v", "pressure"}));
        EXPECT_EQ(differences(part, reader, dim, 1), "");
        reader.prefetch(6);
      });
  }
}

TEST_F(Trajectory, ClosesAFileWhenItIsFull) {
  // State 0 is closed by run_toy, then two states per file, the last one by the end of the run.
  run_toy(comm, folder / "t", 5, 1, 2);
  EXPECT_EQ(names_in(folder / "t"),
            (std::vector<std::string>{"manifest.json", "mesh.h5", "states_00000.h5", "states_00001.h5",
                                      "states_00002.h5", "states_00003.h5", "trajectory.xdmf"}));
  TrajectoryReader reader(comm, folder / "t");
  EXPECT_EQ(reader.restart_point().states, (std::vector<GlobalIndex>{5, 4, 3}));
  const auto reports = verify(comm, folder / "t");
  ASSERT_EQ(reports.size(), 5u);
  EXPECT_EQ(reports[2].states, 2);
  EXPECT_DOUBLE_EQ(reports[2].first_time, 0.1);
  EXPECT_DOUBLE_EQ(reports[2].last_time, 0.2);
  for (const FileReport& report : reports) {
    EXPECT_EQ(report.damage, "");
    EXPECT_EQ(report.bytes, std::filesystem::file_size(folder / "t" / report.name));
  }
}

TEST_F(Trajectory, WithoutFlushEndsAtTheLastFullFile) {
  run_toy(comm, folder / "t", 5, 1, 2, 3, 7, false);
  TrajectoryReader reader(comm, folder / "t");
  EXPECT_EQ(reader.records().size(), 5u);
  EXPECT_EQ(reader.restart_point().states.front(), 4);
  EXPECT_EQ(differences(comm, reader, 3, 7), "");
  EXPECT_EQ(names_in(folder / "t").size(), 6u) << "an unfinished file was left";
}

// State 5 is inside of a step, from where none can be taken: the file that it would fill takes state 6, too.
TEST_F(Trajectory, FilesEndWithNominalSteps) {
  for (const GlobalIndex last : {4, 5, 6, 7}) {
    const auto path = folder / ("to" + std::to_string(last));
    run_toy(comm, path, last, 1, 1, 3, 7, false);
    TrajectoryReader reader(comm, path);
    const GlobalIndex newest = reader.restart_point().states.front();
    EXPECT_EQ(newest, last == 5 ? 4 : last);
    EXPECT_TRUE(reader.records().back().completes_nominal);
    EXPECT_EQ(differences(comm, reader, 3, 7), "");
  }
}

// States between the stored ones are kept for the restart point only.
TEST_F(Trajectory, KeepsUnstoredStatesForTheRestart) {
  run_toy(comm, folder / "t", 13, 4, 2);
  TrajectoryReader reader(comm, folder / "t");
  EXPECT_EQ(reader.records().size(), 14u);
  std::string kinds;
  for (GlobalIndex id = 0; id <= 13; ++id)
    kinds += reader.is_stored(id) ? 's' : reader.has_arrays(id) ? 'h' : '-';
  // Files end at 0, at 8 (two stored states) and at 13 (the end); each has the two states before its last
  // one. The last state itself is stored in the second case only, and 12 is stored anyway.
  EXPECT_EQ(kinds, "s---s-hhs--hsh");
  EXPECT_EQ(reader.fields(13), (std::vector<std::string>{"u", "v"}));
  EXPECT_EQ(reader.restart_point().states, (std::vector<GlobalIndex>{13, 12, 11}));
  EXPECT_EQ(differences(comm, reader, 3, 7), "");
}

TEST_F(Trajectory, ContinuesToTheSameBitsOnOtherRanks) {
  for (const int every : {1, 3}) {
    const auto path = folder / ("every" + std::to_string(every));
    GlobalIndex last = 0;
    for (int size = comm.size(); size >= 1; --size) {
      last += 5;
      on_ranks(size, [&](const parallel::Communicator& part) { run_toy(part, path, last, every, 2); });
    }
    run_toy(comm, path, last + 9, every, 4);
    TrajectoryReader reader(comm, path);
    ASSERT_EQ(static_cast<GlobalIndex>(reader.records().size()), last + 10);
    EXPECT_EQ(differences(comm, reader, 3, 7), "");
    for (GlobalIndex id = 0; id <= last + 9; ++id) EXPECT_EQ(reader.is_stored(id), id % every == 0) << id;
  }
}

TEST_F(Trajectory, IsRefusedWhereThereIsOne) {
  run_toy(comm, folder / "t", 2, 1, 2);
  EXPECT_THROW(TrajectoryWriter(comm, folder / "t", {}), InputError);
}

TEST_F(Trajectory, StartsAnewWhereARunDiedBeforeItsFirstFile) {
  if (comm.rank() == 0) {
    std::filesystem::create_directory(folder / "t");
    for (const char* name : {"mesh.h5", "mesh.h5.part", "states_00000.h5"})
      std::ofstream(folder / "t" / name) << "junk";
  }
  comm.barrier();
  EXPECT_FALSE(TrajectoryReader::exists(comm, folder / "t"));
  EXPECT_THROW(TrajectoryReader(comm, folder / "t"), FileError);
  run_toy(comm, folder / "t", 3, 1, 2);
  TrajectoryReader reader(comm, folder / "t");
  EXPECT_EQ(differences(comm, reader, 3, 7), "");
}

TEST_F(Trajectory, RemovesLeftoversAndAnAbandonedFuture) {
  run_toy(comm, folder / "t", 9, 1, 2); // files end at 0, 2, 4, 6, 8, 9
  TrajectoryReader reader(comm, folder / "t");
  if (comm.rank() == 0) {
    std::ofstream(folder / "t/states_00006.h5") << "renamed, but not yet in the manifest";
    std::ofstream(folder / "t/states_00007.h5.part") << "half";
    std::filesystem::remove(folder / "t/states_00003.h5"); // holds 5 and 6, needed by 6 and 8
    std::ofstream(folder / "t/notes.txt") << "the user's";
  }
  comm.barrier();
  const RestartPoint point = TrajectoryReader(comm, folder / "t").restart_point();
  // 9 needs 8 and 7, whose file is there; 8 would need 6.
  EXPECT_EQ(point.states.front(), 9);
  EXPECT_EQ(point.warning, "");
  if (comm.rank() == 0) std::filesystem::remove(folder / "t/states_00005.h5");
  comm.barrier();
  const RestartPoint before = TrajectoryReader(comm, folder / "t").restart_point();
  EXPECT_EQ(before.states.front(), 4);
  EXPECT_THAT(before.warning, HasSubstr("states_00005.h5"));
  run_toy(comm, folder / "t", 7, 1, 2);
  EXPECT_EQ(
      names_in(folder / "t"),
      (std::vector<std::string>{"manifest.json", "mesh.h5", "notes.txt", "states_00000.h5", "states_00001.h5",
                                "states_00002.h5", "states_00003.h5", "states_00004.h5", "trajectory.xdmf"}));
  TrajectoryReader again(comm, folder / "t");
  EXPECT_EQ(again.records().size(), 8u);
  EXPECT_EQ(differences(comm, again, 3, 7), "");
}

TEST_F(Trajectory, RefusesAnotherMesh) {
  run_toy(comm, folder / "t", 2, 1, 2);
  TrajectoryReader reader(comm, folder / "t");
  const io::BlockLayout other(comm, testing::random_ids(59, comm.rank(), comm.size(), 1));
  EXPECT_THROW(reader.read(1, "u", other), FileError);
  EXPECT_THROW(reader.read_static<std::int64_t>("node_ids", other), FileError);
  const Toy toy(comm, 3, 7);
  EXPECT_THROW(reader.read_static<double>("node_ids", toy.nodes()), FileError);
  EXPECT_THROW(reader.read_static<double>("none", toy.nodes()), FileError);
  EXPECT_THROW(reader.read(1, "none", toy.nodes()), FileError);
}

// What ParaView does: follow every reference and take its shape and type at its word.
TEST_F(Trajectory, XdmfRefersToWhatIsThere) {
  for (const int dim : {2, 3}) {
    const auto path = folder / ("dim" + std::to_string(dim));
    run_toy(comm, path, 4, 1, 2, dim);
    run_toy(comm, path, 7, 2, 2, dim); // appended by another process
    if (comm.rank() != 0) continue;
    std::ifstream file(path / "trajectory.xdmf");
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::regex item(
        "<DataItem Dimensions=\"([0-9]+) ?([0-9]*)\" NumberType=\"(Int|Float)\" Precision=\"([48])\" "
        "Format=\"HDF\">([^:]+):/([^<]+)</DataItem>");
    int followed = 0;
    for (std::sregex_iterator at(text.begin(), text.end(), item), end; at != end; ++at, ++followed) {
      const auto& match = *at;
      const io::Hdf5Reader reader(path / match[5].str());
      const io::ArrayShape shape = reader.shape(match[6]);
      EXPECT_EQ(shape.rows, std::stol(match[1]));
      EXPECT_EQ(shape.columns, match[2].length() ? std::stoi(match[2]) : 1);
      const auto type = match[3] == "Float" ? io::ElementType::float64
                        : match[4] == "4"   ? io::ElementType::int32
                                            : io::ElementType::int64;
      EXPECT_EQ(shape.type, type);
    }
    // Per stored state (0..4 and 6): topology, geometry, body, u, v, pressure.
    EXPECT_EQ(followed, 6 * 6);
    const std::regex time("<Time Value=\"([^\"]+)\"/>");
    std::vector<double> times;
    for (std::sregex_iterator at(text.begin(), text.end(), time), end; at != end; ++at)
      times.push_back(std::stod((*at)[1]));
    EXPECT_THAT(times, ::testing::ElementsAre(0, 0.1, 0.2, 0.1 * 3, 0.4, 0.1 * 6));

    const io::Hdf5Reader mesh(path / "mesh.h5");
    const Toy toy(parallel::Communicator(MPI_COMM_SELF), dim, 7);
    std::vector<std::int64_t> expected;
    for (GlobalIndex cell = 0; cell < Toy::cell_count; ++cell) {
      const io::CellShape shape = toy.shape_of(cell, dim == 2);
      if (dim == 2) expected.push_back(static_cast<std::int64_t>(shape));
      for (int n = 0; n < io::node_count(shape); ++n) expected.push_back(Toy::node_of(cell, n));
    }
    EXPECT_EQ(mesh.read_rows<std::int64_t>("connectivity", 0, mesh.shape("connectivity").rows), expected);
    EXPECT_THAT(text, HasSubstr(dim == 2 ? "TopologyType=\"Mixed\"" : "TopologyType=\"Tetrahedron\""));
    const auto u = io::Hdf5Reader(path / "states_00000.h5").read_rows<double>("states/0/u", 0, 1);
    EXPECT_EQ(u.size(), 3u) << "plane vectors are drawn with three components";
    EXPECT_DOUBLE_EQ(u[2], dim == 2 ? 0.0 : std::cos(200.0));
  }
}

} // namespace
} // namespace recoil::checkpoint
