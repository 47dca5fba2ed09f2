#include "recoil/base/expression.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numbers>
#include <span>

#include "base/expression_program.hpp"

namespace recoil {

namespace expression {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest_unsigned = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t largest_product = std::numeric_limits<std::uint64_t>::max();

// Factorials and binomials truncate their arguments and are infinite once they no longer fit 64 bits.
double factorial(double a) {
  if (!(a >= 0)) return nan;
  if (a > largest_unsigned) return infinity;
  const std::uint64_t n = a;
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= n; ++i) {
    if (i > largest_product / result) return infinity;
    result *= i;
  }
  return result;
}

double combinations(double n, double r) {
  if (!(n >= 0) || !(r >= 0) || n < r) return nan;
  if (n > largest_unsigned || r > largest_unsigned) return infinity;
  const std::uint64_t all = n;
  auto chosen = static_cast<std::uint64_t>(r);
  if (chosen > all / 2) chosen = all - chosen;
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= chosen; ++i) {
    const std::uint64_t factor = all - chosen + i;
    if (result > largest_product / factor) return infinity;
    result = result * factor / i;
  }
  return result;
}

double permutations(double n, double r) { return combinations(n, r) * factorial(r); }

double smoothstep(double a) {
  const double s = std::clamp(a, 0.0, 1.0);
  return std::isnan(a) ? a : s * s * (3 - 2 * s);
}

const std::vector<Function>& functions() {
  static const std::vector<Function> table = {
      {"abs", std::fabs},
      {"acos", std::acos},
      {"asin", std::asin},
      {"atan", std::atan},
      {"atan2", std::atan2},
      {"ceil", std::ceil},
      {"cos", std::cos},
      {"cosh", std::cosh},
      {"exp", std::exp},
      {"fac", factorial},
      {"floor", std::floor},
      {"ln", std::log},
      {"log", std::log10},
      {"log10", std::log10},
      {"ncr", combinations},
      {"npr", permutations},
      {"pow", std::pow},
      {"sin", std::sin},
      {"sinh", std::sinh},
      {"sqrt", std::sqrt},
      {"tan", std::tan},
      {"tanh", std::tanh},
      {"min", +[](double a, double b) { return a < b ? a : b; }},
      {"max", +[](double a, double b) { return a > b ? a : b; }},
      {"sign", +[](double a) { return double((a > 0) - (a < 0)); }},
      {"deg2rad", +[](double a) { return a * std::numbers::pi / 180; }},
      {"smoothstep", smoothstep},
      {"half_smoothstep", +[](double a) { return 2 * smoothstep((a + 1) / 2) - 1; }},
      {"smooth_abs", +[](double a, double k) { return a * std::tanh(k * a); }},
      {"rotate_2D_x", +[](double x, double y, double th) { return x * std::cos(th) - y * std::sin(th); }},
      {"rotate_2D_y", +[](double x, double y, double th) { return x * std::sin(th) + y * std::cos(th); }},
      {"compare", +[](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"if", +[](double c, double a, double b) { return c >= 0 ? a : b; }},
  };
  return table;
}

} // namespace

const Function* find_function(std::string_view name) {
  for (const Function& function : functions())
    if (function.name == name) return &function;
  return nullptr;
}

const std::vector<std::string>& known_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result{"x", "y", "z", "t", "pi", "e"};
    for (const Function& function : functions()) result.emplace_back(function.name);
    return result;
  }();
  return names;
}

namespace {

/// How a value depends on the position: not, affine, or in another way.
enum class Degree : unsigned char { uniform, affine, other };

Degree degree_of_call(const Function& function, std::span<const Degree> arguments) {
  const Degree most = std::ranges::max(arguments);
  if (most != Degree::affine) return most;
  const auto are_uniform = [&](std::initializer_list<std::size_t> which) {
    return std::ranges::all_of(which, [&](std::size_t i) { return arguments[i] == Degree::uniform; });
  };
  const std::string_view name = function.name;
  bool is_affine = name == "+" || name == "-";
  if (name == "*") is_affine = are_uniform({0}) || are_uniform({1});
  if (name == "/") is_affine = are_uniform({1});
  if (name == "if") is_affine = are_uniform({0});
  if (name == "rotate_2D_x" || name == "rotate_2D_y") is_affine = are_uniform({2});
  return is_affine ? Degree::affine : Degree::other;
}

} // namespace

bool is_affine_in_position(const Code& code) {
  std::vector<Degree> stack;
  for (const Instruction& instruction : code.instructions) {
    switch (instruction.operation) {
    case Operation::push:
    case Operation::push_t:
      stack.push_back(Degree::uniform);
      break;
    case Operation::push_x:
    case Operation::push_y:
    case Operation::push_z:
      stack.push_back(Degree::affine);
      break;
    case Operation::call: {
      const auto first = stack.end() - instruction.operands();
      const Degree result =
          degree_of_call(*instruction.function, std::span<const Degree>(first, stack.end()));
      stack.erase(first, stack.end());
      stack.push_back(result);
    }
    }
  }
  return stack.back() != Degree::other;
}

} // namespace expression

struct Expression::Program {
  expression::Code code;
  std::string text;
};

Expression::Expression(double constant) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", constant);
  auto program = std::make_shared<Program>();
  program->code.instructions.push_back({expression::Operation::push, {constant}});
  program->text = text;
  program_ = std::move(program);
}

Expression::Expression(const std::string& text) {
  auto program = std::make_shared<Program>();
  program->code = expression::parse(text);
  program->text = text;
  program_ = std::move(program);
}

double Expression::operator()(const ExpressionPoint& point) const {
  using expression::Operation;
  double stack[expression::max_stack];
  double* top = stack;
  for (const expression::Instruction& instruction : program_->code.instructions) {
    switch (instruction.operation) {
    case Operation::push:
      *top++ = instruction.value;
      break;
    case Operation::push_x:
      *top++ = point.x;
      break;
    case Operation::push_y:
      *top++ = point.y;
      break;
    case Operation::push_z:
      *top++ = point.z;
      break;
    case Operation::push_t:
      *top++ = point.t;
      break;
    case Operation::call: {
      const double result = (*instruction.function)(top);
      top -= instruction.function->arity;
      *top++ = result;
    }
    }
  }
  return top[-1];
}

bool Expression::is_constant() const { return !depends_on_time() && !depends_on_position(); }
bool Expression::depends_on_time() const { return program_->code.uses_time; }
bool Expression::depends_on_position() const { return program_->code.uses_position; }
bool Expression::is_affine_in_position() const { return expression::is_affine_in_position(program_->code); }
const std::string& Expression::text() const { return program_->text; }

} // namespace recoil
