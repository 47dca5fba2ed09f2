#include <map>
#include <random>
#include <set>

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include "support/contact_scene.hpp"

namespace recoil::potentials {
namespace {

template <class T>
class InclusionExclusion : public ::testing::Test {};
TYPED_TEST_SUITE(InclusionExclusion, Dimensions);

/// The sums of the convergent barrier [Li et al. 2023] over all vertices, edges and faces, one by one; on one
/// rank. What an edge pair's mollifier multiplies is its share 1/deg(w) of the term of w, too.
template <int dim>
class Specified {
public:
  Specified(const ContactScene<dim>& scene, const linalg::Vector& u)
      : surface_(scene.contact.surface()), parameters_(scene.contact.parameters()),
        x_(surface_.positions(u.local(), scene.contact.obstacle_displacement())) {
    for (const auto& e : surface_.edges())
      for (const LocalIndex w : e) edges_at_[w].insert(e);
    for (const auto& f : surface_.faces())
      for (std::size_t i = 0; i < 3; ++i) {
        ++faces_at_[f[i]];
        std::array<LocalIndex, 2> e{f[i], f[(i + 1) % 3]};
        std::sort(e.begin(), e.end(), [&](auto a, auto b) { return vertex(a).id < vertex(b).id; });
        ++faces_of_[e];
      }
  }

  double value() const {
    double sum = 0;
    for (LocalIndex v = 0; v < surface_.num_owned(); ++v) {
      const double area = parameters_.form.area_weights ? vertex(v).area : 1;
      const double c = parameters_.form.area_weights ? (dim == 2 ? 0.5 : 0.25) : 1;
      sum += c * area * (dim == 2 ? vertex_and_curve(v) : vertex_and_surface(v));
      for (const auto& plane : parameters_.planes)
        if (surface_.node(v) >= 0)
          sum += area * b(std::pow(plane.normal.dot(x_[static_cast<std::size_t>(v)] - plane.point), 2));
    }
    if constexpr (dim == 3)
      for (std::size_t a = 0; a < surface_.edges().size(); ++a)
        sum += (parameters_.form.area_weights ? 0.25 * surface_.edge_areas()[a] : 0.5) *
               edge_and_surface(surface_.edges()[a]);
    return sum;
  }

private:
  using Edge = std::array<LocalIndex, 2>;

  const surface::SurfaceVertex<dim>& vertex(LocalIndex v) const {
    return surface_.vertices()[static_cast<std::size_t>(v)];
  }
  double b(double y) const {
    const double d = std::sqrt(y);
    return d < parameters_.dhat ? geometry::log_barrier(d, parameters_.dhat).value : 0;
  }
  /// 0 for what does not collide.
  double b(geometry::StencilKind kind, const std::vector<LocalIndex>& vertices) const {
    const auto first = static_cast<std::size_t>(geometry::num_first_points(kind));
    if (surface_.node(vertices[0]) < 0 && surface_.node(vertices[first]) < 0) return 0;
    for (std::size_t i = 0; i < first; ++i)
      for (std::size_t j = first; j < vertices.size(); ++j)
        if (vertices[i] == vertices[j]) return 0;
    return b(geometry::distance_squared<dim>(kind, points(vertices)));
  }
  geometry::StencilPoints<dim> points(const std::vector<LocalIndex>& vertices) const {
    geometry::StencilPoints<dim> points = geometry::StencilPoints<dim>::Zero();
    for (std::size_t i = 0; i < vertices.size(); ++i)
      points.col(static_cast<Eigen::Index>(i)) = x_[static_cast<std::size_t>(vertices[i])];
    return points;
  }
  /// Only then do the shares of primitives add up to what is specified.
  double apart(double b, LocalIndex v, LocalIndex w) const {
    const bool joined =
        edges_at_.count(v) != 0 && std::any_of(edges_at_.at(v).begin(), edges_at_.at(v).end(),
                                               [&](const Edge& e) { return e[0] == w || e[1] == w; });
    EXPECT_TRUE(b == 0 || !joined);
    return b;
  }

  double vertex_and_curve(LocalIndex v) const {
    double sum = 0;
    for (const auto& e : surface_.edges()) sum += b(geometry::StencilKind::vertex_edge, {v, e[0], e[1]});
    for (const auto& [w, edges] : edges_at_)
      sum -= (static_cast<double>(edges.size()) - 1) *
             apart(b(geometry::StencilKind::vertex_vertex, {v, w}), v, w);
    return sum;
  }

