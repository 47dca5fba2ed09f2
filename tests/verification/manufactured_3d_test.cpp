#include "verification/manufactured.hpp"

namespace recoil::verification {
namespace {

constexpr std::array<MeshPair, 4> meshes{{{8, 16}, {4, 8}, {3, 6}, {2, 4}}};

TEST(Manufactured3D, LinearElasticity) { check_orders<3, potentials::LinearElasticity<3>>(meshes); }
TEST(Manufactured3D, SaintVenant) { check_orders<3, potentials::SaintVenant<3>>(meshes); }
TEST(Manufactured3D, NeoHookean) { check_orders<3, potentials::NeoHookean<3>>(meshes); }
TEST(Manufactured3D, FixedCorotational) { check_orders<3, potentials::FixedCorotational<3>>(meshes); }
TEST(Manufactured3D, MooneyRivlin) { check_orders<3, potentials::MooneyRivlin<3>>(meshes); }

} // namespace
} // namespace recoil::verification
