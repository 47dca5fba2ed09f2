#include "recoil/app/solvers/elastodynamics/support_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "recoil/app/run/csv_table.hpp"
#include "recoil/app/scene/build.hpp"

namespace recoil::app {

namespace {

constexpr const char* support_head = "step,time,kind,name,displacement_x,displacement_y,displacement_z,point_"
                                     "x,point_y,point_z,force_x,force_y,"
                                     "force_z,moment_x,moment_y,moment_z";

template <int dim>
Eigen::Vector3d in_space(const Eigen::Matrix<double, dim, 1>& vector) {
  Eigen::Vector3d result = Eigen::Vector3d::Zero();
  result.head<dim>() = vector;
  return result;
}

/// Flags of the owned nodes of which some component is prescribed.
template <int dim>
std::vector<char> prescribed_nodes(const solvers::ElastodynamicsProblem<dim>& problem) {
  std::vector<char> flags(problem.space->num_owned_nodes(), 0);
  problem.dirichlet->for_each([&](LocalIndex node, int, std::int64_t) { flags[node] = 1; });
  return flags;
}

/// All surface ids that conditions name, or that facets have where a condition is for all. Collective.
template <int dim>
std::set<std::int32_t> prescribed_ids(const Scene& scene, const fem::FunctionSpace<dim>& space) {
  std::set<GlobalIndex> ids;
  for (const DirichletEntry& entry : scene.boundary_conditions.dirichlet) {
    ids.insert(entry.ids.begin(), entry.ids.end());
    if (!entry.all || !entry.nodes.empty()) continue;
    for (const fem::BoundaryFacet& facet : space.boundary_facets())
      if (fem::selects(true, {}, facet.id)) ids.insert(facet.id);
  }
  const std::vector<GlobalIndex> all =
      space.comm().all_gather_parts(std::vector<GlobalIndex>(ids.begin(), ids.end()));
  return {all.begin(), all.end()};
}

std::vector<LocalIndex> flagged(const std::vector<char>& flags) {
  std::vector<LocalIndex> nodes;
  for (LocalIndex node = 0; node < std::ssize(flags); ++node)
    if (flags[node] != 0) nodes.push_back(node);
  return nodes;
}

} // namespace

/// What is added up over the nodes of a support.
template <int dim>
struct SupportTable<dim>::Sums {
  Eigen::Vector3d displacement = Eigen::Vector3d::Zero(), position = Eigen::Vector3d::Zero();
  solvers::Wrench wrench; ///< about the origin
  double count = 0;

