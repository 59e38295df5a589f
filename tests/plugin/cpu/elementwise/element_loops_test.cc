// The inner loops against the C library in double precision: 2 ulp for float, and the rules for
// special values.
#include "plugin/cpu/elementwise/loops/element_op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"

namespace tenon::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Distance of `got` from the exact value, in units of the last place of the float nearest to it.
double UlpError(float got, double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e9;
  const float rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1e9;
  if (std::abs(exact) < 1.2e-38) return std::abs(got) <= 1.2e-38 ? 0 : 1e9;
  int exponent;
  std::frexp(exact, &exponent);
  return std::abs(static_cast<double>(got) - exact) / std::ldexp(1.0, exponent - 24);
}

struct UnaryCase {
  const char* name;
  ElementOp op;
  double (*exact)(double);
  double low, high;
};

class UnaryUlp : public ::testing::TestWithParam<UnaryCase> {};

TEST_P(UnaryUlp, FloatWithinTwoUlp) {
  const UnaryCase& c = GetParam();
  std::vector<float> x;
  constexpr int kSteps = 20011;
  for (int i = 0; i <= kSteps; ++i)
    x.push_back(static_cast<float>(c.low + (c.high - c.low) * i / kSteps));
  for (double m = 1e-30; m < 1; m *= 1.7) {
    for (double v : {m, -m}) {
      if (v > c.low && v < c.high) x.push_back(static_cast<float>(v));
    }
  }
  x.push_back(kNan);
  std::vector<float> got(x.size());
  const void* in[] = {x.data()};
  FindElementLoop(c.op, DataType::kFloat)(in, got.data(), static_cast<int64_t>(x.size()), 1e30f);
  double worst = 0;
  float at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = UlpError(got[i], c.exact(x[i]));
    if (error > worst) {
      worst = error;
      at = x[i];
    }
  }
  EXPECT_LE(worst, 2.0) << c.name << " at " << at;
  RecordProperty("worst_ulp", std::to_string(worst));
  if (std::getenv("TENON_SHOW_ULP") != nullptr)
    std::printf("%-10s %.3f ulp at %g\n", c.name, worst, at);
}

TEST_P(UnaryUlp, DoubleCloseToTheLibrary) {
  const UnaryCase& c = GetParam();
  std::vector<double> x;
  for (int i = 0; i <= 1001; ++i) x.push_back(c.low + (c.high - c.low) * i / 1001);
  std::vector<double> got(x.size());
  const void* in[] = {x.data()};
  FindElementLoop(c.op, DataType::kDouble)(in, got.data(), static_cast<int64_t>(x.size()), 1e30f);
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = c.exact(x[i]);
    EXPECT_NEAR(got[i], want, 1e-14 * std::abs(want) + 1e-15) << c.name << "(" << x[i] << ")";
  }
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Elu(double x) { return x < 0 ? std::expm1(x) : x; }
double Selu(double x) {
  return 1.0507009873554804 * (x < 0 ? 1.6732632423543772 * std::expm1(x) : x);
}
double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }

