#pragma once

#include <map>
#include <set>
#include <string>

namespace recoil::app {

/// A key as a part of a JSON pointer (`~` and `/` escaped).
std::string escape_pointer(const std::string& key);

/// Remembers file and line of every value of a scene or study through inheritance, for messages.
class Locations {
public:
  void set(const std::string& pointer, const std::string& file, int line) { places_[pointer] = {file, line}; }
  /// Forgets a value and all below it.
  void erase(const std::string& pointer);
  /// Takes the places of everything at and below `pointer` from `other`, in place of its own.
  void replace(const std::string& pointer, const Locations& other);
  /// Notes that a value standing alone was made a list of one.
  void wrapped(const std::string& pointer) { wrapped_.insert(pointer); }

  /// "scene.json:12 (/geometry/0/mesh)": the place of the value or of the nearest one around it, and its
  /// pointer as the file would have it.
  std::string describe(const std::string& pointer) const;

  /// All that is remembered, for another rank.
  std::string to_text() const;
  static Locations from_text(const std::string& text);

private:
  struct Place {
    std::string file;
    int line = 0;
  };
  std::string as_written(const std::string& pointer) const;
  const Place* nearest(std::string pointer) const;

  std::map<std::string, Place> places_;
  std::set<std::string> wrapped_;
};

} // namespace recoil::app
