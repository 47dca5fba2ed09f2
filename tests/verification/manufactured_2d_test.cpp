#include "verification/manufactured.hpp"

namespace recoil::verification {
namespace {

constexpr std::array<MeshPair, 4> meshes{{{16, 32}, {8, 16}, {6, 12}, {4, 8}}};

TEST(Manufactured2D, LinearElasticity) { check_orders<2, potentials::LinearElasticity<2>>(meshes); }
TEST(Manufactured2D, SaintVenant) { check_orders<2, potentials::SaintVenant<2>>(meshes); }
TEST(Manufactured2D, NeoHookean) { check_orders<2, potentials::NeoHookean<2>>(meshes); }
TEST(Manufactured2D, FixedCorotational) { check_orders<2, potentials::FixedCorotational<2>>(meshes); }
TEST(Manufactured2D, MooneyRivlin) { check_orders<2, potentials::MooneyRivlin<2>>(meshes); }

} // namespace
} // namespace recoil::verification