  double vertex_and_surface(LocalIndex v) const {
    double sum = 0;
    for (const auto& f : surface_.faces())
      sum += b(geometry::StencilKind::vertex_face, {v, f[0], f[1], f[2]});
    for (const auto& [e, faces] : faces_of_)
      sum -= (faces - 1) * b(geometry::StencilKind::vertex_edge, {v, e[0], e[1]});
    for (const auto& [w, faces] : faces_at_)
      if (static_cast<std::size_t>(faces) == edges_at_.at(w).size()) // not on a border
        sum += apart(b(geometry::StencilKind::vertex_vertex, {v, w}), v, w);
    return sum;
  }

  double mollifier(const Edge& a, const Edge& b) const {
    if constexpr (dim == 3) {
      geometry::StencilPoints<3> rest;
      Eigen::Index i = 0;
      for (const Edge* edge : {&a, &b})
        for (const LocalIndex v : *edge)
          rest.col(i++) = Eigen::Map<const Eigen::Vector3d>(vertex(v).rest.data());
      return geometry::edge_edge_mollifier(points({a[0], a[1], b[0], b[1]}),
                                           geometry::edge_edge_mollifier_eps(rest))
          .value;
    }
    return 1;
  }

  double edge_and_surface(const Edge& a) const {
    double sum = 0;
    for (const auto& e : surface_.edges()) {
      const double term = b(geometry::StencilKind::edge_edge, {a[0], a[1], e[0], e[1]});
      if (term != 0) sum += mollifier(a, e) * term;
    }
    for (const auto& [w, edges] : edges_at_) {
      const double term = b(geometry::StencilKind::vertex_edge, {w, a[0], a[1]});
      if (term == 0) continue;
      double mean = 0;
      for (const Edge& e : edges) mean += mollifier(a, e) / static_cast<double>(edges.size());
      sum -= (static_cast<double>(edges.size()) - 1) * mean * term;
    }
    return sum;
  }

  const surface::Surface<dim>& surface_;
  const ContactParameters<dim>& parameters_;
  std::vector<Eigen::Matrix<double, dim, 1>> x_;
  std::map<LocalIndex, std::set<Edge>> edges_at_;
  std::map<LocalIndex, int> faces_at_;
  std::map<Edge, int> faces_of_;
};

TYPED_TEST(InclusionExclusion, IsTheSumThatIsSpecified) {
  for (const bool area_weights : {true, false})
    for (const int order : {1, 2}) {
      ContactScene<TypeParam::dim> scene(MPI_COMM_SELF, order, {false, area_weights, true});
      const linalg::Vector u = scene.close_together();
      const double value = scene.energy(u, 1, 0);
      EXPECT_GT(value, 0);
      EXPECT_NEAR(value, Specified(scene, u).value(), 1e-12 * value);
    }
}

TYPED_TEST(InclusionExclusion, CountsPairsNotTerms) {
  ContactScene<TypeParam::dim> with(MPI_COMM_WORLD, 1, BarrierForm::convergent),
      without(MPI_COMM_WORLD, 1, BarrierForm::plain);
  const linalg::Vector u = with.close_together();
  with.contact.update(u.local());
  without.contact.update(u.local());
  EXPECT_EQ(with.contact.num_pairs(), without.contact.num_pairs());
  EXPECT_EQ(with.contact.min_distance(), without.contact.min_distance());
  EXPECT_GT(with.comm.sum(static_cast<GlobalIndex>(with.contact.pairs().size())), with.contact.num_pairs());
}

/// Eigenvalues of stiffness * barrier + scale * friction, ascending; on one rank.
template <int dim>
Eigen::VectorXd spectrum(ContactScene<dim>& scene, double stiffness, double scale,
                         newton::Projection projection) {
  linalg::StencilMatrix H(scene.space.layout());
  scene.assemble_hessian(stiffness, scale, projection, H);
  const auto size = static_cast<Eigen::Index>(scene.space.num_nodes()) * dim;
  Eigen::MatrixXd dense(size, size);
  linalg::Vector unit(scene.space.layout()), column(scene.space.layout());
  for (Eigen::Index j = 0; j < size; ++j) {
    unit.fill(0);
    unit.write_owned()[static_cast<std::size_t>(j)] = 1;
    H.multiply(unit, column);
    dense.col(j) = Eigen::Map<const Eigen::VectorXd>(column.owned().data(), size);
  }
  EXPECT_LE((dense - dense.transpose()).norm(), 1e-12 * dense.norm());
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense, Eigen::EigenvaluesOnly).eigenvalues();
}

TYPED_TEST(InclusionExclusion, ProjectedHessianIsSemiDefinite) {
  ContactScene<TypeParam::dim> scene(MPI_COMM_SELF, 1, BarrierForm::convergent);
  linalg::Vector u = scene.close_together();
  scene.contact.start_step(u.local());
  scene.contact.lag_friction(1, 1);
  u.add(1, scene.field(0.0012, 7));
  scene.contact.update(u.local());
  for (const auto [barrier, friction] : {std::array{1.0, 0.0}, std::array{0.0, 1.0}}) {
    const auto exact = spectrum(scene, barrier, friction, newton::Projection::none);
    const auto projected = spectrum(scene, barrier, friction, newton::Projection::per_element);
    const double rounding = 1e-13 * projected.maxCoeff();
    // In the plane the terms of friction that take away never outweigh those beside them.
    if (barrier > 0 || TypeParam::dim == 3) {
      EXPECT_LT(exact.minCoeff(), -rounding) << "nothing to project";
    }
    EXPECT_GE(projected.minCoeff(), -rounding);
    EXPECT_GT(projected.maxCoeff(), 0);
  }
}

/// A box over an open flat plate of uneven triangles (a straight line of uneven edges in 2D).
template <int dim>
struct BoxOverPlate {
  static constexpr int n = 7;          ///< primitives per side
  static constexpr double height = -1; ///< of the plate, which reaches from -1 to 1 otherwise
  static constexpr double dhat = 0.7;  ///< far more than the size of its primitives