INSTANTIATE_TEST_SUITE_P(
    Elements, UnaryUlp,
    ::testing::Values(UnaryCase{"Exp", ElementOp::kExp, std::exp, -87, 88.7},
                      UnaryCase{"Expm1", ElementOp::kExpm1, std::expm1, -20, 88},
                      UnaryCase{"Log", ElementOp::kLog, std::log, 1e-6, 100},
                      UnaryCase{"Log1p", ElementOp::kLog1p, std::log1p, -0.999, 50},
                      UnaryCase{"Sin", ElementOp::kSin, std::sin, -100, 100},
                      UnaryCase{"Cos", ElementOp::kCos, std::cos, -100, 100},
                      UnaryCase{"Tan", ElementOp::kTan, std::tan, -10, 10},
                      UnaryCase{"Asin", ElementOp::kAsin, std::asin, -1, 1},
                      UnaryCase{"Acos", ElementOp::kAcos, std::acos, -1, 1},
                      UnaryCase{"Atan", ElementOp::kAtan, std::atan, -50, 50},
                      UnaryCase{"Sinh", ElementOp::kSinh, std::sinh, -89.4, 89.4},
                      UnaryCase{"Cosh", ElementOp::kCosh, std::cosh, -89.4, 89.4},
                      UnaryCase{"Tanh", ElementOp::kTanh, std::tanh, -11, 11},
                      UnaryCase{"Asinh", ElementOp::kAsinh, std::asinh, -50, 50},
                      UnaryCase{"Acosh", ElementOp::kAcosh, std::acosh, 1, 50},
                      UnaryCase{"Atanh", ElementOp::kAtanh, std::atanh, -0.999, 0.999},
                      UnaryCase{"Erf", ElementOp::kErf, std::erf, -5, 5},
                      UnaryCase{"Erfc", ElementOp::kErfc, std::erfc, -5, 9},
                      UnaryCase{"Sigmoid", ElementOp::kSigmoid, Sigmoid, -80, 80},
                      UnaryCase{"Elu", ElementOp::kElu, Elu, -20, 20},
                      UnaryCase{"Selu", ElementOp::kSelu, Selu, -20, 20},
                      UnaryCase{"Softplus", ElementOp::kSoftplus, Softplus, -80, 80},
                      UnaryCase{"Rsqrt", ElementOp::kRsqrt, Rsqrt, 1e-6, 100}),
    [](const auto& info) { return std::string(info.param.name); });

std::vector<float> RunFloat(ElementOp op, std::vector<float> x) {
  std::vector<float> out(x.size());
  const void* in[] = {x.data()};
  FindElementLoop(op, DataType::kFloat)(in, out.data(), static_cast<int64_t>(x.size()), 0);
  return out;
}

TEST(ElementLoops, SpecialValues) {
  for (int64_t length : {1, 19}) {
    const std::vector<float> exp = RunFloat(ElementOp::kExp, std::vector<float>(length, kInf));
    EXPECT_EQ(exp.back(), kInf);
    EXPECT_EQ(RunFloat(ElementOp::kExp, std::vector<float>(length, -kInf)).back(), 0.0f);
    EXPECT_TRUE(std::isnan(RunFloat(ElementOp::kRelu, std::vector<float>(length, kNan)).back()));
    EXPECT_TRUE(std::isnan(RunFloat(ElementOp::kSign, std::vector<float>(length, kNan)).back()));
    EXPECT_EQ(RunFloat(ElementOp::kRsqrt, std::vector<float>(length, -0.0f)).back(), -kInf);
    EXPECT_EQ(RunFloat(ElementOp::kRint, std::vector<float>(length, 2.5f)).back(), 2.0f);
    EXPECT_EQ(RunFloat(ElementOp::kSigmoid, std::vector<float>(length, -kInf)).back(), 0.0f);
    EXPECT_EQ(RunFloat(ElementOp::kSoftplus, std::vector<float>(length, kInf)).back(), kInf);
  }
}

TEST(ElementLoops, SinhAndCoshOverflowWhereTheResultDoes) {
  for (const ElementOp op : {ElementOp::kSinh, ElementOp::kCosh}) {
    EXPECT_EQ(RunFloat(op, std::vector<float>{89.5f}).back(), kInf);
    EXPECT_EQ(RunFloat(op, std::vector<float>{kInf}).back(), kInf);
    EXPECT_TRUE(std::isnan(RunFloat(op, std::vector<float>{kNan}).back()));
    const double x[] = {709.5, 710.4, 710.5};
    double out[3];
    const void* in[] = {x};
    FindElementLoop(op, DataType::kDouble)(in, out, 3, 0);
    EXPECT_NEAR(out[0] / 6.77493160e+307, 1, 1e-8);
    EXPECT_NEAR(out[1] / 1.66636428e+308, 1, 1e-8);
    EXPECT_EQ(out[2], std::numeric_limits<double>::infinity());
  }
}

