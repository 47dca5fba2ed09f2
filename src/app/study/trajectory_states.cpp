#include "app/study/trajectory_states.hpp"

#include <algorithm>

#include "recoil/app/simulation/node_layout.hpp"
#include "recoil/app/simulation/run_state.hpp"

namespace recoil::app {

std::vector<stepping::StepRecord> step_records(const std::vector<checkpoint::StateRecord>& records) {
  std::vector<stepping::StepRecord> result(records.size());
  GlobalIndex nominal = 0;
  for (std::size_t i = records.size(); i-- > 0;) {
    const checkpoint::StateRecord& from = records[i];
    stepping::StepRecord& to = result[i];
    // Inner sub-steps belong to the nominal step that ends after them.
    nominal = from.step.value_or(nominal);
    to.id = from.id;
    to.nominal_step = nominal;
    to.completes_nominal = from.step.has_value();
    to.time = from.time;
    to.dt = from.dt;
    to.coefficients.order = static_cast<int>(from.a.size());
    std::copy(from.a.begin(), from.a.end(), to.coefficients.a.begin());
    if (to.coefficients.order > 0) to.coefficients.b = from.b;
    to.num_predecessors = static_cast<int>(from.predecessors.size());
    std::copy(from.predecessors.begin(), from.predecessors.end(), to.predecessor_ids.begin());
  }
  return result;
}

template <int dim>
TrajectoryStates::TrajectoryStates(checkpoint::TrajectoryReader reader, const fem::FunctionSpace<dim>& space)
    : reader_(std::move(reader)), layout_(space.layout()), nodes_(node_layout(space)) {}

stepping::State TrajectoryStates::read(GlobalIndex id) {
  const auto vector = [&](const char* field) {
    return linalg::Vector(layout_, reader_.read(id, field, nodes_));
  };
  return {id, vector("u"), vector("v")};
}

inverse::RestartData TrajectoryStates::restart_data(GlobalIndex id) {
  const std::string& text = reader_.records()[static_cast<std::size_t>(id)].extra;
  return {run_state_from_json(text).usable_states, text};
}

template TrajectoryStates::TrajectoryStates(checkpoint::TrajectoryReader, const fem::FunctionSpace<2>&);
template TrajectoryStates::TrajectoryStates(checkpoint::TrajectoryReader, const fem::FunctionSpace<3>&);

} // namespace recoil::app
