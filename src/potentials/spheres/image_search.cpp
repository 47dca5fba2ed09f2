#include "potentials/spheres/image_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/LU>

#include "recoil/parallel/halo.hpp"

namespace recoil::potentials {

using collide::Box;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using particles::CellShift;

namespace {

CellShift sum(const CellShift& a, const CellShift& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
CellShift difference(const CellShift& a, const CellShift& b) { return sum(a, particles::opposite(b)); }

/// The images of other ranks that `remote` names; `items` are those of this rank. Collective.
std::vector<SphereImage> fetch(const parallel::Communicator& comm, const std::vector<SphereImage>& items,
                               const std::vector<collide::RemoteItem>& remote) {
  std::vector<std::vector<LocalIndex>> wanted(comm.size());
  for (const auto& [rank, index] : remote) wanted[rank].push_back(index);
  return parallel::Halo(comm, wanted).forward<SphereImage>(std::span(items));
}

bool comes_before(const collide::RemoteItem& a, const collide::RemoteItem& b) {
  return std::pair(a.rank, a.index) < std::pair(b.rank, b.index);
}

/// A box around the boxes of all ranks. Collective.
Box<3> around_all(const parallel::Communicator& comm, const Box<3>& own) {
  Box<3> all;
  for (int i = 0; i < 3; ++i) {
    all.min()[i] = comm.min(own.min()[i]);
    all.max()[i] = comm.max(own.max()[i]);
  }
  return all;
}

} // namespace

RepeatedBoxes::RepeatedBoxes(const particles::PeriodicCell& cell, const Matrix3d& start, const Matrix3d& end)
    : cell_(&cell), start_(start), end_(end), to_shares_(start.inverse()),
      drift_((to_shares_ * (end - start)).cwiseAbs().array()) {}

CellShift RepeatedBoxes::into_cell(const Box& box) const {
  const Vector3d share = to_shares_ * (box.center() - cell_->origin);
  CellShift shift{};
  for (int i = 0; i < 3; ++i)
    if (cell_->repeats[i]) shift[i] = -std::int32_t(std::floor(share[i]));
  return shift;
}

Box<3> RepeatedBoxes::image(const Box& box, const CellShift& shift) const {
  const Vector3d periods(shift[0], shift[1], shift[2]);
  return box.translated(start_ * periods).merged(box.translated(end_ * periods));
}

Box<3> RepeatedBoxes::shares(const Box& box) const {
  const Vector3d centre = to_shares_ * box.center(), half = to_shares_.cwiseAbs() * box.sizes() / 2;
  return {centre - half, centre + half};
}

bool RepeatedBoxes::meets(const Box& a, const Box& b) const {
  for (int i = 0; i < 3; ++i)
    if (cell_->repeats[i] && !(a.min()[i] <= b.max()[i] && b.min()[i] <= a.max()[i])) return false;
  return true;
}

/// Every sphere lies in the cell by one image; those of others that reach it lie around it by further ones.
/// Of the two ways to see a pair across a face one is looked at.
ImagePairs find_image_pairs(const parallel::Communicator& comm, const RepeatedBoxes& repeated,
                            std::span<const Box<3>> boxes, GlobalIndex first) {
  std::array<std::vector<SphereImage>, 2> images; // in the cell, around it
  std::array<collide::ItemSet<3>, 2> sets;
  const auto add = [&](int set, LocalIndex sphere, const CellShift& shift, const Box<3>& box) {
    images[set].push_back({sphere, shift});
    sets[set].boxes.push_back(box);
    sets[set].labels.push_back({first + sphere, -1, -1});
    sets[set].groups.push_back(0);
  };
  Box<3> inside;
  for (LocalIndex k = 0; k < std::ssize(boxes); ++k) {
    const CellShift shift = repeated.into_cell(boxes[k]);
    const Box<3> box = repeated.image(boxes[k], shift);
    add(0, k, shift, box);
    inside.extend(repeated.shares(box));
  }
  inside = around_all(comm, inside);
  for (LocalIndex k = 0; k < std::ssize(boxes); ++k)
    repeated.for_images_in(inside, boxes[k], [&](const CellShift& shift, const Box<3>& box) {
      if (difference(shift, images[0][k].shift) > CellShift{}) add(1, k, shift, box);
    });
  const std::array<collide::SetPair, 2> which{collide::SetPair{0, 0}, collide::SetPair{0, 1}};
  const auto found = collide::find_candidates<3>(comm, sets, which, {});

  ImagePairs result;
  for (int set = 0; set < 2; ++set) {
    const std::vector<SphereImage> remote = fetch(comm, images[set], found.remote[set]);
    for (std::size_t k = 0; k < remote.size(); ++k)
      result.foreign.push_back({found.remote[set][k].rank, remote[k].sphere});
    images[set].insert(images[set].end(), remote.begin(), remote.end());
  }
  std::ranges::sort(result.foreign, comes_before);
  const auto twice = std::ranges::unique(
      result.foreign, [](const auto& a, const auto& b) { return a.rank == b.rank && a.index == b.index; });
  result.foreign.erase(twice.begin(), twice.end());
  const auto num_owned = LocalIndex(boxes.size());
  const auto number = [&](int set, LocalIndex entry) {
    const auto own = LocalIndex(sets[set].boxes.size());
    const LocalIndex sphere = images[set][entry].sphere;
    if (entry < own) return sphere;
    const collide::RemoteItem item{found.remote[set][entry - own].rank, sphere};
    const auto at = std::ranges::lower_bound(result.foreign, item, comes_before);
    return num_owned + LocalIndex(at - result.foreign.begin());
  };
  for (int set = 0; set < 2; ++set)
    for (const auto& [a, b] : found.pairs[set]) {
      ImagePair pair{number(0, a), number(set, b), difference(images[set][b].shift, images[0][a].shift)};
      if (pair.a >= num_owned) pair = {pair.b, pair.a, particles::opposite(pair.shift)};
      result.pairs.push_back(pair);
    }
  return result;
}

} // namespace recoil::potentials
