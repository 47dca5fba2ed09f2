#include "recoil/mesh/input/transform.hpp"

#include <algorithm>
#include <numbers>

#include "mesh/input/describe.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::mesh {

namespace {

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

std::string count_of(const Transformation& t) { return std::to_string(t.rotation.size()) + " numbers"; }

Eigen::Vector3d direction(const double* numbers, const std::string& where, const char* what) {
  const Eigen::Vector3d axis(numbers[0], numbers[1], numbers[2]);
  if (!(axis.norm() > 0))
    throw InputError(where, std::string(what) + " has length zero; give it a direction");
  return axis.normalized();
}

Eigen::Matrix3d about_axis(double degrees, const Eigen::Vector3d& axis) {
  return Eigen::AngleAxisd(radians(degrees), axis).toRotationMatrix();
}

/// Rotations about the fixed axes, in the order of the letters.
Eigen::Matrix3d by_letters(const Transformation& t, const std::string& mode, const std::string& where) {
  const bool letters = !mode.empty() && mode.find_first_not_of("xyz") == std::string::npos;
  if (!letters)
    throw InputError(
        where, "rotation_mode '" + t.rotation_mode +
                   "' is unknown; use axis letters like xyz, axis_angle, rotation_vector or quaternion");
  if (t.rotation.size() != 3 && !(t.rotation.size() == 1 && mode.size() == 1))
    throw InputError(where,
                     "rotation has " + count_of(t) + "; rotation_mode '" + t.rotation_mode +
                         "' needs the angles about x, y and z in degrees" +
                         (mode.size() == 1 ? ", or one angle" : "; one angle needs a mode of one letter"));
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  for (const char letter : mode) {
    const int axis = letter - 'x';
    const double degrees = t.rotation.size() == 1 ? t.rotation[0] : t.rotation[axis];
    rotation = about_axis(degrees, Eigen::Vector3d::Unit(axis)) * rotation;
  }
  return rotation;
}

} // namespace

Eigen::AlignedBox3d bounding_box(const std::vector<Eigen::Vector3d>& vertices) {
  Eigen::AlignedBox3d box;
  for (const auto& p : vertices) box.extend(p);
  return box;
}

Eigen::Matrix3d rotation_matrix(const Transformation& t, int dim, const std::string& where) {
  if (t.rotation.empty()) return Eigen::Matrix3d::Identity();
  if (dim == 2) {
    if (t.rotation.size() != 1)
      throw InputError(where, "rotation has " + count_of(t) + "; in 2D it is one angle in degrees");
    return about_axis(t.rotation[0], Eigen::Vector3d::UnitZ());
  }
  const std::string mode = in_lower_case(t.rotation_mode);
  const auto need = [&](std::size_t count, const char* meaning) {
    if (t.rotation.size() != count)
      throw InputError(where, "rotation has " + count_of(t) + "; rotation_mode '" + t.rotation_mode +
                                  "' needs " + std::to_string(count) + ": " + meaning);
  };
  if (mode == "axis_angle") {
    need(4, "degrees, ax, ay, az");
    return about_axis(t.rotation[0], direction(t.rotation.data() + 1, where, "the rotation axis"));
  }
  if (mode == "rotation_vector") {
    need(3, "the axis times the angle in degrees");
    const Eigen::Vector3d vector(t.rotation[0], t.rotation[1], t.rotation[2]);
    if (vector.isZero(0)) return Eigen::Matrix3d::Identity();
    return about_axis(vector.norm(), vector.normalized());
  }
  if (mode == "quaternion") {
    need(4, "x, y, z, w (scalar last)");
    const Eigen::Quaterniond q(t.rotation[3], t.rotation[0], t.rotation[1], t.rotation[2]);
    if (!(q.norm() > 0))
      throw InputError(where, "the rotation quaternion has length zero; use [0, 0, 0, 1] for none");
    return q.normalized().toRotationMatrix();
  }
  return by_letters(t, mode, where);
}

AffineMap affine_map(const Transformation& t, const Eigen::AlignedBox3d& box, int dim,
                     const std::string& where) {
  Eigen::Vector3d scale = t.scale, offset = t.translation;
  if (t.dimensions)
    for (int k = 0; k < dim; ++k) {
      const double extent = box.isEmpty() ? 0 : box.max()[k] - box.min()[k];
      scale[k] = (*t.dimensions)[k] / (extent == 0 ? 1 : extent);
    }
  if (dim == 2) {
    scale.z() = 1;
    offset.z() = 0;
  }
  return {rotation_matrix(t, dim, where) * scale.asDiagonal(), offset};
}

void transform_vertices(const AffineMap& map, std::vector<Eigen::Vector3d>& vertices) {
  for (auto& p : vertices) p = (map.linear * p + map.offset).eval();
}

void normalize(std::vector<Eigen::Vector3d>& vertices, const std::string& where) {
  normalize(vertices, bounding_box(vertices), where);
}

void normalize(std::vector<Eigen::Vector3d>& vertices, const Eigen::AlignedBox3d& box,
               const std::string& where) {
  const double extent = box.isEmpty() ? 0 : box.sizes().maxCoeff();
  if (!(extent > 0))
    throw InputError(where, "normalize_mesh needs a mesh with an extent; all vertices coincide");
  const Eigen::Vector3d corner = box.min();
  for (auto& p : vertices) p = ((p - corner) / extent).eval();
}

std::vector<Eigen::Vector3d> copy_offsets(const ArrayCopies& copies, const Eigen::AlignedBox3d& box, int dim,
                                          const std::string& where, double cells, double vertices,
                                          int ranks) {
  std::array<int, 3> size{1, 1, 1};
  if (copies.size.size() < 2 || copies.size.size() > 3)
    throw InputError(where,
                     "the array has " + std::to_string(copies.size.size()) + " sizes; it needs one per axis");
  std::copy(copies.size.begin(), copies.size.end(), size.begin());
  double count = 1;
  for (const int n : size) {
    if (n < 1)
      throw InputError(where, "the array has the size " + std::to_string(n) + "; it must be at least 1");
    count *= n;
  }
  if (dim == 2 && size[2] != 1)
    throw InputError(where,
                     "the array asks for " + std::to_string(size[2]) + " copies along z in a scene in 2D");
  require_mesh_memory(count * cells, count * vertices, where, "an array of sizes [" + list_of(size) + "]",
                      "take fewer copies", ranks);
  const Eigen::Vector3d unit = copies.relative ? Eigen::Vector3d(box.sizes()) : Eigen::Vector3d::Ones();
  std::vector<Eigen::Vector3d> offsets;
  for (int i = 0; i < size[0]; ++i)
    for (int j = 0; j < size[1]; ++j)
      for (int k = 0; k < size[2]; ++k)
        offsets.push_back(copies.offset * unit.cwiseProduct(Eigen::Vector3d(i, j, k)));
  return offsets;
}

} // namespace recoil::mesh
