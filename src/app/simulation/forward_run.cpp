#include "recoil/app/simulation/forward_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/simulation/summary.hpp"
#include "recoil/app/simulation/run_state.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

namespace {

std::string trajectory_metadata(const Scene& scene, int dim, const nlohmann::ordered_json& inputs) {
  const nlohmann::ordered_json json{{"solver", "elastodynamics"},
                                    {"version", version()},
                                    {"dim", dim},
                                    {"bdf_order", scene.time.bdf_order},
                                    {"inputs", inputs}};
  return json.dump();
}

StepCounts counts_of(const solvers::StepReport& report) {
  return {report.newton_iterations, report.linear_iterations, report.active_pairs, report.min_distance,
          report.friction};
}

} // namespace

template <int dim>
ForwardRun<dim>::ForwardRun(const parallel::Communicator& comm, DiscreteScene<dim>& discrete,
                            const checkpoint::RunFolder& folder, const Interrupts& interrupts,
                            Stopwatch since, Observer observe)
    : comm_(comm), scene_(discrete.scene()), folder_(folder), interrupts_(interrupts), watch_(since),
      observe_(std::move(observe)), mesh_(discrete.mesh()), space_(discrete.space()),
      solver_(discrete.solver()), output_(space_, *solver_.problem().geometry, scene_.output.fields) {
  solver_.interrupt_when(interrupts.watch());
}

template <int dim>
ExitCode ForwardRun<dim>::start(const nlohmann::ordered_json& inputs, std::optional<std::int64_t> steps) {
  log_size();
  write_start(inputs);
  return go_on(steps);
}

template <int dim>
ExitCode ForwardRun<dim>::restart(std::optional<std::int64_t> steps) {
  log_size();
  read_restart_point();
  return go_on(steps);
}

template <int dim>
ExitCode ForwardRun<dim>::go_on(std::optional<std::int64_t> steps) {
  ExitCode code = ExitCode::done;
  std::string failure;
  const GlobalIndex last = std::min<GlobalIndex>(scene_.time.steps, steps.value_or(scene_.time.steps));
  timed_io([&] {
    parallel::collectively(comm_, [&] {
      if (comm_.rank() == 0) table_ = std::make_unique<LedgerTable>(folder_.ledger(), rows_);
    });
  });
  RemainingTime remaining(last);
  remaining.skip(solver_.step());
  while (solver_.step() < last) {
    const Stopwatch watch;
    const solvers::StepReport report = one_step(last);
    remaining.step_done(watch.seconds());
    if (report.interrupted) {
      code = ExitCode::interrupted;
      break;
    }
    if (!report.accepted) {
      failure = fmt::format("step {} failed after {} repetition(s) with smaller steps: {}",
                            solver_.step() + 1, scene_.time.max_retries, report.failure);
      code = ExitCode::no_solution;
      break;
    }
    timed_io([&] {
      parallel::collectively(comm_, [&] {
        if (table_) table_->add({solver_.step(), solver_.time(), solver_.ledger(), counts_of(report)});
      });
    });
    report_step(report, last, watch.seconds(), remaining);
    if (solver_.step() < last && interrupts_.pending()) {
      code = ExitCode::interrupted;
      break;
    }
  }
  timed_io([&] { writer_->flush(); });
  finish(code, failure);
  return code;
}

template <int dim>
template <class Work>
void ForwardRun<dim>::timed_io(Work work) {
  const Stopwatch watch;
  work();
  io_seconds_ += watch.seconds();
}

template <int dim>
checkpoint::WriterOptions ForwardRun<dim>::writer_options() const {
  checkpoint::WriterOptions options;
  options.states_per_file = scene_.output.chunk;
  options.history = scene_.time.kind == TimeKind::dynamic ? scene_.time.bdf_order : 1;
  return options;
}

template <int dim>
void ForwardRun<dim>::write_start(const nlohmann::ordered_json& inputs) {
  const stepping::State& first = solver_.history().newest();
  stepping::StepRecord record;
  record.time = scene_.time.kind == TimeKind::statics ? 0 : scene_.time.t0;
  const solvers::AcceptedState start{record, &first.u, &first.v, nullptr, nullptr};
  timed_io([&] {
    checkpoint::WriterOptions options = writer_options();
    options.metadata = trajectory_metadata(scene_, dim, inputs);
    writer_ = std::make_unique<checkpoint::TrajectoryWriter>(comm_, folder_.trajectory(), std::move(options));
    output_.write_mesh(*writer_);
    append(start, true);
    writer_->flush();
    folder_.drop_scene_checksum(comm_);
  });
  if (observe_) observe_(start);
}

