#include "app/solvers/async_contact/async_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

using Eigen::Vector3d;
using solvers::async_contact::Certificates;
using solvers::async_contact::Integrator;
using solvers::async_contact::Ledger;
using solvers::async_contact::Outcome;
using solvers::async_contact::Totals;

/// Events between looks at signals.
constexpr double events_of_chunk = 2e5;
/// Of the largest energy: what the energy of a run without damage stays within.
constexpr double allowed_energy_error = 0.02;

struct EnergyRow {
  const char* name;
  double Totals::*of_state;
  double Ledger::*of_run;
};
/// Columns of the ledger; those of the state come first.
constexpr std::array energy_rows{
    EnergyRow{"kinetic", &Totals::kinetic, nullptr},
    EnergyRow{"stretching", &Totals::membrane, nullptr},
    EnergyRow{"bending", &Totals::bending, nullptr},
    EnergyRow{"spring", &Totals::spring, nullptr},
    EnergyRow{"elastic", &Totals::solid, nullptr},
    EnergyRow{"contact", &Totals::contact, nullptr},
    EnergyRow{"anchor", &Totals::anchor, nullptr},
    EnergyRow{"gravity", &Totals::gravity, nullptr},
    EnergyRow{"wall_work", nullptr, &Ledger::wall_work},
    EnergyRow{"load_work", nullptr, &Ledger::load_work},
    EnergyRow{"dissipated_restitution", nullptr, &Ledger::restitution},
    EnergyRow{"dissipated_friction", nullptr, &Ledger::friction},
    EnergyRow{"dissipated_stretching", nullptr, &Ledger::stretch_damping},
    EnergyRow{"dissipated_bending", nullptr, &Ledger::bend_damping},
    EnergyRow{"dissipated_springs", nullptr, &Ledger::spring_damping},
    EnergyRow{"dissipated_plasticity", nullptr, &Ledger::plasticity},
};
constexpr std::size_t num_energies = energy_rows.size(), num_stored = 7, gravity_row = 7, work_row = 8,
                      load_row = 9;

struct MomentumRow {
  const char* name;
  Vector3d Totals::*of_state;
  Vector3d Ledger::*of_run;
  double sign; ///< in the balance of linear or angular momentum
  bool is_angular;
};
constexpr std::array momentum_rows{
    MomentumRow{"linear", &Totals::momentum, nullptr, 1, false},
    MomentumRow{"angular", &Totals::angular_momentum, nullptr, 1, true},
    MomentumRow{"wall_impulse", nullptr, &Ledger::wall_impulse, 1, false},
    MomentumRow{"wall_torque", nullptr, &Ledger::wall_torque, 1, true},
    MomentumRow{"gravity_impulse", nullptr, &Ledger::gravity_impulse, -1, false},
    MomentumRow{"gravity_torque", nullptr, &Ledger::gravity_torque, -1, true},
    MomentumRow{"load_impulse", nullptr, &Ledger::load_impulse, -1, false},
    MomentumRow{"load_torque", nullptr, &Ledger::load_torque, -1, true},
    MomentumRow{"friction_torque", nullptr, &Ledger::friction_torque, -1, true},
};

std::vector<double> measure_all(const Totals& totals, const Ledger& ledger) {
  std::vector<double> numbers;
  for (const EnergyRow& row : energy_rows)
    numbers.push_back(row.of_state ? totals.*row.of_state : ledger.*row.of_run);
  for (const MomentumRow& row : momentum_rows) {
    const Vector3d& value = row.of_state ? totals.*row.of_state : ledger.*row.of_run;
    numbers.insert(numbers.end(), value.begin(), value.end());
  }
  return numbers;
}

Vector3d momentum_of(const std::vector<double>& numbers, std::size_t row) {
  return Eigen::Map<const Vector3d>(numbers.data() + num_energies + 3 * row);
}

/// Energy in and lost since the start must be what was there: gain less work, plus dissipation.
double energy_error_of(const std::vector<double>& numbers, const std::vector<double>& start) {
  double error = 0;
  for (std::size_t i = 0; i < num_energies; ++i)
    error += (i == work_row || i == load_row ? -1 : 1) * (numbers[i] - start[i]);
  return error;
}

Vector3d momentum_error_of(const std::vector<double>& numbers, const std::vector<double>& start) {
  Vector3d error = Vector3d::Zero();
  for (std::size_t i = 0; i < momentum_rows.size(); ++i)
    if (!momentum_rows[i].is_angular)
      error += momentum_rows[i].sign * (momentum_of(numbers, i) - momentum_of(start, i));
  return error;
}

/// What a user can do where a run has ended so.
const char* cure(Outcome outcome) {
  if (outcome == Outcome::no_value) return "correct its formula";
  return outcome == Outcome::overstretched
             ? "lower <element_share>, stiffen the material, or raise <max_stretch> if it is meant"
             : "leave bodies a way out, raise <layer_stiffness>, or raise <max_layers>";
}

