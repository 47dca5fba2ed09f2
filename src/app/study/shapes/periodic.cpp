#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/study/shapes/boundary_option.hpp"
#include "recoil/app/study/base/entries.hpp"
#include "recoil/geometry/point_table.hpp"

namespace recoil::app {
namespace {

/// Positions that belong together across a period differ by no more than this share of the diagonal.
constexpr double partner_tolerance = 1e-6;

/// A vertex on one side of the box moves with that across from it, along each periodic axis.
class PeriodicSides final : public BoundaryOption {
public:
  explicit PeriodicSides(const Item& axes) {
    for (const std::string& axis : distinct_texts(axes)) axes_.push_back(axis.front() - 'x');
  }

  void check_dimension(int dim, const std::string& where) const override {
    if (dim == 2 && holds(axes_, 2))
      throw InputError(where, "there is no z axis in 2D; take \"x\" or \"y\" in `periodic`");
  }
  bool joins() const override { return true; }
  void join(const MovingVertices<2>& vertices, const JoinVertices& as_one) const override {
    join_sides(vertices, as_one);
  }
  void join(const MovingVertices<3>& vertices, const JoinVertices& as_one) const override {
    join_sides(vertices, as_one);
  }

private:
  template <int dim>
  void join_sides(const MovingVertices<dim>& vertices, const JoinVertices& as_one) const {
    for (const int axis : axes_) {
      const double low = vertices.box.min()[axis], high = vertices.box.max()[axis];
      join_across(vertices, axis, low, high, as_one);
      join_across(vertices, axis, high, low, as_one);
    }
  }

  template <int dim>
  static void join_across(const MovingVertices<dim>& vertices, int axis, double from, double to,
                          const JoinVertices& as_one) {
    const double tolerance = partner_tolerance * vertices.box.diagonal().norm();
    const auto on_side = [&](std::size_t i, double side) {
      return std::abs(vertices.positions[i][axis] - side) <= tolerance;
    };
    geometry::PointTable<dim> others(tolerance);
    for (std::size_t i = 0; i < vertices.ids.size(); ++i)
      if (on_side(i, to)) others.add(vertices.positions[i], i);
    for (std::size_t i = 0; i < vertices.ids.size(); ++i) {
      if (!on_side(i, from)) continue;
      auto across = vertices.positions[i];
      across[axis] += to - from;
      const auto partner = others.find(across);
      if (!partner)
        vertices.builder.refuse(
            vertices.spec, "basis",
            fmt::format("the vertex at ({}) has no partner across the period along {}; both sides need the "
                        "same vertices, and both surfaces their ids in `boundary`",
                        fmt::join(vertices.positions[i], ", "), "xyz"[axis]));
      as_one(i, *partner);
    }
  }

  std::vector<int> axes_;
};

} // namespace

BoundaryOptionRow periodic_option() {
  return {.keys = {{.pattern = "/parameters/*/basis/periodic",
                    .types = one_or_list,
                    .items = text,
                    .length = {1, 3},
                    .implied = "none",
                    .choices = "[\"x\", \"y\", \"z\"]",
                    .doc = "Axes along which vertices on opposite sides of the bounding box move as one."}},
          .read = [](const Item& basis) -> std::unique_ptr<BoundaryOption> {
            if (!basis.has("periodic")) return nullptr;
            return std::make_unique<PeriodicSides>(basis["periodic"]);
          }};
}

} // namespace recoil::app
