#include "recoil/objectives/observations.hpp"

#include <cmath>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/objectives/displacement_files.hpp"
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
  EXPECT_NEAR((sample.inverse_sd - Eigen::Vector2d::Constant(5)).norm(), 0, 1e-14);
  EXPECT_EQ(track.at(0.5).position[1], -4);
  EXPECT_EQ(track.at(2).position[1], 4);
  EXPECT_EQ(track.at(2 + 1e-12).position[1], 4);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(track.at(2.001)); }),
              HasSubstr("points.csv: no observation at time 2.001 s"));
  EXPECT_THROW(static_cast<void>(track.at(-0.001)), InputError);
  EXPECT_THROW(static_cast<void>(track.at(std::nan(""))), InputError);

  const auto spatial = read_track<3>(comm_, file("time,x,y,z\n1,2,3,4"));
  EXPECT_EQ(spatial.at(1).position, Eigen::Vector3d(2, 3, 4));
  EXPECT_EQ(spatial.at(1).inverse_sd, Eigen::Vector3d::Ones());
  EXPECT_EQ(Track<3>::constant({1, 2, 3}).at(77).position, Eigen::Vector3d(1, 2, 3));
}

TEST_F(Observations, NumbersHaveColumnsOfTheirOwn) {
  const auto strain = [&](const std::string& content) {
    return read_track<1>(comm_, file(content), {"strain"}, Measured::strain);
  };
  const auto track = strain("time,strain,sd\n0,0.1,0.5\n1,0.3,1\n");
  EXPECT_NEAR(track.at(0.5).position[0], 0.2, 1e-15);
  EXPECT_NEAR(track.at(0.5).inverse_sd[0], 1 / 0.75, 1e-14);
  EXPECT_EQ(strain("time,strain\n2,-1\n").at(2).inverse_sd[0], 1);
  EXPECT_NEAR(strain("time [ms];strain (um/m)\n2;-300\n").at(0.002).position[0], -3e-4, 1e-18);
  EXPECT_THAT(refusal_of([&] { strain("time,x\n0,1\n"); }),
              HasSubstr("the columns are 'time,strain', with or without 'sd'"));
  EXPECT_THAT(refusal_of([&] { strain("time,strain [mm]\n0,1\n"); }),
              HasSubstr(":1: 'mm' is no unit of column 'strain'; known here: 1, -, m/m, mm/mm, %, mm/m"));
}

TEST_F(Observations, MarkersHaveTracksOfTheirOwn) {
  const auto tracks = read_marker_tracks<2>(
      comm_, file("time,marker,x,y\n0,tail,1,2\n0,nose,3,4\n1,tail,5,6\n3,nose,7,8\n"), {"nose", "tail"});
  EXPECT_EQ(tracks.at("tail").at(1).position, Eigen::Vector2d(5, 6));
  EXPECT_EQ(tracks.at("nose").at(1.5).position, Eigen::Vector2d(5, 6));
  EXPECT_THAT(refusal_of([&] { static_cast<void>(tracks.at("tail").at(2)); }), HasSubstr("marker 'tail'"));
}

TEST_F(Observations, FilesAreThoseThatInstrumentsExport) {
  const Eigen::Vector2d seen(0.001, -0.25);
  const auto at_2ms = [&](const std::string& content) {
    return read_track<2>(comm_, file(content)).at(0.002);
  };
  for (const std::string content :
       {"time [ms], x [mm], y [mm]\n2,1,-250\n", "time (ms);x (mm);y (mm)\r\n2;1;-250\r\n",
        "\xef\xbb\xbftime [ms]\tx [mm]\ty [mm]\r\n2\t1\t-250",
        "# camera 1\n\ntime,x,y\n# first\n0.002,0.001,-0.25\n\n",
        "y [cm],time [us],x [\xc2\xb5m]\n-25,2000,1000\n", "time,x [\xce\xbcm],y [m]\n0.002,1000,-0.25\n",
        "time,x (\xb5m),y(m)\n0.002,1e3,-.25\n",
        "\"time\",\"x [mm]\",\"y [mm]\",\n0.002,\"1\",-250,\n,,,\n"}) {
    const auto sample = at_2ms(content);
    EXPECT_NEAR((sample.position - seen).norm(), 0, 1e-16) << content;
    EXPECT_EQ(sample.inverse_sd, Eigen::Vector2d::Ones());
  }
  EXPECT_NEAR(
      (at_2ms("time,x [mm],y [mm],sd [um]\n0.002,1,-250,50\n").inverse_sd - Eigen::Vector2d::Constant(2e4))
          .norm(),
      0, 1e-10);
  EXPECT_NEAR(
      (at_2ms("time,x,sd_x,y,sd_y\n0.002,1,0.5,-250,0.25\n").inverse_sd - Eigen::Vector2d(2, 4)).norm(), 0,
      1e-14);
}

