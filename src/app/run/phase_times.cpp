#include "recoil/app/run/phase_times.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace recoil::app {

std::array<double, num_phases> phase_times(const parallel::Communicator& comm) {
  std::array<double, num_phases> times = phase_seconds();
  comm.sum(times);
  for (double& seconds : times) seconds /= comm.size();
  return times;
}

std::string describe_phase_times(const parallel::Communicator& comm) {
  constexpr double least_share = 0.01;
  const std::array<double, num_phases> times = phase_times(comm);
  const double all = std::accumulate(times.begin(), times.end(), 0.0);
  std::string text = fmt::format("time {:.2f} s", all), separator = ": ";
  for (std::size_t i = 0; i < num_phases; ++i) {
    if (times[i] < least_share * all) continue;
    std::string words(name(Phase(i)));
    std::ranges::replace(words, '_', '-');
    text += fmt::format("{}{} {:.2f}", std::exchange(separator, ", "), words, times[i]);
  }
  return text;
}

} // namespace recoil::app