/// All nodes on the first rank.
std::shared_ptr<const linalg::VectorLayout> layout_of(const parallel::Communicator& comm, LocalIndex nodes) {
  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = &comm;
  layout->block_size = 3;
  layout->num_owned = comm.rank() == 0 ? nodes : 0;
  layout->num_global = nodes;
  layout->offset = comm.rank() == 0 ? 0 : layout->num_global;
  return layout;
}

GlobalIndex forces_in(const solvers::async_contact::Counts& counts) {
  return counts.elements + counts.gravity + counts.layers + counts.anchors;
}

/// Primitives that meet without a gap are told by the integrator; surfaces may also pass through each other.
void require_apart(const AsyncModel& model) {
  std::vector<std::string> first;
  const GlobalIndex count = count_intersections(
      model, [&](LocalIndex v) { return model.model.positions[v]; }, &first);
  if (count > 0)
    throw InputError(
        fmt::format("surfaces intersect at {} places in the initial state, the first {}; move the bodies "
                    "apart",
                    count, first.empty() ? "" : first.front()));
}

/// Entries of the start, under names of their own.
std::string start_name(std::size_t i) { return fmt::format("start_{}", i); }

} // namespace

AsyncSolver::AsyncSolver(const parallel::Communicator& comm, AsyncModel model, const TimeSpec& time,
                         Certificates certificates)
    : comm_(comm), model_(std::move(model)), t0_(time.t0), dt_(time.dt), certificates_(certificates),
      layout_(layout_of(comm, model_.num_nodes())), history_(1), chunk_(time.dt / 16) {
  parallel::collectively(comm_, [&] {
    if (comm_.rank() == 0) require_apart(model_);
  });
  integrator_ = std::make_unique<Integrator>(is_shared() ? Integrator(comm_, model_.model)
                                                         : Integrator(model_.model, certificates_));
  for (const double mass : model_.model.masses)
    if (std::isfinite(mass)) total_mass_ += mass;
  measure();
  start_ = numbers_;
  push_state(0);
}

void AsyncSolver::measure() {
  state_ = integrator_->state();
  numbers_ = measure_all(integrator_->totals(), integrator_->ledger());
  // Pairs farther away than this are watched or not as windows fall, which a restart changes.
  const double gap = integrator_->smallest_gap(), reach = 2 * model_.model.contact.eta;
  smallest_gap_ = gap < reach ? gap : std::numeric_limits<double>::infinity();
  const solvers::async_contact::Counts& counts = integrator_->counts();
  forces_of_step_ = comm_.sum(forces_in(counts) - forces_in(taken_));
  forces_ += forces_of_step_;
  events_ += comm_.sum(GlobalIndex{counts.events() - taken_.events()});
  deepest_ = std::max(deepest_, comm_.max(GlobalIndex{counts.deepest}));
  taken_ = counts;
  intersections_ = parallel::collectively(comm_, [&] {
    return comm_.rank() != 0
               ? GlobalIndex{0}
               : count_intersections(model_, [&](LocalIndex v) { return integrator_->position(v); });
  });
  intersections_ = comm_.max(intersections_);
  const std::vector<double>& start = start_.empty() ? numbers_ : start_;
  const double sum = std::accumulate(numbers_.begin(), numbers_.begin() + num_stored, 0.0);
  energy_scale_ = std::max(energy_scale_, sum + std::abs(numbers_[gravity_row] - start[gravity_row]));
}

void AsyncSolver::push_state(GlobalIndex id) {
  linalg::Vector u(layout_), v(layout_);
  if (comm_.rank() == 0) {
    const auto displacement = u.write_owned(), velocity = v.write_owned();
    for (LocalIndex k = 0; k < model_.num_nodes(); ++k) {
      const Vector3d moved = integrator_->position(k) - model_.rest[k];
      const Vector3d& speed = integrator_->velocity(k);
      std::ranges::copy(moved, displacement.begin() + std::ptrdiff_t{3} * k);
      std::ranges::copy(speed, velocity.begin() + std::ptrdiff_t{3} * k);
    }
  }
  history_.push(id, u, v);
}

AsyncSolver::Chunk AsyncSolver::take_chunk(double end) {
  const std::int64_t before = integrator_->counts().events();
  const double next = integrator_->time() + chunk_;
  const bool is_last = next >= end;
  const Outcome outcome = integrator_->advance_to(is_last ? end : next);
  // The same on all ranks, which must take the same chunks.
  const auto events = static_cast<double>(comm_.max(GlobalIndex{integrator_->counts().events() - before}));
  chunk_ = std::min(dt_, chunk_ * std::clamp(events_of_chunk / (events + 1), 0.25, 2.0));
  return {is_last && outcome == Outcome::reached, outcome};
}