TEST(ElementLoops, Log1pIsFiniteToTheEndOfTheRange) {
  for (const double x : {0x1p119, 0x1.8p120, 1.5e38, 3.4e38})
    EXPECT_FLOAT_EQ(RunFloat(ElementOp::kLog1p, std::vector<float>{static_cast<float>(x)}).back(),
                    std::log1p(x));
  EXPECT_EQ(RunFloat(ElementOp::kLog1p, std::vector<float>{kInf}).back(), kInf);
  EXPECT_TRUE(std::isnan(RunFloat(ElementOp::kLog1p, std::vector<float>{kNan}).back()));
  const double x = std::numeric_limits<double>::max();
  double out = 0;
  const void* in[] = {&x};
  FindElementLoop(ElementOp::kLog1p, DataType::kDouble)(in, &out, 1, 0);
  EXPECT_DOUBLE_EQ(out, std::log1p(x));
}

std::vector<float> RunFloat(ElementOp op, const std::vector<std::vector<float>>& operands) {
  std::vector<float> out(operands[0].size());
  std::vector<const void*> in;
  for (const std::vector<float>& x : operands) in.push_back(x.data());
  FindElementLoop(op, DataType::kFloat)(in.data(), out.data(), static_cast<int64_t>(out.size()), 0);
  return out;
}

// What TensorFlow gives, bit for bit.
TEST(ElementLoops, DenormalsAreZeroUnlessTheyPassThrough) {
  const auto bits = [](float x) {
    uint32_t b;
    std::memcpy(&b, &x, sizeof(b));
    return b;
  };
  struct Row {
    ElementOp op;
    std::vector<float> others;
    bool zero, keeps_sign;
  };
  const Row rows[] = {
      {ElementOp::kRelu, {}, true, false},     {ElementOp::kRelu6, {}, true, false},
      {ElementOp::kMaximum, {-1}, true, true}, {ElementOp::kMinimum, {1}, true, true},
      {ElementOp::kClip, {-1, 1}, true, true}, {ElementOp::kSinh, {}, false, true},
      {ElementOp::kAsinh, {}, false, true},    {ElementOp::kTan, {}, false, true},
      {ElementOp::kExpm1, {}, false, true},    {ElementOp::kPow, {1}, false, true}};
  const DenormalGuard flush;
  for (const size_t length : {size_t{1}, size_t{19}}) {
    for (const Row& row : rows) {
      for (const float x : {1e-40f, -1e-40f, 0.0f, -0.0f}) {
        std::vector<std::vector<float>> operands = {std::vector<float>(length, x)};
        for (const float other : row.others) operands.emplace_back(length, other);
        const uint32_t sign = row.keeps_sign ? bits(x) & 0x80000000 : 0;
        const uint32_t want = row.zero ? sign : bits(x);
        EXPECT_EQ(bits(RunFloat(row.op, operands).back()), want)
            << static_cast<int>(row.op) << " of " << bits(x);
      }
    }
  }
}

TEST(ElementLoops, APowerOfOneIsTheNumberItself) {
  using Limits = std::numeric_limits<double>;
  const std::vector<double> x = {Limits::max(), Limits::lowest(), Limits::infinity(),
                                 -0.0,          Limits::min(),    0.1,
                                 -1e308,        1e-300,           3.0};
  const std::vector<double> one(x.size(), 1);
  std::vector<double> got(x.size());
  const void* in[] = {x.data(), one.data()};
  FindElementLoop(ElementOp::kPow, DataType::kDouble)(in, got.data(),
                                                      static_cast<int64_t>(x.size()), 0);
  EXPECT_EQ(std::memcmp(got.data(), x.data(), x.size() * sizeof(double)), 0);
}

