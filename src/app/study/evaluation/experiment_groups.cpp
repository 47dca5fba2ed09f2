#include "recoil/app/study/evaluation/experiment_groups.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace recoil::app {

std::vector<int> distribute(const std::vector<double>& costs, const std::vector<char>& is_wanted,
                            int groups) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t e) { return costs[e]; });
  std::vector<double> load(groups, 0.0);
  std::vector<int> group_of(costs.size(), -1);
  for (const std::size_t e : order) {
    if (is_wanted[e] == 0) continue;
    const auto least = std::ranges::min_element(load);
    *least += costs[e];
    group_of[e] = least - load.begin();
  }
  return group_of;
}

void ExperimentGroups::work_on(const std::vector<int>& group_of, const std::function<void(int)>& work,
                               AfterSignal after_signal) const {
  ExitCode code = ExitCode::done;
  std::string message;
  try {
    for (int e = 0; e < std::ssize(group_of); ++e)
      if (group_of[e] == own_) {
        if (after_signal == AfterSignal::stops) interrupts_.stop_if_pending();
        work(e);
      }
  } catch (const Error& error) {
    const auto* of_library = dynamic_cast<const LibraryError*>(&error);
    if (of_library != nullptr && !of_library->agreed()) throw;
    code = error.code();
    message = error.what();
  }
  parallel::agree(world_, static_cast<int>(code), message);
}

} // namespace recoil::app
