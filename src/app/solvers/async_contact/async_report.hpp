#pragma once

#include <string>
#include <vector>

#include "app/solvers/async_contact/async_model.hpp"

namespace recoil::app {

/// A line or two about each body of a model, one about the steps of its forces. On the rank that has the
/// model.
std::vector<std::string> describe_model(const AsyncModel& model);

} // namespace recoil::app
