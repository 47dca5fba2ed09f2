#include <gtest/gtest.h>

#include "recoil/app/solvers/bonded_particles/spring_fields.hpp"
#include "recoil/base/error.hpp"
#include "recoil/potentials/spheres/contact_springs.hpp"

namespace recoil::app {
namespace {

/// Restart points as they are read: one spring for each particle, in rows of `width`.
std::vector<double> read_springs(const parallel::Communicator& comm, int width) {
  const std::vector<GlobalIndex> ids{2 * comm.rank(), 2 * comm.rank() + 1};
  const io::BlockLayout nodes(comm, ids);
  return SpringFields::read(
      [&](const std::string& name, const io::BlockLayout& layout) {
        const std::size_t entries = name == "springs" ? 1 : std::size_t(width);
        return std::vector<double>(std::size_t(layout.owned_size()) * entries, 1.0);
      },
      nodes);
}

TEST(SpringFields, OfAnotherWidthAreRefused) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  EXPECT_EQ(read_springs(comm, potentials::spring_width).size(), 2U * potentials::spring_width);
  for (const int width : {potentials::spring_width - 3, potentials::spring_width + 1})
    EXPECT_THROW(read_springs(comm, width), FileError) << width;
}

} // namespace
} // namespace recoil::app
