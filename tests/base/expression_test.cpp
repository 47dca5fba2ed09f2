#include "recoil/base/expression.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"

namespace recoil::expression_test {
using ::testing::HasSubstr;

namespace {

constexpr double pi = std::numbers::pi, e = std::numbers::e;
const double infinity = std::numeric_limits<double>::infinity();

double value(const std::string& text, const ExpressionPoint& point = {2, 3, 5, 7}) {
  return Expression(text)(point);
}

std::string refusal(const std::string& text) {
  try {
    Expression expression(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

} // namespace

TEST(Expression, numbers) {
  EXPECT_EQ(value("0"), 0);
  EXPECT_EQ(value("1.5"), 1.5);
  EXPECT_EQ(value(".5"), 0.5);
  EXPECT_EQ(value("5."), 5);
  EXPECT_EQ(value("1e3"), 1000);
  EXPECT_EQ(value("1.25E-2"), 0.0125);
  EXPECT_EQ(value("2e+2"), 200);
  EXPECT_EQ(value(" \t\n 4 \r\n"), 4);
  EXPECT_EQ(value("0.1"), 0.1);
}

TEST(Expression, variables_and_constants) {
  EXPECT_EQ(value("x"), 2);
  EXPECT_EQ(value("y"), 3);
  EXPECT_EQ(value("z"), 5);
  EXPECT_EQ(value("t"), 7);
  EXPECT_EQ(value("pi"), pi);
  EXPECT_EQ(value("pi()"), pi);
  EXPECT_EQ(value("e"), e);
  EXPECT_EQ(value("2*e + 1"), 2 * e + 1);
}

TEST(Expression, precedence) {
  EXPECT_EQ(value("1+2*3"), 7);
  EXPECT_EQ(value("(1+2)*3"), 9);
  EXPECT_EQ(value("10-4-3"), 3);
  EXPECT_EQ(value("24/4/2"), 3);
  EXPECT_EQ(value("2*3%4"), 2);
  EXPECT_EQ(value("7%4"), 3);
  EXPECT_EQ(value("-7%4"), -3);
  EXPECT_EQ(value("7.5%2"), 1.5);
  EXPECT_EQ(value("2+7%4*2"), 8);
  EXPECT_EQ(value("2*3^2"), 18);
  EXPECT_EQ(value("-4*t"), -28);
}

TEST(Expression, power_is_left_associative_and_weaker_than_a_sign) {
  EXPECT_EQ(value("2^3^2"), 64);
  EXPECT_EQ(value("-x^2"), 4);
  EXPECT_EQ(value("0-x^2"), -4);
  EXPECT_EQ(value("1-x^2"), -3);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("-2^-2"), 0.25);
  EXPECT_EQ(value("3*-x^2"), 12);
}

TEST(Expression, signs_repeat) {
  EXPECT_EQ(value("--x"), 2);
  EXPECT_EQ(value("---x"), -2);
  EXPECT_EQ(value("+-+-+x"), 2);
  EXPECT_EQ(value("1--1"), 2);
  EXPECT_EQ(value("1 - - - 1"), 0);
  EXPECT_EQ(value("2*-+-3"), 6);
  EXPECT_EQ(value(std::string(100'001, '-') + "x"), -2);
}

TEST(Expression, functions) {
  const ExpressionPoint p{0.3, -0.4, 0.5, 1.5};
  EXPECT_EQ(value("abs(y)", p), 0.4);
  EXPECT_EQ(value("acos(x)", p), std::acos(0.3));
  EXPECT_EQ(value("asin(x)", p), std::asin(0.3));
  EXPECT_EQ(value("atan(x)", p), std::atan(0.3));
  EXPECT_EQ(value("atan2(x, y)", p), std::atan2(0.3, -0.4));
  EXPECT_EQ(value("ceil(t)", p), 2);
  EXPECT_EQ(value("cos(x)", p), std::cos(0.3));
  EXPECT_EQ(value("cosh(x)", p), std::cosh(0.3));
  EXPECT_EQ(value("exp(x)", p), std::exp(0.3));
  EXPECT_EQ(value("floor(y)", p), -1);
  EXPECT_EQ(value("ln(t)", p), std::log(1.5));
  EXPECT_EQ(value("log(100)"), 2) << "log is to base 10";
  EXPECT_EQ(value("log10(1000)"), 3);
  EXPECT_EQ(value("pow(t, 3)", p), std::pow(1.5, 3));
  EXPECT_EQ(value("sin(x)", p), std::sin(0.3));
  EXPECT_EQ(value("sinh(x)", p), std::sinh(0.3));
  EXPECT_EQ(value("sqrt(16)"), 4);
  EXPECT_EQ(value("tan(x)", p), std::tan(0.3));
  EXPECT_EQ(value("tanh(x)", p), std::tanh(0.3));
  EXPECT_EQ(value("min(x, y)"), 2);
  EXPECT_EQ(value("max(x, y)"), 3);
  EXPECT_EQ(value("sign(-3)"), -1);
  EXPECT_EQ(value("sign(0)"), 0);
  EXPECT_EQ(value("sign(x)"), 1);
  EXPECT_EQ(value("deg2rad(180)"), pi);
  EXPECT_EQ(value("compare(x, y)"), 1);
  EXPECT_EQ(value("compare(y, x)"), 0);
  EXPECT_EQ(value("compare(x, x)"), 0);
  EXPECT_EQ(value("if(x, 10, 20)"), 10);
  EXPECT_EQ(value("if(0, 10, 20)"), 10) << "the condition is c >= 0";
  EXPECT_EQ(value("if(-1e-300, 10, 20)"), 20);
}

TEST(Expression, smooth_functions) {
  EXPECT_EQ(value("smoothstep(-1)"), 0);
  EXPECT_EQ(value("smoothstep(0.5)"), 0.5);
  EXPECT_DOUBLE_EQ(value("smoothstep(0.2)"), 3 * 0.04 - 2 * 0.008);
  EXPECT_EQ(value("smoothstep(4)"), 1);
  EXPECT_EQ(value("half_smoothstep(0)"), 0);
  EXPECT_EQ(value("half_smoothstep(1)"), 1);
  EXPECT_EQ(value("half_smoothstep(-7)"), -1);
  EXPECT_DOUBLE_EQ(value("half_smoothstep(0.5)"), 2 * (3 * 0.5625 - 2 * 0.421875) - 1);
  EXPECT_DOUBLE_EQ(value("smooth_abs(x, 3)"), 2 * std::tanh(6));
  EXPECT_DOUBLE_EQ(value("rotate_2D_x(x, y, 0.3)"), 2 * std::cos(0.3) - 3 * std::sin(0.3));
  EXPECT_DOUBLE_EQ(value("rotate_2D_y(x, y, 0.3)"), 2 * std::sin(0.3) + 3 * std::cos(0.3));
}

TEST(Expression, factorials_and_binomials) {
  EXPECT_EQ(value("fac(0)"), 1);
  EXPECT_EQ(value("fac(5)"), 120);
  EXPECT_EQ(value("fac(5.9)"), 120) << "arguments are truncated";
  EXPECT_EQ(value("fac(20)"), 2432902008176640000.0);
  EXPECT_EQ(value("fac(21)"), infinity) << "beyond 64 bits";
  EXPECT_TRUE(std::isnan(value("fac(-1)")));
  EXPECT_TRUE(std::isnan(value("fac(0/0)")));
  EXPECT_EQ(value("fac(1e30)"), infinity);
  EXPECT_EQ(value("ncr(5,2)"), 10);
  EXPECT_EQ(value("ncr(5,3)"), 10);
  EXPECT_EQ(value("ncr(16,7)"), 11440);
  EXPECT_EQ(value("ncr(4e9, 1)"), 4e9);
  EXPECT_EQ(value("ncr(1000, 500)"), infinity);
  EXPECT_TRUE(std::isnan(value("ncr(2,4)")));
  EXPECT_EQ(value("npr(5,2)"), 20);
}

TEST(Expression, functions_of_one_argument_need_no_parentheses) {
  EXPECT_EQ(value("sin x"), std::sin(2));
  EXPECT_EQ(value("sin -x"), std::sin(-2));
  EXPECT_EQ(value("sqrt abs -16"), 4);
  EXPECT_EQ(value("sqrt x^2"), std::pow(std::sqrt(2), 2)) << "the argument ends before ^";
  EXPECT_EQ(value("sqrt 4 * 3"), 6);
  EXPECT_EQ(value("sqrt (4) ^ 3"), 8);
  EXPECT_EQ(value("-sqrt 4^2"), 4);
}

TEST(Expression, examples_of_scenes) {
  const ExpressionPoint p{0.2, 0.7, 0, 0.25};
  EXPECT_DOUBLE_EQ(value("rotate_2D_x(x, y, pi*t) - x", p),
                   0.2 * std::cos(pi / 4) - 0.7 * std::sin(pi / 4) - 0.2);
  EXPECT_DOUBLE_EQ(value("if(t - 0.5, 0, 0.1*sin(2*pi*t))", p), 0.1);
  EXPECT_DOUBLE_EQ(value("0-(x^2 + y^2)^0.5*exp(-3*t)", p), -std::sqrt(0.53) * std::exp(-0.75));
}

TEST(Expression, knows_what_it_depends_on) {
  EXPECT_TRUE(Expression().is_constant());
  EXPECT_TRUE(Expression(3.5).is_constant());
  EXPECT_TRUE(Expression("2*pi").is_constant());
  EXPECT_TRUE(Expression("if(1, sin(3), max(2, -1))^2").is_constant());
  EXPECT_TRUE(Expression("-4*t").depends_on_time());
  EXPECT_FALSE(Expression("-4*t").depends_on_position());
  EXPECT_FALSE(Expression("x+y+z").depends_on_time());
  for (const char* text : {"x", "2*y", "sin(z)"}) EXPECT_TRUE(Expression(text).depends_on_position()) << text;
  EXPECT_FALSE(Expression("x*t").is_constant());
}

TEST(Expression, knows_whether_it_keeps_planes) {
  for (const char* text : {"3", "sin(t)*exp(t)", "x", "-2*x + y/t - z*(1 + t^2)", "x*cos(t) - y*sin(t) - x",
                           "rotate_2D_x(x, y - 1, pi*t) - x", "if(t - 0.5, 0, x)", "(2*x)*3/4"})
    EXPECT_TRUE(Expression(text).is_affine_in_position()) << text;
  for (const char* text : {"x*y", "x^2", "1/x", "abs(x)", "if(x, 0, 1)", "sin(x)", "max(x, 0)", "t%x",
                           "rotate_2D_y(x, y, x)", "sqrt(x^2)"})
    EXPECT_FALSE(Expression(text).is_affine_in_position()) << text;
}

TEST(Expression, text_and_copies) {
  EXPECT_EQ(Expression(" 2 * pi ").text(), " 2 * pi ");
  EXPECT_EQ(std::stod(Expression(1.0 / 3).text()), 1.0 / 3);
  Expression a("x+1");
  const Expression b = a;
  a = Expression(4);
  EXPECT_EQ(b({1, 0, 0, 0}), 2);
  EXPECT_EQ(a({1, 0, 0, 0}), 4);
  EXPECT_EQ(Expression(0.25)({}), 0.25);
}

TEST(Expression, errors_tell_column_token_and_nearest_name) {
  EXPECT_THAT(refusal("1 + sni(x)"), HasSubstr("column 5: unknown name 'sni'; did you mean 'sin'?"));
  EXPECT_THAT(refusal("SIN(x)"), HasSubstr("did you mean 'sin'?"));
  EXPECT_THAT(refusal("rotate_2d_x(x,y,t)"), HasSubstr("did you mean 'rotate_2D_x'?"));
  EXPECT_THAT(refusal("foo_bar"), HasSubstr("unknown name 'foo_bar'"));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("   "), HasSubstr("empty"));
  EXPECT_THAT(refusal("1 +"), HasSubstr("column 4: ends where a value is expected"));
  EXPECT_THAT(refusal("2x"), HasSubstr("column 2: expected an operator before 'x'"));
  EXPECT_THAT(refusal("x y"), HasSubstr("column 3: expected an operator before 'y'"));
  EXPECT_THAT(refusal("1 */ 2"), HasSubstr("column 4: expected a value instead of '/'"));
  EXPECT_THAT(refusal("(1+2"), HasSubstr("column 1: '(' is never closed"));
  EXPECT_THAT(refusal("1+2)"), HasSubstr("column 4: unexpected ')'"));
  EXPECT_THAT(refusal("x, y"), HasSubstr("column 2: unexpected ','"));
  EXPECT_THAT(refusal("(x, y)"), HasSubstr("column 3: unexpected ','"));
  EXPECT_THAT(refusal("sin(x, y)"), HasSubstr("column 6: unexpected ','"));
  EXPECT_THAT(refusal("atan2(x)"), HasSubstr("column 8: 'atan2' takes 2 arguments"));
  EXPECT_THAT(refusal("atan2 x"), HasSubstr("'atan2' takes 2 arguments"));
  EXPECT_THAT(refusal("if(1,2,3,4)"), HasSubstr("'if' takes 3 arguments in parentheses, not more"));
  EXPECT_THAT(refusal("if(1,2"), HasSubstr("ends inside a call"));
  EXPECT_THAT(refusal("sin"), HasSubstr("ends where a value"));
  EXPECT_THAT(refusal("x & y"), HasSubstr("'&'"));
  EXPECT_THAT(refusal("x \xc3\xbc"), HasSubstr("byte 0xc3"));
  EXPECT_THAT(refusal(std::string("x\0y", 3)), HasSubstr("byte 0x00"));
  EXPECT_THAT(refusal("1e"), HasSubstr("column 2"));
  EXPECT_THAT(refusal("1e999"), HasSubstr("too large"));
  EXPECT_THAT(refusal("."), HasSubstr("expected a number"));
  EXPECT_THAT(refusal("1.2.3"), HasSubstr("column 4"));
  EXPECT_THAT(refusal("0x10"), HasSubstr("column 2"));
}

TEST(Expression, depth_is_limited_with_a_message) {
  const auto nested = [](const std::string& open, int count, const std::string& close = "") {
    std::string result;
    for (int i = 0; i < count; ++i) result.append(open);
    result.append("x");
    for (int i = 0; i < count; ++i) result.append(close);
    return result;
  };
  EXPECT_EQ(value(nested("(", 150, ")")), 2);
  EXPECT_EQ(value(nested("x+(", 100, ")")), 202);
  EXPECT_EQ(value(nested("x+", 100'000)), 200'002);
  EXPECT_THAT(refusal(nested("(", 100'000)), HasSubstr("nested more than"));
  EXPECT_THAT(refusal(nested("sin ", 100'000)), HasSubstr("nested more than"));
  EXPECT_THAT(refusal(nested("x+(", 150, ")")), HasSubstr("intermediate values"));
  EXPECT_THAT(refusal(nested("if(x,y,", 90, ")")), HasSubstr("intermediate values"));
}

} // namespace recoil::expression_test
