// Events per second of asynchronous contact on one core:
//
//   bench_async_contact discs [seconds] [slabs | windows]     900 discs of radius 1 cm in a box of 3 m
//   bench_async_contact cloth [seconds] [slabs | windows]     two cloths of 1682 vertices that fall on nine
//   spikes
//
// Prints events by kind, processor time, drift of energy and momentum and what is left of the gaps.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "async_contact/cloths.hpp"
#include "async_contact/discs.hpp"

namespace {

using namespace recoil::solvers::async_contact;

double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void run(const Model& model, double duration, Certificates certificates) {
  Integrator run(model, certificates);
  const double energy = run.totals().energy(), begin = processor_time();
  const Outcome outcome = run.advance_to(duration);
  const double time = processor_time() - begin;
  const Counts& counts = run.counts();
  const double events = static_cast<double>(counts.events());
  std::printf("%s at %g s: %.3g events in %.2f s: %.3g per second\n",
              outcome == Outcome::reached ? "reached" : "stopped", run.time(), events, time, events / time);
  std::printf(
      "elements %ld, gravity %ld, layers %ld (idle %ld), anchors %ld, certificates %ld, renewals %ld\n",
      counts.elements, counts.gravity, counts.layers, counts.idle_layers, counts.anchors, counts.certificates,
      counts.renewals);
  std::printf("searches %ld with %.1f pairs each, bounds exceeded %ld, deepest layer %d, smallest gap %g\n",
              counts.searches, static_cast<double>(counts.pairs) / static_cast<double>(counts.searches),
              counts.exceeded, counts.deepest, run.smallest_gap());
  const Ledger& ledger = run.ledger();
  std::printf("energy %.6g, now %.6g, wall work %.3g, dissipated %.3g: drift %.2e\n", energy,
              run.totals().energy(), ledger.wall_work, ledger.dissipation(),
              (run.totals().energy() - energy - ledger.wall_work + ledger.dissipation()) / energy);
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double duration = argc > 2 ? std::atof(argv[2]) : 1;
  const Certificates certificates =
      argc > 3 && std::strcmp(argv[3], "windows") == 0 ? Certificates::windows : Certificates::slabs;
  if (argc > 1 && std::strcmp(argv[1], "cloth") == 0)
    run(testing::ClothsAboveSpikes(28).model, duration, certificates);
  else
    run(testing::random_discs(900, 3, 1), duration, certificates);
  MPI_Finalize();
}
