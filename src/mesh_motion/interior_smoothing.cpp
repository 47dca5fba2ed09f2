#include "recoil/mesh_motion/interior_smoothing.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

#include "mesh_motion/vertex_system.hpp"
#include "recoil/fem/cell_geometry.hpp"
#include "recoil/geometry/inversion.hpp"
#include "recoil/geometry/rotation_svd.hpp"

namespace recoil::mesh_motion {

namespace {

constexpr int max_iterations = 100;
constexpr double settled = 1e-5;
constexpr double linear_tolerance = 1e-6;
/// Share of the step to the first inversion that may be taken.
constexpr double safety = 0.9;
constexpr double armijo = 1e-4;
constexpr double shortest_step = 1e-10;

template <int dim>
using Matrix = Eigen::Matrix<double, dim, dim>;

/// Edges [X1 - X0, ..] of the regular simplex with edges of length 1.
template <int dim>
Matrix<dim> regular_edges() {
  Matrix<dim> edges = Matrix<dim>::Zero();
  edges(0, 0) = 1;
  edges.col(1).template head<2>() << 0.5, std::sqrt(0.75);
  if constexpr (dim == 3) edges.col(2) << 0.5, std::sqrt(1.0 / 12), std::sqrt(2.0 / 3);
  return edges;
}

/// Energy of the cells, its gradient and its quadratic proxy as functions of the vertices.
template <int dim>
class SymmetricDirichlet {
public:
  SymmetricDirichlet(const mesh::DistributedMesh<dim>& sizes, const mesh::DistributedMesh<dim>& mesh)
      : mesh_(mesh) {
    const fem::CellGeometry<dim> geometry(sizes), now(mesh);
    double volume = 0, volume_now = 0;
    for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
      volume += geometry.weight_factor(cell);
      volume_now += now.weight_factor(cell);
    }
    volume = mesh.comm->sum(volume);
    total_ = mesh.comm->sum(volume_now);
    const Matrix<dim> regular = regular_edges<dim>();
    for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
      const double of_cell = geometry.weight_factor(cell) * total_ / volume;
      Matrix<dim> ideal = regular * std::pow(of_cell / regular.determinant(), 1.0 / dim);
      // Cells of meshes have either orientation.
      if (geometry.edge_determinant[cell] < 0) ideal.row(0) *= -1;
      volumes_.push_back(of_cell);
      inverse_ideal_.push_back(ideal.inverse());
    }
  }

  double volume() const { return total_; }
  /// J of a cell where the vertices are, or d J for changes of theirs.
  template <class Position>
  Matrix<dim> gradient_of(LocalIndex cell, Position position) const {
    const auto& vertices = mesh_.cells[cell];
    const Eigen::Matrix<double, dim, 1> origin = position(vertices[0]);
    Matrix<dim> edges;
    for (int i = 0; i < dim; ++i) edges.col(i) = position(vertices[i + 1]) - origin;
    return edges * inverse_ideal_[cell];
  }
  Matrix<dim> J(LocalIndex cell) const {
    return gradient_of(cell, [this](LocalIndex vertex) { return mesh_.vertices[vertex]; });
  }

  /// Over all ranks.
  double value() const {
    double sum = 0;
    for (LocalIndex cell = 0; cell < mesh_.num_owned_cells; ++cell) {
      const Matrix<dim> F = J(cell);
      sum += volumes_[cell] * (F.squaredNorm() + F.inverse().squaredNorm());
    }
    return mesh_.comm->sum(sum);
  }

  /// By the hat functions of a cell, one column each.
  Eigen::Matrix<double, dim, dim + 1> gradient(LocalIndex cell) const {
    const Matrix<dim> F = J(cell), inverse = F.inverse();
    const Matrix<dim> P = 2 * F - 2 * inverse.transpose() * inverse * inverse.transpose();
    return volumes_[cell] * P * hat_gradients<dim>(inverse_ideal_[cell]);
  }

