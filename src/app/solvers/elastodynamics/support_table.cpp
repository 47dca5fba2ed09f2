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

} // namespace

/// What is added up over the nodes of a support.
template <int dim>
struct SupportTable<dim>::Sums {
  Eigen::Vector3d displacement = Eigen::Vector3d::Zero(), position = Eigen::Vector3d::Zero(),
                  force = Eigen::Vector3d::Zero(),
                  moment = Eigen::Vector3d::Zero(); ///< about the origin
  double count = 0;

  /// The sum over all ranks. Collective.
  Sums over(const parallel::Communicator& comm) const {
    std::array<double, 13> numbers{};
    for (std::size_t i = 0; i < 3; ++i) {
      numbers[i] = displacement[i];
      numbers[3 + i] = position[i];
      numbers[6 + i] = force[i];
      numbers[9 + i] = moment[i];
    }
    numbers[12] = count;
    comm.sum(numbers);
    using Row = Eigen::Map<const Eigen::Vector3d>;
    return {Row(&numbers[0]), Row(&numbers[3]), Row(&numbers[6]), Row(&numbers[9]), numbers[12]};
  }
};

template <int dim>
SupportTable<dim>::SupportTable(DiscreteScene<dim>& discrete, std::filesystem::path folder)
    : discrete_(discrete), file_(std::move(folder) / "reactions.csv") {
  find_groups();
  if (discrete.scene().contact.enabled) obstacles_ = obstacle_names(discrete.scene());
}

/// Adds a group unless it has no node on any rank.
template <int dim>
void SupportTable<dim>::add_group(std::string kind, std::string name, const std::vector<char>& nodes) {
  Group group{std::move(kind), std::move(name), {}};
  for (LocalIndex node = 0; node < std::ssize(nodes); ++node)
    if (nodes[node] != 0) group.nodes.push_back(node);
  if (discrete_.space().comm().sum(std::ssize(group.nodes)) > 0) groups_.push_back(std::move(group));
}

template <int dim>
void SupportTable<dim>::find_groups() {
  const solvers::ElastodynamicsProblem<dim>& problem = discrete_.solver().problem();
  const fem::FunctionSpace<dim>& space = discrete_.space();
  const mesh::DistributedMesh<dim>& mesh = discrete_.mesh();
  const std::vector<char> prescribed = prescribed_nodes(problem);
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

template <int dim>
typename SupportTable<dim>::Sums SupportTable<dim>::sums_of(const Group& group,
                                                            const linalg::Vector& force) const {
  const fem::FunctionSpace<dim>& space = discrete_.space();
  const auto u = discrete_.solver().history().newest().u.owned();
  Sums sums;
  for (const LocalIndex node : group.nodes) {
    const Eigen::Vector3d way = in_space<dim>(fem::node_block<dim>(u, node)),
                          F = in_space<dim>(fem::node_block<dim>(force.owned(), node)),
                          x = in_space<dim>(space.node_positions()[node]) + way;
    sums.displacement += way;
    sums.position += x;
    sums.force += F;
    sums.moment += x.cross(F);
    sums.count += 1;
  }
  return sums.over(space.comm());
}

template <int dim>
typename SupportTable<dim>::Sums SupportTable<dim>::sums_of_obstacle(const std::string& name) const {
  const solvers::ElastodynamicsSolver<dim>& solver = discrete_.solver();
  const solvers::ElastodynamicsProblem<dim>& problem = solver.problem();
  const linalg::Vector& u = solver.history().newest().u;
  const auto forces =
      solvers::forces_of_obstacle(problem, discrete_.number_of_obstacle(name), solver.barrier_stiffness());
  for (const auto& summand : forces.summands) summand.potential->update(u.local());
  linalg::Vector force(u.shared_layout());
  potentials::add_gradients<dim>(forces.summands, u.local(), force.write_owned());
  Group everywhere;
  for (LocalIndex node = 0; node < discrete_.space().num_owned_nodes(); ++node)
    everywhere.nodes.push_back(node);
  Sums sums = sums_of(everywhere, force), own;
  const mesh::DistributedObstacles<dim>& obstacles = discrete_.obstacles();
  if (const int number = place_in(obstacles.names, name); number >= 0) {
    const std::span<const double> motion = problem.contact->obstacle_displacement();
    for (LocalIndex v = 0; v < obstacles.num_owned_vertices; ++v) {
      if (obstacles.vertex_surface[v] != number) continue;
      const Eigen::Vector3d way = in_space<dim>(fem::node_block<dim>(motion, v));
      own.displacement += way;
      own.position += in_space<dim>(obstacles.vertices[v]) + way;
      own.count += 1;
    }
    own = own.over(discrete_.space().comm());
  } else {
    own.position = std::ranges::find(discrete_.scene().planes, name, &PlaneObstacle::name)->point;
    own.count = 1;
  }
  sums.displacement = own.displacement;
  sums.position = own.position;
  sums.count = own.count;
  return sums;
}

template <int dim>
void SupportTable<dim>::add_row(const std::string& kind, const std::string& name, const Sums& sums,
                                std::string& rows) const {
  const double count = std::max(1.0, sums.count);
  const Eigen::Vector3d way = sums.displacement / count, point = sums.position / count,
                        moment = sums.moment - point.cross(sums.force);
  const auto cells = [](const Eigen::Vector3d& vector) { return table_cells({vector.data(), 3}); };
  rows += fmt::format("{},{:.17g},{},{}{}{}{}{}\n", discrete_.solver().step(), discrete_.solver().time(),
                      kind, name, cells(way), cells(point), cells(sums.force), cells(moment));
}

template <int dim>
void SupportTable<dim>::add_step() const {
  if (groups_.empty() && obstacles_.empty()) return;
  const solvers::ElastodynamicsSolver<dim>& solver = discrete_.solver();
  std::string rows;
  if (std::error_code error; !std::filesystem::exists(file_, error)) rows = std::string(support_head) + "\n";
  const linalg::Vector& support = *solver.support_force();
  for (const Group& group : groups_)
    if (group.kind != "contact") add_row(group.kind, group.name, sums_of(group, support), rows);
  Group held;
  const std::vector<char> prescribed = prescribed_nodes(solver.problem());
  for (LocalIndex node = 0; node < std::ssize(prescribed); ++node)
    if (prescribed[node] != 0) held.nodes.push_back(node);
  Sums all = sums_of(held, support);
  for (const std::string& name : obstacles_) {
    const Sums sums = sums_of_obstacle(name);
    add_row("obstacle", name, sums, rows);
    all.force += sums.force;
    all.moment += sums.moment;
  }
  if (solver.contact_force() != nullptr) {
    linalg::Vector force = *solver.contact_force();
    force.add(1, *solver.friction_force());
    for (const Group& group : groups_)
      if (group.kind == "contact") add_row(group.kind, group.name, sums_of(group, force), rows);
  }
  all.displacement = all.position = Eigen::Vector3d::Zero();
  add_row("all", "", all, rows);
  add_to_table(discrete_.space().comm(), file_, rows);
}

template class SupportTable<2>;
template class SupportTable<3>;

} // namespace recoil::app
