#include "fracture_modes/sweeps.hpp"

namespace recoil::solvers::fracture_modes {
namespace {

TEST(Sweeps, HaveNoLessEnergyThanModesOfTwoHundredBodies) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (unsigned seed = 101; seed <= 200; ++seed) {
    test::check_against_sweeps<2>(comm, seed);
    test::check_against_sweeps<3>(comm, seed);
  }
}

} // namespace
} // namespace recoil::solvers::fracture_modes