  static constexpr std::size_t size = 13;
  void write(std::span<double, size> numbers) const {
    std::size_t i = 0;
    for (const Eigen::Vector3d& vector : {displacement, position, wrench.force, wrench.moment})
      for (const double number : vector) numbers[i++] = number;
    numbers[i] = count;
  }
  void read(std::span<const double, size> numbers) {
    const auto vector = [&](std::size_t k) { return Eigen::Vector3d(numbers.data() + 3 * k); };
    displacement = vector(0);
    position = vector(1);
    wrench = {vector(2), vector(3)};
    count = numbers.back();
  }
};

template <int dim>
struct SupportTable<dim>::Row {
  std::string kind, name;
  Sums sums;
};

template <int dim>
SupportTable<dim>::SupportTable(DiscreteScene<dim>& discrete, std::filesystem::path folder)
    : discrete_(discrete), file_(std::move(folder) / "reactions.csv") {
  find_groups();
  if (!discrete.scene().contact.enabled) return;
  for (const std::string& name : obstacle_names(discrete.scene()))
    obstacles_.push_back(
        {name, discrete.number_of_obstacle(name), place_in(discrete.obstacles().names, name)});
}

/// Adds a group unless it has no node on any rank.
template <int dim>
void SupportTable<dim>::add_group(std::string kind, std::string name, const std::vector<char>& nodes) {
  Group group{std::move(kind), std::move(name), flagged(nodes)};
  if (discrete_.space().comm().sum(std::ssize(group.nodes)) > 0) groups_.push_back(std::move(group));
}

template <int dim>
void SupportTable<dim>::find_groups() {
  const solvers::ElastodynamicsProblem<dim>& problem = discrete_.solver().problem();
  const fem::FunctionSpace<dim>& space = discrete_.space();
  const mesh::DistributedMesh<dim>& mesh = discrete_.mesh();
  const std::vector<char> prescribed = prescribed_nodes(problem);
  held_ = flagged(prescribed);
  for (const std::int32_t id : prescribed_ids(discrete_.scene(), space)) {
    std::vector<char> nodes = solvers::nodes_on_boundary(space, id);
    for (LocalIndex vertex = 0; vertex < mesh.num_vertices(); ++vertex)
      if (const LocalIndex node = space.node_of_vertex(vertex);
          mesh.vertex_point_id[vertex] == id && node < space.num_owned_nodes())
        nodes[node] = 1;
    for (std::size_t node = 0; node < nodes.size(); ++node) nodes[node] &= prescribed[node];
    add_group("boundary", std::to_string(id), nodes);
  }
  const auto& conditions = discrete_.scene().boundary_conditions.dirichlet;
  for (std::size_t k = 0; k < conditions.size(); ++k) {
    if (conditions[k].nodes.empty()) continue;
    std::vector<char> nodes(space.num_owned_nodes(), 0);
    problem.dirichlet->for_each([&](LocalIndex node, int, std::int64_t condition) {
      if (condition == std::int64_t(k)) nodes[node] = 1;
    });
    add_group("nodes", conditions[k].node_file.filename().string(), nodes);
  }
  if (discrete_.scene().contact.enabled)
    for (std::size_t body = 0; body < mesh.body_names.size(); ++body) {
      std::vector<char> nodes(space.num_owned_nodes(), 0);
      for (LocalIndex cell = 0; cell < std::ssize(mesh.cell_body); ++cell)
        if (mesh.cell_body[cell] == std::int32_t(body))
          for (const LocalIndex node : space.cell_nodes(cell))
            if (node < space.num_owned_nodes()) nodes[node] = 1;
      add_group("contact", mesh.body_names[body], nodes);
    }
}

template <int dim>
void SupportTable<dim>::begin(double last_time) const {
  // A run that was ended before its initial state was written leaves no table behind.
  if ((groups_.empty() && obstacles_.empty()) || std::isinf(last_time)) return;
  const parallel::Communicator& comm = discrete_.space().comm();
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) begin_table(file_, support_head, last_time);
  });
}

/// This rank's share.
template <int dim>
typename SupportTable<dim>::Sums SupportTable<dim>::sums_of(const std::vector<LocalIndex>& nodes,
                                                            const linalg::Vector& force) const {
  const fem::FunctionSpace<dim>& space = discrete_.space();
  const auto u = discrete_.solver().history().newest().u.owned();
  Sums sums;
  for (const LocalIndex node : nodes) {
    const Eigen::Vector3d way = in_space<dim>(fem::node_block<dim>(u, node)),
                          F = in_space<dim>(fem::node_block<dim>(force.owned(), node)),
                          x = in_space<dim>(space.node_positions()[node]) + way;
    sums.displacement += way;
    sums.position += x;
    sums.wrench.force += F;
    sums.wrench.moment += x.cross(F);
    sums.count += 1;
  }
  return sums;
}

