// Each op of the interpreter against values that were worked out by hand, by NumPy or by
// definition: functions of elements and conversions.
#include <stdexcept>

#include "host.h"
#include "op_case.h"

namespace tenon::pjrt_test {

namespace {

void ExpectNumber(double number, double expected, double tolerance) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(number)) << number;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(number, expected);
  } else {
    EXPECT_NEAR(number, expected, tolerance * std::max(1.0, std::abs(expected)));
  }
}

}  // namespace

TEST_P(OpCases, IsRight) {
  const OpCase& op = GetParam();
  const Client client(SharedApi());
  const std::string type = op.type;
  const std::string text = Main(type, std::string(op.body) + "\n return %r : " + type);
  SCOPED_TRACE(text);
  const std::vector<double> numbers =
      Numbers(client.Run(text).at(0));  // Throws what the plug-in says.
  ASSERT_EQ(numbers.size(), op.expected.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    ExpectNumber(numbers[i], op.expected[i], op.tolerance);
}

namespace {

INSTANTIATE_TEST_SUITE_P(
    Elementwise, OpCases,
    testing::Values(
        OpCase{"add", F4, A B BINARY("add"), {3, 1, -3.5, 4.5}},
        OpCase{"subtract", F4, A B BINARY("subtract"), {-1, -5, 4.5, 3.5}},
        OpCase{"multiply", F4, A B BINARY("multiply"), {2, -6, -2, 2}},
        OpCase{"divide", F4, A B BINARY("divide"), {0.5, -2.0 / 3, -0.125, 8}},
        OpCase{"remainder", F4, A B BINARY("remainder"), {1, -2, 0.5, 0}},
        OpCase{"maximum", F4, A B BINARY("maximum"), {2, 3, 0.5, 4}},
        OpCase{"minimum", F4, A B BINARY("minimum"), {1, -2, -4, 0.5}},
        OpCase{"power", F4, P B BINARY("power"), {0.0625, 1, 0.0625, 3}},
        OpCase{"atan2", F4, A B BINARY("atan2"), {0.46364761, -0.5880026, 3.0172377, 1.4464413}},
        OpCase{"generic_add",
               F4,
               A B
               "%r = \"stablehlo.add\"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
               {3, 1, -3.5, 4.5}},
        OpCase{"negate", F4, A UNARY("negate"), {-1, 2, -0.5, -4}},
        OpCase{"abs", F4, A UNARY("abs"), {1, 2, 0.5, 4}},
        OpCase{"exponential",
               F4,
               A UNARY("exponential"),
               {std::exp(1.0), std::exp(-2.0), std::exp(0.5), std::exp(4.0)}},
        OpCase{"exponential_minus_one",
               F4,
               A UNARY("exponential_minus_one"),
               {std::expm1(1.0), std::expm1(-2.0), std::expm1(0.5), std::expm1(4.0)}},
        OpCase{"log", F4, P UNARY("log"), {std::log(0.25), 0, std::log(2.0), std::log(9.0)}},
        OpCase{"log_plus_one",
               F4,
               P UNARY("log_plus_one"),
               {std::log(1.25), std::log(2.0), std::log(3.0), std::log(10.0)}},
        OpCase{"sqrt", F4, P UNARY("sqrt"), {0.5, 1, std::sqrt(2.0), 3}},
        OpCase{"rsqrt", F4, P UNARY("rsqrt"), {2, 1, 1 / std::sqrt(2.0), 1.0 / 3}},
        OpCase{"cbrt", F4, P UNARY("cbrt"), {std::cbrt(0.25), 1, std::cbrt(2.0), std::cbrt(9.0)}},
        OpCase{"tanh",
               F4,
               A UNARY("tanh"),
               {std::tanh(1.0), std::tanh(-2.0), std::tanh(0.5), std::tanh(4.0)}},
        OpCase{"tan",
               F4,
               A UNARY("tan"),
               {std::tan(1.0), std::tan(-2.0), std::tan(0.5), std::tan(4.0)}},
        OpCase{
            "logistic", F4, A UNARY("logistic"), {0.73105858, 0.11920292, 0.62245933, 0.98201379}},
        OpCase{"sine",
               F4,
               A UNARY("sine"),
               {std::sin(1.0), std::sin(-2.0), std::sin(0.5), std::sin(4.0)}},
        OpCase{"cosine",
               F4,
               A UNARY("cosine"),
               {std::cos(1.0), std::cos(-2.0), std::cos(0.5), std::cos(4.0)}},
        OpCase{"floor",
               F4,
               "%a = stablehlo.constant dense<[1.5, -1.5, 0.0, -0.25]> : tensor<4xf32>\n" UNARY(
                   "floor"),
               {1, -2, 0, -1}},
        OpCase{
            "ceil",
            F4,
            "%a = stablehlo.constant dense<[1.5, -1.5, 0.0, 0.25]> : tensor<4xf32>\n" UNARY("ceil"),
            {2, -1, 0, 1}},
        OpCase{"round_even",
               F4,
               "%a = stablehlo.constant dense<[0.5, 1.5, 2.5, -0.5]> : tensor<4xf32>\n" UNARY(
                   "round_nearest_even"),
               {0, 2, 2, 0}},
        OpCase{"round_away",
               F4,
               "%a = stablehlo.constant dense<[0.5, 1.5, 2.5, -0.5]> : tensor<4xf32>\n" UNARY(
                   "round_nearest_afz"),
               {1, 2, 3, -1}},
        OpCase{
            "sign",
            F4,
            "%a = stablehlo.constant dense<[2.5, -1.5, 0.0, 0x7FC00000]> : tensor<4xf32>\n" UNARY(
                "sign"),
            {1, -1, 0, kNan}},
        OpCase{"nan_stays",
               F4,
               "%a = stablehlo.constant dense<[0x7FC00000, 1.0, 0xFF800000, 0x7F800000]> : "
               "tensor<4xf32>\n %b = stablehlo.constant dense<0.0> : tensor<4xf32>\n" BINARY(
                   "maximum"),
               {kNan, 1, 0, kInf}},
        OpCase{"integer_divide",
               I4,
               I J "%r = stablehlo.divide %a, %b : tensor<4xi32>",
               {3, -3, -1, -2147483648.0}},
        OpCase{"integer_remainder",
               I4,
               I J "%r = stablehlo.remainder %a, %b : tensor<4xi32>",
               {1, -1, 5, 0}},
        OpCase{
            "integer_wraps", I4, I "%r = stablehlo.add %a, %a : tensor<4xi32>", {14, -14, 10, 0}},
        OpCase{
            "integer_power", I4, I J "%r = stablehlo.power %a, %b : tensor<4xi32>", {49, 49, 1, 0}},
        OpCase{
            "and", I4, I J "%r = stablehlo.and %a, %b : tensor<4xi32>", {2, 0, 0, -2147483648.0}},
        OpCase{"or", I4, I J "%r = stablehlo.or %a, %b : tensor<4xi32>", {7, -5, 5, -1}},
        OpCase{"xor", I4, I J "%r = stablehlo.xor %a, %b : tensor<4xi32>", {5, -5, 5, 2147483647}},
        OpCase{"not", I4, I "%r = stablehlo.not %a : tensor<4xi32>", {-8, 6, -6, 2147483647}},
        OpCase{"not_i1",
               "tensor<2xi1>",
               "%a = stablehlo.constant dense<[true, false]> : tensor<2xi1>\n%r = stablehlo.not %a "
               ": tensor<2xi1>",
               {0, 1}},
        OpCase{"shift_left",
               I4,
               I "%b = stablehlo.constant dense<[1, 1, 31, 32]> : tensor<4xi32>\n%r = "
                 "stablehlo.shift_left %a, %b : tensor<4xi32>",
               {14, -14, -2147483648.0, 0}},
        OpCase{"shift_arithmetic",
               I4,
               I "%b = stablehlo.constant dense<[1, 1, 40, 31]> : tensor<4xi32>\n%r = "
                 "stablehlo.shift_right_arithmetic %a, %b : tensor<4xi32>",
               {3, -4, 0, -1}},
        OpCase{"shift_logical",
               I4,
               I "%b = stablehlo.constant dense<[1, 28, 40, 31]> : tensor<4xi32>\n%r = "
                 "stablehlo.shift_right_logical %a, %b : tensor<4xi32>",
               {3, 15, 0, 1}},
        OpCase{"popcnt", I4, I "%r = stablehlo.popcnt %a : tensor<4xi32>", {3, 30, 2, 1}},
        OpCase{"leading_zeros",
               "tensor<3xui8>",
               "%a = stablehlo.constant dense<[0, 1, 255]> : tensor<3xui8>\n%r = "
               "stablehlo.count_leading_zeros %a : tensor<3xui8>",
               {8, 7, 0}},
        OpCase{"compare",
               B4,
               A B "%r = stablehlo.compare LT, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> "
                   "tensor<4xi1>",
               {1, 1, 0, 0}},
        OpCase{"compare_unsigned",
               "tensor<2xi1>",
               "%a = stablehlo.constant dense<[200, 3]> : tensor<2xui8>\n%b = stablehlo.constant "
               "dense<[100, 3]> : tensor<2xui8>\n%r = stablehlo.compare GE, %a, %b, UNSIGNED : "
               "(tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>",
               {1, 1}},
        OpCase{
            "compare_total",
            "tensor<2xi1>",
            "%a = stablehlo.constant dense<[-0.0, 0xFFC00000]> : tensor<2xf32>\n%b = "
            "stablehlo.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>\n%r = stablehlo.compare "
            "LT, %a, %b, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>",
            {1, 1}},
        OpCase{"compare_generic",
               B4,
               A B "%r = \"stablehlo.compare\"(%a, %b) <{comparison_direction = "
                   "#stablehlo<comparison_direction GT>}> : (tensor<4xf32>, tensor<4xf32>) -> "
                   "tensor<4xi1>",
               {0, 0, 1, 1}},
        OpCase{"select",
               F4,
               A B "%p = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>\n%r = "
                   "stablehlo.select %p, %a, %b : tensor<4xi1>, tensor<4xf32>",
               {1, 3, 0.5, 0.5}},
        OpCase{"select_scalar",
               F4,
               A B "%p = stablehlo.constant dense<false> : tensor<i1>\n%r = stablehlo.select %p, "
                   "%a, %b : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
               {2, 3, -4, 0.5}},
        OpCase{"clamp",
               F4,
               A "%l = stablehlo.constant dense<-1.0> : tensor<f32>\n%h = stablehlo.constant "
                 "dense<2.0> : tensor<f32>\n%r = stablehlo.clamp %l, %a, %h : (tensor<f32>, "
                 "tensor<4xf32>, tensor<f32>) -> tensor<4xf32>",
               {1, -1, 0.5, 2}},
        OpCase{"is_finite",
               B4,
               "%a = stablehlo.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : "
               "tensor<4xf32>\n%r = stablehlo.is_finite %a : (tensor<4xf32>) -> tensor<4xi1>",
               {1, 0, 0, 0}}),
    &NameOf);

INSTANTIATE_TEST_SUITE_P(
    Conversion, OpCases,
    testing::Values(
        OpCase{"float_to_int",
               I4,
               "%a = stablehlo.constant dense<[1.9, -1.9, 3.0e10, 0x7FC00000]> : tensor<4xf32>\n%r "
               "= stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi32>",
               {1, -1, 2147483647, 0}},
        OpCase{"float_to_unsigned",
               "tensor<3xui8>",
               "%a = stablehlo.constant dense<[1.9, -1.9, 300.0]> : tensor<3xf32>\n%r = "
               "stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xui8>",
               {1, 0, 255}},
        OpCase{"int_wraps",
               "tensor<2xi8>",
               "%a = stablehlo.constant dense<[300, -129]> : tensor<2xi32>\n%r = stablehlo.convert "
               "%a : (tensor<2xi32>) -> tensor<2xi8>",
               {44, 127}},
        OpCase{"to_bool",
               "tensor<3xi1>",
               "%a = stablehlo.constant dense<[0.0, 0.25, 0x7FC00000]> : tensor<3xf32>\n%r = "
               "stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xi1>",
               {0, 1, 1}},
        OpCase{"to_bf16",
               "tensor<3xbf16>",
               "%a = stablehlo.constant dense<[1.00390625, 1.01171875, 3.4e38]> : "
               "tensor<3xf32>\n%r = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xbf16>",
               {1, 1.015625, kInf},
               0},
        OpCase{"to_f16",
               "tensor<4xf16>",
               "%a = stablehlo.constant dense<[65519.0, 65520.0, 6.0e-8, 1.0004883]> : "
               "tensor<4xf32>\n%r = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf16>",
               {65504, kInf, 0x1p-24, 1},
               1e-9},
        OpCase{"f64_to_f16_once",
               "tensor<f16>",
               "%a = stablehlo.constant dense<1.0004882812500005> : tensor<f64>\n%r = "
               "stablehlo.convert %a : (tensor<f64>) -> tensor<f16>",
               {1.0009765625},
               1e-9},
        OpCase{"i64_to_f32",
               "tensor<f32>",
               "%a = stablehlo.constant dense<16777217> : tensor<i64>\n%r = stablehlo.convert %a : "
               "(tensor<i64>) -> tensor<f32>",
               {16777216},
               0},
        OpCase{"bitcast",
               "tensor<i32>",
               "%a = stablehlo.constant dense<1.0> : tensor<f32>\n%r = stablehlo.bitcast_convert "
               "%a : (tensor<f32>) -> tensor<i32>",
               {1065353216},
               0},
        OpCase{"bitcast_narrow",
               "tensor<1x2xui16>",
               "%a = stablehlo.constant dense<0x12345678> : tensor<1xui32>\n%r = "
               "stablehlo.bitcast_convert %a : (tensor<1xui32>) -> tensor<1x2xui16>",
               {0x5678, 0x1234},
               0},
        OpCase{"reduce_precision",
               "tensor<2xf32>",
               "%a = stablehlo.constant dense<[1.00390625, 1.0e38]> : tensor<2xf32>\n%r = "
               "stablehlo.reduce_precision %a, format = e5m10 : tensor<2xf32>",
               {1.00390625, kInf},
               0},
        OpCase{"complex",
               "tensor<2xcomplex<f32>>",
               "%a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n%b = stablehlo.constant "
               "dense<[3.0, 4.0]> : tensor<2xf32>\n%c = stablehlo.complex %a, %b : "
               "tensor<2xcomplex<f32>>\n%r = stablehlo.multiply %c, %c : tensor<2xcomplex<f32>>",
               {-8, 6, -12, 16}},
        OpCase{
            "complex_parts",
            "tensor<2xf32>",
            "%c = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>\n%re "
            "= stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>\n%im = stablehlo.imag "
            "%c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>\n%ab = stablehlo.abs %c : "
            "(tensor<2xcomplex<f32>>) -> tensor<2xf32>\n%s = stablehlo.add %re, %im : "
            "tensor<2xf32>\n%r = stablehlo.add %s, %ab : tensor<2xf32>",
            {3 + std::sqrt(5.0), 12}},
        OpCase{"erf",
               F4,
               A "%r = chlo.erf %a : tensor<4xf32> -> tensor<4xf32>",
               {std::erf(1.0), std::erf(-2.0), std::erf(0.5), std::erf(4.0)}},
        OpCase{"erf_inv",
               "tensor<3xf64>",
               "%a = stablehlo.constant dense<[0.5, -0.999, 1.0]> : tensor<3xf64>\n%r = "
               "chlo.erf_inv %a : tensor<3xf64> -> tensor<3xf64>",
               {0.4769362762044699, -2.326753765513525, kInf},
               1e-12},
        OpCase{"digamma",
               "tensor<3xf64>",
               "%a = stablehlo.constant dense<[1.0, 0.5, -1.5]> : tensor<3xf64>\n%r = chlo.digamma "
               "%a : tensor<3xf64> -> tensor<3xf64>",
               {-0.5772156649015329, -1.9635100260214235, 0.7031566406452432},
               1e-12},
        OpCase{"lgamma",
               "tensor<2xf64>",
               "%a = stablehlo.constant dense<[5.0, 0.5]> : tensor<2xf64>\n%r = chlo.lgamma %a : "
               "tensor<2xf64> -> tensor<2xf64>",
               {3.1780538303479458, 0.5723649429247001},
               1e-12},
        OpCase{"zeta",
               "tensor<2xf64>",
               "%a = stablehlo.constant dense<[2.0, 3.5]> : tensor<2xf64>\n%b = stablehlo.constant "
               "dense<[1.0, 2.0]> : tensor<2xf64>\n%r = chlo.zeta %a, %b : tensor<2xf64>, "
               "tensor<2xf64> -> tensor<2xf64>",
               {1.6449340668482264, 0.12673386731705664},
               1e-11},
        OpCase{
            "polygamma",
            "tensor<f64>",
            "%n = stablehlo.constant dense<1.0> : tensor<f64>\n%x = stablehlo.constant dense<1.0> "
            ": tensor<f64>\n%r = chlo.polygamma %n, %x : tensor<f64>, tensor<f64> -> tensor<f64>",
            {1.6449340668482264},
            1e-11}),
    &NameOf);

}  // namespace
}  // namespace tenon::pjrt_test
