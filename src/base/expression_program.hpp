#pragma once

#include <string>
#include <vector>

#include "base/expression_functions.hpp"

namespace recoil::expression {

enum class Operation : unsigned char {
  push,
  push_x,
  push_y,
  push_z,
  push_t,
  negate,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  call
};

/// One step of a postfix program: pushes a value or replaces the topmost ones by a result.
struct Instruction {
  Operation operation;
  union {
    double value;
    const Function* function;
  };
};

/// The stack of an evaluation has room for this many values; the parser refuses what needs more.
constexpr int max_stack = 128;

struct Code {
  std::vector<Instruction> instructions;
  bool uses_time = false, uses_position = false;
};

/// Number of values that `instruction` takes from the stack.
int operand_count(const Instruction& instruction);

/// Result of an instruction that takes operands from `top[-count] .. top[-1]`; pushes read nothing.
double apply(const Instruction& instruction, const double* top);

/// Compiles `text`, constant parts folded. @throws InputError with column, token and the nearest known name.
Code parse(const std::string& text);

} // namespace recoil::expression