  parallel::Communicator comm;
  mesh::SurfaceMesh plate;
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  mesh::DistributedObstacles<dim> obstacles;
  ContactState<dim> contact;

  explicit BoxOverPlate(const BarrierForm& form, bool stays_flat = false, bool is_coarse = false)
      : comm(MPI_COMM_WORLD), plate(is_coarse ? make_coarse_plate() : make_plate()),
        mesh(mesh::distribute<dim>(comm, comm.rank() == 0 ? test::box_mesh(dim, 1) : empty())),
        space(mesh, {1, 1}),
        obstacles(mesh::distribute_obstacles<dim>(comm, comm.rank() == 0 ? std::vector{plate}
                                                                         : std::vector<mesh::SurfaceMesh>())),
        contact(fem::collision_surface<dim>(
                    space, obstacles, std::vector<char>(static_cast<std::size_t>(space.num_nodes()) * dim, 0),
                    std::vector<char>(1, stays_flat ? 1 : 0)),
                parameters(form)) {}

  static mesh::SimplexMesh empty() {
    mesh::SimplexMesh mesh;
    mesh.dim = dim;
    return mesh;
  }
  static ContactParameters<dim> parameters(const BarrierForm& form) {
    ContactParameters<dim> parameters;
    parameters.dhat = dhat;
    parameters.form = form;
    return parameters;
  }

  static mesh::SurfaceMesh make_plate() {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> jitter(-0.3, 0.3);
    mesh::SurfaceMesh plate;
    plate.name = "plate";
    const int rows = dim == 2 ? 1 : n + 1;
    const auto place = [&](int i) { return -1 + 2.0 / n * (i + (i > 0 && i < n ? jitter(random) : 0)); };
    for (int j = 0; j < rows; ++j)
      for (int i = 0; i <= n; ++i) plate.vertices.emplace_back(place(i), height, dim == 2 ? 0 : place(j));
    const auto vertex = [](int i, int j) { return static_cast<LocalIndex>((n + 1) * j + i); };
    for (int i = 0; i < n; ++i)
      if constexpr (dim == 2)
        plate.edges.push_back({vertex(i, 0), vertex(i + 1, 0)});
      else
        for (int j = 0; j < n; ++j) {
          plate.triangles.push_back({vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1)});
          plate.triangles.push_back({vertex(i, j), vertex(i + 1, j + 1), vertex(i, j + 1)});
        }
    return plate;
  }

