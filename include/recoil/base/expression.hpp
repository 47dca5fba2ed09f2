#pragma once

#include <memory>
#include <string>

namespace recoil {

/// Where and when an Expression is evaluated.
struct ExpressionPoint {
  double x = 0, y = 0, z = 0, t = 0;
};

/// A formula of x, y, z, t as scenes write it ("-4*t", "rotate_2D_x(x, y, pi*t) - x"), parsed once, evaluated
/// often. Grammar, functions and their surprises (`^` is left-associative and binds weaker than a sign, `log`
/// is base 10, `if(c,a,b)` tests c >= 0) follow PolyFEM. Immutable and cheap to copy; evaluation allocates
/// nothing and is thread safe.
class Expression {
public:
  /// The constant 0.
  Expression() : Expression(0.0) {}
  Expression(double constant);
  /// Parses `text`. @throws InputError with the column, the offending token and the nearest known name.
  explicit Expression(const std::string& text);

  double operator()(const ExpressionPoint& point) const;
  bool is_constant() const;
  bool depends_on_time() const;
  bool depends_on_position() const;
  /// Whether the formula is affine in x, y and z at every t, judged by how it is written: sums, multiples by
  /// what depends on t alone, `if` and rotations by angles that do. A motion of such formulas keeps planes
  /// and straight lines.
  bool is_affine_in_position() const;
  /// The formula as given; numbers with 17 digits.
  const std::string& text() const;

private:
  struct Program;
  std::shared_ptr<const Program> program_;
};

} // namespace recoil
