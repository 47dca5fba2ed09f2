#include <numeric>

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include "fracture_modes/bars.hpp"
#include "recoil/base/error.hpp"
#include "recoil/solvers/fracture_modes/vector_modes.hpp"

namespace recoil::solvers::fracture_modes {
namespace {

/// A mesh with a tensor per element and its vector modes; `tensor` by the centre of an element.
template <int dim>
struct Moved {
  using Tensor = Eigen::Matrix<double, dim, dim>;

  test::Broken<dim> broken; ///< with scalar modes
  JumpTensors<dim> tensors;
  std::vector<std::vector<double>> starts;
  VectorModes modes;

  Moved(const parallel::Communicator& comm, const mesh::SimplexMesh& whole, const VectorModeOptions& options,
        const std::function<Tensor(const Eigen::Vector3d&)>& tensor = {},
        const FractureMaterial<dim>& material = {})
      : broken(comm, whole, {.count = options.count, .least_piece = options.least_piece}, material) {
    if (tensor)
      for (LocalIndex e = 0; e < broken.graph.layout->num_owned; ++e)
        tensors.push_back(tensor(broken.graph.centres[e]));
    starts = start_fields(VertexMatrices<dim>(broken.mesh), options.count + 2);
    modes = find_vector_modes<dim>(broken.graph, tensors, starts, broken.modes, options);
  }
};

double product(const ElementGraph& graph, const linalg::Vector& x, const linalg::Vector& y) {
  const int dim = x.layout().block_size;
  double sum = 0;
  for (std::size_t k = 0; k < x.owned().size(); ++k)
    sum += graph.masses[k / dim] * x.owned()[k] * y.owned()[k];
  return graph.comm().sum(sum);
}

template <int dim>
void expect_orthonormal(const Moved<dim>& moved, double most_gap = 1e-5) {
  std::vector<const linalg::Vector*> fields;
  for (const auto& constant : moved.modes.constants) fields.push_back(&constant);
  for (const auto& mode : moved.modes.modes) fields.push_back(&mode.field);
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      EXPECT_NEAR(product(moved.broken.graph, *fields[i], *fields[j]), i == j ? 1 : 0, 1e-10);
  double before = 0;
  for (const auto& mode : moved.modes.modes) {
    EXPECT_NEAR(vector_discontinuity_energy<dim>(moved.broken.graph, moved.tensors, mode.field), mode.energy,
                1e-10 * mode.energy);
    EXPECT_GE(mode.energy, before * (1 - 1e-6));
    EXPECT_LE(mode.gap, most_gap);
    before = mode.energy;
  }
}

template <int dim>
Eigen::Matrix<double, dim, dim> turning(const Eigen::Vector3d& centre) {
  Eigen::Matrix3d turn = Eigen::AngleAxisd(2 * centre.x(), Eigen::Vector3d::UnitZ()).toRotationMatrix();
  const Eigen::Matrix<double, dim, dim> part = turn.topLeftCorner<dim, dim>();
  Eigen::Matrix<double, dim, 1> sizes = Eigen::Matrix<double, dim, 1>::Ones();
  sizes[0] = 3 + centre.y();
  const Eigen::Matrix<double, dim, dim> tensor = part * sizes.asDiagonal() * part.transpose();
  return (tensor + tensor.transpose()) / 2;
}

/// For every unit vector a a field v has E(v . a) >= E_1 |v . a|, and E(v) is the mean over all a of E(v . a)
/// by that of |a_1|: without anisotropy the modes are scalar ones along `dim` directions.
template <int dim>
void check_isotropic(const mesh::SimplexMesh& mesh, int count) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Moved<dim> moved(comm, mesh, {.count = count, .least_piece = 0});
  ASSERT_EQ(std::ssize(moved.modes.modes), count);
  ASSERT_EQ(std::ssize(moved.modes.constants), dim);
  expect_orthonormal(moved);
  for (int i = 0; i < count; ++i)
    EXPECT_NEAR(moved.modes.modes[i].energy, moved.broken.modes.modes[i / dim].energy,
                1e-8 * moved.modes.modes[i].energy)
        << "mode " << i;
}
TEST(VectorModes, AreScalarOnesAlongAxesWithoutAnisotropy) {
  check_isotropic<2>(test::necked_bar({6, 3}, 0.05, 1), 4);
  check_isotropic<3>(test::necked_bar({4, 2, 2}, 0.05, 2), 6);
}

/// With one tensor T everywhere E(u) is that of T u without it: energies of scalar modes times eigenvalues
/// of T, by size.
TEST(VectorModes, HaveTheEnergiesOfOneTensor) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Eigen::Matrix3d turn =
      Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  const Eigen::Vector3d sizes(1, 1.5, 7);
  Eigen::Matrix3d tensor = turn * sizes.asDiagonal() * turn.transpose();
  tensor = (tensor + tensor.transpose()).eval() / 2;
  const Moved<3> moved(comm, test::necked_bar({4, 2, 2}, 0.05, 3), {.count = 4, .least_piece = 0},
                       [&](const Eigen::Vector3d&) { return tensor; });
  expect_orthonormal(moved);
  std::vector<double> expected;
  for (const FractureMode& mode : moved.broken.modes.modes)
    for (const double size : sizes) expected.push_back(size * mode.energy);
  std::ranges::sort(expected);
  ASSERT_EQ(moved.modes.modes.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(moved.modes.modes[i].energy, expected[i], 1e-8 * expected[i]) << "mode " << i;
}

/// eta = (10, 10, 1) makes jumps along x and y exactly ten times as dear as those along z [Sellan et al.
/// 2023, figure 17].
TEST(VectorModes, DearDirectionsCostTheirFactor) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Moved<3> moved(comm, test::bar_mesh({4, 2, 2}, {4, 1, 1}), {.count = 1}, [](const Eigen::Vector3d&) {
    return Eigen::Matrix3d(Eigen::Vector3d(10, 10, 1).asDiagonal());
  });
  EXPECT_NEAR(moved.modes.modes.at(0).energy, 1, 1e-9); // 2 S / sqrt(V), along z
  for (int axis = 0; axis < 3; ++axis) {
    linalg::Vector half(moved.modes.modes[0].field.shared_layout());
    const auto values = half.write_local();
    for (std::size_t e = 0; e < moved.broken.graph.centres.size(); ++e)
      values[3 * e + axis] = moved.broken.graph.centres[e].x() < 0 ? 1 : 0;
    EXPECT_NEAR(vector_discontinuity_energy<3>(moved.broken.graph, moved.tensors, half), axis < 2 ? 10 : 1,
                1e-12);
  }
}