  /// The same plate with one edge per side.
  static mesh::SurfaceMesh make_coarse_plate() {
    mesh::SurfaceMesh plate;
    plate.name = "plate";
    if (dim == 2) {
      plate.vertices = {{-1, height, 0}, {1, height, 0}};
      plate.edges = {{0, 1}};
    } else {
      plate.vertices = {{-1, height, -1}, {1, height, -1}, {1, height, 1}, {-1, height, 1}};
      plate.triangles = {{0, 1, 3}, {1, 2, 3}};
    }
    return plate;
  }

  /// And bends it.
  void move(const Eigen::Matrix<double, dim, 1>& by, double bend = 0) {
    linalg::Vector u = test::rough_field(space, bend, 3);
    auto values = u.write_local();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += by[static_cast<Eigen::Index>(i % dim)];
    contact.update(u.local());
    positions = contact.surface().positions(u.local(), contact.obstacle_displacement());
  }
  std::vector<Eigen::Matrix<double, dim, 1>> positions;

  /// Distance of a point to the plate, all of its border included.
  static double distance(const Eigen::Matrix<double, dim, 1>& p) {
    Eigen::Matrix<double, dim, 1> closest = p.cwiseMax(-1).cwiseMin(1);
    closest[1] = height;
    return (p - closest).norm();
  }
};

/// The point of inclusion-exclusion: what lies below a vertex - the inside of a primitive, an edge, a vertex,
/// the border - does not matter, nor how many primitives are near.
TYPED_TEST(InclusionExclusion, PlatePushesVerticesByTheirDistanceAlone) {
  constexpr int dim = TypeParam::dim;
  BoxOverPlate<dim> scene(BarrierForm::convergent);
  const auto& plate = scene.plate.vertices;
  std::mt19937 random(11);
  std::uniform_real_distribution<double> beyond(-1.3, 1.3), up(-0.45, 0.1);
  for (std::size_t sample = 0; sample < 60; ++sample) {
    // First the corner (1/2, -1/2, 1/2) over every vertex of the plate, then anywhere.
    Eigen::Matrix<double, dim, 1> by;
    for (int i = 0; i < dim; ++i)
      by[i] = i == 1 ? up(random) : sample < plate.size() ? plate[sample][i] - 0.5 : beyond(random);
    scene.move(by);
    double expected = 0, value = 0;
    const auto& surface = scene.contact.surface();
    for (LocalIndex v = 0; v < surface.num_owned(); ++v) {
      const double d = scene.distance(scene.positions[static_cast<std::size_t>(v)]);
      if (surface.node(v) >= 0 && d < scene.dhat)
        expected += (dim == 2 ? 0.5 : 0.25) * surface.vertices()[static_cast<std::size_t>(v)].area *
                    geometry::log_barrier(d, scene.dhat).value;
    }
    for (const auto& pair : scene.contact.pairs())
      if (pair.kind != geometry::StencilKind::edge_edge && pair.bodies[0] == 0 && pair.bodies[1] == 1)
        value += scene.contact.barrier().value({pair});
    expected = scene.comm.sum(expected);
    EXPECT_GT(expected, 0);
    EXPECT_NEAR(scene.comm.sum(value), expected, 1e-12 * expected) << sample;
  }
}

