#include <gtest/gtest.h>

#include "fracture_modes/bars.hpp"
#include "recoil/base/error.hpp"
#include "recoil/solvers/fracture_modes/full_modes.hpp"

namespace recoil::solvers::fracture_modes {
namespace {

/// A mesh with what its full modes start from.
template <int dim>
struct Strained {
  test::Broken<dim> broken; ///< with scalar modes
  std::vector<std::vector<double>> cuts;

  Strained(const parallel::Communicator& comm, const mesh::SimplexMesh& whole, int count)
      : broken(comm, whole, {.count = count}), cuts(start_fields(VertexMatrices<dim>(broken.mesh), 4)) {
    for (const FractureMode& mode : broken.modes.modes)
      cuts.emplace_back(mode.field.owned().begin(), mode.field.owned().end());
  }

  StrainModes strains(const StrainMaterial& material, int count) const {
    return strain_modes<dim>(broken.mesh, broken.graph, material, count);
  }
  FullModes modes(const StrainMaterial& material, const VectorModeOptions& options,
                  const StrainModes& strain) const {
    return find_full_modes<dim>(broken.mesh, broken.graph, {}, material, strain.fields, cuts, options);
  }
};

/// A field of corners; `value` by place and element.
template <int dim>
linalg::Vector
field_of(const test::Broken<dim>& broken,
         const std::function<Eigen::Vector3d(const Eigen::Vector3d&, const Eigen::Vector3d&)>& value) {
  auto layout = std::make_shared<linalg::VectorLayout>(*broken.graph.layout);
  layout->block_size = (dim + 1) * dim;
  std::vector<double> owned;
  for (LocalIndex cell = 0; cell < broken.mesh.num_owned_cells; ++cell)
    for (const LocalIndex vertex : broken.mesh.cells[cell]) {
      Eigen::Vector3d place = Eigen::Vector3d::Zero();
      place.head<dim>() = broken.mesh.vertices[vertex];
      const Eigen::Vector3d at = value(place, broken.graph.centres[cell]);
      owned.insert(owned.end(), at.data(), at.data() + dim);
    }
  return {layout, owned};
}

/// Strain of u = (x, 0) and jumps by closed forms: across the plane x = 0 of section 1 a jump of size 2, and
/// one that grows from -1 / 2 to 1 / 2 over y.
template <int dim>
void check_energy(std::vector<int> divisions) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const test::Broken<dim> broken(comm, test::bar_mesh(std::move(divisions)), {.count = 0});
  const StrainMaterial gradient{.youngs_modulus = [](LocalIndex) { return 3; }},
      elastic{.energy = StrainEnergy::elastic,
              .youngs_modulus = [](LocalIndex) { return 3; },
              .poisson_ratio = [](LocalIndex) { return 0.25; },
              .omega = 7};
  const auto stretched =
      field_of<dim>(broken, [](const auto& place, const auto&) { return Eigen::Vector3d(place.x(), 0, 0); });
  const FullEnergy of_gradient = full_energy<dim>(broken.mesh, broken.graph, {}, gradient, stretched);
  EXPECT_NEAR(of_gradient.strain, 0.5 * 3 * 2, 1e-12); // E V / 2
  EXPECT_NEAR(of_gradient.discontinuity, 0, 1e-12);
  // (lambda + 2 mu) V / 2 = E (1 - nu) / ((1 + nu) (1 - 2 nu)).
  EXPECT_NEAR(full_energy<dim>(broken.mesh, broken.graph, {}, elastic, stretched).strain,
              3 * 0.75 / (1.25 * 0.5), 1e-12);
  const auto parted = field_of<dim>(
      broken, [](const auto&, const auto& centre) { return Eigen::Vector3d(0, centre.x() < 0 ? 2 : 0, 0); });
  EXPECT_NEAR(full_energy<dim>(broken.mesh, broken.graph, {}, elastic, parted).discontinuity, 2, 1e-12);
  const auto opened = field_of<dim>(broken, [](const auto& place, const auto& centre) {
    return centre.x() < 0 ? Eigen::Vector3d(place.y(), -place.x(), 0) : Eigen::Vector3d(0, 0, 0);
  });
  const FullEnergy hinge = full_energy<dim>(broken.mesh, broken.graph, {}, elastic, opened);
  EXPECT_NEAR(hinge.strain, 0, 1e-12);
  if (dim == 2) { // edges of length 1 / 2 over y from 0 to 1 / 2: int y^2 = 1 / 24, times w / sqrt(A)
    EXPECT_NEAR(hinge.discontinuity, 2 * std::sqrt(0.5) * std::sqrt(1 / 24.0), 1e-12);
  } else { // within the integral of |y| over the section and the root of that of y^2
    EXPECT_GE(hinge.discontinuity, 0.25);
    EXPECT_LE(hinge.discontinuity, std::sqrt(1 / 12.0));
  }
}
TEST(FullModes, EnergiesAreThoseOfClosedForms2D) { check_energy<2>({4, 2}); }
TEST(FullModes, EnergiesAreThoseOfClosedForms3D) { check_energy<3>({4, 2, 2}); }

/// Where omega is far below omega* = lambda / (2 E_D) no piece is strained and the energy is that of
/// piecewise constant fields; where it is above the largest traction of the strain mode, about 2 omega*,
/// nothing jumps.
template <int dim>
void check_regimes(std::vector<int> divisions) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Strained<dim> strained(comm, test::necked_bar(std::move(divisions), 0.03, 1), 1);
  StrainMaterial material;
  const StrainModes strain = strained.strains(material, dim + 2);
  const double lambda = strain.values.at(dim), broken = strained.broken.modes.modes.at(0).energy;
  const double omega = lambda / (2 * broken);
  for (const double factor : {1e-6, 0.9, 1.1, 4.0}) {
    SCOPED_TRACE(factor);
    material.omega = factor * omega;
    const FullModes full = strained.modes(material, {.count = 1, .least_piece = 0}, strain);
    const FullMode& mode = full.modes.at(0);
    EXPECT_EQ(std::ssize(full.constants), dim);
    EXPECT_NEAR(mode.strain_energy + material.omega * mode.discontinuity, mode.energy, 1e-9 * mode.energy);
    EXPECT_LE(mode.energy, std::min(lambda / 2, material.omega * broken) * (1 + 1e-8));
    EXPECT_LT(mode.gap, 1e-4);
    if (factor < 0.1) {
      EXPECT_LT(mode.strain_energy, 1e-10 * lambda);
      EXPECT_NEAR(mode.energy, material.omega * broken, 1e-6 * mode.energy);
    }
    if (factor > 2) {
      EXPECT_LT(mode.discontinuity, 1e-10 * broken);
      EXPECT_NEAR(mode.energy, lambda / 2, 1e-7 * lambda);
    }
  }
}
TEST(FullModes, BreakOrStrainFarFromTheSwitch2D) { check_regimes<2>({4, 2}); }
TEST(FullModes, BreakOrStrainFarFromTheSwitch3D) { check_regimes<3>({2, 1, 1}); }

