#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recoil/geometry/closest_points.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/solvers/async_contact/integrator.hpp"
#include "solvers/async_contact/contact_pair.hpp"
#include "solvers/async_contact/event_batches.hpp"
#include "solvers/async_contact/event_heap.hpp"
#include "solvers/async_contact/ledger_sums.hpp"
#include "solvers/async_contact/ranks.hpp"

namespace recoil::solvers::async_contact {

/// What a vertex may do within the window: |v - reference| <= deviation in each component.
struct SpeedBound {
  Eigen::Vector3d reference;
  double deviation;
  bool is_widened = false; ///< in this window, since it was exceeded
};

/// Where IntegratorState::shapes has the numbers of some elements, of each `width` in a row, of which the
/// last are the impulses on its vertices if they are tracked.
struct ShapeRows {
  std::size_t first = 0, width = 0, impulses = 0;
  std::size_t of(std::int32_t index) const { return first + static_cast<std::size_t>(index) * width; }
};

/// Box that a vertex stays in until the end of the window.
struct VertexBox {
  Eigen::Vector3d low, high;
};

/// The run itself. Events have slots: gravity, the end of the window, scripts, springs, membranes, hinges,
/// solids, loads, then the pairs of the present window.
struct Integrator::Engine {
  Model model;
  Certificates certificates;
  double tick_seconds;
  Tick now = 0;
  Outcome outcome = Outcome::reached;
  std::string diagnosis;

  std::vector<VertexState> vertices;
  std::vector<SpeedBound> bounds;
  double least_deviation = 0;         ///< of bounds in this window [m/s]
  std::vector<double> seen_deviation; ///< greatest |v - reference| in this window, of each vertex
  std::vector<VertexBox> boxes;
  std::vector<double> rest_angles;
  std::vector<double> shapes; ///< as in IntegratorState
  ShapeRows spring_rows, membrane_rows, hinge_rows, solid_rows, load_rows;
  bool tracks_impulses = false; ///< those that elements give ahead of their time (VertexState::ahead)

  EventHeap heap;
  EventBatches periodic;     ///< events of clocks in windows; the reference has them in its heap
  std::vector<Clock> clocks; ///< of gravity, then springs, membranes, hinges, solids, loads
  std::vector<const LocalIndex*> stencil_starts; ///< of elements, by slot
  std::vector<std::int32_t> script_row;          ///< next entry of each script
  std::int32_t first_script = 2, first_spring = 0, first_membrane = 0, first_hinge = 0, first_solid = 0,
               first_load = 0, first_pair = 0;

  std::vector<ContactPair> pairs;
  std::vector<ContactPair> old_pairs;            ///< those of the window before, while a new one begins
  std::vector<AnchorState> restored;             ///< anchors of a restored run, ascending in number
  std::vector<std::int32_t> pair_starts;         ///< pairs of each vertex are pair_lists[pair_starts[v]] ..
  std::vector<std::int32_t> pair_lists;          //
  std::vector<std::int32_t> next_links;          ///< while these are made
  std::vector<std::uint64_t> candidates;         ///< numbers of pairs, ascending
  Tick window_end = 0;                           ///< time of the next search
  Tick least_window = 1;                         ///< to which windows shrink of themselves
  Tick window = 0;                               ///< length of windows
  std::int64_t num_found = 0;                    ///< pairs that the last search has found
  Counts before;                                 ///< when the window began
  double coordinate_rounding = 0;                ///< bound of the rounding errors of gaps [m]
  std::unique_ptr<parallel::Communicator> alone; ///< this rank, for searches

  Ledger ledger;
  Ledger* book = &ledger; ///< where the present event enters what it does
  mutable Counts counts;
  std::unique_ptr<Ranks> ranks; ///< none: this rank does all

  /// On the ranks of `comm`, collectively, or without one on this rank.
  Engine(Model model_, Certificates certificates_, const IntegratorState* state,
         const parallel::Communicator* comm);
  Outcome advance_to(Tick end);
  void fail(Outcome what, std::string why) {
    if (outcome != Outcome::reached) return;
    outcome = what;
    diagnosis = std::move(why);
  }

