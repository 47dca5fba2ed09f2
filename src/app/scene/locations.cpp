#include "app/scene/locations.hpp"

namespace recoil::app {

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
  const auto shown = written.empty() ? "the whole scene" : written;
  return place ? place->file + ":" + std::to_string(place->line) + " (" + shown + ")" : shown;
}

std::string Locations::file_of(const std::string& pointer) const {
  const auto* place = nearest(as_written(pointer));
  return place ? place->file : "";
}

} // namespace recoil::app
