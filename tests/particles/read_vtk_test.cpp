#include <algorithm>
#include <bit>
#include <cstring>

#include "particles/support.hpp"
#include "recoil/particles/read_particles.hpp"

namespace recoil::particles {

namespace {

using ::testing::HasSubstr;

ParticleSet from_vtk(const std::string& text, std::optional<double> radius = {}) {
  const recoil::testing::TemporaryFolder folder;
  return read_particles(write_file(folder / "rock.vtk", text), {{}, radius});
}

std::string head(const std::string& version = "3.0", const std::string& format = "ASCII") {
  return "# vtk DataFile Version " + version + "\nsome rock\n" + format + "\n";
}

const std::string points = "POINTS 3 float\n0 0 0 1 0 0\n0 2 0\n";
const std::string poly =
    head() + "DATASET POLYDATA\n" + points +
    "VERTICES 3 6\n1 0\n1 1\n1 2\nLINES 1 4\n3 2 0 1\n\nCELL_DATA 4\nSCALARS radius int\n"
    "LOOKUP_TABLE default\n1 2 3 4\nPOINT_DATA 3\nSCALARS Radius double 1\nLOOKUP_TABLE default\n"
    "0.5 0.25 1\nVECTORS u float\n1 2 3 4 5 6 7 8 9\nFIELD FieldData 2\nbody 1 3 int\n4 4 9\n"
    "volume 1 3 double\n1 2 3\n";

template <class T>
std::string big_endian(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) {
    std::array<char, sizeof(T)> part;
    std::memcpy(part.data(), &value, sizeof(T));
    if (std::endian::native == std::endian::little) std::ranges::reverse(part);
    bytes.append(part.data(), part.size());
  }
  return bytes + "\n";
}

void expect_rock(const ParticleSet& set) {
  check(set, "test");
  EXPECT_EQ(set.positions, (std::vector<Eigen::Vector3d>{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}}));
  EXPECT_EQ(set.radii, (std::vector<double>{0.5, 0.25, 1}));
  EXPECT_EQ(set.bonds, (std::vector<std::array<std::int64_t, 2>>{{0, 1}, {0, 2}}));
}

TEST(ReadVtk, TakesPolyData) {
  const ParticleSet set = from_vtk(poly);
  expect_rock(set);
  EXPECT_EQ(set.body_names, (std::vector<std::string>{"body 4", "body 9"}));
  EXPECT_EQ(set.body, (std::vector<std::int32_t>{0, 0, 1}));
  EXPECT_EQ(set.volumes, (std::vector<double>{1, 2, 3}));
}

TEST(ReadVtk, TakesUnstructuredGrids) {
  expect_rock(
      from_vtk(head() + "DATASET UNSTRUCTURED_GRID\n" + points +
               "CELLS 3 8\n1 0\n2 1 0\n2 0 2\nCELL_TYPES 3\n1 3 3\nPOINT_DATA 3\nSCALARS radius float\n"
               "LOOKUP_TABLE default\n0.5 0.25 1\n"));
}

TEST(ReadVtk, TakesBinaryFilesOfVersion5) {
  const std::string text =
      head("5.1", "BINARY") + "DATASET POLYDATA\nPOINTS 3 float\n" +
      big_endian<float>({0, 0, 0, 1, 0, 0, 0, 2, 0}) +
      "METADATA\nINFORMATION 0\n\nLINES 3 4\nOFFSETS vtktypeint64\n" + big_endian<std::int64_t>({0, 2, 4}) +
      "CONNECTIVITY vtktypeint64\n" + big_endian<std::int64_t>({1, 0, 0, 2}) +
      "POINT_DATA 3\nFIELD FieldData 1\nradius 1 3 double\n" + big_endian<double>({0.5, 0.25, 1});
  const ParticleSet set = from_vtk(text);
  expect_rock(set);
  EXPECT_EQ(set.body_names, std::vector<std::string>{"rock"});
  EXPECT_THAT(message_of([&] { from_vtk(text.substr(0, text.size() - 9)); }),
              HasSubstr("3 values of an array are more than the rest of the file"));
  EXPECT_THAT(message_of([&] {
                from_vtk(replaced(text, big_endian<double>({0.5}).substr(0, 8),
                                  big_endian<double>({NAN}).substr(0, 8)));
              }),
              ::testing::ContainsRegex("rock.vtk, byte [0-9]+: a value of an array is not finite"));
}

