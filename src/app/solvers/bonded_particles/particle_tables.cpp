#include "recoil/app/solvers/bonded_particles/particle_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <Eigen/LU>
#include <fmt/format.h>

#include "app/solvers/bonded_particles/contact_network.hpp"
#include "recoil/app/run/csv_table.hpp"
#include "recoil/app/run/forward_run.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/particles/fragments.hpp"
#include "recoil/solvers/bdem/cell_stress.hpp"

namespace recoil::app {

namespace {

using Eigen::Vector3d;

constexpr const char* broken_head = "bond,time,x,y,z,mode,sigma,tau,energy";
constexpr const char* reaction_head = "step,time,entry,displacement_x,displacement_y,displacement_z,force_x,"
                                      "force_y,force_z,moment_x,moment_y,moment_z";
constexpr const char* obstacle_head =
    "step,time,obstacle,displacement_x,displacement_y,displacement_z,force_x,"
    "force_y,force_z,moment_x,moment_y,moment_z";
constexpr const char* contact_head = "step,time,particle,other,gap,force,normal_x,normal_y,normal_z,x,y,z";
constexpr const char* spring_head = ",tangential_x,tangential_y,tangential_z";
constexpr const char* fragment_head = "step,time,fragment,first_particle,particles,mass,x,y,z,vx,vy,vz";

std::string cell_stress_head() {
  std::string head = "step,time,volume";
  for (const char* quantity : {"H", "P", "sigma"})
    for (const char i : {'x', 'y', 'z'})
      for (const char j : {'x', 'y', 'z'}) head += fmt::format(",{}_{}{}", quantity, i, j);
  return head;
}

Vector3d three_of(std::span<const double> values, std::size_t first) {
  return {values[first], values[first + 1], values[first + 2]};
}

using FragmentSums = Eigen::Matrix<double, 8, 1>;

/// What particles have of a fragment, or of all single particles, which stand behind the last larger one.
struct FragmentRow {
  GlobalIndex number, first;    ///< number of the fragment, smallest id
  std::array<double, 8> sums{}; ///< number of particles, mass, sums of mass times place and of momenta
};

using FragmentRows = std::map<GlobalIndex, FragmentRow>; ///< by number

void add_to(FragmentRows& rows, const FragmentRow& row) {
  FragmentRow& sum = rows.try_emplace(row.number, FragmentRow{row.number, row.first, {}}).first->second;
  sum.first = std::min(sum.first, row.first);
  for (std::size_t i = 0; i < sum.sums.size(); ++i) sum.sums[i] += row.sums[i];
}

/// The sums over all ranks, in their order, of `num_rows` rows in equal blocks on the first ranks.
/// Collective.
FragmentRows sum_in_blocks(const parallel::Communicator& comm, const FragmentRows& own, GlobalIndex num_rows,
                           int num_blocks) {
  std::vector<std::vector<FragmentRow>> outgoing(comm.size());
  for (const auto& [number, row] : own)
    outgoing[io::rank_of_row(number, num_rows, num_blocks)].push_back(row);
  FragmentRows block;
  for (const std::vector<FragmentRow>& part : parallel::exchange(comm, outgoing))
    for (const FragmentRow& row : part) add_to(block, row);
  return block;
}

} // namespace

ParticleTables::ParticleTables(const parallel::Communicator& comm, const Scene& scene,
                               const solvers::BondedParticlesSolver& solver, std::filesystem::path folder)
    : comm_(comm), scene_(scene), solver_(solver), folder_(std::move(folder)),
      groups_(prescribed_groups(comm, scene, *solver.problem().particles)) {
  if (!solver.problem().contact) return;
  obstacles_ = obstacle_names(scene);
}

void ParticleTables::begin(double last_time) const {
  parallel::collectively(comm_, [&] {
    if (comm_.rank() != 0) return;
    begin_table(folder_ / "broken_bonds.csv", broken_head, last_time);
    if (!groups_.empty()) begin_table(folder_ / "reactions.csv", reaction_head, last_time);
    if (!obstacles_.empty()) begin_table(folder_ / "obstacle_forces.csv", obstacle_head, last_time);
    if (particles_of(scene_).solver.writes_contacts)
      begin_table(folder_ / "contacts.csv",
                  contact_head + (solver_.problem().has_springs() ? spring_head : std::string()), last_time);
    if (solver_.problem().cell_motion)
      begin_table(folder_ / "cell_stress.csv", cell_stress_head(), last_time);
    if (solver_.problem().strength) begin_table(folder_ / "fragments.csv", fragment_head, last_time);
  });
  if (solver_.problem().strength && last_time < solver_.start_time()) add_fragments();
}

void ParticleTables::add_step() const {
  add_broken_bonds();
  if (!groups_.empty()) add_reactions();
  if (!obstacles_.empty()) add_obstacle_forces();
  if (solver_.problem().cell_motion) add_cell_stress();
  const bool is_stored = run_options(scene_).stores(solver_.step()) || solver_.step() == scene_.time.steps;
  if (particles_of(scene_).solver.writes_contacts && is_stored) add_contacts();
  if (solver_.problem().strength && is_stored) add_fragments();
}

void ParticleTables::add_cell_stress() const {
  using Matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  const solvers::BondedParticles& problem = solver_.problem();
  const Eigen::Matrix3d F = problem.cell_motion->now();
  const double volume = std::abs(problem.cell_motion->cell().volume(F));
  const Eigen::Matrix3d sigma = solvers::cell_stress(problem, solver_.history().newest().u.local()) +
                                solver_.contact_force_moments() / volume;
  const Matrix rows[]{F - Eigen::Matrix3d::Identity(), F.determinant() * sigma * F.inverse().transpose(),
                      sigma};
  std::string text = fmt::format("{},{:.17g},{:.17g}", solver_.step(), solver_.time(), volume);
  for (const Matrix& row : rows) text += table_cells({row.data(), 9});
  add("cell_stress.csv", text + "\n");
}

void ParticleTables::add_contacts() const {
  const auto first_obstacle = std::int32_t(solver_.problem().particles->body_names.size());
  std::string text;
  for (const ContactRow& row : pressing_contacts(solver_.problem()))
    text +=
        fmt::format("{},{:.17g},{},{},{:.9g},{:.9g}{}{}{}\n", solver_.step(), solver_.time(), row.a,
                    row.b >= 0 ? std::to_string(row.b) : quoted_cell(obstacles_[row.body - first_obstacle]),
                    row.gap, row.force, table_cells(row.normal), table_cells(row.place),
                    solver_.problem().has_springs() ? table_cells(row.tangential) : "");
  for (int rank = 0; rank < comm_.size(); ++rank) add_of_rank(rank, "contacts.csv", text);
}

/// Adds the text of one rank after the other: none holds that of all.
void ParticleTables::add_of_rank(int rank, const char* table, const std::string& text) const {
  std::vector<char> rows;
  if (comm_.rank() == rank) rows.assign(text.begin(), text.end());
  rows = parallel::gather(comm_, 0, std::move(rows));
  add(table, {rows.begin(), rows.end()});
}

void ParticleTables::add(const char* table, const std::string& rows) const {
  add_to_table(comm_, folder_ / table, rows);
}

void ParticleTables::add_broken_bonds() const {
  struct Row {
    GlobalIndex bond;
    double time, x, y, z, sigma, tau, energy;
    std::int64_t by_tension;
  };
  std::vector<Row> own;
  for (const solvers::BrokenBond& bond : solver_.broken_in_step())
    own.push_back({bond.bond, bond.time, bond.place[0], bond.place[1], bond.place[2], bond.sigma, bond.tau,
                   bond.energy, bond.by_tension ? 1 : 0});
  std::vector<Row> rows = parallel::gather(comm_, 0, std::move(own));
  std::ranges::sort(rows, {}, [](const Row& row) { return std::pair(row.time, row.bond); });
  std::string text;
  for (const Row& row : rows)
    text +=
        fmt::format("{},{:.17g},{:.9g},{:.9g},{:.9g},{},{:.9g},{:.9g},{:.9g}\n", row.bond, row.time, row.x,
                    row.y, row.z, row.by_tension != 0 ? "tension" : "shear", row.sigma, row.tau, row.energy);
  add("broken_bonds.csv", text);
}

void ParticleTables::add_reactions() const {
  constexpr std::size_t width = 13;
  const particles::DistributedParticles& particles = *solver_.problem().particles;
  const auto u = solver_.history().newest().u.owned();
  // Sums of displacements, of positions, of forces, of moments about the origin; the number of particles.
  std::vector<double> sums(width * groups_.size(), 0.0);
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (const LocalIndex k : groups_[g]) {
      const std::size_t point = 7 * std::size_t(k), tangent = 6 * std::size_t(k);
      const Vector3d p = three_of(u, point), F = three_of(solver_.reactions(), tangent);
      const Vector3d M = geometry::rotation_matrix(Eigen::Map<const geometry::Quaternion>(&u[point + 3])) *
                         (particles.radii[k] * three_of(solver_.reactions(), tangent + 3));
      Eigen::Matrix<double, width, 1> own;
      own << p - particles.positions[k], p, F, p.cross(F) + M, 1;
      Eigen::Map<Eigen::Matrix<double, width, 1>>(&sums[width * g]) += own;
    }
  comm_.sum(sums);
  std::string text;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::span<const double> sum = std::span(sums).subspan(width * g, width);
    const Vector3d displacement = three_of(sum, 0) / sum[12], centre = three_of(sum, 3) / sum[12],
                   F = three_of(sum, 6), M = three_of(sum, 9) - centre.cross(F);
    text += fmt::format("{},{:.17g},{}{}{}{}\n", solver_.step(), solver_.time(), g,
                        table_cells({displacement.data(), 3}), table_cells({F.data(), 3}),
                        table_cells({M.data(), 3}));
  }
  add("reactions.csv", text);
}

