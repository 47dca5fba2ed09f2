#pragma once

#include <memory>

#include "recoil/objectives/objective.hpp"

namespace recoil::objectives {

/// The objective with a loss in place of the squares of its residuals, and with all its derivatives. `comm`
/// must outlive it. Not collective. @throws InputError where it is no sum of squares of data in their
/// standard deviations, in which the width of the loss is.
template <int dim>
std::unique_ptr<Objective<dim>> make_robust(const parallel::Communicator& comm,
                                            std::unique_ptr<Objective<dim>> objective,
                                            const RobustLoss& loss);

} // namespace recoil::objectives