/// No moved level set has less energy, ranks do not matter, and the search ends on random meshes.
template <int dim>
void check_turning(const mesh::SimplexMesh& mesh, double least_piece, GlobalIndex replicated,
                   double tolerance) {
  const parallel::Communicator comm(MPI_COMM_WORLD), alone(comm.split(comm.rank()));
  const VectorModeOptions options{.count = 3, .least_piece = least_piece, .replicated_elements = replicated};
  const Moved<dim> moved(comm, mesh, options, turning<dim>),
      one(alone, mesh, {.count = 3, .least_piece = least_piece}, turning<dim>);
  ASSERT_EQ(std::ssize(moved.modes.modes), 3);
  expect_orthonormal(moved, least_piece > 0 ? 1 : 1e-5); // that of fields with small pieces, too
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(moved.modes.modes[i].energy, one.modes.modes[i].energy, tolerance * one.modes.modes[i].energy)
        << "mode " << i;
  // Cuts by planes, moved along an axis, made orthogonal to the translations.
  const ElementGraph& graph = moved.broken.graph;
  for (int axis = 0; axis < dim; ++axis)
    for (double x = -0.75; x < 1; x += 0.25) {
      linalg::Vector set(moved.modes.modes[0].field.shared_layout());
      const auto values = set.write_local();
      for (std::size_t e = 0; e < graph.centres.size(); ++e)
        values[dim * e + axis] = graph.centres[e].x() < x ? 1 : 0;
      for (const auto& constant : moved.modes.constants) set.add(-product(graph, set, constant), constant);
      const double norm = std::sqrt(product(graph, set, set));
      EXPECT_LE(moved.modes.modes[0].energy,
                vector_discontinuity_energy<dim>(graph, moved.tensors, set) / norm * (1 + 1e-9));
    }
}
TEST(VectorModes, DoNotDependOnRanks) {
  for (const double least_piece : {0.0, 0.05}) {
    check_turning<2>(test::necked_bar({6, 3}, 0.05, 4), least_piece, 1000, 1e-12);
    check_turning<3>(test::necked_bar({4, 2, 2}, 0.05, 5), least_piece, 1000, 1e-12);
  }
}
TEST(VectorModes, DistributedOnesHaveTheSameEnergies) {
  check_turning<2>(test::necked_bar({4, 2}, 0.05, 4), 0.05, 0, 1e-8);
  if (parallel::Communicator(MPI_COMM_WORLD).size() <= 2)
    check_turning<3>(test::necked_bar({2, 1, 1}, 0.05, 5), 0.05, 0, 1e-8);
}

