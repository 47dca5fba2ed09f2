#include "recoil/solvers/async_contact/integrator.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "solvers/async_contact/engine.hpp"

namespace recoil::solvers::async_contact {

namespace {

/// Length of the first window [s], from which on it adapts.
double first_window(const Model& model) {
  double step = std::numeric_limits<double>::infinity();
  const auto consider = [&](const auto& elements) {
    for (const auto& element : elements) step = std::min(step, element.step);
  };
  consider(model.springs);
  consider(model.membranes);
  consider(model.hinges);
  consider(model.solids);
  consider(model.loads);
  if (!model.gravity.isZero(0) || model.acceleration) step = std::min(step, model.gravity_step);
  double speed = 0;
  for (const Eigen::Vector3d& v : model.velocities) speed = std::max(speed, v.norm());
  return std::min({20 * step, 10 * model.contact.eta / speed, 1.0});
}

} // namespace

Integrator::Engine::Engine(Model model_, Certificates certificates_, const IntegratorState* state,
                           const parallel::Communicator* comm)
    : model(std::move(model_)), certificates(certificates_), tick_seconds(model.tick.seconds()),
      alone(std::make_unique<parallel::Communicator>(MPI_COMM_SELF)) {
  check(model);
  const std::size_t n = model.positions.size();
  lay_out_shapes();
  if (state) {
    if (state->vertices.size() != n || state->rest_angles.size() != model.hinges.size() ||
        state->shapes.size() != shapes.size())
      throw InputError(fmt::format(
          "the state has {} vertices, {} hinges and {} numbers of elements, the model {}, {} and {}: go on "
          "with the model that the run began with",
          state->vertices.size(), state->rest_angles.size(), state->shapes.size(), n, model.hinges.size(),
          shapes.size()));
    if (!model.contact.aligned)
      throw InputError("contact: runs whose layers are not aligned cannot be continued: align them");
    now = state->tick;
    vertices = state->vertices;
    rest_angles = state->rest_angles;
    shapes = state->shapes;
    restored = state->anchors;
    ledger = state->ledger;
  } else {
    for (std::size_t v = 0; v < n; ++v)
      vertices.push_back({.q = model.positions[v],
                          .v = model.velocities[v],
                          .tick = 0,
                          .inverse_mass = 1 / model.masses[v]});
    for (const BendingHinge& hinge : model.hinges) rest_angles.push_back(hinge.rest_angle);
    measure_shapes();
  }
  bounds.resize(n);
  seen_deviation.assign(n, 0);
  boxes.resize(n);
  if (comm && comm->size() > 1) {
    RECOIL_ASSERT(certificates == Certificates::windows);
    ranks = std::make_unique<Ranks>(*comm, model);
    // One rank goes on with the sums so far.
    if (comm->rank() > 0) ledger = {};
  }
  start_clocks(now);
  window = std::max<Tick>(1, model.tick.floor(first_window(model)));
  least_window = std::max<Tick>(1, window / 4);
  before = counts;
  begin_window(now);
  const auto refuse = [&] {
    if (outcome != Outcome::reached) throw InputError(diagnosis);
  };
  if (!ranks) {
    refuse();
    return;
  }
  parallel::collectively(ranks->comm, refuse);
  collect_results();
}

Outcome Integrator::Engine::advance_to(Tick end) {
  if (ranks) return advance_on_ranks(end);
  while (outcome == Outcome::reached) {
    const EventHeap::Entry event = next_event();
    if (event.key.tick > end) break;
    now = event.key.tick;
    handle(event.slot, now);
  }
  if (outcome == Outcome::reached) now = std::max(now, end);
  return outcome;
}

void Integrator::Engine::add_energies(const ContactPair& pair, double& contact, double& anchor) const {
  if (pair.depth == 0 && pair.anchor.next == never) return;
  const double d = gap(pair, now).value;
  for (int layer = 1; layer <= pair.depth && layer_distance(layer) > d; ++layer)
    contact += 0.5 * layer_stiffness(layer) * std::pow(layer_distance(layer) - d, 2);
  anchor += 0.5 * model.contact.anchor_stiffness * pair.friction.displacement.squaredNorm();
}

Totals Integrator::Engine::totals() const {
  Totals sum;
  for (LocalIndex v = 0; v < std::ssize(vertices); ++v) {
    const VertexState& x = vertices[v];
    if (x.inverse_mass == 0) continue;
    const double mass = 1 / x.inverse_mass;
    const Eigen::Vector3d q = position(v, now);
    sum.kinetic += 0.5 * mass * steady_velocity(v, now).squaredNorm();
    sum.gravity -= mass * model.gravity.dot(q);
    sum.momentum += mass * x.v;
    sum.angular_momentum += mass * q.cross(x.v);
  }
  for (const Spring& spring : model.springs) sum.spring += energy(spring, positions(spring.vertices, now));
  for (const Solid& solid : model.solids) sum.solid += energy(solid, positions(solid.vertices, now));
  for (const Membrane& membrane : model.membranes)
    sum.membrane += energy(membrane, positions(membrane.vertices, now));
  for (std::size_t i = 0; i < model.hinges.size(); ++i) {
    BendingHinge hinge = model.hinges[i];
    hinge.rest_angle = rest_angles[i];
    sum.bending += energy(hinge, positions(hinge.vertices, now));
  }
  for (const ContactPair& pair : pairs) add_energies(pair, sum.contact, sum.anchor);
  if (ranks) {
    sum.contact = ranks->contact;
    sum.anchor = ranks->anchor;
  }
  return sum;
}

Integrator::Integrator(Model model, Certificates certificates)
    : engine_(std::make_unique<Engine>(std::move(model), certificates, nullptr, nullptr)) {}
Integrator::Integrator(Model model, const IntegratorState& state, Certificates certificates)
    : engine_(std::make_unique<Engine>(std::move(model), certificates, &state, nullptr)) {}
Integrator::Integrator(const parallel::Communicator& comm, Model model)
    : engine_(std::make_unique<Engine>(std::move(model), Certificates::windows, nullptr, &comm)) {}
Integrator::Integrator(const parallel::Communicator& comm, Model model, const IntegratorState& state)
    : engine_(std::make_unique<Engine>(std::move(model), Certificates::windows, &state, &comm)) {}
Integrator::~Integrator() = default;
Integrator::Integrator(Integrator&&) noexcept = default;
Integrator& Integrator::operator=(Integrator&&) noexcept = default;

Outcome Integrator::advance_to(double time) { return engine_->advance_to(engine_->model.tick.floor(time)); }
const std::string& Integrator::diagnosis() const { return engine_->diagnosis; }
double Integrator::time() const { return engine_->seconds(engine_->now); }
Eigen::Vector3d Integrator::position(LocalIndex vertex) const {
  return engine_->position(vertex, engine_->now);
}
const Eigen::Vector3d& Integrator::velocity(LocalIndex vertex) const { return engine_->vertices[vertex].v; }
const Model& Integrator::model() const { return engine_->model; }
Totals Integrator::totals() const { return engine_->totals(); }
const Ledger& Integrator::ledger() const { return engine_->ranks ? engine_->ranks->sum : engine_->ledger; }
const Counts& Integrator::counts() const { return engine_->counts; }

std::vector<Eigen::Vector3d> Integrator::positions() const {
  std::vector<Eigen::Vector3d> result;
  for (LocalIndex v = 0; v < std::ssize(engine_->vertices); ++v) result.push_back(position(v));
  return result;
}

IntegratorState Integrator::state() const {
  const Engine& e = *engine_;
  IntegratorState state{.tick = e.now,
                        .vertices = e.vertices,
                        .rest_angles = e.rest_angles,
                        .shapes = e.shapes,
                        .anchors = {},
                        .ledger = ledger()};
  if (e.ranks) {
    state.anchors = e.ranks->anchors;
    return state;
  }
  for (const ContactPair& pair : e.pairs)
    if (pair.anchor.next != never) state.anchors.push_back({pair.number, pair.last_contact, pair.friction});
  return state;
}

double Integrator::smallest_gap() const {
  double least = std::numeric_limits<double>::infinity();
  for (const ContactPair& pair : engine_->pairs)
    least = std::min(least, engine_->gap(pair, engine_->now).value);
  return engine_->ranks ? engine_->ranks->comm.min(least) : least;
}

} // namespace recoil::solvers::async_contact