stepping::StepOutcome AsyncSolver::advance(const OnState& on_state, int /*sub_steps*/) {
  const double end = static_cast<double>(step_ + 1) * dt_;
  for (;;) {
    const Chunk chunk = take_chunk(end);
    if (chunk.outcome != Outcome::reached) {
      stepping::StepOutcome failed;
      failed.failure = integrator_->diagnosis() + "; " + cure(chunk.outcome);
      return failed;
    }
    if (chunk.done) break;
    if (interrupted_ && interrupted_()) {
      stepping::StepOutcome interrupted;
      interrupted.interrupted = true;
      return interrupted;
    }
  }
  ++step_;
  measure();
  const stepping::StepRecord record =
      history_.next_record(history_.newest().id + 1, step_, time(), dt_, stepping::StepCoefficients{});
  push_state(record.id);
  on_state(record, history_.newest().u, history_.newest().v);
  return {.accepted = true,
          .description = fmt::format("forces {}  gap {:.3g}", forces_of_step_, smallest_gap_)};
}

stepping::RestartData AsyncSolver::restart_data() const {
  stepping::RestartData data{step_, 1, balance().energies};
  for (const auto& [name, value] : balance().momenta)
    data.entries.push_back({stepping::momentum_name(name), value});
  for (std::size_t i = 0; i < start_.size(); ++i) data.entries.push_back({start_name(i), start_[i]});
  data.entries.push_back({"energy_scale", energy_scale_});
  data.entries.push_back({"forces", forces_});
  data.entries.push_back({"events", events_});
  data.entries.push_back({"deepest_layer", deepest_});
  return data;
}

void AsyncSolver::continue_from(const stepping::RestartData& data, std::vector<stepping::State> states) {
  for (std::size_t i = 0; i < start_.size(); ++i)
    start_[i] = stepping::value_of<double>(data.entries, start_name(i));
  energy_scale_ = stepping::value_of<double>(data.entries, "energy_scale");
  step_ = data.step;
  integrator_ = std::make_unique<Integrator>(is_shared() ? Integrator(comm_, model_.model, state_)
                                                         : Integrator(model_.model, state_, certificates_));
  taken_ = {};
  measure();
  forces_ = stepping::value_of<GlobalIndex>(data.entries, "forces");
  events_ = stepping::value_of<GlobalIndex>(data.entries, "events");
  deepest_ = stepping::value_of<GlobalIndex>(data.entries, "deepest_layer");
  history_.clear();
  push_state(states.back().id);
}

stepping::Entries AsyncSolver::effort() const { return {{"events", events_}}; }

stepping::Balance AsyncSolver::balance() const {
  stepping::Balance balance;
  for (std::size_t i = 0; i < num_energies; ++i)
    balance.energies.push_back({energy_rows[i].name, numbers_[i]});
  for (std::size_t i = 0; i < momentum_rows.size(); ++i) {
    const Vector3d value = momentum_of(numbers_, i);
    balance.momenta.push_back({momentum_rows[i].name, std::array{value[0], value[1], value[2]}});
  }
  return balance;
}

double AsyncSolver::energy_error() const {
  return energy_scale_ > 0 ? energy_error_of(numbers_, start_) / energy_scale_ : 0;
}

double AsyncSolver::momentum_error() const {
  double scale = std::sqrt(2 * total_mass_ * energy_scale_);
  for (std::size_t i = 0; i < momentum_rows.size(); ++i)
    if (!momentum_rows[i].is_angular) scale = std::max(scale, momentum_of(numbers_, i).norm());
  return scale > 0 ? momentum_error_of(numbers_, start_).norm() / scale : 0;
}

std::string AsyncSolver::fault() const {
  if (intersections_ == 0) return "";
  return fmt::format("surfaces intersect at {} places, which contact must not let happen", intersections_);
}

stepping::Entries AsyncSolver::counts() const {
  return {{"intersections", intersections_},
          {"min_distance", smallest_gap_},
          {"energy_error", energy_error()},
          {"momentum_error", momentum_error()}};
}

std::string AsyncSolver::warning() const {
  const double error = energy_error();
  if (std::abs(error) <= allowed_energy_error) return "";
  return fmt::format(
      "the energy has {} {:.3g} J that no work or dissipation accounts for, {:.2g} of the largest energy "
      "of the run; lower <element_share> and <layer_share>",
      error > 0 ? "gained" : "lost", std::abs(error) * energy_scale_, std::abs(error));
}

stepping::Entries AsyncSolver::summary() const {
  return {{"vertices", layout_->num_global}, {"force_integrations", forces_},
          {"deepest_layer", deepest_},       {"intersections", intersections_},
          {"energy_error", energy_error()},  {"momentum_error", momentum_error()}};
}

std::string AsyncSolver::description() const {
  return fmt::format("{} vertices, asynchronous contact", layout_->num_global);
}

} // namespace recoil::app
