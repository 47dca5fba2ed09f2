#pragma once

#include "recoil/base/option_names.hpp"

namespace recoil::app {

/// The keys of scenes and studies by which options of kernels are given, for their messages
/// (base/option_names.hpp).
OptionNames keys_of_options();

} // namespace recoil::app
