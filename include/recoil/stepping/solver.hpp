#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "recoil/base/error.hpp"
#include "recoil/stepping/history.hpp"

namespace recoil::stepping {

/// Something that files say of a run under a name of the solver's own: a count, a quantity, a vector in space
/// or a description.
struct Entry {
  std::string name;
  std::variant<GlobalIndex, double, std::array<double, 3>, std::string> value;
};
using Entries = std::vector<Entry>;

/// @throws FileError if the entry is not there or of another type: entries come from files.
template <class T>
const T& value_of(const Entries& entries, std::string_view name) {
  for (const Entry& entry : entries)
    if (entry.name == name)
      if (const T* value = std::get_if<T>(&entry.value)) return *value;
  throw FileError(
      "the trajectory lacks what a restart needs; it was not written by recoil simulate of this version");
}

/// The count of this name, 0 where there is none.
inline GlobalIndex count_of(const Entries& entries, std::string_view name) {
  GlobalIndex count = 0;
  for (const Entry& entry : entries)
    if (const auto* value = std::get_if<GlobalIndex>(&entry.value); value && entry.name == name)
      count = *value;
  return count;
}

/// What ledger.csv and summary.json say of the state that a run has come to.
struct Balance {
  Entries energies; ///< doubles: energies, works and dissipations [J]
  Entries momenta;  ///< vectors [kg m/s, kg m^2/s]
};

/// What a run needs to continue from a state, besides the states themselves.
struct RestartData {
  GlobalIndex step = 0; ///< nominal steps done
  int num_states = 1;   ///< how many of the last states the next step depends on (1 after a repeated step)
  Entries entries = {}; ///< what else the solver needs
};

/// How a nominal step went.
struct StepOutcome {
  bool accepted = false, interrupted = false; ///< never both
  std::string failure = {};                   ///< why it could not be done, for the user
  int repetitions = 0;                        ///< with smaller steps
  std::string description = {};               ///< of an accepted step, for the log
};

/// How an attempt to take a nominal step in equal parts ended.
struct StepAttempt {
  bool done = false;        ///< all parts
  bool interrupted = false; ///< as Solver::interrupt_when() told it to
  bool is_hopeless = false; ///< smaller parts would fail, too
  std::string failure = {}; ///< why it is not done, for the user
};

/// Takes a nominal step by `attempt`, a function of the number of parts and of whether it is the last try
/// that returns a StepAttempt: in `sub_steps` parts and, as long as that fails, in twice as many, until there
/// are 2^max_retries or more. An interrupted attempt is not repeated. The outcome has no description.
template <class Attempt>
StepOutcome repeat_in_parts(int sub_steps, int max_retries, Attempt attempt) {
  for (int repetitions = 0;; ++repetitions) {
    const int parts = sub_steps << repetitions;
    const bool is_last = parts >> max_retries != 0;
    const StepAttempt tried = attempt(parts, is_last);
    if (tried.done || tried.interrupted || tried.is_hopeless || is_last)
      return {tried.done, tried.interrupted, tried.failure, repetitions, {}};
  }
}

/// Names of Newton iterations, where a solver has them, in Solver::effort() and Solver::counts().
inline constexpr const char* newton_iterations_name = "Newton iterations";
inline constexpr const char* newton_count_name = "newton";

/// When steps are taken and how often they are repeated.
struct TimeOptions {
  double t0 = 0, dt = 0; ///< [s]
  int max_retries = 6;   ///< a failed step is repeated as 2, 4, .. 2^max_retries sub-steps
};

/// The steps of a forward run, taken for the first time or again from an earlier state: all that the time
/// loop, checkpoints and the repeated steps of a reverse sweep need to know of a solver. All members but the
/// accessors are collective; numerical failure is reported, not thrown.
class Solver {
public:
  using OnState = std::function<void(const StepRecord&, const linalg::Vector& u, const linalg::Vector& v)>;

  virtual ~Solver() = default;
  /// Nominal steps done so far.
  virtual GlobalIndex step() const = 0;
  /// The time that they lead to [s].
  virtual double time() const = 0;
  /// Time of the initial state [s].
  virtual double start_time() const = 0;
  /// The states that the next step depends on.
  virtual const History& history() const = 0;
  /// Layouts of u and v; known before there is a state.
  virtual std::shared_ptr<const linalg::VectorLayout> layout() const = 0;
  virtual std::shared_ptr<const linalg::VectorLayout> tangent_layout() const { return layout(); }

