#include "recoil/app/study/objectives/observables_on_meshes.hpp"

#include <algorithm>
#include <array>

#include "app/study/objectives/match_meshes.hpp"
#include "recoil/app/solvers/elastodynamics/conventions.hpp"
#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/app/solvers/elastodynamics/periodic.hpp"
#include "recoil/app/solvers/elastodynamics/trajectory_output.hpp"
#include "recoil/objectives/forces.hpp"
#include "recoil/objectives/moments.hpp"
#include "recoil/objectives/stress.hpp"
#include "recoil/solvers/elastodynamics/supports.hpp"

namespace recoil::app {
template <int dim>
double barrier_stiffness(DiscreteScene<dim>& discrete) {
  const double dhat = discrete.solver().problem().contact->parameters().dhat;
  return *discrete.scene().contact.barrier_stiffness / stiffness_unit(discrete.scene(), dhat);
}

namespace {

/// The mean way of the nodes of a boundary.
template <int dim>
double travel_of_boundary(DiscreteScene<dim>& discrete, const Support<dim>& support, double time) {
  const auto& dirichlet = *discrete.solver().problem().dirichlet;
  const std::vector<char> nodes = solvers::nodes_on_boundary(discrete.space(), *support.boundary);
  linalg::Vector u(discrete.space().layout());
  dirichlet.set_values(time, 1, u);
  std::array<double, 2> sum{};
  bool is_free = false;
  for (LocalIndex node = 0; node < std::ssize(nodes); ++node) {
    if (nodes[node] == 0) continue;
    for (int i = 0; i < dim; ++i)
      is_free |= support.direction[i] != 0 && dirichlet.flags()[node * dim + i] == 0;
    sum[0] += support.direction.dot(fem::node_block<dim>(u.owned(), node));
    sum[1] += 1;
  }
  require_prescribed(discrete.space().comm(), support, is_free);
  discrete.space().comm().sum(sum);
  return sum[0] / sum[1];
}

/// The mean way of the vertices of an obstacle.
template <int dim>
double travel_of_obstacle(DiscreteScene<dim>& discrete, const Support<dim>& support, double time) {
  const mesh::DistributedObstacles<dim>& obstacles = discrete.obstacles();
  const int number = place_in(obstacles.names, support.obstacle);
  if (number < 0)
    throw InputError(
        support.where.of("obstacle"),
        "'" + support.obstacle +
            "' is a plane, which does not move; give the forces over `time`, or take an obstacle "
            "with a mesh");
  const std::vector<double> motion = discrete.solver().problem().obstacle_motion(time, 1);
  std::array<double, 2> sum{};
  for (LocalIndex v = 0; v < obstacles.num_owned_vertices; ++v)
    if (obstacles.vertex_surface[v] == number) {
      sum[0] += support.direction.dot(Eigen::Map<const Eigen::Matrix<double, dim, 1>>(&motion[v * dim]));
      sum[1] += 1;
    }
  discrete.space().comm().sum(sum);
  return sum[0] / sum[1];
}

template <int dim>
class SpecimenOnMesh final : public Specimen<dim> {
public:
  using typename Specimen<dim>::Point;

  SpecimenOnMesh(const Study& study, int experiment, const Scene& scene,
                 const mesh::DistributedMesh<dim>& mesh)
      : Specimen<dim>(*mesh.comm, study, experiment, scene), mesh(mesh) {}

  const mesh::DistributedMesh<dim>& mesh;

  std::vector<std::optional<objectives::MaterialPoint<dim>>>
  locate(const std::string& body, std::span<const Point> rests) const override {
    return objectives::locate_all<dim>(mesh, place_in(mesh.body_names, body), rests);
  }
  objectives::MaterialPoint<dim> locate(const std::string& body, const Point& rest,
                                        const std::string& what) const override {
    return objectives::locate<dim>(mesh, place_in(mesh.body_names, body), rest, what);
  }
  MeshRows<dim> rows() const override {
    const fem::FunctionSpace<dim> space(mesh, body_orders(this->scene, mesh.body_names));
    const fem::CellGeometry<dim> geometry(mesh);
    const TrajectoryOutput<dim> output(space, geometry);
    std::vector<double> positions;
    for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node)
      for (const double x : space.node_positions()[node]) positions.push_back(x);
    return rows_of<dim>(output.nodes(), positions, output.cells(), output.connectivity(), output.width());
  }
  const char* displacement_array() const override { return "u"; }
};

template <int dim>
class ObservablesOnMesh final : public Observables<dim> {
public:
  using typename Observables<dim>::Bodies;
  using typename Observables<dim>::Made;
  using typename Observables<dim>::Point;

