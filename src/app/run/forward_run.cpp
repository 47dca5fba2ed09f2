#include "recoil/app/run/forward_run.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/app/run/phase_times.hpp"
#include "recoil/app/run/run_state.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/memory.hpp"
#include "recoil/base/option_names.hpp"
#include "recoil/base/phases.hpp"
#include "recoil/base/version.hpp"

namespace recoil::app {

/// What ledger.csv, a convenience beside the trajectory, says of a nominal step.
struct LedgerRow {
  GlobalIndex step = 0;
  double time = 0;
  stepping::Balance balance;
  stepping::Entries counts;
};

namespace {

std::string head(const LedgerRow& row) {
  std::string line = "step,time";
  for (const stepping::Entry& energy : row.balance.energies) line += fmt::format(",{}", energy.name);
  for (const stepping::Entry& momentum : row.balance.momenta)
    line += fmt::format(",{0}_x,{0}_y,{0}_z", momentum.name);
  for (const stepping::Entry& count : row.counts) line += fmt::format(",{}", count.name);
  return line + "\n";
}

/// Puts values into a row.
struct Cells {
  std::string& line;
  int digits;
  void operator()(GlobalIndex value) const { line += fmt::format(",{}", value); }
  void operator()(double value) const {
    line += std::isfinite(value) ? fmt::format(",{:.{}g}", value, digits) : ",";
  }
  void operator()(const std::array<double, 3>& value) const {
    for (const double component : value) (*this)(component);
  }
  void operator()(const std::string& value) const { line += "," + value; }
};

std::string line_of(const LedgerRow& row) {
  std::string line = fmt::format("{},{:.17g}", row.step, row.time);
  for (const stepping::Entry& energy : row.balance.energies) std::visit(Cells{line, 17}, energy.value);
  for (const stepping::Entry& momentum : row.balance.momenta) std::visit(Cells{line, 9}, momentum.value);
  for (const stepping::Entry& count : row.counts) std::visit(Cells{line, 9}, count.value);
  return line + "\n";
}

/// A name in words as a key of summary.json: "Newton iterations" is newton_iterations.
std::string key_of(std::string words) {
  for (char& c : words) c = c == ' ' ? '_' : char(std::tolower(static_cast<unsigned char>(c)));
  return words;
}

/// Gives `entry` the value that `stored` has for `name`.
void set(stepping::Entry& entry, const stepping::Entries& stored, const std::string& name) {
  const auto take = [&]<class Value>(Value& value) { value = stepping::value_of<Value>(stored, name); };
  std::visit(take, entry.value);
}

/// The row of the ledger for the step that `solver` has just taken. Collective.
LedgerRow ledger_row(const stepping::Solver& solver) {
  return {solver.step(), solver.time(), solver.balance(), solver.counts()};
}

/// The rows, with the columns of `like`, of a run that has come to state `last` of a trajectory. @throws
/// FileError if they are not those of such a run.
std::vector<LedgerRow> ledger_rows(const checkpoint::TrajectoryReader& reader, GlobalIndex last,
                                   const LedgerRow& like) {
  std::vector<LedgerRow> rows;
  for (GlobalIndex id = 1; id <= last; ++id) {
    const stepping::StepRecord& record = reader.records()[id];
    if (!record.completes_nominal) continue;
    const RunState stored = run_state_from_json(reader.extra(id));
    LedgerRow& row = rows.emplace_back(like);
    row.step = record.nominal_step;
    row.time = record.time;
    for (stepping::Entry& energy : row.balance.energies) set(energy, stored.restart.entries, energy.name);
    for (stepping::Entry& momentum : row.balance.momenta)
      set(momentum, stored.restart.entries, stepping::momentum_name(momentum.name));
    for (stepping::Entry& count : row.counts) set(count, stored.counts, count.name);
  }
  return rows;
}

/// Writes the table with these rows, which have the columns of `like`, in the place of any other.
void write_ledger(const std::filesystem::path& file, const LedgerRow& like,
                  const std::vector<LedgerRow>& rows) {
  std::string text = head(like);
  for (const LedgerRow& row : rows) text += line_of(row);
  write_file_atomically(file, text);
}

void add_to_ledger(const std::filesystem::path& file, const LedgerRow& row) {
  if (!append_to_file(file, line_of(row)))
    throw FileError(file.string() + ": cannot add a row: " + std::strerror(errno) + "; is the disk full?");
}

} // namespace

stepping::TimeOptions time_options(const Scene& scene) {
  return {scene.time.t0, scene.time.dt, scene.time.max_retries};
}

RunOptions run_options(const Scene& scene) {
  return {scene.time.steps, scene.output.every, scene.output.chunk, scene.output.steps};
}

bool RunOptions::stores(GlobalIndex step) const {
  return stored.empty() ? step % store_every == 0 : std::ranges::binary_search(stored, step);
}

ForwardRun::ForwardRun(const parallel::Communicator& comm, stepping::Solver& solver, RunOutput& output,
                       RunOptions options, const checkpoint::RunFolder& folder, const Interrupts& interrupts,
                       Stopwatch since, stepping::Solver::OnState observe)
    : comm_(comm), solver_(solver), output_(&output), options_(options), folder_(folder),
      interrupts_(interrupts), watch_(since), observe_(std::move(observe)) {
  solver_.interrupt_when(interrupts.watch());
}

ExitCode ForwardRun::start(const std::string& metadata, std::optional<std::int64_t> steps) {
  log_start();
  write_start(metadata);
  return go_on({}, steps);
}

ExitCode ForwardRun::restart(std::optional<std::int64_t> steps) {
  log_start();
  return go_on(read_restart_point(), steps);
}

ExitCode ForwardRun::go_on(const std::vector<LedgerRow>& rows, std::optional<std::int64_t> steps) {
  const PhaseScope phase(Phase::other);
  ExitCode code = ExitCode::done;
  std::string failure;
  const GlobalIndex last = std::min<GlobalIndex>(options_.steps, steps.value_or(options_.steps));
  timed_io([&] {
    const LedgerRow like = ledger_row(solver_);
    parallel::collectively(comm_, [&] {
      if (comm_.rank() == 0) write_ledger(folder_.ledger(), like, rows);
    });
  });
  RemainingTime remaining(last);
  remaining.skip(solver_.step());
  while (solver_.step() < last) {
    const Stopwatch watch;
    if (before_step_) output_ = &before_step_();
    const stepping::StepOutcome outcome = one_step(last);
    remaining.step_done(watch.seconds());
    if (outcome.interrupted) {
      code = ExitCode::interrupted;
      break;
    }
    if (!outcome.accepted) {
      failure = fmt::format("step {} failed", solver_.step() + 1);
      if (outcome.repetitions > 0)
        failure += fmt::format(" after {} repetition(s) with smaller steps", outcome.repetitions);
      failure += ": " + name_options(outcome.failure);
      code = ExitCode::no_solution;
      break;
    }
    timed_io([&] {
      const LedgerRow row = ledger_row(solver_);
      parallel::collectively(comm_, [&] {
        if (comm_.rank() == 0) add_to_ledger(folder_.ledger(), row);
      });
    });
    log_info(fmt::format("step {}/{}  t = {:g}  {}  {:.2f} s  left {}", solver_.step(), last, solver_.time(),
                         outcome.description, watch.seconds(), format_duration(remaining.seconds_left())));
    progress_.show(remaining);
    if (const std::string fault = solver_.fault(); !fault.empty()) {
      failure =
          fmt::format("after step {} at t = {:g} {}", solver_.step(), solver_.time(), name_options(fault));
      code = ExitCode::no_solution;
      break;
    }
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
  const PhaseScope phase(Phase::output);
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
    output_->write_mesh(*writer_);
    append(record, first.u, first.v, true);
    writer_->flush();
    folder_.drop_scene_checksum(comm_);
  });
  if (observe_) observe_(record, first.u, first.v);
}

