#include "recoil/app/scene/unit.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

namespace recoil::app {
namespace {

using Exponents = std::array<int, 4>; // m, kg, s, degrees

std::optional<Exponents> parse(const std::string& unit) {
  static const std::map<std::string, Exponents> known = {
      {"m", {1, 0, 0, 0}},    {"kg", {0, 1, 0, 0}},  {"s", {0, 0, 1, 0}},      {"N", {1, 1, -2, 0}},
      {"Pa", {-1, 1, -2, 0}}, {"J", {2, 1, -2, 0}},  {"Hz", {0, 0, -1, 0}},    {"rad", {0, 0, 0, 0}},
      {"1", {0, 0, 0, 0}},    {"deg", {0, 0, 0, 1}}, {"degree", {0, 0, 0, 1}}, {"degrees", {0, 0, 0, 1}},
  };
  Exponents total{};
  int sign = 1;
  for (std::size_t at = 0; at < unit.size();) {
    const char c = unit[at];
    if (c == ' ' || c == '*') {
      ++at;
    } else if (c == '/') {
      sign = -1;
      ++at;
    } else {
      std::string name, power;
      while (at < unit.size() &&
             (std::isalpha(static_cast<unsigned char>(unit[at])) || (name.empty() && unit[at] == '1')))
        name += unit[at++];
      if (at < unit.size() && unit[at] == '^')
        for (++at;
             at < unit.size() && (std::isdigit(static_cast<unsigned char>(unit[at])) || unit[at] == '-');)
          power += unit[at++];
      const auto it = known.find(name);
      int exponent = 1;
      const char* const end = power.data() + power.size();
      const auto read = std::from_chars(power.data(), end, exponent);
      if (it == known.end() || power.size() > 2 || read.ptr != end) return std::nullopt;
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += sign * exponent * it->second[i];
      sign = 1;
    }
  }
  return total;
}

} // namespace

bool is_si_unit(const std::string& given, const char* expected) {
  const auto exponents = parse(given);
  return exponents && *exponents == *parse(expected ? expected : "");
}

} // namespace recoil::app