  explicit ObservablesOnMesh(DiscreteScene<dim>& discrete)
      : Observables<dim>(discrete.space().comm(), discrete.scene(),
                         discrete.scene().time.kind == TimeKind::dynamic),
        discrete(discrete), problem_(discrete.solver().problem()) {}

  DiscreteScene<dim>& discrete;

  objectives::Region<dim> region(const Bodies& bodies) const {
    std::vector<std::int32_t> numbers;
    for (const std::string& name : bodies) numbers.push_back(place_in(discrete.mesh().body_names, name));
    return objectives::make_region<dim>(discrete.space(), problem_.geometry, std::move(numbers));
  }

  Made points(objectives::PointVector vector, const std::vector<PointGroup<dim>>& groups) const override {
    std::vector<objectives::MaterialPoint<dim>> points;
    for (const PointGroup<dim>& group : groups) points.push_back(group.front());
    return objectives::observe_points<dim>(discrete.space(), vector, points);
  }
  Made strain(const objectives::MaterialPoint<dim>& point, const Point& direction) const override {
    return objectives::observe_strain<dim>(discrete.space(), point, direction);
  }
  Made center_of_mass(const char* name, const Bodies& bodies) const override {
    return objectives::observe_center_of_mass<dim>(name, region(bodies), problem_.density);
  }
  Made volume_moment(const Bodies& bodies) const override {
    return objectives::observe_volume_moment<dim>(region(bodies));
  }
  Made deviation(const char* name, const Bodies& bodies, objectives::VectorField field,
                 objectives::ReferenceField reference,
                 const std::optional<potentials::FacetSelection>& facets,
                 std::vector<int> components) const override {
    return objectives::observe_deviation<dim>(name, region(bodies), field, std::move(reference), facets,
                                              std::move(components));
  }
  io::BlockLayout node_rows() const override { return node_layout(discrete.space()); }
  std::shared_ptr<const linalg::VectorLayout> node_vectors() const override {
    return discrete.space().layout();
  }

