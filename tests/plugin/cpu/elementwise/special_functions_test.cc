// Values from SciPy, on both sides of every switch between formulas, and rules that hold between
// values.
#include "plugin/cpu/elementwise/loops/special_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace tenon::cpu::special_functions_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void ExpectValues(double (*f)(double), const std::vector<std::pair<double, double>>& values) {
  for (const auto& [x, want] : values)
    EXPECT_NEAR(f(x), want, 2e-15 * std::abs(want)) << "at " << x;
  EXPECT_TRUE(std::isnan(f(kNan)));
}

TEST(SpecialFunctions, Dawson) {
  ExpectValues(Dawson, {{0.1, 0.099335992397852901},
                        {0.2, 0.19475103336802793},
                        {0.5, 0.42443638350202229},
                        {1, 0.5380795069127684},
                        {4.3, 0.11972192280883907},
                        {9.99, 0.050304668236845249},
                        {10, 0.050253847187598538},
                        {30, 0.016675941401059196},
                        {-1, -0.5380795069127684}});
  EXPECT_EQ(Dawson(kInf), 0);
  EXPECT_EQ(Dawson(1e-200), 1e-200);
}

TEST(SpecialFunctions, ExpIntegral) {
  ExpectValues(ExpIntegral, {{1e-3, -6.3295393640250381},
                             {0.3, -0.30266853926582604},
                             {1, 1.895117816355937},
                             {5.9, 79.538190144887579},
                             {6.1, 93.002009986963657},
                             {40, 6039718263611238},
                             {700, 1.4509787360525605e+301}});
  EXPECT_EQ(ExpIntegral(0), -kInf);
  EXPECT_EQ(ExpIntegral(1e4), kInf);
  EXPECT_TRUE(std::isnan(ExpIntegral(-1)));
}

TEST(SpecialFunctions, Fresnel) {
  ExpectValues(FresnelCos, {{0.1, 0.099997532627085065},
                            {1, 0.77989340037682298},
                            {1.59, 0.37202645922223937},
                            {1.61, 0.35928415347323511},
                            {3, 0.60572078929768569},
                            {20.5, 0.50593116912756131},
                            {-1, -0.77989340037682298}});
  ExpectValues(FresnelSin, {{0.1, 0.00052358954761221076},
                            {1, 0.43825914739035471},
                            {1.59, 0.64642975198598673},
                            {1.61, 0.6310253086563824},
                            {3, 0.49631299896737502},
                            {20.5, 0.48565015873667633},
                            {-1, -0.43825914739035471}});
  // The wave of an even whole x stands at its start: S = 1/2 - 1/(pi x), up to the fifth order.
  EXPECT_NEAR(FresnelSin(1e6), 0.5 - 1 / (std::numbers::pi * 1e6), 1e-16);
  for (double x : {1e17, 1e200, kInf}) {
    EXPECT_EQ(FresnelCos(x), 0.5);
    EXPECT_EQ(FresnelSin(-x), -0.5);
  }
}

TEST(SpecialFunctions, Spence) {
  ExpectValues(Spence, {{0, std::numbers::pi * std::numbers::pi / 6},
                        {0.001, 1.6370226052761176},
                        {0.3, 0.8893776242860385},
                        {0.5, 0.58224052646501345},
                        {1, 0},
                        {1.2, -0.19080013777753554},
                        {2, -0.8224670334241142},
                        {3, -1.4367463668836811},
                        {1e6, -97.079085239941662}});
  EXPECT_TRUE(std::isnan(Spence(-1)));
}

TEST(SpecialFunctions, HurwitzZeta) {
  const auto expect = [](double x, double q, double want) {
    EXPECT_NEAR(HurwitzZeta(x, q), want, 2e-15 * std::abs(want)) << "at " << x << ", " << q;
  };
  expect(2, 1, std::numbers::pi * std::numbers::pi / 6);
  expect(1.001, 1, 1000.5772884760117);
  expect(3, 0.25, 64.663869968768438);
  expect(2, 1000, 0.0010005001666666331);
  expect(7.5, 2.25, 0.002453504976385894);
  EXPECT_EQ(HurwitzZeta(1e30, 2), 0);
  EXPECT_EQ(HurwitzZeta(2, kInf), 0);
  EXPECT_EQ(HurwitzZeta(1, 5), kInf);
  EXPECT_TRUE(std::isnan(HurwitzZeta(0.5, 1)));
  EXPECT_TRUE(std::isnan(HurwitzZeta(2, kNan)));
  EXPECT_TRUE(std::isnan(HurwitzZeta(kNan, 2)));
}

// The sum over all whole k of (q + k)^-2 is (pi / sin(pi q))^2, however far below 0 it starts.
TEST(SpecialFunctions, HurwitzZetaOfNegativeNumbers) {
  for (double q : {-0.25, -7.25, -1000.25, -1e15 - 0.25}) {
    const double both_sides = HurwitzZeta(2, q) + HurwitzZeta(2, 1 - q);
    EXPECT_NEAR(both_sides, 2 * std::numbers::pi * std::numbers::pi, 1e-13) << q;
  }
  EXPECT_NEAR(HurwitzZeta(3, -1.5), HurwitzZeta(3, 0.5) - std::pow(0.5, -3) - std::pow(1.5, -3),
              1e-14);
  EXPECT_EQ(HurwitzZeta(2, -3), kInf);
  EXPECT_EQ(HurwitzZeta(kInf, -3), kInf);
  EXPECT_EQ(HurwitzZeta(kInf, -1.5), kInf);
  EXPECT_TRUE(std::isnan(HurwitzZeta(3, -3)));
  EXPECT_TRUE(std::isnan(HurwitzZeta(2.5, -3.5)));
}

}  // namespace
}  // namespace tenon::cpu::special_functions_test
