#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "app/impact/body_meshes.hpp"
#include "app/impact/bonded_shape.hpp"
#include "impact/breakable.hpp"
#include "recoil/geometry/predicates.hpp"

namespace recoil::app {
namespace {

namespace fm = solvers::fracture_modes;
using test::breakable_solid;

/// A block with two arms along x, each a cube thick.
shapes::Shape armed() {
  return {"block with two arms", shapes::cubes(11, 3, 3, [](int x, int y, int z) {
            return (x >= 4 && x < 7) || (y == 1 && z == 1);
          })};
}

/// Number of the piece with the largest share of its box beyond a place on the x axis.
int piece_at(const BrokenBody<3>& broken, const cage::Point<3>& x) {
  for (int n = 0; n < std::ssize(broken.pieces); ++n) {
    double sum = 0;
    const auto& mesh = broken.pieces[n].piece.mesh;
    for (const auto& facet : mesh.facets)
      sum += cage::winding<3>({mesh.vertices[facet[0]], mesh.vertices[facet[1]], mesh.vertices[facet[2]]}, x);
    if (sum > 0.5) return n;
  }
  return -1;
}

class Armed : public testing::Test {
protected:
  static void SetUpTestSuite() {
    shape = std::make_unique<BreakableShape<3>>(breakable_solid(armed(), 2000, 2));
  }
  static void TearDownTestSuite() { shape.reset(); }
  static std::unique_ptr<BreakableShape<3>> shape;
};
std::unique_ptr<BreakableShape<3>> Armed::shape;

/// F7: the arm that is hit separates, the far one does not.
TEST_F(Armed, LosesTheArmThatIsHit) {
  const HitFinder<3> finder(*shape);
  const auto tip = finder.nearest({0, 1.5, 1.5});
  fm::ImpactSolver solver(shape->model);
  const auto fragments = solver.apply(tip.point, 1, 1);
  const auto broken = break_body<3>(*shape, fragments);
  EXPECT_EQ(test::fault_of(broken, solver.num_fragments(),
                           std::accumulate(shape->model.volumes.begin(), shape->model.volumes.end(), 0.0)),
            "");
  const int hit = piece_at(broken, {0.4, 1.5, 1.5}), middle = piece_at(broken, {5.5, 1.5, 1.5}),
            far = piece_at(broken, {10.6, 1.5, 1.5});
  ASSERT_GE(std::min({hit, middle, far}), 0);
  EXPECT_NE(hit, middle);
  EXPECT_EQ(far, middle);
}

/// F7: twice the magnitude is half of the threshold, to the bit, in what comes out as meshes too.
TEST_F(Armed, MagnitudeIsTheInverseOfSigma) {
  const HitFinder<3> finder(*shape);
  fm::ImpactSolver one(shape->model), two(shape->model);
  for (const auto projection : {fm::ImpactProjection::pieces, fm::ImpactProjection::modes}) {
    for (double x = 0; x < 11; x += 0.7)
      for (double sigma = 1.0 / 64; sigma < 2; sigma *= 2) {
        const auto hit = finder.nearest({x, 1.2, 2});
        EXPECT_TRUE(std::ranges::equal(one.apply(hit.point, 2 * 0.3, sigma, projection),
                                       two.apply(hit.point, 0.3, sigma / 2, projection)));
      }
  }
  const auto tip = finder.nearest({0, 1.5, 1.5});
  const auto strong = break_body<3>(*shape, one.apply(tip.point, 2, 1)),
             weak = break_body<3>(*shape, two.apply(tip.point, 1, 0.5));
  ASSERT_EQ(strong.pieces.size(), weak.pieces.size());
  for (std::size_t n = 0; n < strong.pieces.size(); ++n)
    EXPECT_EQ(strong.pieces[n].piece.mesh.vertices, weak.pieces[n].piece.mesh.vertices);
}

/// Small pieces are joined to their neighbours again, to the whole body if all are small.
TEST_F(Armed, JoinsCrumbs) {
  const std::vector<int> each = [] {
    std::vector<int> fragments(shape->model.num_pieces);
    std::iota(fragments.begin(), fragments.end(), 0);
    return fragments;
  }();
  const double cells = std::accumulate(shape->model.volumes.begin(), shape->model.volumes.end(), 0.0);
  std::size_t before = break_body<3>(*shape, each).pieces.size();
  ASSERT_GE(before, 3u);
  for (const double least : {0.05, 0.2, 0.9}) {
    shape->least_piece = least;
    const auto broken = break_body<3>(*shape, each);
    shape->least_piece = 1e-4;
    EXPECT_EQ(test::fault_of(broken, shape->model.num_pieces, cells), "");
    for (const auto& piece : broken.pieces) EXPECT_GE(piece.moments.volume, least * broken.volume);
    EXPECT_LE(broken.pieces.size(), before);
    before = broken.pieces.size();
  }
  EXPECT_EQ(before, 1u);
}

TEST_F(Armed, IsHitWhereItsBoundaryIsNearest) {
  const HitFinder<3> finder(*shape);
  std::mt19937 random(3);
  const auto uniform = [&random](double low, double high) {
    return low + (high - low) * double(random()) / 0x1p32;
  };
  for (int k = 0; k < 50; ++k) {
    const cage::Point<3> x(uniform(-20, 30), uniform(-3, 6), uniform(-3, 6));
    const auto hit = finder.nearest(x);
    cage::Point<3> place = cage::Point<3>::Zero();
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
      EXPECT_GE(hit.point.weights[i], -1e-12);
      sum += hit.point.weights[i];
      place += hit.point.weights[i] * shape->mesh.vertices[shape->model.vertices[hit.point.vertices[i]]];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_LT((place - hit.place).norm(), 1e-12 * 30);
    EXPECT_NEAR(hit.distance, (hit.place - x).norm(), 1e-12 * 30);
    for (const auto id : shape->model.vertices)
      EXPECT_GE((shape->mesh.vertices[id] - x).norm(), hit.distance - 1e-12);
  }
  EXPECT_FALSE(finder.vertex(1 << 30).has_value());
  EXPECT_EQ(finder.vertex(shape->model.vertices[5])->point.vertices[0], 5);
}

TEST_F(Armed, BodiesWithGapsKeepTheirCellsAndDoNotTouch) {
  const HitFinder<3> finder(*shape);
  fm::ImpactSolver solver(shape->model);
  const auto broken = break_body<3>(*shape, solver.apply(finder.nearest({5, 3, 3}).point, 4, 0.2));
  GappedBodies kept;
  const double wanted = 0.02 * mean_edge(shape->mesh);
  const auto bodies = bodies_with_gaps<3>(broken.cells, wanted, kept);
  ASSERT_GE(bodies.size(), 3u);
  EXPECT_GT(kept.gap, wanted / 100);
  double before = 0, after = 0;
  for (const auto& body : bodies) {
    before += body.volume;
    for (std::size_t c = 0; c < body.mesh.cells.size(); ++c) {
      const double volume = cage::volume<3>(body.mesh, c);
      EXPECT_GT(volume, 0);
      after += volume;
    }
  }
  EXPECT_NEAR(before, std::accumulate(shape->model.volumes.begin(), shape->model.volumes.end(), 0.0),
              1e-12 * before);
  EXPECT_LT(after, before);
  EXPECT_GT(after, 0.9 * before);
}

TEST_F(Armed, BondsAreWeakestAcrossTheFaultsOfTheFirstMode) {
  const auto& model = shape->model;
  double weakest = 2;
  for (const auto& link : model.links) {
    const double share = strength_between(model, shape->energies, 0.2, link.a, link.b);
    EXPECT_GE(share, 0.2 * (1 - 1e-12));
    EXPECT_LE(share, 1);
    weakest = std::min(weakest, share);
  }
  EXPECT_DOUBLE_EQ(weakest, 0.2);
  EXPECT_EQ(strength_between(model, shape->energies, 0.2, 1, 1), 1);
}

/// A short sample of bench/fracture_modes/impacts.cpp.
TEST(Impacts, GiveSoundPieces) {
  std::mt19937 random(5);
  const auto all = shapes::all();
  for (const char* name : {"thin plate", "frame with handles", "several balls", "cubes that share an edge",
                           "torus with a hole and a plate through it"}) {
    SCOPED_TRACE(name);
    const auto input = std::ranges::find(all, name, &shapes::Shape::name);
    ASSERT_NE(input, all.end());
    auto shape = breakable_solid(*input, 700, 4);
    const HitFinder<3> finder(shape);
    fm::ImpactSolver solver(shape.model);
    const auto surface = surface_of(shape);
    for (int k = 0; k < 5; ++k) {
      const auto projection = k == 4 ? fm::ImpactProjection::modes : fm::ImpactProjection::pieces;
      const auto at = finder.nearest(surface.vertices[random() % surface.vertices.size()]);
      const auto fragments = solver.apply(at.point, std::exp2(k - 1), 1, projection);
      EXPECT_EQ(test::fault_of(break_body<3>(shape, fragments), solver.num_fragments(),
                               std::accumulate(shape.model.volumes.begin(), shape.model.volumes.end(), 0.0)),
                "");
    }
  }
}

/// Labels of cut cells against the upper envelope of the linear shares in the whole cells: which part of the
/// volume has another label there. Seen at random points of each part.
double volume_off_the_envelope(const cage::CellMesh<3>& mesh, std::span<const std::int32_t> labels,
                               double length, std::mt19937& random) {
  const auto membership = pieces::smooth_labels<3>(mesh, labels, length);
  const auto cut = pieces::cut_along_envelope<3>(mesh, membership);
  double off = 0, whole = 0;
  for (std::size_t c = 0; c < cut.cells.size(); ++c) {
    const auto& parent = mesh.cells[cut.parents[c]];
    Eigen::Matrix3d edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = mesh.vertices[parent[k + 1]] - mesh.vertices[parent[0]];
    constexpr int samples = 8;
    int misses = 0;
    for (int n = 0; n < samples; ++n) {
      Eigen::Vector4d inner;
      for (double& weight : inner) weight = -std::log((random() + 1.0) / 0x1p32);
      inner /= inner.sum();
      cage::Point<3> x = cage::Point<3>::Zero();
      for (int k = 0; k < 4; ++k) x += inner[k] * cut.vertices[cut.cells[c][k]];
      const Eigen::Vector3d local = edges.partialPivLu().solve(x - mesh.vertices[parent[0]]);
      const Eigen::Vector4d weights(1 - local.sum(), local[0], local[1], local[2]);
      std::map<std::int32_t, double> shares;
      for (int k = 0; k < 4; ++k)
        for (auto at = membership.offsets[parent[k]]; at < membership.offsets[parent[k] + 1]; ++at)
          shares[membership.labels[at]] += weights[k] * membership.shares[at];
      const auto largest =
          std::ranges::max_element(shares, {}, [](const auto& entry) { return entry.second; });
      misses += largest->first != cut.labels[c];
    }
    const double volume = cage::volume<3>(cut, c);
    off += volume * misses / samples;
    whole += volume;
  }
  return off / whole;
}

TEST_F(Armed, FaultsFollowTheUpperEnvelope) {
  std::mt19937 random(9);
  const auto& mesh = shape->mesh;
  std::vector<std::int32_t> labels; // eight pieces, by the nearest of eight points
  std::vector<cage::Point<3>> seeds;
  for (int k = 0; k < 8; ++k) seeds.push_back(mesh.vertices[random() % mesh.vertices.size()]);
  for (const auto& cell : mesh.cells) {
    cage::Point<3> centre = cage::Point<3>::Zero();
    for (const auto v : cell) centre += mesh.vertices[v] / 4;
    labels.push_back(static_cast<std::int32_t>(
        std::ranges::min_element(seeds, {}, [&](const auto& seed) { return (seed - centre).norm(); }) -
        seeds.begin()));
  }
  const double off = volume_off_the_envelope(mesh, labels, shape->smoothing_length, random);
  RecordProperty("off", std::to_string(off));
  EXPECT_LT(off, 0.01) << off;
}

/// Parts that hang together through their cage alone are pieces of their own; a cavity stays with its shell.
TEST(ConnectedParts, OfBallsAndShells) {
  const auto ball = shapes::sphere(2);
  pieces::Piece<3> piece{};
  piece.label = 3;
  // A shell with a cavity in which a small ball floats, and a ball elsewhere.
  piece.mesh =
      shapes::joined(shapes::joined(ball, shapes::moved(shapes::turned(ball), {0, 0, 0}, 0.8)),
                     shapes::joined(shapes::moved(ball, {0.1, 0, 0}, 0.3), shapes::moved(ball, {3, 0, 0})));
  piece.neighbours.assign(piece.mesh.facets.size(), -1);
  piece.parents.assign(piece.mesh.facets.size(), 0);
  piece.ids.assign(piece.mesh.vertices.size(), 0);
  std::vector<int> sources;
  const auto parts = connected_parts<3>({piece}, sources);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(sources, std::vector<int>(3, 3));
  const double volume = pieces::moments(ball).volume;
  EXPECT_NEAR(pieces::moments(parts[0].mesh).volume, (1 - 0.512) * volume, 1e-9);
  EXPECT_NEAR(pieces::moments(parts[1].mesh).volume, 0.027 * volume, 1e-9);
  EXPECT_NEAR(pieces::moments(parts[2].mesh).volume, volume, 1e-9);
  for (const auto& part : parts) EXPECT_TRUE(cage::is_closed_manifold(part.mesh));
}

/// A mesh of triangles without an outline has its own boundary.
TEST(Impacts, OfMeshesInTwoDimensions) {
  const auto bar = test::necked_bar({24, 8}, 0, 1);
  cage::CellMesh<2> mesh;
  for (const auto& x : bar.vertices) mesh.vertices.push_back(x.head<2>());
  for (const auto& cell : bar.cells) mesh.cells.push_back({cell[0], cell[1], cell[2]});
  auto shape = test::breakable_cells<2>(mesh, 3, 0.3);
  const HitFinder<2> finder(shape);
  fm::ImpactSolver solver(shape.model);
  const auto fragments = solver.apply(finder.nearest({1, 0.1}).point, 1, 0.5);
  const auto broken = break_body<2>(shape, fragments);
  EXPECT_GE(broken.pieces.size(), 2u);
  EXPECT_EQ(test::fault_of(broken, solver.num_fragments(),
                           std::accumulate(shape.model.volumes.begin(), shape.model.volumes.end(), 0.0)),
            "");
  GappedBodies kept;
  EXPECT_EQ(bodies_with_gaps<2>(broken.cells, 0.01 * mean_edge(mesh), kept).size(),
            std::size_t(solver.num_fragments()));
  EXPECT_GT(kept.gap, 0);
}

} // namespace
} // namespace recoil::app