  Made support_force(const Support<dim>& support) const override {
    objectives::Reaction<dim> reaction;
    reaction.layout = discrete.space().layout();
    reaction.direction = support.direction;
    support.boundary ? add_boundary(support, reaction) : add_obstacle(support, reaction);
    reaction.depends_on_step = true;
    reaction.enter_state = [&solver = discrete.solver(),
                            summands = reaction.summands](const objectives::ObservedState& state) {
      RECOIL_ASSERT(state.record != nullptr);
      solver.enter_step(*state.record, state.u, state.previous_u);
      for (const auto& summand : summands) summand.potential->update(state.u);
    };
    return objectives::observe_reaction<dim>(std::move(reaction));
  }
  double travel(const Support<dim>& support, double time) const override {
    if (this->scene().time.kind == TimeKind::statics && time == 0) return 0;
    return support.boundary ? travel_of_boundary(discrete, support, time)
                            : travel_of_obstacle(discrete, support, time);
  }
  Made contact_forces(const ContactForces& forces) const override {
    return objectives::observe_contact_forces<dim>(
        region(forces.bodies), forces.distance ? barrier_within(*forces.distance) : barrier_of_run(),
        forces.distance ? 1 : barrier_stiffness(discrete),
        [motion = &problem_.obstacle_motion](double at) { return (*motion)(at, 1); },
        forces.facets ? nodes_on(*forces.facets) : std::vector<char>());
  }
  Made elastic_energy(const Bodies& bodies) const override {
    return objectives::observe_elastic_energy<dim>(region(bodies),
                                                   {problem_.elastic.begin(), problem_.elastic.end()});
  }
  Made cell_stress() const override {
    return objectives::observe_cell_stress<dim>(
        discrete.space(), *problem_.periodic,
        stored_energies(problem_, problem_.contact ? barrier_stiffness(discrete) : 0));
  }

private:
  using Contact = std::shared_ptr<potentials::ContactState<dim>>;
  Contact barrier_of_run() const { return {std::shared_ptr<void>(), problem_.contact.get()}; }
  Contact barrier_within(double distance) const {
    potentials::ContactParameters<dim> parameters;
    parameters.dhat = distance;
    parameters.planes = problem_.contact->parameters().planes;
    return std::make_shared<potentials::ContactState<dim>>(
        std::make_unique<const surface::Surface<dim>>(problem_.contact->surface()), std::move(parameters));
  }
  std::vector<char> nodes_on(const potentials::FacetSelection& facets) const {
    std::vector<char> nodes(discrete.space().num_owned_nodes(), 0);
    for (const std::int32_t id : facets.ids) {
      const std::vector<char> more = solvers::nodes_on_boundary(discrete.space(), id);
      for (std::size_t node = 0; node < nodes.size(); ++node) nodes[node] |= more[node];
    }
    return nodes;
  }
  void add_boundary(const Support<dim>& support, objectives::Reaction<dim>& reaction) const {
    reaction.nodes = solvers::nodes_on_boundary(discrete.space(), *support.boundary);
    reaction.summands =
        solvers::forces_on_nodes(problem_, problem_.barrier != nullptr ? barrier_stiffness(discrete) : 0);
  }
  /// The force of an obstacle on the nodes that are in contact with it.
  void add_obstacle(const Support<dim>& support, objectives::Reaction<dim>& reaction) const {
    reaction.nodes.assign(discrete.space().num_owned_nodes(), 1);
    solvers::ObstacleForces<dim> forces = solvers::forces_of_obstacle(
        problem_, discrete.number_of_obstacle(support.obstacle), barrier_stiffness(discrete));
    reaction.summands = std::move(forces.summands);
    reaction.owned = std::move(forces.owned);
  }

  std::remove_reference_t<decltype(std::declval<DiscreteScene<dim>&>().solver().problem())>& problem_;
};

} // namespace

std::span<const ObservableKind> observables_on_meshes() {
  using enum ObservableKind;
  static constexpr std::array all{points,   strain,        center_of_mass, volume_moment,    field,
                                  boundary, support_force, contact_forces, elastic_energy,   cell_stress,
                                  stress,   rest_shape,    surfaces,       elastic_constants};
  return all;
}

template <int dim>
std::unique_ptr<Specimen<dim>> make_specimen(const Study& study, int experiment, const Scene& scene,
                                             const mesh::DistributedMesh<dim>& mesh) {
  return std::make_unique<SpecimenOnMesh<dim>>(study, experiment, scene, mesh);
}

template <int dim>
std::unique_ptr<Observables<dim>> make_observables(DiscreteScene<dim>& discrete) {
  return std::make_unique<ObservablesOnMesh<dim>>(discrete);
}

template <int dim>
const mesh::DistributedMesh<dim>& mesh_of(const Specimen<dim>& at) {
  return dynamic_cast<const SpecimenOnMesh<dim>&>(at).mesh;
}

template <int dim>
DiscreteScene<dim>& elements_of(const Observables<dim>& at) {
  return dynamic_cast<const ObservablesOnMesh<dim>&>(at).discrete;
}

template <int dim>
objectives::Region<dim> region_of(const Observables<dim>& at, const std::vector<std::string>& bodies) {
  return dynamic_cast<const ObservablesOnMesh<dim>&>(at).region(bodies);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Specimen<dim>> make_specimen(const Study&, int, const Scene&,                     \
                                                        const mesh::DistributedMesh<dim>&);                  \
  template std::unique_ptr<Observables<dim>> make_observables(DiscreteScene<dim>&);                          \
  template const mesh::DistributedMesh<dim>& mesh_of(const Specimen<dim>&);                                  \
  template DiscreteScene<dim>& elements_of(const Observables<dim>&);                                         \
  template objectives::Region<dim> region_of(const Observables<dim>&, const std::vector<std::string>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app
