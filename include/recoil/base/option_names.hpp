#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace recoil {

/// Names of options as the user of the program knows them, by their names in kernels: kernels do not know how
/// options are given, and write "<dhat>" in messages where they speak of one.
using OptionNames = std::map<std::string, std::string, std::less<>>;

/// Sets the names for the process, once, before anything is told and before there are other threads.
void set_option_names(OptionNames names);

/// A message in which every "<option>" with a known name has become that name: "raise <dhat>" is "raise
/// /contact/dhat" if set_option_names() has {"dhat", "/contact/dhat"}. Messages of the log pass through it;
/// who prints what an exception or an outcome says calls it. Does not throw unless memory runs out.
std::string name_options(std::string_view message);

} // namespace recoil
