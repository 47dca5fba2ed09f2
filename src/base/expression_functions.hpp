#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace recoil::expression {

/// A function that expressions may call, with 1 to 3 arguments.
struct Function {
  std::string_view name;
  int arity;
  union {
    double (*of_one)(double);
    double (*of_two)(double, double);
    double (*of_three)(double, double, double);
  };
  Function(std::string_view n, double (*f)(double)) : name(n), arity(1), of_one(f) {}
  Function(std::string_view n, double (*f)(double, double)) : name(n), arity(2), of_two(f) {}
  Function(std::string_view n, double (*f)(double, double, double)) : name(n), arity(3), of_three(f) {}
};

/// The function called `name`, or null.
const Function* find_function(std::string_view name);

/// Names of all functions, constants and variables, for suggestions.
const std::vector<std::string>& known_names();

} // namespace recoil::expression
