#include "recoil/app/scene/item.hpp"

#include <nlohmann/json.hpp>

namespace recoil::app {

bool Item::has(const char* name) const { return value_->contains(name); }

Item Item::operator[](const char* name) const {
  return {value_->at(name), pointer_ + "/" + escape_pointer(name), *locations_};
}

std::vector<Item> Item::items() const {
  std::vector<Item> all;
  for (std::size_t i = 0; i < value_->size(); ++i)
    all.emplace_back((*value_)[i], pointer_ + "/" + std::to_string(i), *locations_);
  return all;
}

std::vector<std::string> Item::names() const {
  std::vector<std::string> all;
  for (const auto& [name, member] : value_->items()) all.push_back(name);
  return all;
}

bool Item::is_null() const { return value_->is_null(); }
bool Item::is_list() const { return value_->is_array(); }
bool Item::is_object() const { return value_->is_object(); }
bool Item::is_number() const { return value_->is_number(); }
bool Item::is_text() const { return value_->is_string(); }
std::size_t Item::size() const { return value_->size(); }

double Item::number() const { return value_->get<double>(); }
int Item::integer() const { return value_->get<int>(); }
bool Item::flag() const { return value_->get<bool>(); }
std::string Item::text() const { return value_->get<std::string>(); }
std::vector<double> Item::numbers() const { return value_->get<std::vector<double>>(); }

std::vector<int> Item::integers() const {
  return is_list() ? value_->get<std::vector<int>>() : std::vector<int>{integer()};
}

std::vector<std::string> Item::texts() const { return value_->get<std::vector<std::string>>(); }

Expression Item::expression() const { return is_number() ? Expression(number()) : Expression(text()); }

std::vector<Expression> Item::expressions() const {
  std::vector<Expression> all;
  for (const auto& entry : items()) all.push_back(entry.expression());
  return all;
}

Eigen::Vector3d Item::vector() const {
  Eigen::Vector3d result = Eigen::Vector3d::Zero();
  const auto given = numbers();
  for (std::size_t i = 0; i < given.size() && i < 3; ++i) result[i] = given[i];
  return result;
}

std::string Item::dump() const { return value_->dump(); }

std::string Item::where() const { return locations_->describe(pointer_); }
void Item::fail(const std::string& what) const { throw InputError(where(), what); }

} // namespace recoil::app
