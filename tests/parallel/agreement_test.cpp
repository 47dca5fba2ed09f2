#include <stdexcept>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/parallel/communicator.hpp"

using namespace recoil;
using namespace recoil::parallel;

namespace {

class Agreement : public ::testing::Test {
protected:
  Communicator comm{MPI_COMM_WORLD};
};

// Type and text of what `work` throws.
template <class Work>
std::string thrown(Work&& work) {
  try {
    work();
  } catch (const InputError& error) {
    return std::string("InputError ") + error.what();
  } catch (const FileError& error) {
    return std::string("FileError ") + error.what();
  } catch (const LibraryError& error) {
    return std::string("LibraryError ") + error.what();
  } catch (const Error& error) {
    return "Error " + std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "nothing";
}

} // namespace

TEST_F(Agreement, silence_is_agreement) {
  EXPECT_EQ(thrown([&] { agree(comm, 2, ""); }), "nothing");
  int calls = 0;
  collectively(comm, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST_F(Agreement, the_error_of_one_rank_reaches_all) {
  for (int guilty = 0; guilty < comm.size(); ++guilty) {
    const bool mine = comm.rank() == guilty;
    const std::string name = std::to_string(guilty);
    EXPECT_EQ(thrown([&] {
                collectively(comm, [&] {
                  if (mine) throw InputError("scene.json", "bad value on " + name);
                });
              }),
              "InputError scene.json: bad value on " + name);
    EXPECT_EQ(thrown([&] {
                collectively(comm, [&] {
                  if (mine) throw FileError("disk " + name);
                });
              }),
              "FileError disk " + name);
    EXPECT_EQ(thrown([&] {
                collectively(comm, [&] {
                  if (mine) throw std::runtime_error("");
                });
              }),
              "LibraryError error inside recoil, please report it");
    EXPECT_EQ(thrown([&] { agree(comm, 3, mine ? "no solution" : ""); }), "Error 3 no solution");
  }
}

TEST_F(Agreement, the_lowest_rank_speaks_for_all) {
  const std::string last = std::to_string(comm.size() - 1), mine = std::to_string(comm.rank());
  EXPECT_EQ(thrown([&] { collectively(comm, [&] { throw FileError("rank " + mine); }); }),
            "FileError rank 0");
  const auto from_the_end = [&] {
    collectively(comm, [&] {
      if (comm.rank() + 2 >= comm.size()) throw FileError("rank " + mine);
    });
  };
  EXPECT_EQ(thrown(from_the_end), "FileError rank " + std::to_string(std::max(0, comm.size() - 2)));
}

TEST_F(Agreement, returns_what_the_work_returns) {
  const std::string text = collectively(comm, [&] { return std::to_string(comm.rank()); });
  EXPECT_EQ(text, std::to_string(comm.rank()));
  struct MoveOnly {
    std::unique_ptr<int> value; // and no default constructor
    explicit MoveOnly(int v) : value(std::make_unique<int>(v)) {}
  };
  EXPECT_EQ(*collectively(comm, [] { return MoveOnly(5); }).value, 5);
}

TEST_F(Agreement, the_communicator_serves_on_after_an_error) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_NE(thrown([&] { agree(comm, 2, comm.rank() == i % comm.size() ? "x" : ""); }), "nothing");
    EXPECT_EQ(comm.sum(GlobalIndex(1)), comm.size());
  }
}