  // Vertices.
  double seconds(Tick ticks) const { return static_cast<double>(ticks) * tick_seconds; }
  Eigen::Vector3d position(LocalIndex vertex, Tick t) const {
    const VertexState& x = vertices[vertex];
    return x.q + seconds(t - x.tick) * x.v;
  }
  template <std::size_t n>
  Points<static_cast<int>(n)> positions(const std::array<LocalIndex, n>& of, Tick t) const {
    Points<static_cast<int>(n)> result;
    for (std::size_t i = 0; i < n; ++i) result.col(i) = position(of[i], t);
    return result;
  }
  template <std::size_t n>
  Points<static_cast<int>(n)> velocities(const std::array<LocalIndex, n>& of) const {
    Points<static_cast<int>(n)> result;
    for (std::size_t i = 0; i < n; ++i) result.col(i) = vertices[of[i]].v;
    return result;
  }
  /// An impulse on a vertex that is at `q` at time t; one on a prescribed vertex is the wall's.
  void kick(LocalIndex vertex, const Eigen::Vector3d& q, Tick t, const Eigen::Vector3d& impulse) {
    VertexState& x = vertices[vertex];
    if (x.inverse_mass == 0) {
      add(*book, &Ledger::wall_impulse, impulse);
      add(*book, &Ledger::wall_torque, q.cross(impulse));
      book->wall_work -= impulse.dot(x.v);
      return;
    }
    move(x, q, t);
    x.v += x.inverse_mass * impulse;
  }
  void move(VertexState& x, const Eigen::Vector3d& q, Tick t) {
    if (tracks_impulses) x.ahead -= seconds(t - x.tick) * x.force;
    x.q = q;
    x.tick = t;
  }
  /// Impulses of an element of the given force that is integrated with step h.
  template <std::size_t n>
  void kick_all(const std::array<LocalIndex, n>& of, const Points<static_cast<int>(n)>& q, Tick t, double h,
                const Points<static_cast<int>(n)>& force, const ShapeRows& rows, std::int32_t index) {
    double* last = tracks_impulses ? &shapes[rows.of(index) + rows.impulses] : nullptr;
    for (std::size_t i = 0; i < n; ++i) {
      const Eigen::Vector3d impulse = -h * force.col(i);
      kick(of[i], q.col(i), t, impulse);
      if (!tracks_impulses) continue;
      Eigen::Map<Eigen::Vector3d> before(last + 3 * i);
      vertices[of[i]].ahead += 0.5 * (before + impulse);
      vertices[of[i]].force += (impulse - before) / h;
      before = impulse;
    }
    velocities_changed(of, t);
  }
  /// The same with damping by `drag`; the energy that this takes away [J].
  template <std::size_t n>
  double kick_damped(const std::array<LocalIndex, n>& of, const Points<static_cast<int>(n)>& q, Tick t,
                     double h, const Points<static_cast<int>(n)>& force,
                     const Points<static_cast<int>(n)>& drag, const ShapeRows& rows, std::int32_t index) {
    const auto power = [&] {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += drag.col(i).dot(velocity_without_ahead(vertices[of[i]], t));
      return sum;
    };
    const double before = power();
    kick_all<n>(of, q, t, h, force + drag, rows, index);
    return 0.5 * h * (before + power());
  }
  Eigen::Vector3d velocity_without_ahead(const VertexState& x, Tick t) const {
    return x.v - x.inverse_mass * (x.ahead - seconds(t - x.tick) * x.force);
  }
  /// The velocity that a vertex would have if elements and gravity acted all the time: what a force does work
  /// with in the mean over their steps, also where it answers to their impulses.
  Eigen::Vector3d steady_velocity(LocalIndex vertex, Tick t) const;
  /// What else depends on the velocity of a vertex, after it has changed at time t.
  void velocity_changed(LocalIndex vertex, Tick t) {
    if (ranks && ranks->owner[vertex] != ranks->comm.rank()) return; // its owner looks after it
    const SpeedBound& bound = bounds[vertex];
    const double deviation = (vertices[vertex].v - bound.reference).cwiseAbs().maxCoeff();
    if (deviation > seen_deviation[vertex]) {
      seen_deviation[vertex] = deviation;
      if (deviation > bound.deviation) exceeded(vertex, t);
    }
    if (certificates == Certificates::slabs) renew_certificates(vertex, t);
  }
  template <std::size_t n>
  void velocities_changed(const std::array<LocalIndex, n>& of, Tick t) {
    for (const LocalIndex vertex : of) velocity_changed(vertex, t);
  }

