#include "recoil/app/simulation/forward_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/app/simulation/run_state.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

RunOptions run_options(const Scene& scene) {
  return {scene.time.steps, scene.output.every, scene.output.chunk};
}

ForwardRun::ForwardRun(const parallel::Communicator& comm, stepping::Solver& solver, RunOutput& output,
                       RunOptions options, const checkpoint::RunFolder& folder, const Interrupts& interrupts,
                       Stopwatch since, stepping::Solver::OnState observe)
    : comm_(comm), solver_(solver), output_(output), options_(options), folder_(folder),
      interrupts_(interrupts), watch_(since), observe_(std::move(observe)) {
  solver_.interrupt_when(interrupts.watch());
}

ExitCode ForwardRun::start(const std::string& metadata, std::optional<std::int64_t> steps) {
  log_start();
  write_start(metadata);
  return go_on(steps);
}

ExitCode ForwardRun::restart(std::optional<std::int64_t> steps) {
  log_start();
  read_restart_point();
  return go_on(steps);
}

ExitCode ForwardRun::go_on(std::optional<std::int64_t> steps) {
  ExitCode code = ExitCode::done;
  std::string failure;
  const GlobalIndex last = std::min<GlobalIndex>(options_.steps, steps.value_or(options_.steps));
  timed_io([&] {
    const LedgerRow like = ledger_row(solver_);
    parallel::collectively(comm_, [&] {
      if (comm_.rank() == 0) table_ = std::make_unique<LedgerTable>(folder_.ledger(), like, rows_);
    });
  });
  RemainingTime remaining(last);
  remaining.skip(solver_.step());
  while (solver_.step() < last) {
    const Stopwatch watch;
    const stepping::StepOutcome outcome = one_step(last);
    remaining.step_done(watch.seconds());
    if (outcome.interrupted) {
      code = ExitCode::interrupted;
      break;
    }
    if (!outcome.accepted) {
      failure = fmt::format("step {} failed after {} repetition(s) with smaller steps: {}",
                            solver_.step() + 1, outcome.repetitions, outcome.failure);
      code = ExitCode::no_solution;
      break;
    }
    timed_io([&] {
      const LedgerRow row = ledger_row(solver_);
      parallel::collectively(comm_, [&] {
        if (table_) table_->add(row);
      });
    });
    log_info(fmt::format("step {}/{}  t = {:g}  {}  {:.2f} s  left {}", solver_.step(), last, solver_.time(),
                         outcome.description, watch.seconds(), format_duration(remaining.seconds_left())));
    progress_.show(remaining);
    if (solver_.step() < last && interrupts_.pending()) {
      code = ExitCode::interrupted;
      break;
    }
  }
  timed_io([&] { writer_->flush(); });
  finish(code, failure);
  return code;
}

template <class Work>
void ForwardRun::timed_io(Work work) {
  const Stopwatch watch;
  work();
  io_seconds_ += watch.seconds();
}

checkpoint::WriterOptions ForwardRun::writer_options() const {
  checkpoint::WriterOptions options;
  options.states_per_file = options_.states_per_file;
  options.history = solver_.history().max_order();
  return options;
}

void ForwardRun::write_start(const std::string& metadata) {
  const stepping::State& first = solver_.history().newest();
  stepping::StepRecord record;
  record.time = solver_.start_time();
  timed_io([&] {
    checkpoint::WriterOptions options = writer_options();
    options.metadata = metadata;
    writer_ = std::make_unique<checkpoint::TrajectoryWriter>(comm_, folder_.trajectory(), std::move(options));
    output_.write_mesh(*writer_);
    append(record, first.u, first.v, true);
    writer_->flush();
    folder_.drop_scene_checksum(comm_);
  });
  if (observe_) observe_(record, first.u, first.v);
}

