#include "recoil/base/option_names.hpp"

#include <utility>

namespace recoil {

namespace {

OptionNames& known() {
  static auto* names = new OptionNames;
  return *names;
}

} // namespace

void set_option_names(OptionNames names) { known() = std::move(names); }

std::string name_options(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const std::size_t begin = message.find('<');
    text += message.substr(0, begin);
    if (begin == std::string_view::npos) break;
    message.remove_prefix(begin);
    const std::size_t end = message.find('>');
    const auto found =
        end == std::string_view::npos ? known().end() : known().find(message.substr(1, end - 1));
    if (found != known().end()) {
      text += found->second;
      message.remove_prefix(end + 1);
    } else {
      text += '<';
      message.remove_prefix(1);
    }
  }
  return text;
}

} // namespace recoil