/// This rank's shares.
template <int dim>
std::vector<typename SupportTable<dim>::Row> SupportTable<dim>::rows_of_obstacles() const {
  if (obstacles_.empty()) return {};
  const solvers::ElastodynamicsSolver<dim>& solver = discrete_.solver();
  const mesh::DistributedObstacles<dim>& meshes = discrete_.obstacles();
  std::vector<std::int32_t> numbers;
  for (const Obstacle& obstacle : obstacles_) numbers.push_back(obstacle.number);
  const std::vector<solvers::Wrench> wrenches = solvers::wrenches_of_obstacles(
      solver.problem(), numbers, solver.history().newest().u, solver.barrier_stiffness());
  std::vector<Row> rows;
  std::vector<std::size_t> row_of_mesh(meshes.names.size());
  for (std::size_t k = 0; k < obstacles_.size(); ++k) {
    Row& row = rows.emplace_back("obstacle", obstacles_[k].name, Sums{.wrench = wrenches[k]});
    if (obstacles_[k].mesh >= 0) {
      row_of_mesh[obstacles_[k].mesh] = k;
    } else if (discrete_.space().comm().rank() == 0) {
      row.sums.position = std::ranges::find(discrete_.scene().planes, row.name, &PlaneObstacle::name)->point;
      row.sums.count = 1;
    }
  }
  const std::span<const double> motion = solver.problem().contact->obstacle_displacement();
  for (LocalIndex v = 0; v < meshes.num_owned_vertices; ++v) {
    Sums& sums = rows[row_of_mesh[meshes.vertex_surface[v]]].sums;
    const Eigen::Vector3d way = in_space<dim>(fem::node_block<dim>(motion, v));
    sums.displacement += way;
    sums.position += in_space<dim>(meshes.vertices[v]) + way;
    sums.count += 1;
  }
  return rows;
}

/// The rows of a step, `all` last. Collective.
template <int dim>
std::vector<typename SupportTable<dim>::Row> SupportTable<dim>::rows() const {
  const solvers::ElastodynamicsSolver<dim>& solver = discrete_.solver();
  std::vector<Row> rows;
  const auto add_groups = [&](bool of_contact, const linalg::Vector& force) {
    for (const Group& group : groups_)
      if ((group.kind == "contact") == of_contact)
        rows.push_back({group.kind, group.name, sums_of(group.nodes, force)});
  };
  add_groups(false, *solver.support_force());
  std::ranges::move(rows_of_obstacles(), std::back_inserter(rows));
  if (solver.contact_force() != nullptr) {
    linalg::Vector force = *solver.contact_force();
    force.add(1, *solver.friction_force());
    add_groups(true, force);
  }
  rows.push_back({"all", "", sums_of(held_, *solver.support_force())});
  std::vector<double> numbers(Sums::size * rows.size());
  const auto part = [&](std::size_t k) {
    return std::span(numbers).subspan(Sums::size * k).template first<Sums::size>();
  };
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k].sums.write(part(k));
  discrete_.space().comm().sum(numbers);
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k].sums.read(part(k));
  Sums& all = rows.back().sums;
  all.displacement = all.position = Eigen::Vector3d::Zero();
  for (const Row& row : rows) {
    if (row.kind != "obstacle") continue;
    all.wrench.force += row.sums.wrench.force;
    all.wrench.moment += row.sums.wrench.moment;
  }
  return rows;
}

template <int dim>
std::string SupportTable<dim>::text_of(const Row& row) const {
  const Sums& sums = row.sums;
  const double count = std::max(1.0, sums.count);
  const Eigen::Vector3d way = sums.displacement / count, point = sums.position / count,
                        moment = sums.wrench.moment - point.cross(sums.wrench.force);
  const auto cells = [](const Eigen::Vector3d& vector) { return table_cells({vector.data(), 3}); };
  return fmt::format("{},{:.17g},{},{}{}{}{}{}\n", discrete_.solver().step(), discrete_.solver().time(),
                     row.kind, quoted_cell(row.name), cells(way), cells(point), cells(sums.wrench.force),
                     cells(moment));
}

template <int dim>
void SupportTable<dim>::add_step() const {
  if (groups_.empty() && obstacles_.empty()) return;
  const parallel::Communicator& comm = discrete_.space().comm();
  const std::vector<Row> rows = this->rows();
  std::string text;
  if (comm.rank() == 0) {
    if (std::error_code error; !std::filesystem::exists(file_, error))
      text = std::string(support_head) + "\n";
    for (const Row& row : rows) text += text_of(row);
  }
  add_to_table(comm, file_, text);
}

template class SupportTable<2>;
template class SupportTable<3>;

} // namespace recoil::app
