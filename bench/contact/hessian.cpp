// Assembly of the contact Hessian: processor time per active pair, and its ratio to one evaluation of the
// gradient of the barrier.
//
//   mpirun -n 2 bench_contact_hessian scene.json
//
// The scene must start in contact, as bench/press/press.json does and the piles that bench/pile/pile.py
// writes. Both forms of the barrier, each with exact and with projected blocks. `new_pattern_us` is an
// assembly that finds another pattern than before, `hessian_us` one that finds the same again: microseconds
// of the slowest rank per active pair over all ranks, smallest of the repeats. `to_exact` and `to_plain`
// compare with the exact and with the plain case. One line of JSON per case.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "recoil/base/error.hpp"
#include "recoil/linalg/stencil_matrix.hpp"
#include "support/processor_time.hpp"
#include "support/scene_main.hpp"
#include "support/scene_surface.hpp"

namespace {

using namespace recoil;

constexpr int repeats = 5;

/// Seconds of the slowest rank.
struct Times {
  double new_pattern = std::numeric_limits<double>::infinity(), same_pattern = new_pattern;
};

Times assembly_times(const potentials::BarrierPotential<3>& barrier, newton::Projection projection) {
  const surface::Surface<3>& surface = barrier.state().surface();
  Times times;
  for (int i = 0; i < repeats; ++i) {
    linalg::StencilMatrix H(surface.layout());
    const auto seconds = [&] {
      return bench::slowest_processor_seconds(surface.comm(), [&] {
        H.begin();
        barrier.add_hessian({}, 1, projection, {nullptr, &H});
        H.finish();
      });
    };
    times.new_pattern = std::min(times.new_pattern, seconds());
    times.same_pattern = std::min(times.same_pattern, seconds());
  }
  return times;
}

double gradient_time(const potentials::BarrierPotential<3>& barrier) {
  return bench::smallest(repeats, [&] {
    return bench::slowest_processor_seconds(barrier.state().surface().comm(), [&] { barrier.gradient(); });
  });
}

/// One case. `plain` and `exact` are what its times are compared with.
void print(const potentials::ContactState<3>& contact, newton::Projection projection, const Times& times,
           double gradient, const Times& plain, const Times& exact) {
  const parallel::Communicator& comm = contact.surface().comm();
  const auto pairs = static_cast<double>(contact.num_pairs());
  const GlobalIndex terms = comm.sum(static_cast<GlobalIndex>(contact.pairs().size()));
  if (comm.rank() != 0) return;
  std::printf("{\"ranks\": %d, \"form\": \"%s\", \"blocks\": \"%s\", \"pairs\": %.0f, \"terms\": %lld, "
              "\"new_pattern_us\": %.3f, \"hessian_us\": %.3f, \"gradient_us\": %.4f, "
              "\"hessian_to_gradient\": %.1f, \"to_exact\": %.2f, \"to_plain\": %.2f}\n",
              comm.size(), contact.barrier().form().squared ? "plain" : "convergent",
              projection == newton::Projection::none ? "exact" : "projected", pairs,
              static_cast<long long>(terms), 1e6 * times.new_pattern / pairs,
              1e6 * times.same_pattern / pairs, 1e6 * gradient / pairs, times.same_pattern / gradient,
              times.same_pattern / exact.same_pattern, times.same_pattern / plain.same_pattern);
}

void run(const parallel::Communicator& comm, const char* path) {
  constexpr std::array projections{newton::Projection::none, newton::Projection::per_element};
  const bench::SceneSurface scene(comm, path);
  const linalg::Vector at_rest(scene.space.layout());
  std::array<Times, projections.size()> plain;
  for (const auto& form : {potentials::BarrierForm::plain, potentials::BarrierForm::convergent}) {
    potentials::ContactParameters<3> parameters;
    parameters.dhat = scene.dhat();
    parameters.form = form;
    potentials::ContactState<3> contact(scene.surface(), parameters);
    const potentials::BarrierPotential<3> barrier(contact);
    contact.update(at_rest.local());
    if (contact.num_pairs() == 0)
      throw InputError(path, "no pair is closer than dhat where the scene starts");
    const double gradient = gradient_time(barrier);
    std::array<Times, projections.size()> times;
    for (std::size_t k = 0; k < projections.size(); ++k) times[k] = assembly_times(barrier, projections[k]);
    if (form.squared) plain = times;
    for (std::size_t k = 0; k < projections.size(); ++k)
      print(contact, projections[k], times[k], gradient, plain[k], times[0]);
  }
}

} // namespace

int main(int argc, char** argv) {
  return bench::scene_main(argc, argv, "bench_contact_hessian", bench::SceneArgument::required, run);
}
