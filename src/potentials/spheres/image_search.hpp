#pragma once

#include <span>
#include <vector>

#include "recoil/collide/candidates.hpp"
#include "recoil/particles/periodic_cell.hpp"

/// Pairs of spheres in a cell that repeats.
namespace recoil::potentials {

/// A sphere of this rank, F H shift from its place.
struct SphereImage {
  LocalIndex sphere;
  particles::CellShift shift;
};

/// Boxes that repeat with a cell, whatever its deformation on the straight way between two of them.
class RepeatedBoxes {
public:
  using Box = collide::Box<3>;

  /// With the edges F H at both ends of the way.
  RepeatedBoxes(const particles::PeriodicCell& cell, const Eigen::Matrix3d& start,
                const Eigen::Matrix3d& end);

  /// Holds the image of a box all the way.
  Box image(const Box& box, const particles::CellShift& shift) const;
  /// The shift that leads from the image of the cell that holds the centre of a box back into the cell.
  particles::CellShift into_cell(const Box& box) const;
  /// A box around a box, in shares of the edges.
  Box shares(const Box& box) const;
  /// Calls visit(shift, image) for the images whose shares meet `where` along edges that repeat.
  template <class Visit>
  void for_images_in(const Box& where, const Box& box, Visit visit) const;

private:
  bool meets(const Box& a, const Box& b) const;

  const particles::PeriodicCell* cell_;
  Eigen::Matrix3d start_, end_, to_shares_;
  Eigen::Array33d drift_; ///< sizes of what the ends of the way differ by, in shares of the edges
};

/// x_a is to be compared with x_b + F H shift.
struct ImagePair {
  LocalIndex a, b;
  particles::CellShift shift;
};

struct ImagePairs {
  /// Spheres are numbered as in Spheres: those of this rank, of which a is one, then `foreign` ones.
  std::vector<ImagePair> pairs;
  std::vector<collide::RemoteItem> foreign; ///< by rank and number there, each once
};

/// Every pair of different spheres of which images may meet, and every shift by which they may, on one rank
/// that has one of the two. `boxes` of the spheres of this rank hold them all the way; `first` is the global
/// number of the first one. Collective.
ImagePairs find_image_pairs(const parallel::Communicator& comm, const RepeatedBoxes& repeated,
                            std::span<const collide::Box<3>> boxes, GlobalIndex first);

template <class Visit>
void RepeatedBoxes::for_images_in(const Box& where, const Box& box, Visit visit) const {
  // Shifts of those that share an edge with `where` at the start; beyond that by what the cell drifts.
  const Box own = shares(box);
  const Eigen::Array3d
      most = (where.max() - own.min()).cwiseAbs().cwiseMax((where.min() - own.max()).cwiseAbs()),
      spare = (drift_.matrix() * (most + 1).matrix()).array();
  particles::CellShift first{}, last{};
  for (int i = 0; i < 3; ++i)
    if (cell_->repeats[i]) {
      first[i] = std::int32_t(std::ceil(where.min()[i] - own.max()[i] - spare[i]));
      last[i] = std::int32_t(std::floor(where.max()[i] - own.min()[i] + spare[i]));
    }
  particles::CellShift shift{};
  for (shift[0] = first[0]; shift[0] <= last[0]; ++shift[0])
    for (shift[1] = first[1]; shift[1] <= last[1]; ++shift[1])
      for (shift[2] = first[2]; shift[2] <= last[2]; ++shift[2])
        if (const Box moved = image(box, shift); meets(shares(moved), where)) visit(shift, moved);
}

} // namespace recoil::potentials
