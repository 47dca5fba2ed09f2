#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace recoil::expression {

/// An operator or a function with 1 to 3 arguments.
struct Function {
  std::string_view name;
  int arity;
  union {
    double (*of_one)(double);
    double (*of_two)(double, double);
    double (*of_three)(double, double, double);
  };
  constexpr Function(std::string_view n, double (*f)(double)) : name(n), arity(1), of_one(f) {}
  constexpr Function(std::string_view n, double (*f)(double, double)) : name(n), arity(2), of_two(f) {}
  constexpr Function(std::string_view n, double (*f)(double, double, double))
      : name(n), arity(3), of_three(f) {}

  /// The value for the arguments `top[-arity] .. top[-1]`.
  double operator()(const double* top) const {
    if (arity == 1) return of_one(top[-1]);
    return arity == 2 ? of_two(top[-2], top[-1]) : of_three(top[-3], top[-2], top[-1]);
  }
};

/// The function that formulas call `name`, or null.
const Function* find_function(std::string_view name);

/// Names of all functions, constants and variables, for suggestions.
const std::vector<std::string>& known_names();

enum class Operation : unsigned char { push, push_x, push_y, push_z, push_t, call };

/// One step of a postfix program: pushes a value or replaces the topmost ones by a result.
struct Instruction {
  Operation operation;
  union {
    double value;
    const Function* function;
  };
  /// Number of values that it takes from the stack.
  int operands() const { return operation == Operation::call ? function->arity : 0; }
};

/// The stack of an evaluation has room for this many values; the parser refuses what needs more.
constexpr int max_stack = 128;

struct Code {
  std::vector<Instruction> instructions;
  bool uses_time = false, uses_position = false;
};

/// Expression::is_affine_in_position.
bool is_affine_in_position(const Code& code);

/// Compiles `text`, constant parts folded. @throws InputError with column, token and the nearest known name.
Code parse(const std::string& text);

} // namespace recoil::expression