TEST_F(Observations, GapsHaveNoWeight) {
  const auto track = read_track<2>(
      comm_,
      file("time,x,y,sd\n0,1,1,0.5\n1,,2,0.5\n2,NaN,3,0.5\n3,4,4,0.5\n4,nan,,\n5,6,,0.5\n6,7,7,0.5\n"));
  const auto expect = [&](double time, double x, double weight_x, double y, double weight_y) {
    const auto sample = track.at(time);
    EXPECT_NEAR(sample.position[0], x, 1e-14) << time;
    EXPECT_NEAR(sample.position[1], y, 1e-14) << time;
    EXPECT_NEAR(sample.inverse_sd[0], weight_x, 1e-14) << time;
    EXPECT_NEAR(sample.inverse_sd[1], weight_y, 1e-14) << time;
  };
  expect(0, 1, 2, 1, 2);
  expect(0.5, 0, 0, 1.5, 2);
  expect(2.5, 0, 0, 3.5, 2);
  // To rounding the sample alone: its neighbour is a gap.
  expect(3 + 1e-10, 4, 2, 4, 2);
  expect(3.5, 0, 0, 0, 0);
  expect(4, 0, 0, 0, 0);
  expect(5.25, 6.25, 2, 0, 0);
  expect(6, 7, 2, 7, 2);
  EXPECT_EQ(track.observation_times(), (std::vector<double>{0, 1, 2, 3, 5, 6}));
  auto alone = track;
  alone.is_interpolated = false;
  EXPECT_EQ(alone.at(0.5).inverse_sd, Eigen::Vector2d::Zero());
  EXPECT_EQ(alone.at(77).inverse_sd, Eigen::Vector2d::Zero());
  EXPECT_EQ(alone.at(6).position, Eigen::Vector2d(7, 7));
}

TEST_F(Observations, FieldsHaveATrackForEachRestPosition) {
  const auto points = read_displacement_field<2>(
      comm_, file("time,x [mm],y [mm],ux [um],uy [um],sd [um]\n0,1,2,3,4,10\n0,5,6,7,8,10\n1,5,6,9,,10\n"
                  "0,9,9,,,10\n1,1,2,5,6,20\n"));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_NEAR((points[1].rest - Eigen::Vector2d(5e-3, 6e-3)).norm(), 0, 1e-17);
  EXPECT_NEAR((points[0].track.at(0.5).position - Eigen::Vector2d(4e-6, 5e-6)).norm(), 0, 1e-20);
  EXPECT_NEAR(points[0].track.at(0.5).inverse_sd[0], 1 / 15e-6, 1e-8);
  EXPECT_EQ(points[1].track.at(1).inverse_sd[1], 0);
  const auto wrong = [&](const std::string& content) {
    return refusal_of([&] { read_displacement_field<2>(comm_, file(content)); });
  };
  EXPECT_THAT(wrong("time,x,y,ux,uy\n0,1,2,3,4\n0,1,2,3,4\n"),
              HasSubstr(":3: time 0 does not come after the time before it of this point"));
  EXPECT_THAT(
      wrong("time,x,y,ux,uy\n0,,2,3,4\n"),
      HasSubstr(":2: '' in column 'x' is not a finite number, and only what is observed may be missing"));
  EXPECT_THAT(wrong("time,x,y,ux,uy\n0,1,2,,\n"), HasSubstr("no observation"));
  EXPECT_THAT(wrong("time,x,y,ux\n0,1,2,3\n"),
              HasSubstr(":1: no columns of positions at rest and displacements"));
}