template <int dim>
void ForwardRun<dim>::read_restart_point() {
  timed_io([&] {
    checkpoint::TrajectoryReader reader(comm_, folder_.trajectory());
    const checkpoint::RestartPoint point = reader.restart_point();
    if (!point.warning.empty()) log_warning(point.warning);
    output_.require_mesh_of(reader, point.states.front(), folder_.scene().string());
    const auto past = std::span(reader.records()).first(static_cast<std::size_t>(point.states.front()) + 1);
    const RunState run = run_state_from_json(past.back().extra);
    rows_ = ledger_rows(past);
    std::vector<stepping::State> states;
    const auto usable = std::min(point.states.size(), static_cast<std::size_t>(run.usable_states));
    for (std::size_t i = usable; i-- > 0;) {
      stepping::State state;
      state.id = point.states[i];
      state.u = read_vector(reader, state.id, "u");
      state.v = read_vector(reader, state.id, "v");
      states.push_back(std::move(state));
    }
    solver_.start(run.step, std::move(states), run.ledger, run.contact);
    writer_ = std::make_unique<checkpoint::TrajectoryWriter>(comm_, reader, point, writer_options());
    log_info(fmt::format("restarting after step {} at t = {:g}", run.step, solver_.time()));
  });
}

template <int dim>
linalg::Vector ForwardRun<dim>::read_vector(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                                            const std::string& field) const {
  return {space_.layout(), reader.read(id, field, output_.nodes())};
}

template <int dim>
void ForwardRun<dim>::append(const solvers::AcceptedState& state, bool stored) {
  RunState run;
  run.step = solver_.step();
  run.usable_states = solver_.history().size();
  run.ledger = solver_.ledger();
  run.contact = solver_.totals().contact;
  if (state.report != nullptr && state.record.completes_nominal) run.counts = counts_of(*state.report);
  output_.append(*writer_, solver_.problem(), state, to_json(run), stored);
}

template <int dim>
solvers::StepReport ForwardRun<dim>::one_step(GlobalIndex last) {
  return solver_.advance([&](const solvers::AcceptedState& state) {
    const bool nominal = state.record.completes_nominal;
    const bool stored = !nominal || solver_.step() % scene_.output.every == 0 || solver_.step() == last;
    timed_io([&] { append(state, stored); });
    if (observe_) observe_(state);
  });
}

template <int dim>
void ForwardRun<dim>::log_size() const {
  log_info(fmt::format("{} bodies, {} vertices, {} cells, {} unknowns ({} prescribed) on {} rank(s); {}",
                       mesh_.body_names.size(), mesh_.num_vertices_global, mesh_.num_cells_global,
                       space_.num_nodes_global() * dim, solver_.problem().dirichlet->num_global(),
                       comm_.size(), solver_.linear_solver_description()));
  if (!solver_.repeatable())
    log_warning("the chosen linear solver does not repeat its last bits from run to run");
}

template <int dim>
void ForwardRun<dim>::report_step(const solvers::StepReport& report, GlobalIndex last, double seconds,
                                  const RemainingTime& remaining) {
  const std::string sub_steps =
      report.sub_steps > 1 ? fmt::format(", {} sub-steps", report.sub_steps) : std::string();
  const std::string contact = report.active_pairs > 0 ? fmt::format("  pairs {}  gap {:.1e}",
                                                                    report.active_pairs, report.min_distance)
                                                      : std::string();
  log_info(fmt::format("step {}/{}  t = {:g}  newton {}  cg {}{}{}  {:.2f} s  left {}", solver_.step(), last,
                       solver_.time(), report.newton_iterations, report.linear_iterations, contact, sub_steps,
                       seconds, format_duration(remaining.seconds_left())));
  progress_.show(remaining);
}

template <int dim>
void ForwardRun<dim>::finish(ExitCode code, const std::string& failure) {
  const stepping::State& state = solver_.history().newest();
  Summary summary;
  summary.status = code == ExitCode::done ? "done" : code == ExitCode::interrupted ? "interrupted" : "failed";
  summary.message = failure;
  summary.steps = solver_.step();
  summary.time = solver_.time();
  summary.dofs = space_.num_nodes_global() * dim;
  summary.vertices = mesh_.num_vertices_global;
  summary.elements = mesh_.num_cells_global;
  summary.ranks = comm_.size();
  summary.totals = solver_.totals();
  summary.ledger = solver_.ledger();
  summary.norms = solvers::displacement_norms(space_, *solver_.problem().geometry, state.u);
  summary.peak_memory_max_mb = comm_.max(peak_memory_mb());
  summary.peak_memory_sum_mb = comm_.sum(peak_memory_mb());
  summary.io_seconds = io_seconds_;
  summary.wall_seconds = watch_.seconds();
  summary.repeatable = solver_.repeatable();
  summary.linear_solver = solver_.linear_solver_description();
  parallel::collectively(comm_, [&] {
    if (comm_.rank() == 0) write_summary(folder_.summary(), summary);
  });
  if (!failure.empty()) log_error(failure);
  log_info(fmt::format("{}: {} steps, t = {:g}, {} Newton iterations, {:.1f} s", summary.status,
                       summary.steps, summary.time, summary.totals.newton_iterations, summary.wall_seconds));
}

template class ForwardRun<2>;
template class ForwardRun<3>;

} // namespace recoil::app