std::vector<LedgerRow> ForwardRun::read_restart_point() {
  std::vector<LedgerRow> rows;
  timed_io([&] {
    checkpoint::TrajectoryReader reader(comm_, folder_.trajectory());
    const checkpoint::RestartPoint point = reader.restart_point();
    if (!point.warning.empty()) log_warning(point.warning);
    const GlobalIndex newest = point.states.front();
    output_->require_mesh_of(reader, newest, folder_.scene().string());
    if (!reader.records()[newest].completes_nominal)
      throw FileError(folder_.trajectory().string() +
                      ": the newest states are inside of a step, from where none can be taken. Remove the "
                      "last file of states there and run again with --restart");
    output_->restore(fields_of(reader, newest));
    stepping::restore(
        solver_, newest, run_state_from_json(reader.extra(newest)).restart,
        [&](GlobalIndex id) { return read_state(fields_of(reader, id), id, solver_, *output_); });
    rows = ledger_rows(reader, newest, ledger_row(solver_));
    writer_ = std::make_unique<checkpoint::TrajectoryWriter>(comm_, reader, point, writer_options());
    log_info(fmt::format("restarting after step {} at t = {:g}", solver_.step(), solver_.time()));
  });
  return rows;
}

void ForwardRun::append(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
                        bool stored) {
  RunState run{solver_.restart_data()};
  std::ranges::move(output_->restart_entries(), std::back_inserter(run.restart.entries));
  if (record.id > 0 && record.completes_nominal) run.counts = solver_.counts();
  const io::BlockLayout& nodes = output_->nodes();
  std::vector<checkpoint::Field> fields{
      {"u", u.layout().block_size, &nodes, u.owned(), io::Centre::node, true},
      {"v", v.layout().block_size, &nodes, v.owned(), io::Centre::node, true}};
  std::ranges::move(output_->restart_fields(), std::back_inserter(fields));
  if (stored) std::ranges::move(output_->fields(u), std::back_inserter(fields));
  writer_->append(record, fields, stored, to_json(run));
}