void ForwardRun::read_restart_point() {
  timed_io([&] {
    checkpoint::TrajectoryReader reader(comm_, folder_.trajectory());
    const checkpoint::RestartPoint point = reader.restart_point();
    if (!point.warning.empty()) log_warning(point.warning);
    const GlobalIndex newest = point.states.front();
    output_.require_mesh_of(reader, newest, folder_.scene().string());
    if (!reader.records()[newest].completes_nominal)
      throw FileError(folder_.trajectory().string() +
                      ": the newest states are inside of a step, from where none can be taken. Remove the "
                      "last file of states there and run again with --restart");
    stepping::restore(solver_, newest, run_state_from_json(reader.extra(newest)).restart,
                      [&](GlobalIndex id) { return read_state(reader, id, solver_, output_.nodes()); });
    rows_ = ledger_rows(reader, newest, ledger_row(solver_));
    writer_ = std::make_unique<checkpoint::TrajectoryWriter>(comm_, reader, point, writer_options());
    log_info(fmt::format("restarting after step {} at t = {:g}", solver_.step(), solver_.time()));
  });
}

void ForwardRun::append(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
                        bool stored) {
  RunState run{solver_.restart_data()};
  if (record.id > 0 && record.completes_nominal) run.counts = solver_.counts();
  const io::BlockLayout& nodes = output_.nodes();
  std::vector<checkpoint::Field> fields{
      {"u", u.layout().block_size, &nodes, u.owned(), io::Centre::node, true},
      {"v", v.layout().block_size, &nodes, v.owned(), io::Centre::node, true}};
  if (stored) std::ranges::move(output_.fields(u), std::back_inserter(fields));
  writer_->append(record, fields, stored, to_json(run));
}

stepping::StepOutcome ForwardRun::one_step(GlobalIndex last) {
  return solver_.advance(
      [&](const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v) {
        const bool stored =
            !record.completes_nominal || solver_.step() % options_.store_every == 0 || solver_.step() == last;
        timed_io([&] { append(record, u, v, stored); });
        if (observe_) observe_(record, u, v);
      },
      1);
}

void ForwardRun::log_start() const {
  log_info(solver_.description());
  if (!solver_.repeatable())
    log_warning("the chosen linear solver does not repeat its last bits from run to run");
}

/// Writes summary.json.
void ForwardRun::finish(ExitCode code, const std::string& failure) {
  nlohmann::ordered_json json;
  const auto add = [](auto& to, const stepping::Entries& entries) {
    for (const auto& [name, value] : entries)
      std::visit([&to, &key = name](const auto& content) { to[key] = content; }, value);
  };
  const std::string status = code == ExitCode::done          ? "done"
                             : code == ExitCode::interrupted ? "interrupted"
                                                             : "failed";
  json["status"] = status;
  if (!failure.empty()) json["message"] = failure;
  json["steps"] = solver_.step();
  json["time"] = solver_.time();
  json["ranks"] = comm_.size();
  json["newton_iterations"] = solver_.newton_iterations();
  add(json, solver_.summary()); // infinite entries become null
  const stepping::Balance balance = solver_.balance();
  add(json["energies"], balance.energies);
  add(json["momentum"], balance.momenta);
  json["peak_memory_mb"] = {{"max", comm_.max(peak_memory_mb())}, {"sum", comm_.sum(peak_memory_mb())}};
  json["repeatable"] = solver_.repeatable();
  json["io_s"] = io_seconds_;
  json["wall_s"] = watch_.seconds();
  json["version"] = version();
  parallel::collectively(comm_, [&] {
    if (comm_.rank() == 0) write_file_atomically(folder_.summary(), json.dump(1) + "\n");
  });
  if (!failure.empty()) log_error(failure);
  log_info(fmt::format("{}: {} steps, t = {:g}, {} Newton iterations, {:.1f} s", status, solver_.step(),
                       solver_.time(), solver_.newton_iterations(), json["wall_s"].get<double>()));
}

} // namespace recoil::app