/// An obstacle that stays flat is counted by its shape in every form: plates of two triangles and of many
/// push a bent box the same wherever it is, over the rim, too.
TEST(FlatObstacles, PushByTheirShapeAlone) {
  constexpr int dim = 3;
  const BarrierForm areas{false, true, false}, once{true, false, true};
  for (const BarrierForm& form : {BarrierForm::plain, once, areas, BarrierForm::convergent}) {
    BoxOverPlate<dim> fine(form, true), coarse(form, true, true);
    const auto& plate = fine.plate.vertices;
    std::mt19937 random(11);
    std::uniform_real_distribution<double> beyond(-1.3, 1.3), up(-0.45, 0.1);
    for (std::size_t sample = 0; sample < 40; ++sample) {
      Eigen::Matrix<double, dim, 1> by;
      for (int i = 0; i < dim; ++i)
        by[i] = i == 1 ? up(random) : sample < plate.size() ? plate[sample][i] - 0.5 : beyond(random);
      std::array<double, 2> values{}, norms{};
      for (const std::size_t k : {0, 1}) {
        BoxOverPlate<dim>& scene = k == 0 ? fine : coarse;
        scene.move(by, sample % 2 == 0 ? 0 : 0.03);
        auto pairs = scene.contact.pairs();
        // The weights of the plate's own edges and vertices are areas of its primitives.
        if (form.area_weights)
          std::erase_if(pairs, [](const auto& pair) {
            return pair.kind == geometry::StencilKind::edge_edge || pair.bodies[0] != 0;
          });
        const Barrier<dim>& barrier = scene.contact.barrier();
        const auto& vertices = *scene.contact.vertices();
        values[k] = scene.comm.sum(barrier.value(pairs));
        double squared = 0;
        const auto g = scene.contact.sum_at_owners(vertices, barrier.gradient(pairs, vertices.size()));
        for (LocalIndex v = 0; v < std::ssize(g); ++v)
          if (scene.contact.surface().node(v) >= 0) squared += g[static_cast<std::size_t>(v)].squaredNorm();
        norms[k] = std::sqrt(scene.comm.sum(squared));
      }
      EXPECT_GT(values[1], 0);
      EXPECT_NEAR(values[0], values[1], 1e-12 * values[1]) << sample;
      EXPECT_NEAR(norms[0], norms[1], 1e-11 * norms[1]) << sample;
    }
  }
}

/// The terms of flat edges pass from face to face, in between with weights that change with the position.
TEST(FlatObstacles, HaveTheDerivativesOfTheirBarrier) {
  BoxOverPlate<3> scene(BarrierForm::plain, true);
  BarrierPotential<3> barrier(scene.contact);
  const auto value = [&](const linalg::Vector& u) {
    scene.contact.update(u.local());
    return scene.comm.sum(barrier.value(u.local()));
  };
  const auto gradient = [&](const linalg::Vector& u) {
    scene.contact.update(u.local());
    linalg::Vector g(scene.space.layout());
    barrier.add_gradient(u.local(), 1, g.write_owned());
    return g;
  };
  std::mt19937 random(5);
  std::uniform_real_distribution<double> beyond(-0.4, 0.4), up(-0.4, -0.1);
  const linalg::Vector d = test::rough_field(scene.space, 1, 9);
  for (int sample = 0; sample < 12; ++sample) {
    linalg::Vector u = test::rough_field(scene.space, 0.03, 3);
    const Eigen::Vector3d by(beyond(random), up(random), beyond(random));
    auto values = u.write_local();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += by[static_cast<Eigen::Index>(i % 3)];
    const linalg::Vector g = gradient(u);
    linalg::Vector curvature(scene.space.layout());
    barrier.add_hessian_product(u.local(), d.local(), 1, curvature.write_owned());
    const std::array steps{1e-5, 1e-6, 1e-7};
    const auto errors = test::derivative_errors(value, gradient, g.dot(d), curvature, u, d, steps);
    EXPECT_LT(errors.slope, 1e-7 * g.norm()) << sample;
    EXPECT_LT(errors.curvature, 1e-6 * curvature.norm()) << sample;
  }
}

TYPED_TEST(InclusionExclusion, ClosestTermOfACandidateNeverAttracts) {
  constexpr int dim = TypeParam::dim;
  BoxOverPlate<dim> scene(BarrierForm::convergent);
  std::mt19937 random(12);
  std::uniform_real_distribution<double> anywhere(-1.3, 1.3), up(-0.45, 0.1);
  for (int sample = 0; sample < 40; ++sample) {
    Eigen::Matrix<double, dim, 1> by;
    for (int i = 0; i < dim; ++i) by[i] = i == 1 ? up(random) : anywhere(random);
    scene.move(by);
    const auto& pairs = scene.contact.pairs();
    for (std::span<const ContactPair<dim>> rest(pairs), terms; !rest.empty();
         rest = rest.subspan(terms.size())) {
      terms = first_candidate(rest);
      EXPECT_GE(terms.front().weight, -1e-15);
      double sum = 0;
      for (const auto& term : terms) {
        EXPECT_GE(term.closest.distance_squared, (1 - 1e-12) * terms.front().closest.distance_squared);
        sum += scene.contact.barrier().value({term});
      }
      if (dim == 2) {
        EXPECT_GE(sum, -1e-15);
      }
    }
  }
}

} // namespace
} // namespace recoil::potentials
