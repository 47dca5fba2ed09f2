#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recoil/parallel/communicator.hpp"
#include "recoil/solvers/async_contact/model.hpp"
#include "recoil/solvers/async_contact/state.hpp"

namespace recoil::solvers::async_contact {

/// How it is known that a layer of contact is not needed yet. Both give the same motion, bit for bit: a layer
/// that is integrated without need does nothing, and the clocks do not know when it became active.
enum class Certificates : std::uint8_t {
  /// Separating slabs under the present velocities, renewed whenever one of these changes: the reference.
  slabs,
  /// Slabs under bounds of the velocities that hold for a window of time, renewed where a bound is exceeded.
  windows
};

/// How a run has gone on.
enum class Outcome : std::uint8_t {
  reached,       ///< the time asked for
  overstretched, ///< a membrane or solid is stretched beyond Model::max_stretch or turned inside out
  no_value,      ///< a load is not a finite number
  too_deep       ///< contact needs more layers than ContactSettings::max_layers, or a step below a tick
};

/// Numbers of what was done.
struct Counts {
  std::int64_t elements = 0;       ///< integrations of membranes, hinges, solids and springs
  std::int64_t gravity = 0;        ///< integrations of gravity, of all vertices together
  std::int64_t layers = 0;         ///< integrations of layers with a force
  std::int64_t idle_layers = 0;    ///< the same without a force
  std::int64_t anchors = 0;        ///< integrations of tangential springs
  std::int64_t certificates = 0;   ///< certificates that ended
  std::int64_t renewals = 0;       ///< certificates looked at since a velocity has changed
  std::int64_t searches = 0;       ///< searches for pairs
  std::int64_t pairs = 0;          ///< pairs kept after searches, summed
  std::int64_t exceeded = 0;       ///< bounds of velocities that were exceeded
  std::int64_t meetings = 0;       ///< events at which ranks tell each other of vertices
  std::int64_t messages = 0;       ///< to other ranks at these
  std::int64_t numbers_sent = 0;   ///< in these messages, of 8 bytes
  std::int64_t numbers_shared = 0; ///< sent to the other ranks at the ends of windows
  std::int64_t repeated = 0; ///< times that several ranks have begun a window again, for what was touched
  std::int64_t events_repeated = 0; ///< events handled in these
  std::int64_t balanced = 0;        ///< times that vertices were given to other ranks
  int deepest = 0;                  ///< deepest layer that was active
  std::int64_t events() const { return elements + gravity + layers + idle_layers + anchors + certificates; }
};

/// Asynchronous variational integrator [Lew et al. 2003; Vouga et al. 2011] with penalty layers: each force
/// is integrated at the times of its own clock, in the order of (time, class, number), vertices drift in
/// straight lines in between. Contact is never passed through as long as no layer beyond the cap is asked
/// for. The state after all events of a time depends on the model alone, not on the times at which it was
/// looked at.
class Integrator {
public:
  /// Begins at time 0 with the model's positions and velocities. @throws InputError if the model is wrong or
  /// if primitives touch.
  explicit Integrator(Model model, Certificates certificates = Certificates::slabs);
  /// Goes on from `state` of a run with the same model.
  Integrator(Model model, const IntegratorState& state, Certificates certificates = Certificates::slabs);
  /// The same on the ranks of `comm`, which share the vertices: the motion is that of one rank, bit for bit.
  /// All give the same model and state. Collective, as are advance_to() and smallest_gap(); the rest is
  /// afterwards known on every rank but for `counts`, which are of what the rank itself has done.
  Integrator(const parallel::Communicator& comm, Model model);
  Integrator(const parallel::Communicator& comm, Model model, const IntegratorState& state);
  ~Integrator();
  Integrator(Integrator&&) noexcept;
  Integrator& operator=(Integrator&&) noexcept;

  /// Handles all events up to `time` [s], that included. After an outcome other than `reached` it stays where
  /// it is.
  Outcome advance_to(double time);
  /// What ended the run: where and how to go on.
  const std::string& diagnosis() const;

  double time() const;
  Eigen::Vector3d position(LocalIndex vertex) const;
  std::vector<Eigen::Vector3d> positions() const;
  const Eigen::Vector3d& velocity(LocalIndex vertex) const;
  const Model& model() const;
  IntegratorState state() const;

  Totals totals() const;
  const Ledger& ledger() const;
  const Counts& counts() const;
  /// Smallest gap of the pairs that are watched at present [m]; infinite if there is none.
  double smallest_gap() const;

private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

} // namespace recoil::solvers::async_contact
