#include "recoil/base/units.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "recoil/base/error.hpp"

namespace recoil {

namespace {

using Exponents = std::array<int, 4>;

const std::map<std::string, Unit, std::less<>>& names_of_units() {
  constexpr Exponents length{1, 0, 0, 0}, mass{0, 1, 0, 0}, time{0, 0, 1, 0}, force{1, 1, -2, 0},
      stress{-1, 1, -2, 0}, energy{2, 1, -2, 0}, number{}, angle{0, 0, 0, 1};
  static const std::map<std::string, Unit, std::less<>> all{
      {"m", {1, length}},         {"dm", {1e-1, length}},
      {"cm", {1e-2, length}},     {"mm", {1e-3, length}},
      {"um", {1e-6, length}},     {"nm", {1e-9, length}},
      {"km", {1e3, length}},      {"in", {0.0254, length}},
      {"ft", {0.3048, length}},   {"kg", {1, mass}},
      {"g", {1e-3, mass}},        {"mg", {1e-6, mass}},
      {"t", {1e3, mass}},         {"s", {1, time}},
      {"ms", {1e-3, time}},       {"us", {1e-6, time}},
      {"ns", {1e-9, time}},       {"min", {60, time}},
      {"h", {3600, time}},        {"N", {1, force}},
      {"mN", {1e-3, force}},      {"uN", {1e-6, force}},
      {"kN", {1e3, force}},       {"MN", {1e6, force}},
      {"Pa", {1, stress}},        {"kPa", {1e3, stress}},
      {"MPa", {1e6, stress}},     {"GPa", {1e9, stress}},
      {"bar", {1e5, stress}},     {"J", {1, energy}},
      {"mJ", {1e-3, energy}},     {"kJ", {1e3, energy}},
      {"Hz", {1, {0, 0, -1, 0}}}, {"kHz", {1e3, {0, 0, -1, 0}}},
      {"rad", {1, number}},       {"1", {1, number}},
      {"deg", {1, angle}},        {"degree", {1, angle}},
      {"degrees", {1, angle}}};
  return all;
}

/// Reads a name with its power, as of the place `at`, and moves behind it.
std::optional<Unit> parse_factor(std::string_view text, std::size_t& at) {
  const auto is_letter = [&](std::size_t i) {
    return std::isalpha(static_cast<unsigned char>(text[i])) != 0;
  };
  const std::size_t begin = at;
  if (at < text.size() && text[at] == '1') ++at;
  while (at < text.size() && is_letter(at)) ++at;
  const auto found = names_of_units().find(text.substr(begin, at - begin));
  if (found == names_of_units().end()) return {};
  Unit unit = found->second;
  if (at == text.size() || text[at] != '^') return unit;
  int power = 0;
  const auto read = std::from_chars(text.data() + at + 1, text.data() + text.size(), power);
  if (read.ec != std::errc() || std::abs(power) > 9) return {};
  at = read.ptr - text.data();
  unit.factor = std::pow(unit.factor, power);
  for (int& exponent : unit.exponents) exponent *= power;
  return unit;
}

} // namespace

std::optional<Unit> parse_unit(std::string_view text) {
  Unit total;
  bool divides = false, awaits_factor = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
    } else if (text[at] == '*' || text[at] == '/') {
      if (awaits_factor) return {};
      awaits_factor = true;
      divides = text[at] == '/';
      ++at;
    } else {
      const std::optional<Unit> unit = parse_factor(text, at);
      if (!unit) return {};
      awaits_factor = false;
      total.factor = divides ? total.factor / unit->factor : total.factor * unit->factor;
      for (std::size_t i = 0; i < total.exponents.size(); ++i)
        total.exponents[i] += divides ? -unit->exponents[i] : unit->exponents[i];
      divides = false;
    }
  }
  if (awaits_factor) return {};
  return total;
}

double UnitSystem::per(const Unit& unit) const {
  double own = 1;
  const std::array<const std::string*, 3> names{&length, &mass, &time};
  for (std::size_t i = 0; i < names.size(); ++i)
    own *= std::pow(names_of_units().at(*names[i]).factor, unit.exponents[i]);
  return unit.factor / own;
}

double UnitSystem::per(std::string_view unit) const {
  const std::optional<Unit> parsed = parse_unit(unit);
  RECOIL_ASSERT(parsed);
  return per(*parsed);
}

std::string UnitSystem::name_of(std::string_view unit) const {
  if (is_si()) return std::string(unit);
  Unit wanted = *parse_unit(unit);
  wanted.factor /= per(wanted); // of the unit of this system
  for (const auto& [name, known] : names_of_units())
    if (known.exponents == wanted.exponents && std::abs(known.factor / wanted.factor - 1) < 1e-9 &&
        wanted.exponents != std::array<int, 4>{})
      return name;
  std::string above, below;
  const std::array<std::string, 4> names{length, mass, time, "deg"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int power = wanted.exponents[i];
    if (power == 0) continue;
    const std::string text =
        std::abs(power) == 1 ? names[i] : names[i] + "^" + std::to_string(std::abs(power));
    std::string& side = power > 0 ? above : below;
    if (power > 0)
      side += (side.empty() ? "" : "*") + text;
    else
      side += "/" + text;
  }
  return (above.empty() ? "1" : above) + below;
}

} // namespace recoil
