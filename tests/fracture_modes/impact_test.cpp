#include <numeric>

#include <gtest/gtest.h>

#include "fracture_modes/bars.hpp"
#include "recoil/base/error.hpp"
#include "recoil/solvers/fracture_modes/impact.hpp"

namespace recoil::solvers::fracture_modes {
namespace {

using test::Broken;

/// A body with two thin arms, at x < -1 and x > 1.
mesh::SimplexMesh armed() {
  return test::carve(test::bar_mesh({16, 6}, {8, 3}), [](const Eigen::Vector3d& center) {
    return std::abs(center.x()) < 1 || std::abs(center.y()) < 0.5;
  });
}

/// The surface vertex nearest to a point.
ImpactPoint nearest(const ImpactModel& model, const mesh::SimplexMesh& mesh, const Eigen::Vector3d& point) {
  int best = 0;
  for (int k = 0; k < std::ssize(model.vertices); ++k)
    if ((mesh.vertices[model.vertices[k]] - point).norm() <
        (mesh.vertices[model.vertices[best]] - point).norm())
      best = k;
  return {{best, 0, 0, 0}, {1, 0, 0, 0}};
}

struct Armed {
  parallel::Communicator comm{MPI_COMM_WORLD};
  mesh::SimplexMesh whole = armed();
  Broken<2> broken{comm, whole, {.count = 4}};
  VertexMatrices<2> matrices{broken.mesh};
  ImpactPieces pieces = prepare_impacts(matrices, broken.graph, broken.modes, {.blur_length = 0.5});
};

TEST(Impact, PiecesHaveAllOfTheVolume) {
  const Armed armed;
  const ImpactModel& model = armed.pieces.model;
  EXPECT_GE(model.num_pieces, 3);
  EXPECT_NEAR(std::accumulate(model.volumes.begin(), model.volumes.end(), 0.0), 2 * 3 + 6, 1e-12);
  EXPECT_EQ(model.responses.size(), model.vertices.size() * model.num_pieces);
  // Faces between pieces are those across which some mode jumps.
  for (const ElementFace& face : armed.broken.graph.faces) {
    const bool parted = armed.pieces.piece_of_local[face.a] != armed.pieces.piece_of_local[face.b];
    bool jumps = false;
    for (const FractureMode& mode : armed.broken.modes.modes)
      jumps = jumps || std::abs(mode.field.local()[face.a] - mode.field.local()[face.b]) > 1e-6;
    EXPECT_TRUE(!parted || jumps);
  }
}

TEST(Impact, LightPiecesAreJoined) {
  const Armed armed;
  for (const double share : {0.1, 0.3}) {
    const ImpactPieces joined = prepare_impacts(armed.matrices, armed.broken.graph, armed.broken.modes,
                                                {.blur_length = 0.5, .least_piece = share});
    EXPECT_LE(joined.model.num_pieces, armed.pieces.model.num_pieces);
    EXPECT_NEAR(std::accumulate(joined.model.volumes.begin(), joined.model.volumes.end(), 0.0), 12, 1e-12);
    for (const double mass : joined.model.masses) EXPECT_GE(mass, share * 12 * (1 - 1e-9));
    for (const ElementFace& face : armed.broken.graph.faces)
      EXPECT_TRUE(joined.piece_of_local[face.a] == joined.piece_of_local[face.b] ||
                  armed.pieces.piece_of_local[face.a] != armed.pieces.piece_of_local[face.b])
          << "no new faults";
  }
  // The arms, a quarter of the mass each, stay; with 0.3 they do not.
  const auto pieces_with = [&](double share) {
    return prepare_impacts(armed.matrices, armed.broken.graph, armed.broken.modes,
                           {.blur_length = 0.5, .least_piece = share})
        .model.num_pieces;
  };
  EXPECT_GE(pieces_with(0.1), 3);
  EXPECT_EQ(pieces_with(0.3), 1);
}

/// Responses are means of the diffused impact: whatever the point, their mean over the body is 1.
TEST(Impact, SpreadsWithoutLoss) {
  const Armed armed;
  const ImpactModel& model = armed.pieces.model;
  const double mass = std::accumulate(model.masses.begin(), model.masses.end(), 0.0);
  for (std::size_t v = 0; v < model.vertices.size(); ++v) {
    double mean = 0;
    for (int p = 0; p < model.num_pieces; ++p)
      mean += model.masses[p] * model.responses[v * model.num_pieces + p] / mass;
    EXPECT_NEAR(mean, 1, 1e-9);
  }
}

/// The arm that is hit comes off, the other one stays.
TEST(Impact, BreaksWhatIsHit) {
  const Armed armed;
  const ImpactModel& model = armed.pieces.model;
  ImpactSolver solver(model);
  const ImpactPoint tip = nearest(model, armed.whole, {-4, 0, 0});
  const auto fragments = solver.apply(tip, 1, 2);
  const auto piece_at =
      [&](double x) { // of the element of this rank nearest to (x, 0), its distance, on all ranks
        double least = 1e9;
        int piece = -1;
        for (LocalIndex cell = 0; cell < armed.broken.mesh.num_owned_cells; ++cell) {
          Eigen::Vector2d center = Eigen::Vector2d::Zero();
          for (const LocalIndex v : armed.broken.mesh.cells[cell])
            center += armed.broken.mesh.vertices[v] / 3;
          const double distance = (center - Eigen::Vector2d(x, 0.01)).norm();
          if (distance < least) {
            least = distance;
            piece = armed.pieces.piece_of_local[cell];
          }
        }
        const double nearest = armed.comm.min(least);
        return static_cast<int>(armed.comm.max(GlobalIndex{least == nearest ? piece : -1}));
      };
  const int hit = piece_at(-3.9), middle = piece_at(0), far = piece_at(3.9);
  EXPECT_NE(fragments[hit], fragments[middle]);
  EXPECT_EQ(fragments[far], fragments[middle]);
  EXPECT_GE(solver.num_fragments(), 2);
  EXPECT_EQ(solver.apply(tip, 1e-6, 2)[hit], 0);
  EXPECT_EQ(solver.num_fragments(), 1);
}

TEST(Impact, MagnitudeIsTheInverseOfTheThreshold) {
  const Armed armed;
  const ImpactModel& model = armed.pieces.model;
  ImpactSolver one(model), two(model);
  for (const ImpactProjection projection : {ImpactProjection::pieces, ImpactProjection::modes})
    for (int v = 0; v < std::ssize(model.vertices); ++v)
      for (double sigma = 1.0 / 64; sigma < 8; sigma *= 2) {
        const ImpactPoint point{{v, (v + 1) % int(model.vertices.size()), 0, 0}, {0.25, 0.75, 0, 0}};
        const auto strong = one.apply(point, 2, sigma, projection),
                   weak = two.apply(point, 1, sigma / 2, projection);
        EXPECT_TRUE(std::ranges::equal(strong, weak));
      }
}

/// Modes reproduce fields that are combinations of them, and the projection is one.
TEST(Impact, LinkedModesAreAProjection) {
  const Armed armed;
  const ImpactModel& model = armed.pieces.model;
  ImpactSolver solver(model);
  const ImpactPoint point{{0, 0, 0, 0}, {1, 0, 0, 0}};
  solver.apply(point, 1, 1, ImpactProjection::pieces);
  const std::vector<double> pieces(solver.amplitudes().begin(), solver.amplitudes().end());
  solver.apply(point, 1, 1, ImpactProjection::modes);
  const auto modes = solver.amplitudes();
  const std::size_t width = model.modes.size() / model.num_pieces;
  for (std::size_t i = 0; i < width; ++i) {
    double of_pieces = 0, of_modes = 0;
    for (int p = 0; p < model.num_pieces; ++p) {
      of_pieces += model.masses[p] * model.modes[p * width + i] * pieces[p];
      of_modes += model.masses[p] * model.modes[p * width + i] * modes[p];
    }
    EXPECT_NEAR(of_pieces, of_modes, 1e-9);
  }
}

TEST(Impact, RefusesOptionsOutOfRange) {
  const Armed armed;
  EXPECT_THROW(prepare_impacts(armed.matrices, armed.broken.graph, armed.broken.modes, {.blur_length = -1}),
               InputError);
  EXPECT_THROW(prepare_impacts(armed.matrices, armed.broken.graph, armed.broken.modes,
                               {.blur_length = 1, .piece_threshold = 2}),
               InputError);
}

} // namespace
} // namespace recoil::solvers::fracture_modes
