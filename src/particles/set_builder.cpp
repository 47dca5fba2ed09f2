#include "particles/set_builder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numbers>

namespace recoil::particles {

void SetBuilder::add_particle(const Eigen::Vector3d& position, double radius, double volume,
                              const std::string& body, std::size_t at) {
  const auto shown = [](double value) {
    std::array<char, 32> digits{};
    return std::string(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
  };
  if (!(radius > 0))
    file_->fail_at(at, "the radius of particle " + std::to_string(num_particles()) + " is " + shown(radius) +
                           "; it must be positive");
  if (!(volume >= 0))
    file_->fail_at(at, "the volume of particle " + std::to_string(num_particles()) + " is " + shown(volume) +
                           "; it must be positive");
  if (num_particles() == std::numeric_limits<std::int32_t>::max())
    file_->fail_at(at, "more than 2^31 particles");
  const auto place = std::lower_bound(body_numbers_.begin(), body_numbers_.end(), std::pair(body, 0));
  auto number = static_cast<std::int32_t>(set_.body_names.size());
  if (place != body_numbers_.end() && place->first == body) {
    number = place->second;
  } else {
    body_numbers_.insert(place, {body, number});
    set_.body_names.push_back(body);
  }
  set_.positions.push_back(position);
  set_.radii.push_back(radius);
  set_.volumes.push_back(volume > 0 ? volume : 4.0 / 3 * std::numbers::pi * radius * radius * radius);
  set_.body.push_back(number);
}

void SetBuilder::add_bond(const FileCursor& file, std::int64_t i, std::int64_t j, std::size_t at,
                          const BondConstants& constants) {
  for (const std::int64_t end : {i, j})
    if (end < 0 || end >= num_particles())
      file.fail_at(at, "a bond with particle " + std::to_string(end) + "; there are " +
                           std::to_string(num_particles()) + ", counted from 0");
  if (i == j) file.fail_at(at, "a bond of particle " + std::to_string(i) + " with itself");
  if (set_.positions[i] == set_.positions[j])
    file.fail_at(at, "a bond between particles " + std::to_string(i) + " and " + std::to_string(j) +
                         ", which lie at one place; move one of them or remove the bond");
  bonds_.push_back({{std::min(i, j), std::max(i, j)}, at, constants});
}

ParticleSet SetBuilder::finish(const FileCursor& bonds_file) {
  std::stable_sort(bonds_.begin(), bonds_.end(),
                   [](const ReadBond& a, const ReadBond& b) { return a.ends < b.ends; });
  for (std::size_t b = 0; b < bonds_.size(); ++b) {
    if (b > 0 && bonds_[b].ends == bonds_[b - 1].ends)
      bonds_file.fail_at(bonds_[b].at, "the bond between particles " + std::to_string(bonds_[b].ends[0]) +
                                           " and " + std::to_string(bonds_[b].ends[1]) +
                                           " is there twice; remove one of them");
    set_.bonds.push_back(bonds_[b].ends);
    if (keeps_constants_) set_.bond_constants.push_back(bonds_[b].constants);
  }
  return std::move(set_);
}

std::string body_of_file(const FileCursor& file) {
  return std::filesystem::path(file.name()).stem().string();
}

} // namespace recoil::particles
