#include "fracture_modes/sweeps.hpp"

namespace recoil::solvers::fracture_modes {
namespace {

TEST(Sweeps, HaveNoLessEnergyThanModes) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const unsigned last = comm.size() == 1 ? 3 : 1; // two hundred are among the long tests
  for (unsigned seed = 1; seed <= last; ++seed) {
    test::check_against_sweeps<2>(comm, seed);
    test::check_against_sweeps<3>(comm, seed);
  }
}

} // namespace
} // namespace recoil::solvers::fracture_modes
