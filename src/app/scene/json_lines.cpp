#include "recoil/app/scene/json_lines.hpp"

#include <algorithm>
#include <cctype>

namespace recoil::app {
namespace {

class Scanner {
public:
  explicit Scanner(const std::string& text) : text_(text) {}

  JsonLines run() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3; // byte order mark
    skip_space();
    result_.lines[""] = line_;
    value("");
    return std::move(result_);
  }

private:
  void value(const std::string& pointer) {
    skip_space();
    if (at_ >= text_.size()) return;
    if (text_[at_] == '{')
      members(pointer);
    else if (text_[at_] == '[')
      items(pointer);
    else if (text_[at_] == '"')
      string();
    else
      while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) &&
             std::string(",]}").find(text_[at_]) == std::string::npos)
        ++at_;
  }

  void members(const std::string& pointer) {
    ++at_;
    for (skip_space(); at_ < text_.size() && text_[at_] != '}'; skip_space()) {
      const int line = line_;
      const auto child = pointer + "/" + escape_pointer(string());
      if (!result_.lines.emplace(child, line).second && result_.duplicate.empty()) {
        result_.duplicate = child;
        result_.lines[child] = line;
      }
      skip_space();
      ++at_;
      value(child);
      skip_space();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    ++at_;
  }

  void items(const std::string& pointer) {
    ++at_;
    int index = 0;
    for (skip_space(); at_ < text_.size() && text_[at_] != ']'; skip_space()) {
      const auto child = pointer + "/" + std::to_string(index++);
      result_.lines[child] = line_;
      value(child);
      skip_space();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    ++at_;
  }

  /// Reads a string; escapes other than \" and \\ stay as written, which no known key contains.
  std::string string() {
    std::string read;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        if (text_[at_ + 1] != '"' && text_[at_ + 1] != '\\' && text_[at_ + 1] != '/') read += '\\';
        ++at_;
      }
      read += text_[at_];
    }
    ++at_;
    return read;
  }

  void skip_space() {
    for (; at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])); ++at_)
      if (text_[at_] == '\n') ++line_;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int line_ = 1;
  JsonLines result_;
};

} // namespace

JsonLines scan_json_lines(const std::string& text) { return Scanner(text).run(); }

std::string escape_pointer(const std::string& key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~')
      escaped += "~0";
    else if (c == '/')
      escaped += "~1";
    else
      escaped += c;
  }
  return escaped;
}

std::pair<int, int> line_and_column(const std::string& text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  const auto line = 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
  const auto last = std::string_view(text).substr(0, end - text.begin()).rfind('\n');
  const auto start = last == std::string_view::npos ? 0 : last + 1;
  return {line, 1 + static_cast<int>(static_cast<std::size_t>(end - text.begin()) - start)};
}

} // namespace recoil::app
