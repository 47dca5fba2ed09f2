#include "recoil/objectives/forces.hpp"

#include "objectives/touching.hpp"
#include "recoil/base/error.hpp"
#include "support/residual_identity.hpp"

namespace recoil::objectives {
namespace {

constexpr double clamp_stiffness = 3;

template <int dim>
std::vector<std::unique_ptr<potentials::ElasticPotential<dim>>>
elastic_of(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
           Shift shift) {
  std::vector<std::unique_ptr<potentials::ElasticPotential<dim>>> all;
  for (const int order : {1, 2}) {
    const auto& cells = space.cells_of_order(order);
    parameters::CellField field;
    for (const LocalIndex cell : cells) {
      const GlobalIndex id = space.mesh().cell_ids[cell];
      field.add(std::array{2 + shift.of(Along::law) * direction(id, 0),
                           3 + shift.of(Along::law) * direction(id, 1)});
    }
    all.push_back(potentials::make_elastic<dim>(*potentials::find_law(potentials::NeoHookean<dim>::name),
                                                space, geometry, order, cells, field));
  }
  return all;
}

/// Boxes that touch each other and a floor, with a law.
template <int dim>
struct Supported : Touching<dim> {
  std::vector<std::unique_ptr<potentials::ElasticPotential<dim>>> elastic;
  potentials::BarrierPotential<dim> barrier;

  explicit Supported(MPI_Comm ranks, Shift shift = {}, potentials::BarrierForm form = {})
      : Touching<dim>(ranks, shift, form), elastic(elastic_of<dim>(this->space, this->geometry, shift)),
        barrier(this->contact) {}