/// Exports of programs name and order columns as they do, and hold more than is read.
TEST_F(Observations, ExportsOfImageCorrelations) {
  const auto read = [&](const std::string& content, DisplacementFiles from = {.has_one_time = true}) {
    from.files = {file(content)};
    return read_displacement_files<2>(comm_, from);
  };
  const std::map<std::string, std::string> exports{
      {"VIC-3D",
       "\"x\",\"y\",\"sigma\",\"X [mm]\",\"Y [mm]\",\"Z [mm]\",\"U [mm]\",\"V [mm]\",\"W [mm]\",\"exx [1]\"\n"
       "100,200,0.01,1,2,9,0.25,-0.5,7,1e-3\n101,200,-1,1.5,2,9,0,0,0,0\n"},
      {"GOM", "Index;coor.X [mm];coor.Y [mm];coor.Z [mm];disp.X [mm];disp.Y [mm];disp.Z [mm]\n"
              "7;1,0;2,0;9,0;0,25;-0,5;7,0\n"},
      {"MatchID",
       "coor.X [mm],coor.Y [mm],disp.Horizontal Displacement U [mm],disp.Vertical Displacement V [mm]\n"
       "1,2,0.25,-0.5\n"},
      {"VIC-2D", "x,y,u,v,x_c [mm],y_c [mm],u_c [mm],v_c [mm]\n100,200,3,4,1,2,0.25,-0.5\n"},
      {"DaVis", "x [mm];y [mm];z [mm];Vx [mm];Vy [mm];Vz [mm];isValid\n1;2;9;0,25;-0,5;7;1\n"}};
  for (const auto& [program, content] : exports) {
    const auto points = read(content, {.has_one_time = true, .sd = 1e-6});
    ASSERT_EQ(points.size(), 1U) << program;
    EXPECT_NEAR((points[0].rest - Eigen::Vector2d(1e-3, 2e-3)).norm(), 0, 1e-17) << program;
    const auto sample = points[0].track.at(12);
    EXPECT_NEAR((sample.position - Eigen::Vector2d(2.5e-4, -5e-4)).norm(), 0, 1e-18) << program;
    EXPECT_EQ(sample.inverse_sd, Eigen::Vector2d::Constant(1 / 1e-6)) << program;
    EXPECT_TRUE(points[0].track.has_sd);
  }
  const auto ncorr = read("x,y,u,v,exx\n1,2,0.25,-0.5,0\n", {.has_one_time = true, .unit = "mm"});
  EXPECT_NEAR(ncorr[0].track.at(0).position[0], 2.5e-4, 1e-18);
  EXPECT_EQ(ncorr[0].track.at(0).inverse_sd[0], 1);
  EXPECT_FALSE(ncorr[0].track.has_sd);
}

TEST_F(Observations, AFileForEachStage) {
  if (comm_.rank() == 0) {
    std::ofstream(folder_ / "first.csv") << "X,Y,U,V\n1,2,3,4\n5,6,7,8\n";
    std::ofstream(folder_ / "second.csv") << "X,Y,U,V\n5,6,7.5,8.5\n";
  }
  comm_.barrier();
  const DisplacementFiles stages{.files = {folder_ / "first.csv", folder_ / "second.csv"}, .times = {0.5, 2}};
  const auto points = read_displacement_files<2>(comm_, stages);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].track.times, std::vector<double>{0.5});
  EXPECT_EQ(points[1].track.times, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(points[1].track.samples[1].position, Eigen::Vector2d(7.5, 8.5));
}