/// A thin bar of length L and unit section, density and modulus: u = A cos(k x) up to the break in the
/// middle, A k sin(t) = omega with t = k L / 2 and A^2 = 2 / (L (1 + sin(2 t) / (2 t))); the strain energy is
/// A^2 k^2 (L / 4) (1 - sin(2 t) / (2 t)), that of the jump A^2 k sin(2 t). The parts are equal at 1.31
/// omega*, omega* = pi^2 / (4 L^(3/2)), and the jump is gone at 1.80 omega*: the mode changes over that
/// range.
TEST(FullModes, ChangeAlongABarAsClosedFormsDo) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const double length = 4;
  const Strained<2> strained(comm, test::bar_mesh({16, 1}, {length, 1}), 1);
  StrainMaterial material;
  const StrainModes strain = strained.strains(material, 4);
  double before = 0;
  for (const double t : {0.3, 0.8, 1.2, 1.4}) {
    const double part = std::sin(2 * t) / (2 * t), k = 2 * t / length;
    const double A2 = 2 / (length * (1 + part));
    material.omega = std::sqrt(A2) * k * std::sin(t);
    const double of_strain = A2 * k * k * length / 4 * (1 - part), of_jump = A2 * k * std::sin(2 * t);
    const FullModes full = strained.modes(material, {.count = 1}, strain);
    const FullMode& mode = full.modes.at(0);
    EXPECT_NEAR(mode.energy, of_strain + of_jump, 0.02 * mode.energy) << "t = " << t;
    EXPECT_NEAR(mode.strain_energy / mode.energy, of_strain / (of_strain + of_jump), 0.05) << "t = " << t;
    EXPECT_GT(mode.strain_energy / mode.energy, before);
    before = mode.strain_energy / mode.energy;
  }
}

/// Elastic pieces rotate, too: a bar opens like a hinge, for about half of what it costs to move its halves
/// apart.
TEST(FullModes, ElasticPiecesOpenLikeHinges) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Strained<2> strained(comm, test::bar_mesh({8, 2}, {4, 1}), 1);
  StrainMaterial material{.energy = StrainEnergy::elastic};
  const StrainModes strain = strained.strains(material, 5);
  material.omega = 1e-6;
  const FullModes full = strained.modes(material, {.count = 1}, strain);
  EXPECT_EQ(full.constants.size(), 3u);
  EXPECT_LT(full.modes.at(0).discontinuity, 0.6 * strained.broken.modes.modes.at(0).energy);
  EXPECT_LT(full.modes.at(0).strain_energy, 1e-10);
}

TEST(FullModes, DoNotDependOnRanks) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(comm.split(comm.rank()));
  const mesh::SimplexMesh mesh = test::necked_bar({3, 1}, 0.03, 2);
  const Strained<2> strained(comm, mesh, 1), one(alone, mesh, 1);
  StrainMaterial material{.energy = StrainEnergy::elastic};
  const StrainModes strain = strained.strains(material, 6), of_one = one.strains(material, 6);
  material.omega = 0.3;
  for (const GlobalIndex replicated : {1000, 0}) {
    const FullModes many = strained.modes(material, {.count = 1, .replicated_elements = replicated}, strain),
                    few = one.modes(material, {.count = 1}, of_one);
    for (std::size_t i = 0; i < 1; ++i)
      EXPECT_NEAR(many.modes.at(i).energy, few.modes.at(i).energy, 1e-8 * few.modes[i].energy)
          << "mode " << i << ", replicated " << replicated;
  }
}

TEST(FullModes, RefuseConstantsOutOfRange) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Strained<2> strained(comm, test::bar_mesh({2, 1}), 0);
  EXPECT_THROW(strained.strains({.omega = 0}, 3), InputError);
  EXPECT_THROW(strained.strains({.poisson_ratio = [](LocalIndex) { return 0.5; }}, 3), InputError);
}

} // namespace
} // namespace recoil::solvers::fracture_modes
