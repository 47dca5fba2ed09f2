// Events per second of asynchronous contact on one core or some ranks:
//
//   bench_async_contact discs [seconds] [slabs | windows]     900 discs of radius 1 cm in a box of 3 m
//   bench_async_contact cloth [seconds] [slabs | windows]     two cloths of 1682 vertices on nine spikes
//   bench_async_contact crumple [scenes]                      sheets that walls press together, intersections
//   bench_async_contact job [seconds] [slabs | windows]       the discs of jobs/async/discs.json
//
// Under mpirun windows on several ranks: what each event and window costs them in messages. Prints events by
// kind, processor time, drift of energy and momentum and what is left of the gaps.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "async_contact/cloths.hpp"
#include "async_contact/discs.hpp"

namespace {

using namespace recoil::solvers::async_contact;
using recoil::LocalIndex;

double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Cloths that reach the spikes after 5 ms.
Model falling_cloths(int cells) {
  Model model = testing::ClothsAboveSpikes(cells).model;
  for (LocalIndex v = 0; v < model.num_vertices(); ++v)
    if (!std::isinf(model.masses[v])) model.velocities[v].z() = -2;
  return model;
}

/// Those of jobs/async/discs.json.
Model job_discs() {
  Model model = testing::random_discs(900, 3, 1);
  for (const LocalIndex v : model.spheres) {
    const Eigen::Vector3d& x = model.positions[v];
    model.velocities[v] = {7 * std::sin(1217 * x.x() + 3119 * x.y()),
                           7 * std::cos(2711 * x.x() - 1733 * x.y()), 0};
  }
  return model;
}

/// A row of the table of docs/async_contact.md.
void print_ranks(const recoil::parallel::Communicator& comm, const Counts& counts) {
  const auto all = [&](std::int64_t count) {
    return static_cast<double>(comm.sum(recoil::GlobalIndex{count}));
  };
  const double ranks = comm.size(), events = all(counts.events()), messages = all(counts.messages) / ranks,
               at_events = 8 * all(counts.numbers_sent) / ranks,
               at_ends = 8 * all(counts.numbers_shared) / ranks, again = all(counts.events_repeated);
  const auto largest = static_cast<double>(comm.max(recoil::GlobalIndex{counts.events()}));
  if (comm.rank() > 0) return;
  std::printf(
      "| ranks | windows | events per window | begun again | events repeated | owners changed | largest "
      "/ mean | messages per rank | their bytes | bytes at ends of windows |\n");
  std::printf("| %d | %ld | %.3g | %ld | %.2g %% | %ld | %.2f | %.3g | %.3g | %.3g |\n", comm.size(),
              counts.searches, events / static_cast<double>(counts.searches), counts.repeated,
              100 * again / events, counts.balanced, largest * ranks / events, messages, at_events, at_ends);
}

void run(const Model& model, double duration, const char* how) {
  const recoil::parallel::Communicator comm(MPI_COMM_WORLD);
  const Certificates certificates =
      std::strcmp(how, "windows") == 0 ? Certificates::windows : Certificates::slabs;
  Integrator run = comm.size() > 1 ? Integrator(comm, model) : Integrator(model, certificates);
  const Totals start = run.totals();
  const double energy = start.energy(), begin = processor_time();
  const Outcome outcome = run.advance_to(duration);
  const double time = processor_time() - begin;
  const Counts& counts = run.counts();
  if (certificates == Certificates::windows) print_ranks(comm, counts);
  const double gap = run.smallest_gap();
  if (comm.rank() > 0) return;
  const double events = static_cast<double>(counts.events());
  std::printf("%s at %g s: %.3g events in %.2f s: %.3g per second\n",
              outcome == Outcome::reached ? "reached" : "stopped", run.time(), events, time, events / time);
  std::printf(
      "elements %ld, gravity %ld, layers %ld (idle %ld), anchors %ld, certificates %ld, renewals %ld\n",
      counts.elements, counts.gravity, counts.layers, counts.idle_layers, counts.anchors, counts.certificates,
      counts.renewals);
  std::printf("searches %ld with %.1f pairs each, bounds exceeded %ld, deepest layer %d, smallest gap %g\n",
              counts.searches, static_cast<double>(counts.pairs) / static_cast<double>(counts.searches),
              counts.exceeded, counts.deepest, gap);
  const Ledger& ledger = run.ledger();
  const Totals now = run.totals();
  std::printf("energy %.6g, now %.6g, wall work %.3g, dissipated %.3g: drift %.2e\n", energy, now.energy(),
              ledger.wall_work, ledger.dissipation(),
              (now.energy() - energy - ledger.wall_work + ledger.dissipation()) / energy);
  // In shares of the largest momentum that the masses can have with this energy.
  double mass = 0;
  for (const double m : model.masses)
    if (!std::isinf(m)) mass += m;
  const Eigen::Vector3d error = now.momentum + ledger.wall_impulse - ledger.gravity_impulse - start.momentum;
  std::printf("linear momentum: error %.1e\n", error.norm() / std::sqrt(2 * mass * energy));
}

/// Random crumpled sheets in both modes, looked at a hundred times each.
void crumple(unsigned scenes) {
  long intersections = 0, looks = 0, stopped = 0;
  double gap = 1, momentum = 0;
  int deepest = 0;
  for (unsigned seed = 0; seed < scenes; ++seed) {
    const testing::CrumpledSheet sheet(seed);
    Integrator run(sheet.model, seed % 2 ? Certificates::windows : Certificates::slabs);
    const Eigen::Vector3d start = run.totals().momentum;
    for (int i = 1; i <= 100; ++i) {
      if (run.advance_to(6e-4 * i) != Outcome::reached) {
        ++stopped;
        break;
      }
      intersections += sheet.intersections(run);
      ++looks;
      gap = std::min(gap, run.smallest_gap());
    }
    const Eigen::Vector3d wall = run.ledger().wall_impulse;
    momentum = std::max(momentum, (run.totals().momentum + wall - start).norm() / wall.norm());
    deepest = std::max(deepest, run.counts().deepest);
  }
  std::printf(
      "%u sheets, %ld states: %ld intersections, %ld runs stopped, smallest gap %.3g, deepest layer %d, "
      "momentum %.1e\n",
      scenes, looks, intersections, stopped, gap, deepest, momentum);
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double duration = argc > 2 ? std::atof(argv[2]) : 1;
  const char* how = argc > 3 ? argv[3] : "slabs";
  if (argc > 1 && std::strcmp(argv[1], "crumple") == 0)
    crumple(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 200);
  else if (argc > 1 && std::strcmp(argv[1], "cloth") == 0)
    run(falling_cloths(28), duration, how);
  else if (argc > 1 && std::strcmp(argv[1], "job") == 0)
    run(job_discs(), duration, how);
  else
    run(testing::random_discs(900, 3, 1), duration, how);
  MPI_Finalize();
}
