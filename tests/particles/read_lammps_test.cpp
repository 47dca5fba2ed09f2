#include "particles/support.hpp"
#include "recoil/particles/read_particles.hpp"

namespace recoil::particles {

namespace {

using ::testing::HasSubstr;

ParticleSet from_lammps(const std::string& text, std::optional<double> radius = {}) {
  const recoil::testing::TemporaryFolder folder;
  return read_particles(write_file(folder / "rock.lmp", text), {{}, radius});
}

const std::string bpm =
    "LAMMPS data file via write_data\n\n3 atoms # all\n2 bonds\n1 atom types\n1 bond types\n\n"
    "0 10 xlo xhi\n-5 5 ylo yhi\n0 4 zlo zhi\n\nMasses\n\n1 1.0\n\n"
    "Atoms # bpm/sphere\n\n7 2 1 0.5 2500 1 2 3 1 0 -1\n3 1 1 1.0 2500 4 5 6 0 0 0\n"
    "5 2 1 0.25 2500 7 8 9 0 1 0\n\nVelocities\n\n7 0 0 0 0 0 0\n3 0 0 0 0 0 0\n"
    "5 0 0 0 0 0 0\n\nBonds\n\n1 1 7 3\n2 1 5 7\n";

TEST(ReadLammps, NumbersAtomsByTheirIds) {
  const ParticleSet set = from_lammps(bpm);
  check(set, "test");
  EXPECT_EQ(set.positions, (std::vector<Eigen::Vector3d>{{4, 5, 6}, {7, 18, 9}, {11, 2, -1}}));
  EXPECT_EQ(set.radii, (std::vector<double>{0.5, 0.125, 0.25}));
  EXPECT_EQ(set.body_names, (std::vector<std::string>{"molecule 1", "molecule 2"}));
  EXPECT_EQ(set.body, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(set.bonds, (std::vector<std::array<std::int64_t, 2>>{{0, 2}, {1, 2}}));
}

TEST(ReadLammps, UnfoldsTiltedBoxes) {
  const ParticleSet set =
      from_lammps("t\n1 atoms\n0 10 xlo xhi\n0 5 ylo yhi\n0 4 zlo zhi\n1 2 3 xy xz yz\nAtoms # sphere\n\n"
                  "1 1 2 1 0 0 0 1 1 1\n");
  EXPECT_EQ(set.positions[0], Eigen::Vector3d(10 + 1 + 2, 5 + 3, 4));
  EXPECT_EQ(set.body_names, std::vector<std::string>{"rock"});
}

TEST(ReadLammps, TellsStylesByTheirColumns) {
  EXPECT_EQ(from_lammps("t\nAtoms\n\n1 1 2 1000 0 0 7\n").positions[0].z(), 7);
  EXPECT_EQ(from_lammps("t\nAtoms\n\n1 4 1 2 1000 0 0 7\n").body_names[0], "molecule 4");
  EXPECT_EQ(from_lammps("t\nAtoms\n\n1 4 1 0 0 7\n", 0.5).radii[0], 0.5);
}

TEST(ReadLammps, SaysWhatIsWrongAndWhere) {
  const auto message = [](const std::string& text) { return message_of([&] { from_lammps(text); }); };
  EXPECT_THAT(message("t\n3 atoms\n"), HasSubstr("rock.lmp:2: the file has no atoms"));
  EXPECT_THAT(
      message(replaced(bpm, "# bpm/sphere", "# full")),
      HasSubstr("rock.lmp:16: atom style 'full' is not known; known are sphere, bpm/sphere and bond"));
  EXPECT_THAT(message("t\nAtoms # bond\n\n1 1 1 0 0 0\n"),
              HasSubstr("rock.lmp:4: atoms of style bond have no diameter; say the radius"));
  EXPECT_THAT(message("t\nAtoms\n\n1 1 1 0 0\n"), HasSubstr("rock.lmp:4: an atom of 5 columns"));
  EXPECT_THAT(message(replaced(bpm, "4 5 6 0 0 0", "4 5 6 0")),
              HasSubstr("rock.lmp:19: an atom of 9 columns; style bpm/sphere has 8, or 11"));
  EXPECT_THAT(message(replaced(bpm, "3 1 1 1.0 2500", "3 1 1 0.0 2500")),
              HasSubstr("rock.lmp:19: the radius of particle 0 is 0"));
  EXPECT_THAT(message(replaced(bpm, "3 1 1 1.0 2500 4", "3 1 1 1.0 2500 four")),
              HasSubstr("rock.lmp:19: expected a number for a coordinate, found 'four'"));
  EXPECT_THAT(message(replaced(bpm, "5 2 1 0.25", "3 2 1 0.25")), HasSubstr("two atoms with the id 3"));
  EXPECT_THAT(message(replaced(bpm, "3 atoms", "4 atoms")),
              HasSubstr("rock.lmp:31: the header announces 4 atoms, the file has 3"));
  EXPECT_THAT(message(replaced(bpm, "2 bonds", "1 bonds")), HasSubstr("announces 1 bonds, the file has 2"));
  EXPECT_THAT(message(replaced(bpm, "1 1 7 3", "1 1 7 4")),
              HasSubstr("rock.lmp:30: a bond with atom 4, which does not exist"));
  EXPECT_THAT(message(replaced(bpm, "1 1 7 3", "1 1 7 7")),
              HasSubstr("rock.lmp:30: a bond of atom 7 with itself"));
  EXPECT_THAT(message(replaced(bpm, "1 1 7 3", "1 1 7 5")), HasSubstr("is there twice"));
  EXPECT_THAT(message(replaced(bpm, "1 1 7 3", "1 7 3")), HasSubstr("rock.lmp:30: a bond has 4 columns"));
}

} // namespace

} // namespace recoil::particles