TEST_F(Observations, WrongExportsAreNamedWithLineAndCure) {
  const auto wrong = [&](const std::string& content, DisplacementFiles from = {.has_one_time = true}) {
    from.files = {file(content)};
    return refusal_of([&] { read_displacement_files<2>(comm_, from); });
  };
  const std::string twice = "x,y,u,v\n1,2,3,4\n1,2,3,4\n";
  EXPECT_THAT(wrong(twice), HasSubstr(":3: this point is there a second time; keep one row for each"));
  EXPECT_THAT(wrong(twice, {.times = {1}}), HasSubstr(":3: this point is there a second time"));
  EXPECT_THAT(wrong("x,y,u,v\n1,2,3,4\n", {}),
              HasSubstr(":1: column 'time' is missing; a file per time takes `stages` and their `times`"));
  EXPECT_THAT(wrong("X,Y,V\n1,2,3\n"), HasSubstr("VIC-3D (X, U), GOM (coor.X, disp.X)"));
  EXPECT_THAT(
      wrong("x;y;u;v\n1;2;1.234,5;4\n"),
      HasSubstr(":2: '1.234,5' in column 'ux' is not a finite number; write a decimal point, and nothing "
                "between thousands"));
  EXPECT_THAT(wrong("X [mm],Y [mm],U [px],V [px]\n1,2,3,4\n"),
              HasSubstr(":1: 'px' is no unit of column 'ux'"));
  EXPECT_THAT(wrong("X [mm],Y [mm],U,V\n1,2,3,4\n"), HasSubstr("has the unit 'mm' and column"));
  EXPECT_THAT(wrong("X,Y,U,V,sigma\n1,2,3,4,-1\n"), HasSubstr(":2: no observation follows the header"));
  EXPECT_THAT(wrong("X,Y,U,V,sigma\n1,2,3,4,bad\n"), HasSubstr(":2: 'bad' in column 'sigma'"));
  EXPECT_THAT(wrong("1,2,3,4\n"), HasSubstr(":1: there are numbers where the header is expected"));
}