TEST(VectorModes, PaintedRegionsStayWhole) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const auto mesh = mesh::distribute<2>(comm, comm.rank() == 0 ? test::bar_mesh({16, 4}, {4, 1})
                                                               : test::Broken<2>::empty());
  const auto painted = [&](LocalIndex cell) {
    double x = 0;
    for (const LocalIndex v : mesh.cells[cell]) x += mesh.vertices[v].x() / 3;
    return std::abs(x) < 0.5;
  };
  const ElementGraph graph = explode<2>(mesh, {.unbreakable = painted});
  const auto starts = start_fields(VertexMatrices<2>(mesh), 4);
  for (const GlobalIndex replicated : {1000, 0}) {
    const VectorModes modes =
        find_vector_modes<2>(graph, {}, starts, {}, {.count = 2, .replicated_elements = replicated});
    const double part = 1.5 / 4; // the nearest planes to the middle are 0.5 away from it
    ASSERT_EQ(modes.modes.size(), 2u);
    for (const VectorMode& mode : modes.modes) {
      EXPECT_NEAR(mode.energy, 1 / std::sqrt(4 * part * (1 - part)), 1e-9);
      for (const ElementFace& face : graph.faces)
        for (int i = 0; i < 2 && !face.breakable; ++i)
          EXPECT_NEAR(mode.field.local()[2 * face.a + i], mode.field.local()[2 * face.b + i], 1e-12);
    }
  }
}

/// A search that is left at any moment and taken up from its state has the modes of one that was not left,
/// bitwise.
TEST(VectorModes, SearchIsTakenUpAgain) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Moved<2> moved(comm, test::necked_bar({4, 2}, 0.05, 6), {.count = 2}, turning<2>);
  for (const GlobalIndex replicated : {1000, 0}) {
    const VectorModeOptions options{.count = 2, .replicated_elements = replicated};
    std::vector<SearchState> states;
    const auto find = [&](const SearchObserver& observe, const SearchState* from) {
      return find_vector_modes<2>(moved.broken.graph, moved.tensors, moved.starts, moved.broken.modes,
                                  options, observe, from);
    };
    const VectorModes whole =
        find([&](const SearchProgress& progress) { states.push_back(progress.state()); }, nullptr);
    ASSERT_GE(std::ssize(states), 4);
    for (std::size_t k = 0; k<states.size(); k += replicated> 0 ? 1 : 3) {
      const VectorModes again = find({}, &states[k]);
      ASSERT_EQ(again.modes.size(), whole.modes.size());
      for (std::size_t i = 0; i < whole.modes.size(); ++i) {
        EXPECT_EQ(again.modes[i].energy, whole.modes[i].energy) << "state " << k << ", mode " << i;
        EXPECT_TRUE(std::ranges::equal(again.modes[i].field.owned(), whole.modes[i].field.owned()));
      }
    }
  }
}

TEST(VectorModes, RefuseTensorsThatAreNotPositive) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const test::Broken<2> broken(comm, test::bar_mesh({4, 2}), {.count = 1});
  JumpTensors<2> tensors(broken.graph.layout->num_owned, Eigen::Matrix2d::Identity());
  for (std::size_t e = 0; e < tensors.size(); ++e)
    if (broken.graph.cell_ids[e] == 3) tensors[e](1, 1) = -1;
  EXPECT_THROW(find_vector_modes<2>(broken.graph, tensors, {}, {}, {.count = 1}), InputError);
}

} // namespace
} // namespace recoil::solvers::fracture_modes