TEST(ReadVtk, TakesTheRadiusFromOutside) {
  EXPECT_EQ(from_vtk(head() + "DATASET POLYDATA\n" + points, 0.3).radii, std::vector<double>(3, 0.3));
}

TEST(ReadVtk, SaysWhatIsWrongAndWhere) {
  const auto message = [](const std::string& text) { return message_of([&] { from_vtk(text); }); };
  EXPECT_THAT(message("<VTKFile>\n"), HasSubstr("rock.vtk:1: the first line is not"));
  EXPECT_THAT(message(replaced(poly, "3.0", "6.0")), HasSubstr("rock.vtk:1: version 6.0"));
  EXPECT_THAT(message(replaced(poly, "ASCII", "TEXT")), HasSubstr("rock.vtk:3: the third line must be"));
  EXPECT_THAT(message(replaced(poly, "POLYDATA", "STRUCTURED_GRID")),
              HasSubstr("rock.vtk:4: a data set 'STRUCTURED_GRID'"));
  EXPECT_THAT(message(replaced(poly, "Radius", "size")), HasSubstr("no point data 'radius'"));
  EXPECT_THAT(message(replaced(poly, "0.5 0.25 1", "0.5 -0.25 1")),
              HasSubstr("rock.vtk:20: the radius of particle 1 is -0.25"));
  EXPECT_THAT(message(replaced(poly, "3 2 0 1", "3 2 0 7")),
              HasSubstr("rock.vtk:12: a bond with particle 7"));
  EXPECT_THAT(message(replaced(poly, "3 2 0 1", "4 2 0 1")),
              HasSubstr("rock.vtk:12: the cells do not fill their size 4"));
  EXPECT_THAT(message(replaced(poly, "3 2 0 1", "3 2 2 1")), HasSubstr("a bond of particle 2 with itself"));
  EXPECT_THAT(message(replaced(poly, "3 2 0 1", "3 2 0 x")),
              HasSubstr("rock.vtk:13: expected a number for cells, found 'x'"));
  EXPECT_THAT(message(replaced(poly, "LINES", "POLYGONS")),
              HasSubstr("rock.vtk:12: unknown keyword 'POLYGONS'"));
  EXPECT_THAT(message(replaced(poly, "4 4 9", "4 4.5 9")), HasSubstr("the body of point 1 is no integer"));
  EXPECT_THAT(message(replaced(poly, "\n1 2 3\n", "\n1 0 3\n")),
              HasSubstr("the volume of point 1 is not positive"));
  EXPECT_THAT(message(replaced(poly, "volume 1 3", "volume 3 1")),
              HasSubstr("has 1 values, there are 3 points"));
  EXPECT_THAT(message(replaced(poly, "POINT_DATA 3", "POINT_DATA 4")),
              HasSubstr("data of 4 points; the file has 3"));
  EXPECT_THAT(message(replaced(poly, "POINTS 3", "POINTS 3000")),
              HasSubstr("rock.vtk:5: announces 3000 points, more than the rest of the file"));
  EXPECT_THAT(message(replaced(poly, "POINTS 3", "POINTS 100")),
              HasSubstr("rock.vtk:5: 300 values of coordinates are more than the rest of the file"));
  EXPECT_THAT(message(head() + "DATASET UNSTRUCTURED_GRID\n" + points +
                      "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\nPOINT_DATA 3\nSCALARS radius int\n1 1 1\n"),
              HasSubstr("rock.vtk:8: cell 0 is of type 5; bonds are lines (3)"));
}

} // namespace

} // namespace recoil::particles