stepping::StepOutcome ForwardRun::one_step(GlobalIndex last) {
  return solver_.advance(
      [&](const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v) {
        const bool stored =
            !record.completes_nominal || options_.stores(solver_.step()) || solver_.step() == last;
        // What is kept beside the trajectory is there before the state: a run that was killed in between
        // drops it.
        if (observe_) observe_(record, u, v);
        timed_io([&] { append(record, u, v, stored); });
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
  const stepping::Entries effort = solver_.effort();
  for (const stepping::Entry& entry : effort) add(json, {{key_of(entry.name), entry.value}});
  add(json, solver_.summary()); // infinite entries become null
  add(json, output_->summary());
  const stepping::Balance balance = solver_.balance();
  add(json["energies"], balance.energies);
  add(json["momentum"], balance.momenta);
  json["peak_memory_mb"] = {{"max", comm_.max(peak_memory_mb())}, {"sum", comm_.sum(peak_memory_mb())}};
  json["repeatable"] = solver_.repeatable();
  json["io_s"] = io_seconds_;
  json["wall_s"] = watch_.seconds();
  const auto times = phase_times(comm_);
  for (std::size_t i = 0; i < num_phases; ++i) json["times"][std::string(name(Phase(i)))] = times[i];
  json["version"] = version();
  parallel::collectively(comm_, [&] {
    if (comm_.rank() == 0) write_file_atomically(folder_.summary(), json.dump(1) + "\n");
  });
  if (!failure.empty()) log_error(failure);
  if (const std::string warning = solver_.warning(); failure.empty() && !warning.empty())
    log_warning(warning);
  std::string taken;
  for (const stepping::Entry& entry : effort)
    taken += fmt::format("{} {}, ", std::get<GlobalIndex>(entry.value), entry.name);
  log_info(fmt::format("{}: {} steps, t = {:g}, {}{:.1f} s", status, solver_.step(), solver_.time(), taken,
                       json["wall_s"].get<double>()));
}

} // namespace recoil::app
