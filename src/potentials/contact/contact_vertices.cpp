#include "recoil/potentials/contact/contact_vertices.hpp"

#include <algorithm>

namespace recoil::potentials {

namespace {

/// The components one after the other.
template <int dim>
std::span<double> flat(std::vector<Eigen::Matrix<double, dim, 1>>& points) {
  return {reinterpret_cast<double*>(points.data()), points.size() * dim};
}

} // namespace

template <int dim>
ContactVertices<dim>::ContactVertices(const fem::CollisionSurface<dim>& surface,
                                      std::vector<fem::VertexAddress> foreign)
    : rank_(surface.comm().rank()), num_owned_(surface.num_owned()),
      data_(surface.vertices().begin(), surface.vertices().begin() + surface.num_owned()) {
  // Halo orders what it receives by rank, then as asked for.
  std::sort(foreign.begin(), foreign.end());
  std::vector<std::vector<LocalIndex>> wanted(surface.comm().size());
  for (const fem::VertexAddress& address : foreign) {
    foreign_[address] = static_cast<LocalIndex>(num_owned_ + foreign_.size());
    wanted[address.rank].push_back(address.index);
  }
  halo_ = parallel::Halo(surface.comm(), wanted);
  const auto ghosts = halo_.template forward<fem::SurfaceVertex<dim>>(std::span(data_));
  data_.insert(data_.end(), ghosts.begin(), ghosts.end());
}

template <int dim>
LocalIndex ContactVertices<dim>::find(const fem::VertexAddress& address) const {
  return address.rank == rank_ ? address.index : foreign_.at(address);
}

template <int dim>
std::vector<typename ContactVertices<dim>::Point>
ContactVertices<dim>::gather(std::span<const Point> owned) const {
  std::vector<Point> all(data_.size());
  std::copy_n(owned.begin(), num_owned_, all.begin());
  const std::span<double> entries = flat<dim>(all);
  halo_.forward(entries.first(num_owned_ * dim), dim, entries.subspan(num_owned_ * dim));
  return all;
}

template <int dim>
void ContactVertices<dim>::add_to_owners(std::vector<Point>& values) const {
  const std::span<double> entries = flat<dim>(values);
  halo_.add_back(entries.subspan(num_owned_ * dim), dim, entries.first(num_owned_ * dim));
  std::fill(values.begin() + num_owned_, values.end(), Point::Zero());
}

template class ContactVertices<2>;
template class ContactVertices<3>;

} // namespace recoil::potentials
