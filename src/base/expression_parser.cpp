#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "base/expression_program.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::expression {

namespace {

constexpr int max_nesting = 200;

constexpr Function negate{"-", +[](double a) { return -a; }};
constexpr Function add{"+", +[](double a, double b) { return a + b; }};
constexpr Function subtract{"-", +[](double a, double b) { return a - b; }};
constexpr Function multiply{"*", +[](double a, double b) { return a * b; }};
constexpr Function divide{"/", +[](double a, double b) { return a / b; }};
constexpr Function modulo{"%", std::fmod};
constexpr Function power{"^", std::pow};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Recursive descent over the grammar
//   sum     = product {("+" | "-") product}
//   product = power {("*" | "/" | "%") power}
//   power   = signed {"^" signed}
//   signed  = {"+" | "-"} operand
//   operand = number | variable | constant ["(" ")"] | function1 signed | function "(" sum {"," sum} ")" |
//   "(" sum ")"
class Parser {
public:
  explicit Parser(const std::string& text) : text_(text) {}

  Code parse() {
    skip_spaces();
    if (at_end()) fail(position_, "is empty; write a number or a formula of x, y, z, t");
    parse_sum();
    if (!at_end()) {
      if (peek() == ')') fail(position_, "unexpected ')' without a '(' before it");
      if (peek() == ',')
        fail(position_, "unexpected ',': only arguments of a function are separated by commas");
      fail(position_, "expected an operator before " + token());
    }
    return std::move(code_);
  }

private:
  struct Nesting {
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser.nesting_ > max_nesting)
        parser.fail(parser.position_,
                    "is nested more than " + std::to_string(max_nesting) + " deep; simplify it");
    }
    ~Nesting() { --parser_.nesting_; }
    Parser& parser_;
  };

  void parse_sum() {
    parse_product();
    for (char sign = peek(); sign == '+' || sign == '-'; sign = peek()) {
      advance();
      parse_product();
      call(sign == '+' ? add : subtract);
    }
  }

  void parse_product() {
    parse_power();
    for (char sign = peek(); sign == '*' || sign == '/' || sign == '%'; sign = peek()) {
      advance();
      parse_power();
      call(sign == '*' ? multiply : sign == '/' ? divide : modulo);
    }
  }

  void parse_power() {
    parse_signed();
    while (peek() == '^') {
      advance();
      parse_signed();
      call(power);
    }
  }

  void parse_signed() {
    bool negative = false;
    for (; peek() == '+' || peek() == '-'; advance()) negative ^= peek() == '-';
    parse_operand();
    if (negative) call(negate);
  }

  void parse_operand() {
    const Nesting nesting(*this);
    if (at_end()) fail(position_, "ends where a value is expected");
    const char c = peek();
    if (is_digit(c) || c == '.') {
      parse_number();
    } else if (is_letter(c) || c == '_') {
      parse_name();
    } else if (c == '(') {
      const std::size_t open = position_;
      advance();
      parse_sum();
      if (peek() == ',')
        fail(position_, "unexpected ',': only functions of two or more arguments take commas");
      close(open);
    } else {
      fail(position_, "expected a value instead of " + token());
    }
  }

  void parse_number() {
    double value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range)
      fail(position_,
           "the number " + std::string(begin, end) + " is too large or too small for double precision");
    if (error != std::errc()) fail(position_, "expected a number instead of " + token());
    position_ += end - begin;
    skip_spaces();
    push(value);
  }

  void parse_name() {
    const std::size_t start = position_;
    const std::string name = word();
    position_ += name.size();
    skip_spaces();
    if (name.size() == 1 && std::string_view("xyzt").find(name[0]) != std::string_view::npos) {
      push_variable(name[0]);
    } else if (name == "pi" || name == "e") {
      push(name == "pi" ? std::numbers::pi : std::numbers::e);
      if (peek() == '(') {
        const std::size_t open = position_;
        advance();
        close(open);
      }
    } else if (const Function* function = find_function(name)) {
      parse_call(*function, start);
    } else {
      fail(start,
           "unknown name '" + name.substr(0, 60) + "'" + did_you_mean(name.substr(0, 60), known_names()));
    }
  }

  void parse_call(const Function& function, std::size_t start) {
    if (function.arity == 1) {
      parse_signed(); // "sin x" is as good as "sin(x)"
    } else {
      std::string usage = "'";
      usage.append(function.name).append("' takes ").append(1, static_cast<char>('0' + function.arity));
      usage.append(" arguments in parentheses");
      if (peek() != '(') fail(start, usage);
      const std::size_t open = position_;
      advance();
      for (int argument = 0; argument < function.arity; ++argument) {
        if (argument > 0) {
          if (peek() == ')') fail(position_, usage + ", not " + std::to_string(argument));
          if (peek() != ',')
            fail(position_, at_end() ? "ends inside a call; " + usage : "expected ',' before " + token());
          advance();
        }
        parse_sum();
      }
      if (peek() == ',') fail(position_, usage + ", not more");
      close(open);
    }
    call(function);
  }

  void close(std::size_t open) {
    if (at_end()) fail(open, "'(' is never closed");
    if (peek() != ')') fail(position_, "expected ')' or an operator before " + token());
    advance();
  }

  void push(double value) { emit({Operation::push, {value}}); }

  void push_variable(char name) {
    const Operation operation = name == 'x'   ? Operation::push_x
                                : name == 'y' ? Operation::push_y
                                : name == 'z' ? Operation::push_z
                                              : Operation::push_t;
    (name == 't' ? code_.uses_time : code_.uses_position) = true;
    emit({operation, {}});
  }

  void call(const Function& function) {
    Instruction instruction{Operation::call, {}};
    instruction.function = &function;
    emit(instruction);
  }

  // Appends an instruction; one whose operands are all constants is carried out now.
  void emit(const Instruction& instruction) {
    auto& program = code_.instructions;
    const int operands = instruction.operands();
    stack_ += 1 - operands;
    if (stack_ > max_stack)
      fail(position_, "needs more than " + std::to_string(max_stack) + " intermediate values; simplify it");
    const bool foldable =
        operands > 0 && std::ssize(program) >= operands &&
        std::all_of(program.end() - operands, program.end(),
                    [](const Instruction& operand) { return operand.operation == Operation::push; });
    if (!foldable) {
      program.push_back(instruction);
      return;
    }
    double values[3];
    std::transform(program.end() - operands, program.end(), values,
                   [](const Instruction& operand) { return operand.value; });
    program.resize(program.size() - operands, Instruction{Operation::push, {}});
    program.push_back({Operation::push, {(*instruction.function)(values + operands)}});
  }

  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  void advance() {
    ++position_;
    skip_spaces();
  }
  void skip_spaces() {
    while (!at_end() && is_space(text_[position_])) ++position_;
  }
  std::string word() const {
    std::size_t end = position_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '_')) ++end;
    return text_.substr(position_, end - position_);
  }

  // What stands at the current position, for messages.
  std::string token() const {
    if (at_end()) return "the end";
    const std::string name = word();
    if (!name.empty()) return std::string("'").append(name, 0, 60).append("'");
    const auto c = static_cast<unsigned char>(peek());
    if (c > ' ' && c < 127) return {'\'', peek(), '\''};
    const char* digits = "0123456789abcdef";
    return std::string("the byte 0x").append({digits[c / 16], digits[c % 16]});
  }

  [[noreturn]] void fail(std::size_t position, const std::string& what) const {
    std::string shown = text_.size() <= 120 ? text_ : text_.substr(0, 117) + "...";
    for (char& c : shown)
      if (static_cast<unsigned char>(c) < ' ')
        c = ' '; // a zero byte would end the message, a line end break it
    throw InputError("expression \"" + shown + "\", column " + std::to_string(position + 1) + ": " + what);
  }

  const std::string& text_;
  std::size_t position_ = 0;
  int nesting_ = 0;
  int stack_ = 0;
  Code code_;
};

} // namespace

Code parse(const std::string& text) { return Parser(text).parse(); }

} // namespace recoil::expression
