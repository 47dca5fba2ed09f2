#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <nlohmann/json.hpp>

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

  bool has(const char* name) const { return value_->contains(name); }
  Item operator[](const char* name) const {
    return {value_->at(name), pointer_ + "/" + escape_pointer(name), *locations_};
  }
  std::vector<Item> items() const {
    std::vector<Item> all;
    for (std::size_t i = 0; i < value_->size(); ++i)
      all.emplace_back((*value_)[i], pointer_ + "/" + std::to_string(i), *locations_);
    return all;
  }
  /// Names of the members of an object.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, member] : value_->items()) all.push_back(name);
    return all;
  }
  bool is_null() const { return value_->is_null(); }
  bool is_list() const { return value_->is_array(); }
  bool is_object() const { return value_->is_object(); }
  bool is_number() const { return value_->is_number(); }
  bool is_text() const { return value_->is_string(); }
  std::size_t size() const { return value_->size(); }

  double number() const { return value_->get<double>(); }
  int integer() const { return value_->get<int>(); }
  bool flag() const { return value_->get<bool>(); }
  std::string text() const { return value_->get<std::string>(); }
  std::vector<double> numbers() const { return value_->get<std::vector<double>>(); }
  std::vector<int> integers() const {
    return is_list() ? value_->get<std::vector<int>>() : std::vector<int>{integer()};
  }
  std::vector<std::string> texts() const { return value_->get<std::vector<std::string>>(); }
  Expression expression() const { return is_number() ? Expression(number()) : Expression(text()); }
  std::vector<Expression> expressions() const {
    std::vector<Expression> all;
    for (const auto& entry : items()) all.push_back(entry.expression());
    return all;
  }
  /// Up to three numbers; missing ones are 0.
  Eigen::Vector3d vector() const {
    Eigen::Vector3d result = Eigen::Vector3d::Zero();
    const auto given = numbers();
    for (std::size_t i = 0; i < given.size() && i < 3; ++i) result[i] = given[i];
    return result;
  }
  std::string dump() const { return value_->dump(); }

  std::string where() const { return locations_->describe(pointer_); }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(where(), what); }

private:
  const nlohmann::json* value_;
  std::string pointer_;
  const Locations* locations_;
};

} // namespace recoil::app