void ParticleTables::add_obstacle_forces() const {
  const potentials::SphereContact& pairs = *solver_.problem().contact;
  const potentials::SphereObstacles& obstacles = pairs.obstacles();
  const auto first_body = std::int32_t(solver_.problem().particles->body_names.size());
  struct Sum {
    Vector3d way = Vector3d::Zero(), place = Vector3d::Zero();
    double count = 0;
  };
  // Over the corners of triangles.
  std::vector<Sum> sums(obstacles_.size());
  for (std::size_t t = 0; t < obstacles.triangles.size(); ++t)
    for (const LocalIndex v : obstacles.triangles[t]) {
      Sum& sum = sums[obstacles.bodies[t] - first_body];
      sum.way += pairs.obstacle_vertices()[v] - obstacles.vertices[v];
      sum.place += pairs.obstacle_vertices()[v];
      ++sum.count;
    }
  for (std::size_t k = 0; k < obstacles.planes.size(); ++k)
    sums[obstacles.planes[k].body - first_body].way +=
        pairs.obstacle_vertices()[obstacles.vertices.size() + k] - obstacles.planes[k].point;
  std::vector<double> forces = solver_.obstacle_forces();
  forces.resize(6 * obstacles_.size(), 0.0);
  std::string text;
  for (std::size_t k = 0; k < obstacles_.size(); ++k) {
    const double count = std::max(1.0, sums[k].count);
    const Vector3d way = sums[k].way / count, F = three_of(forces, 6 * k),
                   M = three_of(forces, 6 * k + 3) - (sums[k].place / count).cross(F);
    text += fmt::format("{},{:.17g},{}{}{}{}\n", solver_.step(), solver_.time(), quoted_cell(obstacles_[k]),
                        table_cells({way.data(), 3}), table_cells({F.data(), 3}), table_cells({M.data(), 3}));
  }
  add("obstacle_forces.csv", text);
}