TEST(ElementLoops, HalfRoundTripsEveryValue) {
  for (DataType type : {DataType::kHalf, DataType::kBfloat16}) {
    std::vector<uint16_t> all(65536), back(65536);
    for (int i = 0; i < 65536; ++i) all[i] = static_cast<uint16_t>(i);
    std::vector<float> wide(65536);
    const void* in[] = {all.data()};
    FindCastLoop(type, DataType::kFloat)(in, wide.data(), 65536, 0);
    const void* wide_in[] = {wide.data()};
    FindCastLoop(DataType::kFloat, type)(wide_in, back.data(), 65536, 0);
    for (int i = 0; i < 65536; ++i) {
      if (std::isnan(wide[i])) continue;
      EXPECT_EQ(back[i], all[i]);
    }
  }
}

// To the nearest, to even ones from half way; denormals too, though threads flush them.
TEST(ElementLoops, FloatIsRoundedToBfloat16) {
  const DenormalGuard flush;
  std::vector<uint32_t> bits;
  for (uint32_t high = 0; high < 65536; ++high) {
    for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      bits.push_back(high << 16 | low);
  }
  bits.pop_back();  // no whole number of vectors
  std::vector<uint16_t> got(bits.size());
  const void* in[] = {bits.data()};
  FindCastLoop(DataType::kFloat, DataType::kBfloat16)(in, got.data(), bits.size(), 0);
  for (size_t i = 0; i < bits.size(); ++i) {
    const uint32_t high = bits[i] >> 16, low = bits[i] & 0xffff;
    const bool up = low > 0x8000 || (low == 0x8000 && high % 2 == 1);
    const bool nan = (bits[i] & 0x7fffffff) > 0x7f800000;
    ASSERT_EQ(got[i], nan ? 0x7fc0 : high + (up ? 1 : 0)) << bits[i];
  }
}

TEST(ElementLoops, IntegerDivisionNeverTraps) {
  const std::vector<int32_t> a = {7, -7, 7, -7, std::numeric_limits<int32_t>::min(), 1};
  const std::vector<int32_t> b = {2, 2, -2, -2, -1, 0};
  std::vector<int32_t> out(a.size());
  const void* in[] = {a.data(), b.data()};
  FindElementLoop(ElementOp::kFloorDiv, DataType::kInt32)(in, out.data(), 6, 0);
  EXPECT_EQ((std::vector<int32_t>(out.begin(), out.begin() + 4)),
            (std::vector<int32_t>{3, -4, -4, 3}));
  FindElementLoop(ElementOp::kFloorMod, DataType::kInt32)(in, out.data(), 6, 0);
  EXPECT_EQ((std::vector<int32_t>(out.begin(), out.begin() + 4)),
            (std::vector<int32_t>{1, 1, -1, -1}));
}

// 5 / 1.667 and 2.984 / 0.996 are 3 only after rounding.
TEST(ElementLoops, HalfQuotientsAreRoundedBeforeTheyAreTruncated) {
  const auto quotient = [](DataType type, uint16_t a, uint16_t b) {
    uint16_t out = 0;
    const void* in[] = {&a, &b};
    FindElementLoop(ElementOp::kTruncateDiv, type)(in, &out, 1, 0);
    return out;
  };
  EXPECT_EQ(quotient(DataType::kHalf, 0x4500, 0x3eab), 0x4200);
  EXPECT_EQ(quotient(DataType::kHalf, 0xc500, 0x3eab), 0xc200);
  EXPECT_EQ(quotient(DataType::kBfloat16, 0x403f, 0x3f7f), 0x4040);
}

template <typename T>
void ExpectComplexNear0(DataType type, double tolerance) {
  using C = std::complex<T>;
  const std::vector<C> x = {C(T(1e-5), 0), C(T(1e-5), T(1e-5)), C(T(1e-8), T(3e-9))};
  const std::vector<std::complex<double>> log1p = {
      {9.99995e-6, 0}, {1e-5, 9.9999e-6}, {1e-8, 3e-9}};
  const std::vector<std::complex<double>> expm1 = {
      {1.000005e-5, 0}, {1e-5, 1.00001e-5}, {1e-8, 3e-9}};
  std::vector<C> got(x.size());
  const void* in[] = {x.data(), x.data()};
  const auto run = [&](ElementOp op) { FindElementLoop(op, type)(in, got.data(), 3, 0); };
  const auto expect = [&](size_t i, std::complex<double> want) {
    EXPECT_NEAR(got[i].real(), want.real(), tolerance * std::abs(want)) << x[i];
    EXPECT_NEAR(got[i].imag(), want.imag(), tolerance * std::abs(want)) << x[i];
  };
  run(ElementOp::kLog1p);
  for (size_t i = 0; i < x.size(); ++i) expect(i, log1p[i]);
  run(ElementOp::kExpm1);
  for (size_t i = 0; i < x.size(); ++i) expect(i, expm1[i]);
  run(ElementOp::kXlog1py);
  for (size_t i = 0; i < x.size(); ++i) expect(i, std::complex<double>(x[i]) * log1p[i]);
}

