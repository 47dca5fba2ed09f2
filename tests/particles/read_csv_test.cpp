#include <cmath>
#include <numbers>

#include "particles/support.hpp"
#include "recoil/particles/csv_tables.hpp"
#include "recoil/particles/read_particles.hpp"

namespace recoil::particles {

namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

using Bonds = std::vector<std::array<std::int64_t, 2>>;

ParticleSet from_csv(std::string_view text, std::optional<std::string> bonds = {},
                     std::optional<double> radius = {}) {
  const recoil::testing::TemporaryFolder folder;
  ParticleFileOptions options;
  options.radius = radius;
  if (bonds) options.bonds = write_file(folder / "bonds.csv", *bonds);
  return read_particles(write_file(folder / "sand.csv", text), options);
}

TEST(ReadCsv, TakesColumnsInAnyOrder) {
  const ParticleSet set = from_csv("\xef\xbb\xbf# sieved\r\nradius, z,Y,x ,body\r\n0.5,3,2,1,rock\r\n\r\n"
                                   "0.25,6,5,4,clay\r\n# more\r\n1,9,8,+7e0,rock",
                                   "i,j\n2,0\n1,2\n");
  check(set, "test");
  EXPECT_EQ(set.positions, (std::vector<Eigen::Vector3d>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}));
  EXPECT_EQ(set.radii, (std::vector<double>{0.5, 0.25, 1}));
  EXPECT_EQ(set.body_names, (std::vector<std::string>{"rock", "clay"}));
  EXPECT_EQ(set.body, (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_EQ(set.bonds, (Bonds{{0, 2}, {1, 2}}));
  EXPECT_DOUBLE_EQ(set.volumes[2], 4 * std::numbers::pi / 3);
}

/// Of two bodies one whose bonds have constants of their own.
TEST(ReadCsv, ReadsWhatIsWritten) {
  const std::string points = "x,y,z,radius,volume\n0.1,0,0,1,0.3\n2,1e-17,0,1.5,2\n4,0,0.7,1,3\n";
  ParticleSet all = from_csv(points, "i,j\n0,1\n");
  append(all, from_csv(points, "i,j,E,Shear_strength\n2,1,3e6,7\n1,0,0.1,0.3\n"));
  const CsvTables plain = csv_tables(all, 0), graded = csv_tables(all, 1);
  EXPECT_TRUE(plain.bonds.starts_with("i,j\n"));
  const ParticleSet set = from_csv(graded.particles, graded.bonds);
  check(set, "test");
  ASSERT_EQ(set.bond_constants.size(), 2);
  for (const std::size_t k : {0, 1, 2}) {
    EXPECT_EQ(set.positions[k], all.positions[3 + k]);
    EXPECT_EQ(set.radii[k], all.radii[3 + k]);
    EXPECT_EQ(set.volumes[k], all.volumes[3 + k]);
  }
  EXPECT_EQ(set.bonds, (Bonds{{0, 1}, {1, 2}}));
  EXPECT_EQ(set.bond_constants[0].young_modulus, 0.1);
  EXPECT_EQ(set.bond_constants[1].young_modulus, 3e6);
  EXPECT_EQ(set.bond_constants[0].shear_strength, 0.3);
  EXPECT_EQ(set.bond_constants[1].shear_strength, 7);
  EXPECT_TRUE(std::isnan(set.bond_constants[0].poisson_ratio));
  EXPECT_TRUE(std::isnan(set.bond_constants[0].tensile_strength));
}

TEST(ReadCsv, GivesBondsConstantsOfTheirOwn) {
  const std::string points = "x,y,z,radius\n0,0,0,1\n2,0,0,1\n4,0,0,1\n";
  ParticleSet set = from_csv(points, "i,j,nu,E\n2,1,0.1,3e6\n1,0,0.2,1e6\n");
  check(set, "test");
  ASSERT_EQ(set.bond_constants.size(), 2);
  EXPECT_EQ(set.bond_constants[0].young_modulus, 1e6);
  EXPECT_EQ(set.bond_constants[0].poisson_ratio, 0.2);
  EXPECT_EQ(set.bond_constants[1].young_modulus, 3e6);
  ParticleSet all = from_csv(points, "i,j\n0,1\n");
  EXPECT_TRUE(all.bond_constants.empty());
  append(all, from_csv(points, "i,j,E\n0,1,5\n"));
  append(all, from_csv(points, "i,j\n0,1\n"));
  check(all, "test");
  ASSERT_EQ(all.bond_constants.size(), 3);
  EXPECT_EQ(all.bond_constants[1].young_modulus, 5);
  for (const double none : {all.bond_constants[0].young_modulus, all.bond_constants[1].poisson_ratio,
                            all.bond_constants[2].young_modulus})
    EXPECT_TRUE(std::isnan(none));
  all.bond_constants.pop_back();
  EXPECT_THAT(message_of([&] { check(all, "test"); }), HasSubstr("3 bonds and constants of 2"));
}

TEST(ReadCsv, NamesTheBodyAfterTheFile) {
  const ParticleSet set = from_csv("x,y,z,volume\n1,2,3,4\n", {}, 0.5);
  EXPECT_EQ(set.body_names, std::vector<std::string>{"sand"});
  EXPECT_EQ(set.volumes, std::vector<double>{4});
  EXPECT_EQ(set.radii, std::vector<double>{0.5});
}

TEST(ReadCsv, SaysWhatIsWrongAndWhere) {
  const auto message = [](std::string_view text) { return message_of([&] { from_csv(text); }); };
  EXPECT_THAT(message("# nothing\n"), HasSubstr("sand.csv:1: the file has no header"));
  EXPECT_THAT(message("x,y,z\n1,2,3\n"), HasSubstr("sand.csv:1: the header has no column radius"));
  EXPECT_THAT(message("x,y,z,raduis\n1,2,3,4\n"),
              HasSubstr("sand.csv:1: unknown column 'raduis'; did you mean 'radius'?"));
  EXPECT_THAT(message("x,y,x,radius,z\n"), HasSubstr("column x twice"));
  EXPECT_THAT(message("x,y,z,radius\n"), HasSubstr("no particles below its header"));
  EXPECT_THAT(message("x,y,z,radius\n1,2,3\n"),
              HasSubstr("sand.csv:2: the row has 3 cells; the header has 4"));
  EXPECT_THAT(message("x,y,z,radius\n1,2,3,1\n\n1,2,3m,1\n"),
              HasSubstr("sand.csv:4: expected a number for z, found '3m'"));
  EXPECT_THAT(message("x,y,z,radius\n1,2,nan,1\n"), HasSubstr("expected a number for z, found 'nan'"));
  EXPECT_THAT(message("x,y,z,radius\n1,2,1e999,1\n"), HasSubstr("expected a number for z"));
  EXPECT_THAT(message("x,y,z,radius\n1,2,,1\n"), HasSubstr("expected a number for z, found ''"));
  EXPECT_THAT(message("x,y,z,radius\n1,2,3,-1\n"),
              HasSubstr("sand.csv:2: the radius of particle 0 is -1; it must be positive"));
  EXPECT_THAT(message("x,y,z,radius,volume\n1,2,3,1,0\n"),
              HasSubstr("sand.csv:2: the volume is 0; it must be positive"));
  EXPECT_THAT(message("x,y,z,radius,body\n1,2,3,1, \n"), HasSubstr("the name of the body is empty"));
}

TEST(ReadCsv, SaysWhichBondIsWrong) {
  const auto message = [](const std::string& bonds) {
    return message_of([&] { from_csv("x,y,z,radius\n0,0,0,1\n1,0,0,1\n0,0,0,1\n", bonds); });
  };
  EXPECT_THAT(message("i,j\n0,1\n0,3\n"), HasSubstr("bonds.csv:3: a bond with particle 3; there are 3"));
  EXPECT_THAT(message("i,j\n0,-1\n"), HasSubstr("bonds.csv:2: a bond with particle -1"));
  EXPECT_THAT(message("i,j\n1,1\n"), HasSubstr("a bond of particle 1 with itself"));
  EXPECT_THAT(message("i,j\n0,2\n"), HasSubstr("which lie at one place"));
  EXPECT_THAT(message("i,j\n0,1\n1,2\n1,0\n"),
              HasSubstr("bonds.csv:4: the bond between particles 0 and 1 is there twice"));
  EXPECT_THAT(message("i,j\n0,1.5\n"), HasSubstr("expected an integer for j, found '1.5'"));
  EXPECT_THAT(message("i,k\n0,1\n"), HasSubstr("unknown column 'k'"));
  EXPECT_THAT(message("i,j,E\n0,1,0\n"), HasSubstr("bonds.csv:2: the modulus E is 0; it must be positive"));
  EXPECT_THAT(message("i,j,nu\n0,1,0.5\n"),
              HasSubstr("bonds.csv:2: Poisson's ratio nu is 0.5; it must be between -1 and 0.5"));
  EXPECT_THAT(message("i,j,tensile_strength\n0,1,-3\n"),
              HasSubstr("bonds.csv:2: the tensile strength is -3; it must be positive"));
  EXPECT_THAT(message("i,j,shear_strenght\n0,1,1\n"), HasSubstr("did you mean 'shear_strength'?"));
  EXPECT_THAT(message("i,j,E\n0,1,stiff\n"), HasSubstr("expected a number for e, found 'stiff'"));
}

TEST(ReadParticles, RefusesFilesThatItCannotRead) {
  const recoil::testing::TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { read_particles(folder / "none.csv"); }), HasSubstr("no such file"));
  EXPECT_THAT(message_of([&] { read_particles(write_file(folder / "a.csv", "")); }), EndsWith("is empty"));
  EXPECT_THAT(message_of([&] { read_particles(write_file(folder / "a.xyz", "1")); }),
              AllOf(HasSubstr("unknown particle format '.xyz'"), HasSubstr("known are .csv")));
  std::filesystem::create_directory(folder / "b.vtk");
  EXPECT_THAT(message_of([&] { read_particles(folder / "b.vtk"); }), HasSubstr("is a folder"));
  ParticleFileOptions options;
  options.bonds = folder / "bonds.csv";
  EXPECT_THAT(message_of([&] { read_particles(folder / "a.vtk", options); }),
              HasSubstr("belong beside a CSV file"));
  EXPECT_THAT(message_of([&] { from_csv("x,y,z\n0,0,0\n", {}, -1); }), HasSubstr("must be positive"));
}

} // namespace

} // namespace recoil::particles