  /// 2 V (g_a . g_b) W^2: W^2 = U diag(e'(s) / (2 (s - 1))) U' with e(s) = s^2 + s^-2.
  typename VertexSystem<dim>::ElementMatrix proxy(LocalIndex cell) const {
    const auto svd = geometry::rotation_svd<dim>(J(cell));
    Eigen::Matrix<double, dim, 1> weights;
    for (int i = 0; i < dim; ++i) {
      const double s = svd.sigma[i];
      weights[i] = (s + 1) * (s * s + 1) / (s * s * s);
    }
    const Matrix<dim> block = 2 * volumes_[cell] * svd.U * weights.asDiagonal() * svd.U.transpose();
    const Eigen::Matrix<double, dim, dim + 1> gradients = hat_gradients<dim>(inverse_ideal_[cell]);
    typename VertexSystem<dim>::ElementMatrix K;
    for (int a = 0; a <= dim; ++a)
      for (int b = 0; b <= dim; ++b)
        K.template block<dim, dim>(dim * a, dim * b) = gradients.col(a).dot(gradients.col(b)) * block;
    return K;
  }

private:
  const mesh::DistributedMesh<dim>& mesh_;
  double total_ = 0; ///< volume of all cells where they are, times dim!
  std::vector<double> volumes_;
  std::vector<Matrix<dim>> inverse_ideal_;
};

/// The vertices of a mesh as a vector, and moves of them.
template <int dim>
class MovingVertices {
public:
  MovingVertices(const fem::FunctionSpace<dim>& space, mesh::DistributedMesh<dim>& mesh)
      : space_(space), mesh_(mesh), start_(mesh.vertices) {}

  auto change(const linalg::Vector& p, LocalIndex vertex) const {
    return fem::node_block<dim>(p.local(), space_.node_of_vertex(vertex));
  }
  void move(const linalg::Vector& p, double step) {
    for (LocalIndex vertex = 0; vertex < mesh_.num_vertices(); ++vertex)
      mesh_.vertices[vertex] = start_[vertex] + step * change(p, vertex);
  }
  void accept() { start_ = mesh_.vertices; }

private:
  const fem::FunctionSpace<dim>& space_;
  mesh::DistributedMesh<dim>& mesh_;
  std::vector<Eigen::Matrix<double, dim, 1>> start_;
};

/// Minus the gradient on owned entries.
template <int dim>
linalg::Vector descent_force(const VertexSystem<dim>& system, const SymmetricDirichlet<dim>& energy) {
  linalg::Vector force = system.make_vector();
  const auto& space = system.space();
  const auto entries = force.write_local();
  for (LocalIndex cell = 0; cell < space.mesh().num_cells(); ++cell) {
    const auto gradient = energy.gradient(cell);
    for (int i = 0; i <= dim; ++i)
      fem::node_block<dim>(entries, space.node_of_vertex(space.mesh().cells[cell][i])) -= gradient.col(i);
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (system.held()[i] != 0) entries[i] = 0;
  force.update_ghosts();
  return force;
}

} // namespace

template <int dim>
SmoothingResult smooth_interior(const mesh::DistributedMesh<dim>& sizes, std::span<const char> keep,
                                mesh::DistributedMesh<dim>& mesh) {
  VertexSystem<dim> system(mesh, keep);
  const SymmetricDirichlet<dim> energy(sizes, mesh);
  MovingVertices<dim> vertices(system.space(), mesh);
  double value = energy.value();
  SmoothingResult result{0, value / energy.volume(), value / energy.volume()};
  linalg::Vector p = system.make_vector();
  while (result.iterations < max_iterations) {
    system.assemble([&](LocalIndex cell) { return energy.proxy(cell); });
    const linalg::Vector force = descent_force(system, energy);
    system.solve(force, p, linear_tolerance);
    double step = 1;
    for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
      const Matrix<dim> dJ =
          energy.gradient_of(cell, [&](LocalIndex vertex) -> Eigen::Matrix<double, dim, 1> {
            return vertices.change(p, vertex);
          });
      const double free = geometry::inversion_free_step<dim>(energy.J(cell), dJ);
      if (free < 1) step = std::min(step, safety * free);
    }
    step = mesh.comm->min(step);
    const double slope = force.dot(p); // minus the derivative along p
    double trial = value;
    for (; step > shortest_step; step /= 2) {
      vertices.move(p, step);
      trial = energy.value();
      if (trial <= value - armijo * step * slope) break;
    }
    if (!(step > shortest_step)) {
      vertices.move(p, 0);
      break;
    }
    vertices.accept();
    ++result.iterations;
    const double decrease = value - trial;
    value = trial;
    if (decrease <= settled * value) break;
  }
  result.energy_after = value / energy.volume();
  return result;
}

template SmoothingResult smooth_interior(const mesh::DistributedMesh<2>&, std::span<const char>,
                                         mesh::DistributedMesh<2>&);
template SmoothingResult smooth_interior(const mesh::DistributedMesh<3>&, std::span<const char>,
                                         mesh::DistributedMesh<3>&);

} // namespace recoil::mesh_motion
