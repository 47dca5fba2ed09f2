#include "recoil/potentials/mass.hpp"

#include "potentials/potential_checks.hpp"

namespace recoil::potentials {
namespace {

template <int dim>
void check_mass(int order) {
  const Body<dim> body(2, order);
  const MassMatrix<dim> mass(
      body.space, *body.geometry, [](LocalIndex, const ExpressionPoint& p) { return 3 + p.x; },
      MassLumping::consistent);
  // x' M x for the rigid translation x = (1, 0, ..) is the mass, for x = (X_0, 0, ..) int rho X_0^2.
  linalg::Vector one(body.space.layout()), first(body.space.layout());
  auto ones = one.write_local(), firsts = first.write_local();
  for (LocalIndex node = 0; node < body.space.num_nodes(); ++node) {
    ones[static_cast<std::size_t>(node * dim)] = 1;
    firsts[static_cast<std::size_t>(node * dim)] =
        body.space.node_positions()[static_cast<std::size_t>(node)][0];
  }
  EXPECT_NEAR(body.comm.sum(mass.product(one.local(), one.local())), 3, 1e-12);
  EXPECT_NEAR(body.comm.sum(mass.product(first.local(), one.local())), 1.0 / 12, 1e-12);
  EXPECT_NEAR(body.comm.sum(mass.product(first.local(), first.local())), 3.0 / 12, 1e-12);
  const linalg::Vector a = body.field(1, 1), b = body.field(1, 2);
  EXPECT_NEAR(body.comm.sum(mass.product(a.local(), b.local())),
              body.comm.sum(mass.product(b.local(), a.local())), 1e-13);
  double volume = 0;
  for (const double share : lumped_volumes(body.space, *body.geometry)) {
    EXPECT_GT(share, 0);
    volume += share;
  }
  EXPECT_NEAR(body.comm.sum(volume), 1, 1e-13);
}

TEST(Mass, MomentsOfTheUnitBox) {
  for (int order = 1; order <= 4; ++order) {
    check_mass<2>(order);
    check_mass<3>(order);
  }
}

TEST(Mass, RowSumsKeepTheMass) {
  const Body<3> body(3, 1);
  const MassMatrix<3> mass(
      body.space, *body.geometry, [](LocalIndex, const ExpressionPoint&) { return 2.0; },
      MassLumping::row_sum);
  const linalg::NodeGraph& graph = *body.space.graph();
  double total = 0;
  for (LocalIndex row = 0; row < body.space.num_owned_nodes(); ++row)
    for (auto k = graph.offsets[static_cast<std::size_t>(row)];
         k < graph.offsets[static_cast<std::size_t>(row) + 1]; ++k) {
      const double entry = mass.entries()[static_cast<std::size_t>(k)];
      const bool diagonal = graph.neighbours[static_cast<std::size_t>(k)] == row;
      EXPECT_EQ(entry > 0, diagonal);
      EXPECT_GE(entry, 0);
      total += entry;
    }
  EXPECT_NEAR(body.comm.sum(total), 2, 1e-13);
}

} // namespace
} // namespace recoil::potentials