TEST(ElementLoops, ComplexLog1pAndExpm1KeepDigitsNear0) {
  ExpectComplexNear0<float>(DataType::kComplex64, 1e-6);
  ExpectComplexNear0<double>(DataType::kComplex128, 1e-8);
}

// Every pair of shapes against index arithmetic.
TEST(Broadcast, AgreesWithIndexing) {
  const std::vector<std::pair<Shape, Shape>> cases = {
      {{}, {}},
      {{5}, {}},
      {{2, 3}, {3}},
      {{2, 1}, {1, 3}},
      {{2, 3, 4}, {3, 1}},
      {{4, 1, 5}, {2, 1}},
      {{700, 3}, {700, 1}},
      {{3, 700}, {700}},
      {{3, 700}, {3, 1}},
      {{0, 3}, {1}},
      {{2, 1, 3, 1}, {1, 5, 1, 60}},
      {{1, 2000}, {2000, 1}},
  };
  Workers workers(2);
  for (const auto& [sa, sb] : cases) {
    const Shape shapes[] = {sa, sb};
    auto plan = BroadcastPlan::Make(shapes);
    ASSERT_TRUE(plan.has_value());
    std::vector<float> a(sa.num_elements()), b(sb.num_elements());
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i) * 0.5f;
    ElementStep step;
    ASSERT_TRUE(ChooseLoop(ElementOp::kSub, DataType::kFloat, DataType::kFloat, &step));
    step.plan = *plan;
    step.operands = 2;
    step.n = plan->shape.num_elements();
    step.in_size.fill(4);
    step.out_size = 4;
    step.grain = 100;
    std::vector<float> out(step.n);
    const void* in[] = {a.data(), b.data()};
    RunElementStep(step, in, out.data(), &workers);
    const int rank = plan->shape.rank();
    for (int64_t i = 0; i < step.n; ++i) {
      int64_t rest = i, ia = 0, ib = 0, pa = 1, pb = 1;
      for (int d = rank - 1; d >= 0; --d) {
        const int64_t at = rest % plan->shape.dim(d);
        rest /= plan->shape.dim(d);
        const int da = d - (rank - sa.rank()), db = d - (rank - sb.rank());
        if (da >= 0) {
          ia += sa.dim(da) == 1 ? 0 : at * pa;
          pa *= sa.dim(da);
        }
        if (db >= 0) {
          ib += sb.dim(db) == 1 ? 0 : at * pb;
          pb *= sb.dim(db);
        }
      }
      ASSERT_EQ(out[i], a[ia] - b[ib]) << sa.ToString() << " " << sb.ToString() << " at " << i;
    }
  }
}

// What TensorFlow gives: a product with 0 or 1, so that an infinity times 0 is NaN.
TEST(ElementLoops, GradientsOfRectifiersAreProducts) {
  const float gradients[] = {kInf, kNan, -kInf, kNan, 2, -3, kInf};
  const float features[] = {0, -1, 1, 2, -kInf, 5, 7};
  const void* in[] = {gradients, features};
  float got[std::size(gradients)];
  FindElementLoop(ElementOp::kReluGrad, DataType::kFloat)(in, got, std::size(got), 0);
  for (const int i : {0, 1, 3}) EXPECT_TRUE(std::isnan(got[i])) << i;
  EXPECT_EQ(got[2], -kInf);
  EXPECT_EQ(got[4], 0);
  EXPECT_EQ(got[5], -3);
  EXPECT_EQ(got[6], kInf);
  FindElementLoop(ElementOp::kRelu6Grad, DataType::kFloat)(in, got, std::size(got), 0);
  EXPECT_EQ(got[5], -3);
  EXPECT_TRUE(std::isnan(got[6]));
}

