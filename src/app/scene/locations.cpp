#include "recoil/app/scene/locations.hpp"

#include <nlohmann/json.hpp>

namespace recoil::app {

std::string escape_pointer(const std::string& key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~')
      escaped += "~0";
    else if (c == '/')
      escaped += "~1";
    else
      escaped += c;
  }
  return escaped;
}

void Locations::erase(const std::string& pointer) {
  places_.erase(pointer);
  const auto below = pointer + "/";
  auto it = places_.lower_bound(below);
  while (it != places_.end() && it->first.starts_with(below)) it = places_.erase(it);
}

void Locations::replace(const std::string& pointer, const Locations& other) {
  erase(pointer);
  if (const auto own = other.places_.find(pointer); own != other.places_.end())
    places_[pointer] = own->second;
  const auto below = pointer + "/";
  for (auto it = other.places_.lower_bound(below); it != other.places_.end() && it->first.starts_with(below);
       ++it)
    places_[it->first] = it->second;
}

std::string Locations::as_written(const std::string& pointer) const {
  std::string written, read;
  bool skip = false;
  for (std::size_t at = 0; at < pointer.size();) {
    const auto next = pointer.find('/', at + 1);
    const auto part = pointer.substr(at, next == std::string::npos ? std::string::npos : next - at);
    if (!skip) written += part;
    read += part;
    skip = wrapped_.contains(read);
    at += part.size();
  }
  return written;
}

const Locations::Place* Locations::nearest(std::string pointer) const {
  for (;;) {
    if (const auto it = places_.find(pointer); it != places_.end()) return &it->second;
    if (pointer.empty()) return nullptr;
    pointer.resize(pointer.rfind('/'));
  }
}

std::string Locations::describe(const std::string& pointer) const {
  const auto written = as_written(pointer);
  const auto* place = nearest(written);
  const auto shown = written.empty() ? "the whole file" : written;
  return place ? place->file + ":" + std::to_string(place->line) + " (" + shown + ")" : shown;
}

std::string Locations::to_text() const {
  nlohmann::json places = nlohmann::json::array();
  for (const auto& [pointer, place] : places_) places.push_back({pointer, place.file, place.line});
  // File names need not be UTF-8.
  return nlohmann::json{{"places", std::move(places)}, {"wrapped", wrapped_}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Locations Locations::from_text(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  Locations locations;
  for (const auto& place : json.at("places"))
    locations.set(place.at(0).get<std::string>(), place.at(1).get<std::string>(), place.at(2).get<int>());
  locations.wrapped_ = json.at("wrapped").get<std::set<std::string>>();
  return locations;
}

} // namespace recoil::app