  /// What continue_from() needs to continue from here.
  virtual RestartData restart_data() const = 0;
  /// Continues from `states`, oldest first, as if the steps before had been taken just now: with the same
  /// bits. @throws FileError on every rank if `data` lacks something.
  virtual void continue_from(const RestartData& data, std::vector<State> states) = 0;
  /// Takes the next nominal step, in `sub_steps` (a power of two) equal parts at first. `on_state` is called
  /// for each state of the step, in order, once all of them have been found; restart_data() and balance() are
  /// those of that state meanwhile, and history().newest() is it where states have internal variables. After
  /// failure or interruption the run stays where it was.
  virtual StepOutcome advance(const OnState& on_state, int sub_steps) = 0;
  /// Lets advance() end early: `interrupted` gives the same answer on every rank.
  virtual void interrupt_when(std::function<bool()> /*interrupted*/) {}

  /// The u (owned entries, then ghosts; a rank may have none) that a run of nearly the same problem had at a
  /// time [s], on all ranks or on none.
  using KnownStates = std::function<std::optional<std::span<const double>>(double time)>;
  /// From now on steps may start their solves from what changes of known states predict, where that is
  /// better than how they start else. What they solve stays the same.
  virtual void start_near(KnownStates /*known*/) {}

  /// What all steps have taken so far, failed ones included: a GlobalIndex under every name in words, Newton
  /// iterations under newton_iterations_name.
  virtual Entries effort() const { return {}; }
  /// Always with the same names in the same order. Collective.
  virtual Balance balance() const { return {}; }
  /// Why the run is not to be trusted from the state on that it has come to, for the user; empty: it is.
  /// Collective.
  virtual std::string fault() const { return ""; }
  /// What the user should know of the run when it ends where it is; empty: nothing. Collective.
  virtual std::string warning() const { return ""; }
  /// Counts and other numbers of the nominal step just taken, always the same names: Newton iterations under
  /// newton_count_name. Collective.
  virtual Entries counts() const { return {}; }
  /// Whatever else summary.json says of the run. Collective.
  virtual Entries summary() const { return {}; }
  /// What is simulated, for the log.
  virtual std::string description() const { return ""; }
  /// Whether the same run gives the same bits again.
  virtual bool repeatable() const { return true; }
};

/// Under which name restart data has a momentum.
inline std::string momentum_name(const std::string& name) { return name + "_momentum"; }

/// Adds the energies and momenta of a ledger to what a restart needs. A ledger has `linear_momentum` and
/// `angular_momentum`, and energies(): pairs of names and pointers to members of type double.
template <class Ledger>
void add_ledger(const Ledger& ledger, Entries& entries) {
  for (const auto& [name, energy] : Ledger::energies()) entries.push_back({name, ledger.*energy});
  entries.push_back({momentum_name("linear"), ledger.linear_momentum});
  entries.push_back({momentum_name("angular"), ledger.angular_momentum});
}

/// The ledger that add_ledger() wrote. @throws FileError if one of its entries is not there.
template <class Ledger>
Ledger read_ledger(const Entries& entries) {
  Ledger ledger;
  for (const auto& [name, energy] : Ledger::energies()) ledger.*energy = value_of<double>(entries, name);
  using Momentum = std::array<double, 3>;
  ledger.linear_momentum = value_of<Momentum>(entries, momentum_name("linear"));
  ledger.angular_momentum = value_of<Momentum>(entries, momentum_name("angular"));
  return ledger;
}

template <class Ledger>
Balance balance_of(const Ledger& ledger) {
  Balance balance;
  for (const auto& [name, energy] : Ledger::energies()) balance.energies.push_back({name, ledger.*energy});
  balance.momenta = {{"linear", ledger.linear_momentum}, {"angular", ledger.angular_momentum}};
  return balance;
}

/// Continues from state `id` and those before it that the next step depends on, each of them given by
/// `state_of(id)`. Collective.
template <class StateOf>
void restore(Solver& solver, GlobalIndex id, const RestartData& data, StateOf state_of) {
  std::vector<State> states;
  for (GlobalIndex state = id - data.num_states + 1; state <= id; ++state) states.push_back(state_of(state));
  solver.continue_from(data, std::move(states));
}

} // namespace recoil::stepping
