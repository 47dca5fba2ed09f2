#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/base/expression.hpp"

namespace recoil::expression_fuzz_test {

namespace {

// A second reading of the grammar, as unlike the parser as possible: it splits the text at its last weakest
// operator.
class Reference {
public:
  explicit Reference(const ExpressionPoint& point) : p_(point) {}

  double value(std::string s) const {
    s.erase(0, s.find_first_not_of(' '));
    s.erase(s.find_last_not_of(' ') + 1);
    for (const std::string operators : {"+-", "*/%", "^"}) {
      const std::size_t at = last_binary(s, operators);
      if (at == std::string::npos) continue;
      const double a = value(s.substr(0, at)), b = value(s.substr(at + 1));
      switch (s[at]) {
      case '+':
        return a + b;
      case '-':
        return a - b;
      case '*':
        return a * b;
      case '/':
        return a / b;
      case '%':
        return std::fmod(a, b);
      default:
        return std::pow(a, b);
      }
    }
    if (s[0] == '-') return -value(s.substr(1));
    if (s[0] == '+') return value(s.substr(1));
    if (s[0] == '(') return value(s.substr(1, s.size() - 2));
    if (std::isdigit(static_cast<unsigned char>(s[0])) || s[0] == '.') return std::stod(s);
    if (s == "x") return p_.x;
    if (s == "y") return p_.y;
    if (s == "z") return p_.z;
    if (s == "t") return p_.t;
    if (s == "pi") return std::numbers::pi;
    if (s == "e") return std::numbers::e;
    return call(s);
  }

private:
  static std::size_t last_binary(const std::string& s, const std::string& operators) {
    int depth = 0;
    std::size_t found = std::string::npos;
    bool after_value = false;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const char c = s[i];
      if (c == ' ') continue;
      if (c == '(') ++depth;
      if (c == ')') --depth;
      const bool is_operator = std::strchr("+-*/%^", c) != nullptr;
      if (depth == 0 && is_operator && after_value && operators.find(c) != std::string::npos) found = i;
      after_value = !is_operator && c != '(' && c != ',';
    }
    return found;
  }

  double call(const std::string& s) const {
    const std::size_t end = s.find_first_of(" (");
    const std::string name = s.substr(0, end);
    std::vector<double> a;
    if (s[end] == ' ') {
      a.push_back(value(s.substr(end)));
    } else {
      std::size_t begin = end + 1;
      int depth = 0;
      for (std::size_t i = begin; i < s.size(); ++i) {
        if ((s[i] == ',' && depth == 0) || i + 1 == s.size()) {
          a.push_back(value(s.substr(begin, i - begin)));
          begin = i + 1;
        }
        depth += (s[i] == '(') - (s[i] == ')');
      }
    }
    if (name == "sin") return std::sin(a[0]);
    if (name == "abs") return std::abs(a[0]);
    if (name == "ln") return std::log(a[0]);
    if (name == "log") return std::log10(a[0]);
    if (name == "sqrt") return std::sqrt(a[0]);
    if (name == "floor") return std::floor(a[0]);
    if (name == "min") return a[0] < a[1] ? a[0] : a[1];
    if (name == "compare") return a[0] < a[1];
    if (name == "atan2") return std::atan2(a[0], a[1]);
    if (name == "if") return a[0] >= 0 ? a[1] : a[2];
    if (name == "rotate_2D_x") return a[0] * std::cos(a[2]) - a[1] * std::sin(a[2]);
    ADD_FAILURE() << "the reference does not know " << name;
    return 0;
  }

  ExpressionPoint p_;
};

class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  double number() { return std::uniform_real_distribution<double>(-3, 3)(random_); }
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }

  std::string formula(int depth) {
    std::string result = operand(depth);
    for (int terms = below(4); terms > 0; --terms)
      result += space() + one_of({"+", "-", "*", "/", "%", "^"}) + space() + operand(depth);
    return result;
  }

private:
  std::string space() { return below(3) == 0 ? " " : ""; }
  std::string operand(int depth) {
    std::string signs;
    for (int count = below(8) - 5; count > 0; --count) signs += one_of({"-", "+", "- "});
    return signs + bare_operand(depth);
  }
  std::string bare_operand(int depth) {
    const int kind = depth <= 0 ? below(2) : below(7);
    const auto call = [&](const std::string& name, int arguments) {
      std::string text = name;
      for (int i = 0; i < arguments; ++i)
        text.append(i == 0 ? "(" : space() + ",").append(formula(depth - 1));
      return text.append(")");
    };
    switch (kind) {
    case 0:
      return one_of({"1", "2.5", ".75", "3e1", "10", "0", "1.5E0"});
    case 1:
      return one_of({"x", "y", "z", "t", "pi", "e"});
    case 2:
      return call(one_of({"sin", "abs", "ln", "log", "sqrt", "floor"}), 1);
    case 3:
      return one_of({"sin ", "abs ", "sqrt "}) + bare_operand(depth - 1);
    case 4:
      return call(one_of({"min", "compare", "atan2"}), 2);
    case 5:
      return call(one_of({"if", "rotate_2D_x"}), 3);
    default:
      return call("", 1);
    }
  }

  std::mt19937 random_;
};

// Accepts or refuses; anything else (a crash, another exception) fails the test.
bool accepts(const std::string& text) {
  try {
    const Expression expression(text);
    const volatile double value = expression({0.1, 0.2, 0.3, 0.4});
    (void)value;
    return true;
  } catch (const InputError&) {
    return false;
  }
}

} // namespace

TEST(ExpressionFuzz, random_formulas_equal_the_reference) {
  Generator generator(1);
  int finite = 0;
  for (int i = 0; i < 2'000; ++i) {
    const std::string text = generator.formula(3);
    const ExpressionPoint point{generator.number(), generator.number(), generator.number(),
                                generator.number()};
    const double expected = Reference(point).value(text), actual = Expression(text)(point);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << text;
    } else {
      ++finite;
      EXPECT_DOUBLE_EQ(actual, expected) << text;
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(finite, 500);
}

TEST(ExpressionFuzz, garbage_is_refused_without_a_crash) {
  Generator generator(2);
  const std::vector<std::string> tokens{
      "x",  "t",   "1",  ".",  "1e",      "e5",  "(",   ")",  ",", "+",  "-",  "*",     "/",   "%",
      "^",  "sin", "if", "pi", "compare", " ",   "\n",  "\"", "$", "\\", "_",  "fac(9", "ncr", "()",
      "0x", "..",  "ü",  ";",  "1e99",    "nan", "inf", "=",  "<", "[",  "{}", "#"};
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int count = generator.below(12); count >= 0; --count) text += generator.one_of(tokens);
    accepted += accepts(text);
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 10'000);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(static_cast<std::size_t>(generator.below(20)), ' ');
    for (char& c : text) c = static_cast<char>(generator.below(256));
    accepts(text);
  }
}

TEST(ExpressionFuzz, damaged_formulas_are_read_or_refused) {
  Generator generator(3);
  for (int i = 0; i < 5'000; ++i) {
    std::string text = generator.formula(3);
    for (int edits = generator.below(3); edits >= 0 && !text.empty(); --edits) {
      const auto at = static_cast<std::size_t>(generator.below(static_cast<int>(text.size())));
      if (generator.below(2))
        text.erase(at, 1);
      else
        text[at] = static_cast<char>(32 + generator.below(95));
    }
    accepts(text);
  }
}

} // namespace recoil::expression_fuzz_test
