#include "fracture_modes/sweeps.hpp"

namespace recoil::solvers::fracture_modes {
namespace {

TEST(Sweeps, HaveNoLessEnergyThanModes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  for (unsigned seed = 1; seed <= 3; ++seed) {
    test::check_against_sweeps<2>(comm, seed);
    test::check_against_sweeps<3>(comm, seed);
  }
}

} // namespace
} // namespace recoil::solvers::fracture_modes
