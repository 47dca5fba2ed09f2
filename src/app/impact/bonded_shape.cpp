#include "app/impact/bonded_shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include "recoil/app/solvers/bonded_particles/particle_kind.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/geometry/box_tree.hpp"
#include "recoil/particles/csv_tables.hpp"
#include "recoil/particles/packing.hpp"

namespace recoil::app {

namespace {

constexpr double opens_from = 0.05; ///< of the largest jump of a mode

/// Which cell of a mesh a point lies in; of points outside the cell whose centre is nearest.
class CellFinder {
public:
  explicit CellFinder(const cage::CellMesh<3>& mesh) : mesh_(&mesh), tree_(boxes_of(mesh)) {}

  std::size_t cell_at(const Eigen::Vector3d& x) const {
    for (const auto c : tree_.meeting({x, x}))
      if (holds(c, x)) return c;
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < mesh_->cells.size(); ++c) {
      Eigen::Vector3d centre = Eigen::Vector3d::Zero();
      for (const auto v : mesh_->cells[c]) centre += mesh_->vertices[v] / 4;
      if (const double distance = (centre - x).squaredNorm(); distance < least) {
        least = distance;
        best = c;
      }
    }
    return best;
  }

private:
  static std::vector<Eigen::AlignedBox3d> boxes_of(const cage::CellMesh<3>& mesh) {
    std::vector<Eigen::AlignedBox3d> boxes;
    for (const auto& cell : mesh.cells) {
      auto& box = boxes.emplace_back();
      for (const auto v : cell) box.extend(mesh.vertices[v]);
    }
    return boxes;
  }
  bool holds(std::size_t c, const Eigen::Vector3d& x) const {
    const auto& cell = mesh_->cells[c];
    const Eigen::Vector3d& origin = mesh_->vertices[cell[3]];
    Eigen::Matrix3d edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = mesh_->vertices[cell[k]] - origin;
    const Eigen::Vector3d weights = edges.partialPivLu().solve(x - origin);
    return weights.minCoeff() >= -1e-12 && weights.sum() <= 1 + 1e-12;
  }

  const cage::CellMesh<3>* mesh_;
  geometry::BoxTree tree_;
};

nlohmann::ordered_json bonded_scene(const BondsSpec& spec, double lowest, double extent) {
  return {{"solver", {{"type", bonded_particles.scene.name}}},
          {"gravity", {0, 0, -9.81}},
          {"geometry",
           {{{"name", "shape"}, {"particles", {{"file", "particles.csv"}, {"bonds", "bonds.csv"}}}},
            {{"name", "floor"},
             {"type", "plane"},
             {"is_obstacle", true},
             {"point", {0, 0, lowest - spec.radius / 2}},
             {"normal", {0, 0, 1}}}}},
          {"materials",
           {{"type", "BondedParticles"},
            {"E", spec.youngs_modulus},
            {"nu", spec.poisson_ratio},
            {"rho", spec.density},
            {"tensile_strength", spec.tensile_strength},
            {"shear_strength", spec.shear_strength}}},
          {"contact", {{"enabled", true}, {"dhat", 0.1 * spec.radius}, {"friction_coefficient", 0.3}}},
          // The speed of a fall from ten times its size.
          {"initial_conditions",
           {{"velocity", {{{"body", "shape"}, {"value", {0, 0, -std::sqrt(2 * 9.81 * 10 * extent)}}}}}}},
          {"time", {{"dt", 1e-4}, {"time_steps", 200}}}};
}

} // namespace

double strength_between(const solvers::fracture_modes::ImpactModel& model,
                        const std::vector<double>& energies, double fault_share, int a, int b) {
  if (a == b) return 1;
  const std::size_t width = model.modes.size() / std::max(model.num_pieces, 1);
  const auto jump = [&](std::size_t mode, int from, int to) {
    return std::abs(model.modes[from * width + mode] - model.modes[to * width + mode]);
  };
  for (int mode = 0; mode < model.num_modes; ++mode) {
    double largest = 0;
    for (const auto& link : model.links) largest = std::max(largest, jump(mode, link.a, link.b));
    if (largest > 0 && jump(mode, a, b) >= opens_from * largest)
      return std::min(1.0, fault_share * energies[mode] / energies.front());
  }
  return 1;
}

void write_bonded_shape(const BreakableShape<3>& shape, const BondsSpec& spec,
                        const std::filesystem::path& folder) {
  const auto surface = surface_of(shape);
  const particles::ClosedSurface closed("shape", surface.vertices, surface.facets);
  particles::ParticleSet set = particles::pack_centred_lattice(closed, {.radius = spec.radius});
  set.bonds = particles::bond_neighbours(set);
  const CellFinder finder(shape.mesh);
  std::vector<int> piece_of;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (std::size_t p = 0; p < set.positions.size(); ++p) {
    piece_of.push_back(shape.piece_of_cell[finder.cell_at(set.positions[p])]);
    lowest = std::min(lowest, set.positions[p].z() - set.radii[p]);
    highest = std::max(highest, set.positions[p].z() + set.radii[p]);
  }
  for (const auto& [i, j] : set.bonds) {
    const double share =
        strength_between(shape.model, shape.energies, spec.fault_share, piece_of[i], piece_of[j]);
    particles::BondConstants& bond = set.bond_constants.emplace_back();
    bond.tensile_strength = share * spec.tensile_strength;
    bond.shear_strength = share * spec.shear_strength;
  }
  const particles::CsvTables tables = particles::csv_tables(set, 0);
  write_file_atomically(folder / "particles.csv", tables.particles);
  write_file_atomically(folder / "bonds.csv", tables.bonds);
  write_file_atomically(folder / "scene.json", bonded_scene(spec, lowest, highest - lowest).dump(2) + "\n");
}

} // namespace recoil::app