constexpr ElementOp kUnary[] = {
    ElementOp::kAbs,        ElementOp::kNeg,        ElementOp::kSquare,    ElementOp::kSign,
    ElementOp::kRelu,       ElementOp::kRelu6,      ElementOp::kSqrt,      ElementOp::kRsqrt,
    ElementOp::kReciprocal, ElementOp::kFloor,      ElementOp::kCeil,      ElementOp::kRint,
    ElementOp::kExp,        ElementOp::kExpm1,      ElementOp::kLog,       ElementOp::kLog1p,
    ElementOp::kSin,        ElementOp::kCos,        ElementOp::kTan,       ElementOp::kAsin,
    ElementOp::kAcos,       ElementOp::kAtan,       ElementOp::kSinh,      ElementOp::kCosh,
    ElementOp::kTanh,       ElementOp::kAsinh,      ElementOp::kAcosh,     ElementOp::kAtanh,
    ElementOp::kErf,        ElementOp::kErfc,       ElementOp::kLgamma,    ElementOp::kBesselI0,
    ElementOp::kBesselI0e,  ElementOp::kBesselI1,   ElementOp::kBesselI1e, ElementOp::kBesselJ0,
    ElementOp::kBesselJ1,   ElementOp::kBesselK0,   ElementOp::kBesselK0e, ElementOp::kBesselK1,
    ElementOp::kBesselK1e,  ElementOp::kBesselY0,   ElementOp::kBesselY1,  ElementOp::kDigamma,
    ElementOp::kNdtri,      ElementOp::kErfinv,     ElementOp::kDawsn,     ElementOp::kExpint,
    ElementOp::kFresnelCos, ElementOp::kFresnelSin, ElementOp::kSpence,    ElementOp::kSigmoid,
    ElementOp::kElu,        ElementOp::kSelu,       ElementOp::kSoftplus,  ElementOp::kSoftsign};

// What multiplies by 1 flushes, what moves data does not: neither may be seen.
template <typename T>
void ExpectDenormalsAreZeros(ElementOp op, DataType type) {
  const ElementLoop loop = FindElementLoop(op, type);
  ASSERT_NE(loop, nullptr) << static_cast<int>(op);
  const T least = std::numeric_limits<T>::denorm_min(), most = std::numeric_limits<T>::min() / 2;
  std::vector<T> x, zeros;
  for (int i = 0; i < 9; ++i) {  // whole vectors and a rest
    for (T v : {least, -least, most, -most}) {
      x.push_back(v);
      zeros.push_back(std::copysign(T{0}, v));
    }
  }
  std::vector<T> got(x.size()), want(x.size());
  const void* const in[] = {x.data()};
  const void* const in_zeros[] = {zeros.data()};
  const DenormalGuard guard;
  loop(in, got.data(), static_cast<int64_t>(x.size()), 0);
  loop(in_zeros, want.data(), static_cast<int64_t>(x.size()), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(want[i]) && std::isnan(got[i])) continue;
    EXPECT_EQ(got[i], want[i]) << static_cast<int>(op) << " element " << i;
    EXPECT_EQ(std::signbit(got[i]), std::signbit(want[i]))
        << static_cast<int>(op) << " element " << i;
  }
}

TEST(ElementLoops, TakeDenormalsForZerosOfTheirSign) {
  for (ElementOp op : kUnary) {
    ExpectDenormalsAreZeros<float>(op, DataType::kFloat);
    ExpectDenormalsAreZeros<double>(op, DataType::kDouble);
  }
}

}  // namespace
}  // namespace tenon::cpu