  /// Of the lower half of the first box, or of the floor.
  std::unique_ptr<Objective<dim>> force(bool of_floor) {
    Reaction<dim> reaction;
    reaction.direction = Eigen::Matrix<double, dim, 1>::Constant(0.4).normalized();
    reaction.enter_state = [this, obstacles = this->lifted()](const ObservedState& state) {
      this->contact.set_obstacle_displacement(obstacles(state.time));
      this->contact.update(state.u);
    };
    if (of_floor) {
      reaction.nodes.assign(this->space.num_owned_nodes(), 1);
      reaction.owned.push_back(std::make_unique<potentials::BarrierPotential<dim>>(
          this->contact, this->contact.surface().num_bodies()));
      reaction.summands.push_back({reaction.owned[0].get(), -clamp_stiffness});
    } else {
      for (LocalIndex node = 0; node < this->space.num_owned_nodes(); ++node) {
        const auto& at = this->space.node_positions()[node];
        reaction.nodes.push_back(at[0] < 0.75 && at[1] < 0.1 ? 1 : 0);
      }
      for (const auto& law : elastic) reaction.summands.push_back({law.get(), 1});
      reaction.summands.push_back({&barrier, clamp_stiffness});
    }
    return make_reaction_force<dim>(this->space, std::move(reaction), track());
  }
  static Track<1> track() {
    using Number = Track<1>::Point;
    return {"track", {0, 1}, {{Number(0.2), Number(2)}, {Number(-0.3), Number(1.25)}}};
  }
};

template <int dim>
void check_derivatives(bool of_floor, potentials::BarrierForm form, const std::string& what) {
  Supported<dim> scene(MPI_COMM_WORLD, {}, form), alone(MPI_COMM_SELF, {}, form);
  const auto objective = scene.force(of_floor), lonely = alone.force(of_floor);
  const double value = objective->value(scene.state());
  EXPECT_NEAR(value, lonely->value(alone.state()), 1e-11 * value);
  const double identity =
      test::transposed_error<dim>(scene.space, *objective, scene.state(), &scene.contact.surface());
  EXPECT_LT(identity, 1e-12) << what;
  const auto slopes =
      directional_derivatives<dim>(scene.space, scene.obstacles.vertex_ids, *objective, scene.state(), 1);
  const auto once =
      directional_derivatives<dim>(alone.space, alone.obstacles.vertex_ids, *lonely, alone.state(), -2);
  for (std::size_t q = 0; q < slopes.size(); ++q)
    EXPECT_NEAR(slopes[q], -0.5 * once[q], 1e-10 * std::max(std::abs(slopes[q]), value))
        << direction_names[q];
  char figure[64];
  std::snprintf(figure, sizeof figure, " identity %.1e", identity);
  compare_with_differences<dim>(*objective, what + figure, scene.comm.rank(), slopes, value, 1e-7,
                                [&](Shift shift) {
                                  Supported<dim> other(MPI_COMM_WORLD, shift, form);
                                  return other.force(of_floor)->value(other.state());
                                });
}
template <int dim>
void check_all_derivatives() {
  check_derivatives<dim>(true, potentials::BarrierForm::plain, "reaction_force obstacle");
  check_derivatives<dim>(true, potentials::BarrierForm::convergent, "reaction_force obstacle convergent");
}
TEST(ReactionForce, DerivativesOfAnObstacle2D) { check_all_derivatives<2>(); }
TEST(ReactionForce, DerivativesOfAnObstacle3D) { check_all_derivatives<3>(); }
TEST(ReactionForce, DerivativesOfABoundary2D) {
  check_derivatives<2>(false, potentials::BarrierForm::plain, "reaction_force boundary");
}
TEST(ReactionForce, DerivativesOfABoundary3D) {
  check_derivatives<3>(false, potentials::BarrierForm::convergent, "reaction_force boundary convergent");
}

/// Forces of the floor by hand: those of all contacts, but of the first box only, which alone touches it.
template <int dim>
void check_obstacle_force() {
  Supported<dim> scene(MPI_COMM_WORLD);
  const auto objective = scene.force(true);
  std::vector<double> rows = objective->residuals(scene.state());
  ASSERT_EQ(rows.size(), scene.comm.rank() == 0 ? 1u : 0u);
  const auto target = Supported<dim>::track().at(0.4);
  const double force = scene.comm.sum(rows.empty() ? 0 : rows[0] / target.inverse_sd[0] + target.position[0]);
  // All forces between the boxes cancel, those of the floor are what is left.
  linalg::Vector all(scene.space.layout());
  scene.barrier.add_gradient(scene.u.local(), -clamp_stiffness, all.write_owned());
  double sum = 0;
  for (const double entry : all.owned()) sum += entry / std::sqrt(dim);
  sum = scene.comm.sum(sum);
  EXPECT_NE(force, 0);
  EXPECT_NEAR(force, sum, 1e-11 * std::abs(force));
}
TEST(ReactionForce, IsWhatAFloorAddsToTheBalanceOfContact2D) { check_obstacle_force<2>(); }
TEST(ReactionForce, IsWhatAFloorAddsToTheBalanceOfContact3D) { check_obstacle_force<3>(); }

/// A block of unit sides that is stretched along x and thinned across: P = mu (F - F^-T) + lambda ln J F^-T.
template <int dim>
void check_stretched_block() {
  const Scene<dim> scene(MPI_COMM_WORLD, {}, 0);
  const double lambda = scene.constants.at(0)[0], mu = scene.constants.at(0)[1], s = 1.2, t = 0.9;
  Eigen::Matrix<double, dim, dim> H = Eigen::Matrix<double, dim, dim>::Identity() * (t - 1);
  H(0, 0) = s - 1;
  const linalg::Vector u = scene.linear_field(Scene<dim>::Point::Constant(0.1), H);
  const double J = s * std::pow(t, dim - 1), stress = mu * (s - 1 / s) + lambda * std::log(J) / s;
  for (const double side : {-0.5, 0.5}) {
    Reaction<dim> reaction;
    reaction.direction = Scene<dim>::Point::Unit(0);
    for (LocalIndex node = 0; node < scene.space.num_owned_nodes(); ++node)
      reaction.nodes.push_back(std::abs(scene.space.node_positions()[node][0] - side) < 1e-9 ? 1 : 0);
    for (const auto& law : scene.elastic) reaction.summands.push_back({law.get(), 1});
    const auto objective =
        make_reaction_force<dim>(scene.space, std::move(reaction),
                                 Track<1>::constant(Track<1>::Point(side > 0 ? stress : -stress), 1e-6));
    EXPECT_LT(objective->value({u.local(), u.local(), 0.3}), 1e-12) << side;
    const linalg::Vector rest(scene.space.layout());
    EXPECT_NEAR(objective->value({rest.local(), rest.local(), 0.3}), stress * stress * 1e12, 1);
  }
}
TEST(ReactionForce, OfAStretchedBlockIsItsStress2D) { check_stretched_block<2>(); }
TEST(ReactionForce, OfAStretchedBlockIsItsStress3D) { check_stretched_block<3>(); }

TEST(ReactionForce, IsComparedWithALoadCurveAtTheDisplacementOfTheSupport) {
  const Scene<2> scene(MPI_COMM_WORLD);
  Reaction<2> reaction;
  reaction.direction = {1, 0};
  reaction.nodes.assign(scene.space.num_owned_nodes(), 0);
  Track<1> curve{"curve",
                 {0, 0.1},
                 {{Track<1>::Point(0), Track<1>::Point(1)}, {Track<1>::Point(5), Track<1>::Point(1)}}};
  curve.is_load_curve = true;
  const auto objective = make_reaction_force<2>(scene.space, std::move(reaction), curve,
                                                [](double time) { return 0.02 * time; });
  EXPECT_NEAR(objective->value(scene.state(3)), 9, 1e-12); // no force against 5 / 0.1 x 0.06
  objective->check_time(5);
  try {
    objective->check_time(6);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("displacement 0.12 m; they run from 0 m to 0.1 m"));
  }
}

} // namespace
} // namespace recoil::objectives
