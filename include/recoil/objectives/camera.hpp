#pragma once

#include <memory>
#include <vector>

#include "recoil/objectives/observable.hpp"

namespace recoil::objectives {

/// Where a camera stands: it sees the point x of space at Q x + c.
template <int dim>
struct CameraPose {
  Eigen::Matrix<double, dim, dim> rotation = Eigen::Matrix<double, dim, dim>::Identity(); ///< Q
  Eigen::Matrix<double, dim, 1> translation = Eigen::Matrix<double, dim, 1>::Zero();      ///< c [m]
};

/// The rotation by `angles`, in 2D one [rad], in 3D the axis times the angle. @pre 1 or 3 numbers.
template <int dim>
Eigen::Matrix<double, dim, dim> camera_rotation(const std::vector<double>& angles);

/// What a camera has seen of some points.
template <int dim>
struct CameraView {
  CameraPose<dim> pose;
  bool is_fitted = false;         ///< the pose is the start of a search in every state
  std::vector<Track<dim>> tracks; ///< displacements in its axes, one per point, on every rank
  std::vector<Eigen::Matrix<double, dim, 1>> rest; ///< where it saw the points at rest [m], as the tracks
};

/// The displacements Q x + c - x_0 in the axes of a camera of points at x, which it saw at x_0 at rest; dim
/// numbers each. Where the pose is fitted, Q and c are in every state those for which sum |Q x + c - x_0 -
/// y|^2 / sd^2 is least, y what was observed of the displacements: the misfit is then that of a fit of one
/// pose per observation, and derivatives are exact, those of the pose included (by the implicit function
/// theorem, from its normal equations). The search begins at the given pose, which may be off by less than
/// half a turn.
/// @param positions of the points. Collective. @throws InputError, when it is looked at, for a state of which
/// too little was observed for a pose: in 2D two points, in 3D three that lie on no line.
template <int dim>
std::unique_ptr<Observable<dim>> observe_by_camera(std::unique_ptr<Observable<dim>> positions,
                                                   CameraView<dim> view);

} // namespace recoil::objectives
