#include "app/scene/parse_json.hpp"

#include "recoil/app/scene/json_lines.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

using nlohmann::json;

/// The parser's own words without its name, its numbers and what it was doing.
std::string reason_of(const json::exception& error) {
  std::string text = error.what();
  if (const auto dash = text.find(" - "); dash != std::string::npos)
    text.erase(0, dash + 3);
  else if (const auto bracket = text.find("] "); bracket != std::string::npos)
    text.erase(0, bracket + 2);
  return text.size() > 160 ? text.substr(0, 160) + " .." : text;
}

/// Walks through a text once before anything is built from it; knows where it is.
class Checker : public nlohmann::json_sax<json> {
public:
  Checker(const std::string& text, const std::string& name, const std::string& kind)
      : text_(text), name_(name), kind_(kind) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return enter({"", -1}); }
  bool key(string_t& name) override {
    path_.back().key = name;
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter({"", 0}); }
  bool end_array() override { return leave(); }

  bool parse_error(std::size_t position, const std::string& token, const json::exception& error) override {
    // The parser stands behind what it has read last.
    const bool is_number = dynamic_cast<const json::out_of_range*>(&error) != nullptr;
    const std::size_t read = is_number ? token.size() : 1;
    const auto [line, column] = line_and_column(text_, position > read ? position - read : 0);
    const std::string place = name_ + ":" + std::to_string(line) + ":" + std::to_string(column);
    if (is_number)
      throw InputError(place + " (" + pointer() + ")",
                       "not valid JSON here: the number " + token.substr(0, 40) +
                           (token.size() > 40 ? ".." : "") +
                           " is too large for double precision; give one below 1.8e308");
    throw InputError(place, "not valid JSON: " + reason_of(error));
  }

private:
  struct Level {
    std::string key;
    long index; ///< -1 in an object
  };

  std::string pointer() const {
    std::string pointer;
    for (const Level& level : path_)
      pointer += "/" + (level.index < 0 ? escape_pointer(level.key) : std::to_string(level.index));
    return pointer.empty() ? "the whole file" : pointer;
  }
  bool value() {
    if (!path_.empty() && path_.back().index >= 0) ++path_.back().index;
    return true;
  }
  bool enter(Level level) {
    if (path_.size() >= static_cast<std::size_t>(max_json_depth))
      throw InputError(name_ + " (" + pointer() + ")", "nested deeper than any " + kind_);
    path_.push_back(std::move(level));
    return true;
  }
  bool leave() {
    path_.pop_back();
    return value();
  }

  const std::string &text_, &name_, &kind_;
  std::vector<Level> path_;
};

} // namespace

json parse_json(const std::string& text, const std::string& name, const std::string& kind) {
  Checker checker(text, name, kind);
  json::sax_parse(text, &checker);
  return json::parse(text);
}

} // namespace recoil::app
