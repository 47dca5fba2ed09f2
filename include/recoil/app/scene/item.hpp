#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>

#include "recoil/app/scene/locations.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/expression.hpp"

namespace recoil::app {

/// One value of a resolved scene or study with its place; types were checked before, so reading does not
/// fail.
class Item {
public:
  Item(const nlohmann::json& value, std::string pointer, const Locations& locations)
      : value_(&value), pointer_(std::move(pointer)), locations_(&locations) {}

  bool has(const char* name) const;
  Item operator[](const char* name) const;
  std::vector<Item> items() const;
  /// Names of the members of an object.
  std::vector<std::string> names() const;
  bool is_null() const;
  bool is_list() const;
  bool is_object() const;
  bool is_number() const;
  bool is_text() const;
  std::size_t size() const;

  double number() const;
  int integer() const;
  bool flag() const;
  std::string text() const;
  std::vector<double> numbers() const;
  std::vector<int> integers() const;
  std::vector<std::string> texts() const;
  Expression expression() const;
  std::vector<Expression> expressions() const;
  /// Up to three numbers; missing ones are 0.
  Eigen::Vector3d vector() const;
  std::string dump() const;

  std::string where() const;
  [[noreturn]] void fail(const std::string& what) const;

private:
  const nlohmann::json* value_;
  std::string pointer_;
  const Locations* locations_;
};

} // namespace recoil::app
