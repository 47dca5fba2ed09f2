#include "recoil/potentials/spheres/spheres.hpp"

namespace recoil::potentials {

Spheres::Spheres(const particles::DistributedParticles& particles, std::span<const char> prescribed,
                 std::span<const collide::RemoteItem> foreign)
    : num_owned_(particles.num_owned()) {
  const parallel::Communicator& comm = *particles.points->comm;
  for (LocalIndex k = 0; k < num_owned_; ++k) {
    const Eigen::Vector3d& X = particles.positions[k];
    Sphere sphere{{X[0], X[1], X[2]},
                  particles.radii[k],
                  particles.points->offset + k,
                  particles.ids[k],
                  particles.body[k],
                  comm.rank(),
                  0};
    for (std::uint32_t i = 0; i < 6; ++i)
      if (prescribed[6 * std::size_t(k) + i] != 0) sphere.prescribed |= 1U << i;
    data_.push_back(sphere);
  }
  std::vector<std::vector<LocalIndex>> wanted(comm.size());
  for (const auto& [rank, index] : foreign) wanted[rank].push_back(index);
  halo_ = parallel::Halo(comm, wanted);
  const auto ghosts = halo_.forward<Sphere>(std::span(data_));
  data_.insert(data_.end(), ghosts.begin(), ghosts.end());
}

std::vector<double> Spheres::gather(std::span<const double> owned, int width) const {
  const std::size_t count = std::size_t(num_owned_) * width;
  std::vector<double> all(data_.size() * width);
  std::copy_n(owned.begin(), count, all.begin());
  const std::span<double> entries(all);
  halo_.forward(entries.first(count), width, entries.subspan(count));
  return all;
}

void Spheres::add_to_owners(std::vector<double>& values, int width, double factor,
                            std::span<double> owned) const {
  const std::size_t count = std::size_t(num_owned_) * width;
  const std::span<double> entries(values);
  halo_.add_back(entries.subspan(count), width, entries.first(count));
  for (std::size_t i = 0; i < count; ++i) owned[i] += factor * values[i];
}

} // namespace recoil::potentials