TEST_F(Observations, RefusalsNameFileAndLine) {
  EXPECT_THAT(refusal_of([&] { read_track<2>(comm_, folder_ / "none.csv"); }), HasSubstr("none.csv:1: "));
  EXPECT_THAT(refusal_of([&] { read_track<2>(comm_, folder_.path()); }), HasSubstr("folder"));
  EXPECT_THAT(refusal<2>(""), HasSubstr("points.csv:1: the file has no header"));
  EXPECT_THAT(refusal<2>("# time,x,y\n"), HasSubstr("points.csv:1: the file has no header"));
  EXPECT_THAT(refusal<2>("# time,x,y\n0,1,2\n"),
              HasSubstr("points.csv:2: there are numbers where the header is expected"));
  EXPECT_THAT(refusal<2>(std::string("\xff\xfet\0i\0", 6)), HasSubstr("points.csv:1: the file is UTF-16"));
  EXPECT_THAT(refusal<2>("t,x,y\n0,1,2\n"),
              HasSubstr("points.csv:1: there is no use for column 't'; the columns are 'time,x,y', with or "
                        "without 'sd' or 'sd_x,sd_y'"));
  EXPECT_THAT(refusal<2>("Time,x,y\n0,1,2\n"), HasSubstr("did you mean 'time'?"));
  EXPECT_THAT(refusal<2>("time,x,y,z\n0,1,2,3\n"), HasSubstr(":1: there is no use for column 'z'"));
  EXPECT_THAT(refusal<3>("time,x,y\n0,1,2\n"), HasSubstr(":1: column 'z' is missing"));
  EXPECT_THAT(refusal<2>("time,x,y,x\n0,1,2,1\n"), HasSubstr(":1: column 'x' stands there twice"));
  EXPECT_THAT(refusal<2>("time,x,y,sd_x\n0,1,2,1\n"), HasSubstr(":1: column 'sd_y' is missing"));
  EXPECT_THAT(refusal<2>("time,x,y,sd,sd_x,sd_y\n0,1,2,1,1,1\n"),
              HasSubstr(":1: there are two kinds of the same"));
  EXPECT_THAT(refusal<2>("time,x [furlong],y [m]\n0,1,2\n"),
              HasSubstr(":1: 'furlong' is no unit of column 'x'; known here: m, cm, mm, um, nm, km and in"));
  EXPECT_THAT(refusal<2>("time [mm],x,y\n0,1,2\n"), HasSubstr("known here: s, ms, us, ns and min"));
  EXPECT_THAT(refusal<2>("time,x [mm,y\n0,1,2\n"),
              HasSubstr(":1: 'x [mm' is no column; write 'name', 'name [unit]'"));
  EXPECT_THAT(refusal<2>("time,x [mm],y\n0,1,2\n"),
              HasSubstr(":1: column 'x' has the unit 'mm' and column 'y' none; write the unit of both"));
  EXPECT_THAT(refusal<2>("time,x [mm],y [mm],sd\n0,1,2,3\n"), HasSubstr("and column 'sd' none"));
  EXPECT_THAT(refusal<2>("time,x,y\n"), HasSubstr("no observation"));
  EXPECT_THAT(refusal<2>("time,x,y\n0,,\n1,nan,NaN\n"), HasSubstr("no observation"));
  EXPECT_THAT(refusal<2>("time,x,y\n0,1,2\n1,2\n"),
              HasSubstr("points.csv:3: the row has 2 columns, the header 3"));
  EXPECT_THAT(refusal<2>("time,x,y\n0,1,5,2,5\n"),
              HasSubstr(":2: the row has 5 columns, the header 3; numbers are written with a decimal point"));
  EXPECT_THAT(refusal<2>("time;x;y\n0;1.000,5;2,5\n"),
              HasSubstr(":2: '1.000,5' in column 'x' is not a finite number; write a decimal point"));
  EXPECT_THAT(refusal<2>("time,x,y\n0,1,2\n\n1,2\n"), HasSubstr(":4: the row has 2 columns"));
  EXPECT_THAT(refusal<2>("time,x,y\n0,1,2\n# a remark\n0,2,3\n"),
              HasSubstr(":4: time 0 does not come after"));
  EXPECT_THAT(refusal<2>("time,x,y\n1,1,2\n0.5,2,3\n"), HasSubstr("times must increase"));
  EXPECT_THAT(
      refusal<2>("time,x,y\n,1,2\n"),
      HasSubstr(":2: '' in column 'time' is not a finite number, and only what is observed may be missing"));
  for (const char* word : {"one", "1x", "inf", "1e999", "0x10", "1 2", "+-1"})
    EXPECT_THAT(refusal<2>("time,x,y\n0,1,2\n1," + std::string(word) + ",2\n"),
                HasSubstr(":3: '" + std::string(word) + "' in column 'x' is not a finite number"));
  EXPECT_THAT(refusal<2>("time,x,y,sd\n0,1,2,0\n"), HasSubstr(":2: sd is 0; it must be positive"));
  EXPECT_THAT(refusal<2>("time,x,y,sd\n0,1,2,-1\n"), HasSubstr(":2: sd"));
  EXPECT_THAT(refusal<2>("time,x,y,sd\n0,1,2,\n"), HasSubstr(":2: '' in column 'sd' is not a finite number"));
}

TEST_F(Observations, MarkerRefusalsNameFileAndLine) {
  const std::string header = "time,marker,x,y\n", both = header + "0,nose,1,2\n0,tail,1,2\n";
  EXPECT_EQ(marker_refusal(both), "accepted");
  EXPECT_THAT(marker_refusal("time,x,y\n0,1,2\n"),
              HasSubstr(":1: column 'marker' is missing; the columns are 'time,marker,x,y'"));
  EXPECT_THAT(marker_refusal(both + "1,noze,1,2\n"),
              HasSubstr(":4: marker 'noze' is not defined; did you mean 'nose'?"));
  EXPECT_THAT(marker_refusal(header + "0,nose,1,2\n"), HasSubstr("no observation of marker 'tail'"));
  EXPECT_THAT(marker_refusal(both + "0,nose,1,2\n"),
              HasSubstr(":4: time 0 does not come after the time before it of this marker"));
  EXPECT_THAT(marker_refusal(both + "1,nose,1\n"), HasSubstr(":4: the row has 3 columns"));
  EXPECT_THAT(marker_refusal(header + "0,nose,1,2\n0,tail,,\n"),
              HasSubstr("no observation of marker 'tail'"));
  EXPECT_THAT(marker_refusal("time,marker [m],x,y\n0,nose,1,2\n"),
              HasSubstr(":1: column 'marker' holds no numbers and has no unit"));
}

} // namespace
} // namespace recoil::objectives
