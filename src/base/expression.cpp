#include "recoil/base/expression.hpp"

#include <cmath>
#include <cstdio>

#include "base/expression_program.hpp"

namespace recoil {

namespace expression {

int operand_count(const Instruction& instruction) {
  switch (instruction.operation) {
  case Operation::push:
  case Operation::push_x:
  case Operation::push_y:
  case Operation::push_z:
  case Operation::push_t:
    return 0;
  case Operation::negate:
    return 1;
  case Operation::call:
    return instruction.function->arity;
  default:
    return 2;
  }
}

double apply(const Instruction& instruction, const double* top) {
  switch (instruction.operation) {
  case Operation::negate:
    return -top[-1];
  case Operation::add:
    return top[-2] + top[-1];
  case Operation::subtract:
    return top[-2] - top[-1];
  case Operation::multiply:
    return top[-2] * top[-1];
  case Operation::divide:
    return top[-2] / top[-1];
  case Operation::modulo:
    return std::fmod(top[-2], top[-1]);
  case Operation::power:
    return std::pow(top[-2], top[-1]);
  case Operation::call: {
    const Function& function = *instruction.function;
    if (function.arity == 1) return function.of_one(top[-1]);
    if (function.arity == 2) return function.of_two(top[-2], top[-1]);
    return function.of_three(top[-3], top[-2], top[-1]);
  }
  default:
    return instruction.value;
  }
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
    default: {
      const double result = expression::apply(instruction, top);
      top -= expression::operand_count(instruction);
      *top++ = result;
    }
    }
  }
  return top[-1];
}

bool Expression::is_constant() const { return !depends_on_time() && !depends_on_position(); }
bool Expression::depends_on_time() const { return program_->code.uses_time; }
bool Expression::depends_on_position() const { return program_->code.uses_position; }
const std::string& Expression::text() const { return program_->text; }

} // namespace recoil
