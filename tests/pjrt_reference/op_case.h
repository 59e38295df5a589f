// A case of an op: a program without arguments and what its first result should be.
#pragma once

#include <gmock/gmock.h>  // before its template parameters become macros

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace tenon::pjrt_test {

struct OpCase {
  const char* name;
  const char* type;  // of the first result
  const char* body;  // ends with the value to return as "%r"
  std::vector<double> expected;
  double tolerance = 1e-6;  // relative above 1
};

inline void PrintTo(const OpCase& op, std::ostream* out) { *out << op.name; }
inline std::string NameOf(const testing::TestParamInfo<OpCase>& info) { return info.param.name; }

class OpCases : public testing::TestWithParam<OpCase> {};

inline constexpr double kNan = NAN;
inline constexpr double kInf = INFINITY;

}  // namespace tenon::pjrt_test

// Lines of programs.
#define A "%a = stablehlo.constant dense<[1.0, -2.0, 0.5, 4.0]> : tensor<4xf32>\n"
#define B "%b = stablehlo.constant dense<[2.0, 3.0, -4.0, 0.5]> : tensor<4xf32>\n"
#define P "%a = stablehlo.constant dense<[0.25, 1.0, 2.0, 9.0]> : tensor<4xf32>\n"
#define I "%a = stablehlo.constant dense<[7, -7, 5, -2147483648]> : tensor<4xi32>\n"
#define J "%b = stablehlo.constant dense<[2, 2, 0, -1]> : tensor<4xi32>\n"
#define M "%m = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>\n"
#define ZERO "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
#define UNARY(op) "%r = stablehlo." op " %a : tensor<4xf32>"
#define BINARY(op) "%r = stablehlo." op " %a, %b : tensor<4xf32>"
#define F4 "tensor<4xf32>"
#define I4 "tensor<4xi32>"
#define B4 "tensor<4xi1>"
#define SUM_REGION                                                                           \
  "({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n %s = stablehlo.add %x, %y : tensor<f32>\n " \
  "stablehlo.return %s : tensor<f32>\n})"
