#include "recoil/objectives/observations.hpp"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::objectives {
namespace {

using ::testing::HasSubstr;

class Observations : public ::testing::Test {
protected:
  std::filesystem::path file(const std::string& content) {
    const auto path = folder_ / "points.csv";
    comm_.barrier();
    if (comm_.rank() == 0) std::ofstream(path, std::ios::binary) << content;
    comm_.barrier();
    return path;
  }
  template <int dim>
  std::string refusal(const std::string& content) {
    return refusal_of([&] { read_track<dim>(comm_, file(content)); });
  }
  std::string marker_refusal(const std::string& content) {
    return refusal_of([&] { read_marker_tracks<2>(comm_, file(content), {"nose", "tail"}); });
  }
  template <class Act>
  std::string refusal_of(Act&& act) {
    try {
      act();
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  parallel::Communicator comm_{MPI_COMM_WORLD};
  testing::TemporaryFolder folder_{comm_};
};

TEST_F(Observations, TracksAreReadAndInterpolated) {
  const auto track =
      read_track<2>(comm_, file("time,x,y,sd\n0,1,2,0.1\n0.5,+2,-4e0,0.3\r\n2 , 3, 4,0.1\n\n"));
  ASSERT_EQ(track.times, (std::vector<double>{0, 0.5, 2}));
  const auto sample = track.at(0.25);
  EXPECT_NEAR(sample.position[0], 1.5, 1e-15);
  EXPECT_NEAR(sample.position[1], -1, 1e-15);
  EXPECT_NEAR(sample.sd, 0.2, 1e-15);
  EXPECT_EQ(track.at(0.5).position[1], -4);
  EXPECT_EQ(track.at(2).position[1], 4);
  EXPECT_EQ(track.at(2 + 1e-12).position[1], 4);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(track.at(2.001)); }),
              HasSubstr("points.csv: no observation at time 2.001 s"));
  EXPECT_THROW(static_cast<void>(track.at(-0.001)), InputError);
  EXPECT_THROW(static_cast<void>(track.at(std::nan(""))), InputError);

  const auto spatial = read_track<3>(comm_, file("time,x,y,z\n1,2,3,4"));
  EXPECT_EQ(spatial.at(1).position, Eigen::Vector3d(2, 3, 4));
  EXPECT_EQ(spatial.at(1).sd, 1);
  EXPECT_EQ(Track<3>::constant({1, 2, 3}).at(77).position, Eigen::Vector3d(1, 2, 3));
}

TEST_F(Observations, NumbersHaveColumnsOfTheirOwn) {
  const auto strain = [&](const std::string& content) {
    return read_track<1>(comm_, file(content), {"strain"});
  };
  const auto track = strain("time,strain,sd\n0,0.1,0.5\n1,0.3,1\n");
  EXPECT_NEAR(track.at(0.5).position[0], 0.2, 1e-15);
  EXPECT_NEAR(track.at(0.5).sd, 0.75, 1e-15);
  EXPECT_EQ(strain("time,strain\n2,-1\n").at(2).sd, 1);
  EXPECT_THAT(refusal_of([&] { strain("time,x\n0,1\n"); }),
              HasSubstr("must be 'time,strain' or 'time,strain,sd'"));
}

TEST_F(Observations, MarkersHaveTracksOfTheirOwn) {
  const auto tracks = read_marker_tracks<2>(
      comm_, file("time,marker,x,y\n0,tail,1,2\n0,nose,3,4\n1,tail,5,6\n3,nose,7,8\n"), {"nose", "tail"});
  EXPECT_EQ(tracks.at("tail").at(1).position, Eigen::Vector2d(5, 6));
  EXPECT_EQ(tracks.at("nose").at(1.5).position, Eigen::Vector2d(5, 6));
  EXPECT_THAT(refusal_of([&] { static_cast<void>(tracks.at("tail").at(2)); }), HasSubstr("marker 'tail'"));
}

TEST_F(Observations, RefusalsNameFileAndLine) {
  EXPECT_THAT(refusal_of([&] { read_track<2>(comm_, folder_ / "none.csv"); }), HasSubstr("none.csv:1: "));
  EXPECT_THAT(refusal_of([&] { read_track<2>(comm_, folder_.path()); }), HasSubstr("folder"));
  EXPECT_THAT(refusal<2>(""), HasSubstr("points.csv:1: the header is ''"));
  EXPECT_THAT(refusal<2>("t,x,y\n0,1,2\n"),
              HasSubstr("points.csv:1: the header is 't,x,y' but must be 'time,x,y'"));
  EXPECT_THAT(refusal<2>("time,x,y,z\n0,1,2,3\n"), HasSubstr(":1: the header"));
  EXPECT_THAT(refusal<3>("time,x,y\n0,1,2\n"), HasSubstr("'time,x,y,z,sd' in 3D"));
  EXPECT_THAT(refusal<2>("time,x,y,sd,w\n0,1,2,1,1\n"), HasSubstr(":1: the header"));
  EXPECT_THAT(refusal<2>("\ntime,x,y\n0,1,2\n"), HasSubstr(":1: the header"));
  EXPECT_THAT(refusal<2>("time,x,y\n"), HasSubstr("no observation"));
  EXPECT_THAT(refusal<2>("time,x,y\n0,1,2\n1,2\n"),
              HasSubstr("points.csv:3: the row has 2 columns, the header 3"));
  EXPECT_THAT(refusal<2>("time,x,y\n0,1,2,3\n"), HasSubstr(":2: the row has 4 columns"));
  EXPECT_THAT(refusal<2>("time,x,y\n0,1,2\n\n1,2,3\n"), HasSubstr(":3: the row has 1 columns"));
  EXPECT_THAT(refusal<2>("time,x,y\n0,1,2\n0,2,3\n"), HasSubstr(":3: time 0 does not come after"));
  EXPECT_THAT(refusal<2>("time,x,y\n1,1,2\n0.5,2,3\n"), HasSubstr("times must increase"));
  for (const char* word : {"one", "1x", "", "nan", "inf", "1e999", "0x10", "1 2", "+-1"})
    EXPECT_THAT(refusal<2>("time,x,y\n0,1,2\n1," + std::string(word) + ",2\n"),
                HasSubstr(":3: '" + std::string(word) + "' in column 'x' is not a finite number"));
  EXPECT_THAT(refusal<2>("time,x,y,sd\n0,1,2,0\n"), HasSubstr(":2: sd is 0; it must be positive"));
  EXPECT_THAT(refusal<2>("time,x,y,sd\n0,1,2,-1\n"), HasSubstr(":2: sd"));
}

TEST_F(Observations, MarkerRefusalsNameFileAndLine) {
  const std::string header = "time,marker,x,y\n", both = header + "0,nose,1,2\n0,tail,1,2\n";
  EXPECT_EQ(marker_refusal(both), "accepted");
  EXPECT_THAT(marker_refusal("time,x,y\n0,1,2\n"), HasSubstr("must be 'time,marker,x,y'"));
  EXPECT_THAT(marker_refusal(both + "1,noze,1,2\n"),
              HasSubstr(":4: marker 'noze' is not defined; did you mean 'nose'?"));
  EXPECT_THAT(marker_refusal(header + "0,nose,1,2\n"), HasSubstr("no observation of marker 'tail'"));
  EXPECT_THAT(marker_refusal(both + "0,nose,1,2\n"),
              HasSubstr(":4: time 0 does not come after the time before it of this marker"));
  EXPECT_THAT(marker_refusal(both + "1,nose,1\n"), HasSubstr(":4: the row has 3 columns"));
}

} // namespace
} // namespace recoil::objectives