  // Forces of elements (material_events.cpp).
  void start_clocks(Tick t);
  EventKey material_key(std::int32_t slot, Tick t) const;
  /// The first event of all, which is at `never` if there is none.
  EventHeap::Entry next_event() const;
  void handle(std::int32_t slot, Tick t);
  void fetch_ahead() const;
  void gravity_event(Tick t);
  void script_event(std::int32_t script, Tick t);
  void spring_event(std::int32_t index, Tick t);
  void membrane_event(std::int32_t index, Tick t);
  void solid_event(std::int32_t index, Tick t);
  void hinge_event(std::int32_t index, Tick t);
  void lay_out_shapes();
  void measure_shapes();

  // Loads (load_events.cpp).
  void load_event(std::int32_t index, Tick t);
  void accelerate(LocalIndex vertex, Tick t);
  bool enter_load(LocalIndex vertex, const Eigen::Vector3d& q, Tick t, const Eigen::Vector3d& impulse);

  // Contact (contact_events.cpp).
  double layer_distance(int layer) const { return 2 * model.contact.eta / layer; }
  double layer_stiffness(int layer) const { return 2.0 * layer * layer * layer * model.contact.stiffness; }
  Tick layer_step(const ContactPair& pair, int layer) const;
  /// 1 / w of layer 1 [s].
  double contact_time(const ContactPair& pair) const;
  Eigen::Matrix<double, 3, 4> points(const ContactPair& pair, Tick t) const;
  Gap gap(const ContactPair& pair, Tick t) const;
  void pair_event(std::int32_t index, Tick t);
  void layer_event(ContactPair& pair, int layer, Tick t);
  void anchor_event(ContactPair& pair, Tick t);
  void apply_along(const ContactPair& pair, const Gap& at, Tick t, const Eigen::Vector3d& impulse);
  void rest_layer(ContactPair& pair, const Gap& at, double speed, Tick t);
  /// Takes back that layers pass over times after t.
  void resume_clocks(ContactPair& pair, Tick t);
  void slide(const ContactPair& pair, const Gap& at, Tick t, double normal_impulse);
  void pair_velocities_changed(const ContactPair& pair, Tick t);
  void activate_layer(ContactPair& pair, Tick t);
  /// Finds the certificate of the least layer that has one, activating those before. After time t.
  void certify(ContactPair& pair, const Gap& at, Tick t);
  /// Last time until which the slab in the direction of the pair fits in, from t on; t - 1: it does not now.
  /// Under the present velocities, or in windows under all that are within their bounds.
  Tick clear_until(const ContactPair& pair, Tick t) const;
  /// Whether the slab in the direction of the pair fits in between wherever the vertices are in their boxes.
  bool boxes_are_clear(const ContactPair& pair) const;
  void renew_certificates(LocalIndex vertex, Tick t);
  void exceeded(LocalIndex vertex, Tick t);
  void narrow_bound(LocalIndex vertex);
  void schedule(std::int32_t index);

  // Search for pairs (pair_search.cpp).
  /// The window from t on, which ends before `latest` or then.
  void begin_window(Tick t, Tick latest = never - 1);
  void adapt_window();
  void bound_speeds(Tick t);
  /// The box of a vertex that stays within `deviation` of its velocity for `duration` from t on.
  void set_box(LocalIndex vertex, Tick t, double duration, double deviation);
  void find_candidates();
  void find_primitives();
  void find_primitives_on_ranks();
  double search_margin() const;
  Eigen::AlignedBox<double, 3> search_box(LocalIndex vertex) const;
  ContactPair make_pair(std::uint64_t number) const;
  void add_anchored_pairs();
  void keep_pairs(Tick t);
  void release_anchor(ContactPair& pair, const Gap& at, Tick t);
  void start_anchor(ContactPair& pair, Tick t) const;
  void link_pairs();

  // Several ranks (ranks.cpp).
  bool is_mine(std::span<const LocalIndex> of) const;
  bool is_counted_here(std::span<const LocalIndex> of) const;
  bool meet(std::span<const LocalIndex> of);
  void share_vertices();
  void collect_results();

  // Windows of several ranks (rank_windows.cpp).
  Outcome advance_on_ranks(Tick end);
  bool run_window();
  bool repeat_touched(bool broken);
  void keep_untouched(WindowState& done);
  void list_links();
  void close_books();
  void balance_ranks();
  void go_back();
  void share_failure();

  void add_energies(const ContactPair& pair, double& contact, double& anchor) const;
  Totals totals() const;
};

} // namespace recoil::solvers::async_contact
