#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace recoil {

/// A unit of measurement: factor times m^a kg^b s^c deg^d.
struct Unit {
  double factor = 1;
  std::array<int, 4> exponents{};
};

/// The unit that a text like "kg/m^3", "N mm", "MPa" or "1/s" names; empty if it names none. Names follow
/// each other with a space, `*` or `/`, which divides by the next one alone; `^` raises one to a power.
/// Prefixes are those of the names listed in units.cpp.
std::optional<Unit> parse_unit(std::string_view text);

/// The units in which numbers are written, computed with and shown. Equations of mechanics hold in all of
/// them, as forces are in mass length / time^2: g mm/ms^2 and t mm/s^2 are N, and stresses MPa.
struct UnitSystem {
  std::string length = "m", mass = "kg", time = "s";

  bool is_si() const { return length == "m" && mass == "kg" && time == "s"; }
  /// How many units of this system one `unit` is: the factor by which numbers in `unit` are multiplied.
  double per(const Unit& unit) const;
  /// The same for a unit by its text. @pre it is one.
  double per(std::string_view unit) const;
  /// What stands here for an SI unit: "MPa" for "Pa" in mm, t, s; "t/mm^3" for what has no name. Prefers
  /// names over products. @pre it is one.
  std::string name_of(std::string_view unit) const;
  /// "mm, g, ms".
  std::string names() const { return length + ", " + mass + ", " + time; }
  bool operator==(const UnitSystem&) const = default;
};

} // namespace recoil