void ParticleTables::add_fragments() const {
  const solvers::BondedParticles& problem = solver_.problem();
  const particles::Fragments fragments = find_fragments(*problem.particles, problem.bonds->broken());
  const stepping::State& state = solver_.history().newest();
  FragmentRows own;
  for (LocalIndex k = 0; k < problem.particles->num_owned(); ++k) {
    const double m = problem.mass[k];
    FragmentRow row{std::min(fragments.of_owned[k], fragments.larger), fragments.first_of_owned[k], {}};
    Eigen::Map<FragmentSums>(row.sums.data()) << 1, m, m * three_of(state.u.owned(), 7 * std::size_t(k)),
        m * three_of(state.v.owned(), 6 * std::size_t(k));
    add_to(own, row);
  }
  // Every block is a message to the first rank, one after the other: a few rows make no more than one.
  constexpr GlobalIndex least_rows = 1000;
  const GlobalIndex num_rows = fragments.larger + 1;
  const auto num_blocks = int(std::min<GlobalIndex>(comm_.size(), 1 + num_rows / least_rows));
  const FragmentRows block = sum_in_blocks(comm_, own, num_rows, num_blocks);
  std::string text;
  for (const auto& [number, row] : block) {
    const Vector3d centre = three_of(row.sums, 2) / row.sums[1],
                   velocity = three_of(row.sums, 5) / row.sums[1];
    text += fmt::format("{},{:.17g},{},{},{},{:.9g}{}{}\n", solver_.step(), solver_.time(),
                        number < fragments.larger ? number : -1, row.first, GlobalIndex(row.sums[0]),
                        row.sums[1], table_cells({centre.data(), 3}), table_cells({velocity.data(), 3}));
  }
  for (int rank = 0; rank < num_blocks; ++rank) add_of_rank(rank, "fragments.csv", text);
}

} // namespace recoil::app
