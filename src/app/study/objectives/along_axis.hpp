#pragma once

#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"

/// What objectives of one coordinate share.
namespace recoil::app {

inline Key axis_key(const char* doc) {
  return {.pattern = "/objectives/*/axis",
          .types = text,
          .required = true,
          .choices = "[\"x\", \"y\", \"z\"]",
          .doc = doc};
}

/// Base of those that look at one coordinate.
template <class Type>
struct AlongAxis : ObjectiveOf<Type> {
  explicit AlongAxis(const Item& entry) : axis(entry["axis"].text().front() - 'x') {}
  void check_dimension(int dim) const override {
    if (axis >= dim)
      throw InputError(this->where.of("axis"), "there is no z axis in 2D; take \"x\" or \"y\"");
  }

  int axis;
};

} // namespace recoil::app
