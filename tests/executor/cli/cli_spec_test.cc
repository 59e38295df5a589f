// SPEC, the command line's way to write a tensor.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "executor/cli/bench/bench_timing.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/tensors/cast.h"
#include "executor/cli/tensors/spec.h"
#include "executor/values/compare.h"
#include "executor/values/element.h"
#include "executor/values/statistics.h"
#include "executor/values/tensor_text.h"

namespace tenon::cli {
namespace {

using ::testing::HasSubstr;

// "f32[2,2] 1 2 3 4", or the error's text.
std::string Parsed(std::string_view spec, const SpecHint& hint = {}) {
  const absl::StatusOr<Tensor> tensor = ParseSpec(spec, hint);
  if (!tensor.ok()) return absl::StrCat("error: ", tensor.status().message());
  std::string text = TypeText(tensor->dtype(), tensor->shape());
  for (int64_t i = 0; i < tensor->num_elements(); ++i)
    absl::StrAppend(&text, " ", ElementText(*tensor, i));
  return text;
}

TEST(Spec, NumPyNames) {
  EXPECT_EQ(Parsed("2xfloat32=1,2"), "f32[2] 1 2");
  EXPECT_EQ(Parsed("int64=7"), "i64 7");
  EXPECT_THAT(Parsed("2xflaot32=1"), HasSubstr("did you mean 'float32'?"));
}

TEST(Cast, KeepsWhatTheTypeHasAPlaceFor) {
  const auto cast = [](const char* spec, DataType to) {
    const absl::StatusOr<Tensor> result = Cast(*ParseSpec(spec, {}), to);
    if (!result.ok()) return std::string(result.status().message());
    std::string text(DataTypeShortName(result->dtype()));
    for (int64_t i = 0; i < result->num_elements(); ++i)
      absl::StrAppend(&text, " ", ElementText(*result, i));
    return text;
  };
  EXPECT_EQ(cast("3xf64=1.5 -2.75 1e300", DataType::kFloat), "f32 1.5 -2.75 inf");
  EXPECT_EQ(cast("3xf64=1.5 -2.75 255", DataType::kInt32), "i32 1 -2 255");
  EXPECT_EQ(cast("2xi64=3 -4", DataType::kFloat), "f32 3 -4");
  // Just above, at and just below the middle between two floats: a double in between would be at
  // it.
  EXPECT_EQ(
      cast("3xi64=4611686293305294849 4611686293305294848 4611686293305294847", DataType::kFloat),
      "f32 4.6116866e+18 4.611686e+18 4.611686e+18");
  EXPECT_EQ(cast("3xi64=-4611686293305294849 -9223372036854775808 -1", DataType::kFloat),
            "f32 -4.6116866e+18 -9.223372e+18 -1");
  EXPECT_EQ(cast("2xu64=9223372586610589697 18446744073709551615", DataType::kFloat),
            "f32 9.223373e+18 1.8446744e+19");
  EXPECT_EQ(cast("i64=4611686293305294849", DataType::kComplex64), "c64 4.6116866e+18+0j");
  EXPECT_EQ(cast("i64=72339069014638593", DataType::kBfloat16), "bf16 7.2621e+16");
  EXPECT_EQ(cast("2xu64=18446744073709551615 0", DataType::kDouble), "f64 18446744073709551616 0");
  EXPECT_EQ(cast("i64=-9223372036854775808", DataType::kInt64), "i64 -9223372036854775808");
  EXPECT_EQ(cast("3xf32=0 0.25 nan", DataType::kBool), "bool false true true");
  EXPECT_EQ(cast("2xbool=true,false", DataType::kUint8), "u8 1 0");
  EXPECT_EQ(cast("f32=2", DataType::kComplex64), "c64 2+0j");
  EXPECT_EQ(cast("2xi32=300 2", DataType::kUint8), "element [0]: 300 is no u8");
  EXPECT_EQ(cast("2xi32=2 -1", DataType::kUint64), "element [1]: -1 is no u64");
  EXPECT_EQ(cast("u64=18446744073709551615", DataType::kInt64),
            "element []: 18446744073709551615 is no i64");
  EXPECT_EQ(cast("f32=nan", DataType::kInt32), "element []: nan is no i32");
  EXPECT_EQ(cast("f64=9223372036854775808", DataType::kInt64),
            "element []: 9223372036854775808 is no i64");
  EXPECT_EQ(cast("c64=1+2j", DataType::kFloat), "c64 has no meaning as f32");
  EXPECT_EQ(cast("str=\"a\"", DataType::kFloat), "str has no meaning as f32");
}

TEST(Spec, Literals) {
  EXPECT_EQ(Parsed("2x2xf32=1,2,3,4"), "f32[2,2] 1 2 3 4");
  EXPECT_EQ(Parsed("2x2xi32=[[1 2][3 4]]"), "i32[2,2] 1 2 3 4");
  EXPECT_EQ(Parsed("3.5"), "f32 3.5");
  EXPECT_EQ(Parsed("i32=7"), "i32 7");
  EXPECT_EQ(Parsed("str=\"a b\\n\""), "str \"a b\\n\"");
  EXPECT_EQ(Parsed("2xbool=true,0"), "bool[2] true false");
  EXPECT_EQ(Parsed("3xf64=-1e300 nan -inf"), "f64[3] -1e+300 nan -inf");
  EXPECT_EQ(Parsed("2xc64=1+2j,-3j"), "c64[2] 1+2j 0-3j");
  EXPECT_EQ(Parsed("2xu64=18446744073709551615,0"), "u64[2] 18446744073709551615 0");
  EXPECT_EQ(Parsed("2xi64=-9223372036854775808,9223372036854775807"),
            "i64[2] -9223372036854775808 9223372036854775807");
  EXPECT_EQ(Parsed("2xi4=-8,7"), "i4[2] -8 7");
  EXPECT_EQ(Parsed("2x3xi8=5"), "i8[2,3] 5 5 5 5 5 5");
  EXPECT_EQ(Parsed("0x3xf32="), "f32[0,3]");
  EXPECT_EQ(Parsed("[[1 2 3][4 5 6]]"), "f32[2,3] 1 2 3 4 5 6");
}

TEST(Spec, SmallFloatsRoundToNearestEven) {
  EXPECT_EQ(Parsed("4xf16=65504,65519,1e-8,0.1"), "f16[4] 65504 65504 0 0.099976");
  EXPECT_EQ(Parsed("2xbf16=1.00390625,3.39e38"), "bf16[2] 1 3.3895e+38");
  EXPECT_EQ(Parsed("2xf8e4m3=448,-0.001953125"), "f8e4m3[2] 448 -0.0019531");
  EXPECT_EQ(Parsed("2xf8e5m2=57344,inf"), "f8e5m2[2] 57344 inf");
}

TEST(Spec, InfinityMustBeCalledSo) {
  EXPECT_EQ(Parsed("4xf32=inf,-inf,Infinity,3.4028235e38"), "f32[4] inf -inf inf 3.4028235e+38");
  EXPECT_EQ(Parsed("2xc64=inf,1-infj"), "c64[2] inf+0j 1-infj");
  for (const std::string_view spec :
       {"f32=1e39", "f32=-1e39", "f32=1e999", "f64=1e999", "f16=65520", "bf16=3.4e38",
        "f8e4m3=1000", "f8e5m2=1e9", "c64=1e39", "c64=1+1e39j", "c128=1e999j"}) {
    const std::string_view text = spec.substr(spec.find('=') + 1);
    EXPECT_THAT(Parsed(spec), HasSubstr(absl::StrCat("'", text, "' is no "))) << spec;
  }
}

TEST(Spec, TheGraphFillsInWhatIsLeftOut) {
  EXPECT_EQ(Parsed("7", {DataType::kInt64, PartialShape({2})}), "i64[2] 7 7");
  EXPECT_EQ(Parsed("ones", {DataType::kInt32, PartialShape({1, 2})}), "i32[1,2] 1 1");
  EXPECT_EQ(Parsed("2x1=3", {DataType::kUint8, PartialShape()}), "u8[2,1] 3 3");
  EXPECT_THAT(Parsed("ones", {DataType::kInt32, PartialShape({-1, 2})}),
              HasSubstr("such as 1x2xi32=random(seed=1,lo=0,hi=2)"));
}

TEST(Spec, MistakesAreQuoted) {
  EXPECT_THAT(Parsed("2x2xf32=1,2,3"), HasSubstr("takes 4 elements (or one for all), not 3"));
  EXPECT_THAT(Parsed("2x2xi32=[[1 2][3]]"),
              HasSubstr("a list of 1 where the others have 2 at character 9"));
  EXPECT_THAT(Parsed("2x2xi32=[[1 2][3 4]"), HasSubstr("']' is missing"));
  EXPECT_THAT(Parsed("4xi32=[[1 2][3 4]]"), HasSubstr("the brackets spell shape [2,2]"));
  EXPECT_THAT(Parsed("[[]1]"), HasSubstr("an element stands between lists at character 4"));
  EXPECT_THAT(Parsed("u8=256"), HasSubstr("'256' is no u8 (0 to 255)"));
  EXPECT_THAT(Parsed("i32=1.5"), HasSubstr("'1.5' is no i32"));
  EXPECT_THAT(Parsed("str=\"a"), HasSubstr("closing"));
  EXPECT_THAT(Parsed("2xf31=1"), HasSubstr("did you mean 'f32'?"));
  EXPECT_THAT(Parsed("99999999999x99999999999xf32=zeros"), HasSubstr("error"));
  EXPECT_THAT(Parsed("1000000x1000000x1000xf32=zeros"), HasSubstr("error"));
  EXPECT_THAT(Parsed("f32="), HasSubstr("no value"));
  EXPECT_THAT(Parsed(std::string(1000, '[')), HasSubstr("error"));
}

TEST(Spec, ARawFileForAVariableHasItsElements) {
  const std::string path = ::testing::TempDir() + "spec_raw.bin";
  const float values[] = {1, 2};
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values), sizeof(values));
  EXPECT_EQ(Parsed(absl::StrCat("2=@", path), {MakeRef(DataType::kFloat), PartialShape({2})}),
            "f32[2] 1 2");
  std::remove(path.c_str());
}

// Frozen: these numbers may never change.
TEST(Spec, AFileThatIsMissingIsNoUsage) {
  for (const char* spec : {"@no_such", "@no_such.npy", "@no_such.npz[k]", "2xf32=@no_such",
                           "f32(@no_such)", "f32(@no_such.npy)"}) {
    const absl::Status status = ParseSpec(spec, {}).status();
    EXPECT_EQ(ExitOf(status), Exit::kInvalidInput) << spec;
    EXPECT_THAT(status.message(), HasSubstr("No such file")) << spec;
  }
}

// Of every type that a SPEC can write.
TEST(Spec, WhatIsSuggestedCanBeRead) {
  int types = 0;
  for (int32_t value = 1; IsKnownDataType(value); ++value) {
    const auto type = static_cast<DataType>(value);
    if (!HasSpecs(type)) continue;
    ++types;
    const std::string suggested = SuggestSpec({type, PartialShape({2, -1})});
    const absl::StatusOr<Tensor> tensor = ParseSpec(suggested, {});
    ASSERT_TRUE(tensor.ok()) << suggested << ": " << tensor.status();
    EXPECT_EQ(tensor->dtype(), type) << suggested;
    EXPECT_EQ(tensor->shape(), Shape({2, 1})) << suggested;
  }
  EXPECT_EQ(types, 31);
}

TEST(Spec, NoneWritesAResourceOrVariant) {
  for (const DataType type : {DataType::kResource, MakeRef(DataType::kVariant)}) {
    const SpecHint hint{type, PartialShape()};
    EXPECT_FALSE(HasSpecs(type));
    for (const std::string& spec : {std::string("1"), std::string("ones"), std::string("2="),
                                    std::string("2=zeros"), std::string(), SuggestSpec(hint)}) {
      const absl::Status status = ParseSpec(spec, hint).status();
      EXPECT_EQ(ExitOf(status), Exit::kUsage) << spec;
      EXPECT_THAT(status.message(), HasSubstr("; feed what the graph computes from it instead"));
    }
    EXPECT_TRUE(ParseSpec("f32=1", hint).ok());
  }
}

TEST(Spec, RandomNumbersAreFrozen) {
  EXPECT_EQ(Parsed("3xf64=random(seed=7,lo=-1,hi=1)"),
            "f64[3] 0.662884738834657 0.47618809248812544 0.6828540663854967");
  EXPECT_EQ(Parsed("3xf64=normal(seed=7)"),
            "f64[3] 0.732039564842258 0.5686074880050161 0.2212052735975297");
  EXPECT_EQ(Parsed("8xi32=random(seed=7,lo=-5,hi=5)"), "i32[8] 3 2 3 -3 1 -5 2 1");
  EXPECT_EQ(Parsed("4xi16=iota(start=3,step=-2)"), "i16[4] 3 1 -1 -3");
}

TEST(Spec, IotaCountsIntegersExactly) {
  EXPECT_EQ(Parsed("2xi64=iota(start=9223372036854775806)"),
            "i64[2] 9223372036854775806 9223372036854775807");
  EXPECT_EQ(Parsed("3xi64=iota(start=9223372036854775807,step=2)"),
            "i64[3] 9223372036854775807 -9223372036854775807 -9223372036854775805");
  EXPECT_EQ(Parsed("3xi32=iota(start=1e3,step=-2.5)"), "i32[3] 1000 998 996");
  EXPECT_THAT(Parsed("3xi32=iota(start=1e300)"), HasSubstr("start=1e300 must lie from -2^63"));
  EXPECT_THAT(Parsed("3xi64=iota(step=-1e19)"), HasSubstr("step=-1e19 must lie"));
}

// Kernels read the byte of an element as a number.
TEST(Spec, IntegersOfFourBitsFillTheirBytes) {
  const Tensor i4 = *ParseSpec("20xi4=iota(start=5)", {});
  const Tensor u4 = *ParseSpec("20xu4=iota(start=5)", {});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(i4.flat<int8_t>()[i], (5 + i + 8) % 16 - 8) << i;
    EXPECT_EQ(u4.flat<uint8_t>()[i], (5 + i) % 16) << i;
  }
}

TEST(Spec, NormalIsNormal) {
  const Tensor t = *ParseSpec("20000xf64=normal(seed=1)", {});
  double mean = 0, square = 0;
  for (int64_t i = 0; i < 20000; ++i) {
    mean += ElementAsDouble(t, i) / 20000;
    square += ElementAsDouble(t, i) * ElementAsDouble(t, i) / 20000;
  }
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(square, 1, 0.03);
}

TEST(Compare, TolerancesAndSteps) {
  const auto compare = [](const char* a, const char* b, Tolerance t = {}) {
    return Compare(*ParseSpec(a, {}), *ParseSpec(b, {}), t);
  };
  EXPECT_TRUE(compare("2xf32=1,2", "2xf32=1.000001,2").ok);
  EXPECT_FALSE(compare("2xf32=1,2", "2xf32=1.001,2").ok);
  EXPECT_FALSE(compare("f32=nan", "f32=nan").ok);
  EXPECT_TRUE(compare("f32=nan", "f32=nan", {.max_ulp = {}, .equal_nan = true}).ok);
  EXPECT_TRUE(compare("2xf32=inf,-0", "2xf32=inf,0").ok);
  EXPECT_FALSE(compare("f32=inf", "f32=-inf").ok);
  EXPECT_FALSE(compare("i32=1000001", "i32=1000000").ok);
  EXPECT_FALSE(compare("i32=1", "i64=1").ok);
  EXPECT_FALSE(compare("2xi32=1", "i32=1").ok);
  // These two are equal as doubles.
  EXPECT_FALSE(compare("i64=9007199254740993", "i64=9007199254740992",
                       {.rtol = 0, .atol = 0, .integers = true})
                   .ok);
  EXPECT_EQ(compare("f32=1", "f32=1.0000001").max_ulp, 1);
  EXPECT_EQ(compare("f32=1.4e-45", "f32=-1.4e-45").max_ulp, 2);
  EXPECT_TRUE(compare("f32=1", "f32=1.0000001", {.rtol = 0, .atol = 0, .max_ulp = 1}).ok);
  EXPECT_FALSE(compare("f32=3.4028235e38", "f32=inf", {.rtol = 0, .atol = 0, .max_ulp = 1}).ok);
  EXPECT_EQ(compare("3xf32=1,2,3", "3xf32=1,5,6").mismatches, 2);
}

TEST(Compare, StepsBetweenFloatsOfHalfAByte) {
  const auto steps = [](uint8_t a, uint8_t b) {
    const auto tensor = [](uint8_t bits) {
      return Tensor::CopyOf(DataType::kFloat4E2m1fn, Shape(), &bits, 1);
    };
    return StepsBetween(tensor(a), tensor(b), 0);
  };
  EXPECT_EQ(steps(0x1, 0x9), 2) << "0.5 and -0.5";
  EXPECT_EQ(steps(0x7, 0x1), 6) << "6 and 0.5";
  EXPECT_EQ(steps(0xF, 0x9), 6) << "-6 and -0.5";
}

TEST(Compare, WhatAnElementIsMeasuredAgainst) {
  const auto compare = [](const char* a, const char* b, const Tolerance& t) {
    return Compare(*ParseSpec(a, {}), *ParseSpec(b, {}), t).ok;
  };
  const Tolerance of_largest = {.rtol = 0.015, .atol = 0, .scale = Scale::kLargest};
  EXPECT_TRUE(compare("3xf32=2,100,inf", "3xf32=1,100,inf", of_largest));
  EXPECT_FALSE(compare("3xf32=3,100,inf", "3xf32=1,100,inf", of_largest));
  EXPECT_TRUE(compare("2xc64=1+2j,100", "2xc64=1+1j,100", of_largest));
  EXPECT_FALSE(compare("2xi32=101,100", "2xi32=100,100", of_largest));
}

TEST(Compare, ZerosAndWhatCountsAsOne) {
  const auto compare = [](const char* a, const char* b, const Tolerance& t) {
    return Compare(*ParseSpec(a, {}), *ParseSpec(b, {}), t).ok;
  };
  const Tolerance bits = {.rtol = 0, .atol = 0, .zero_signs = true};
  EXPECT_FALSE(compare("f32=0", "f32=-0", bits));
  EXPECT_FALSE(compare("f32=1e-42", "f32=0", bits));
  const Tolerance flushed = {.rtol = 0, .atol = 0, .flush_denormals = true};
  EXPECT_TRUE(compare("f32=1e-42", "f32=-0", flushed));
  EXPECT_FALSE(compare("f32=2e-38", "f32=0", flushed));
  EXPECT_FALSE(compare("f16=6e-8", "f16=0", flushed));
}

TEST(Compare, OnlyFloatsWhereValuesDecide) {
  const auto compare = [](const char* a, const char* b, const Tolerance& t) {
    return Compare(*ParseSpec(a, {}), *ParseSpec(b, {}), t).ok;
  };
  const Tolerance floats = {.floats_only = true};
  EXPECT_TRUE(compare("2xi32=1,2", "2xi32=1,3", floats));
  EXPECT_TRUE(compare("2xf32=1,2", "3xf32=1,2,3", floats));
  EXPECT_FALSE(compare("2xf32=1,2", "2xf32=1,3", floats));
  EXPECT_FALSE(compare("2xf32=1,2", "1x2xf32=1,2", floats));
}

TEST(Compare, ReportsTheFirstWrongElement) {
  const Comparison wrong =
      Compare(*ParseSpec("3xf32=1,3.5,9", {}), *ParseSpec("3xf32=1,3,8", {}), {});
  EXPECT_EQ(wrong.problem, "element [1] is 3.5 where 3 is right, 2097152 ulps away");
  EXPECT_EQ(wrong.max_abs, 1);
  EXPECT_EQ(Compare(*ParseSpec("f32=nan", {}), *ParseSpec("f32=3", {}), {}).problem,
            "element [] is nan where 3 is right");
  EXPECT_EQ(Compare(Tensor(), *ParseSpec("2xf32=1,2", {}), {}).problem,
            "is nothing where f32[2] is right");
  EXPECT_TRUE(Compare(Tensor(), Tensor(), {}).ok);
}

TEST(Statistics, AgreeWithNumPy) {
  const RunStatistics s = Summarize({1, 2, 3, 4, 5});
  EXPECT_EQ(s.p50, 3);
  EXPECT_DOUBLE_EQ(s.p90, 4.6);
  EXPECT_DOUBLE_EQ(s.mean, 3);
  EXPECT_NEAR(s.stddev, std::sqrt(2.5), 1e-12);
  EXPECT_EQ(Summarize({7}).ci95_lo, 7);
  EXPECT_EQ(Summarize({}).count, 0);
}

TEST(Statistics, MedianByRanks) {
  // 12 samples: the 3rd and the 10th have the median between them in 96 % of all cases.
  const MedianEstimate twelve = EstimateMedian({12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6});
  EXPECT_DOUBLE_EQ(twelve.median, 6.5);
  EXPECT_EQ(twelve.ci95_lo, 3);
  EXPECT_EQ(twelve.ci95_hi, 10);
  // 6 are the fewest for which the ends say so.
  const MedianEstimate six = EstimateMedian({6, 1, 5, 2, 4, 3});
  EXPECT_EQ(six.ci95_lo, 1);
  EXPECT_EQ(six.ci95_hi, 6);
  // Of 100, ranks 40 and 61; and two that went wrong change nothing.
  std::vector<double> many;
  for (int i = 1; i <= 98; ++i) many.push_back(i);
  many.insert(many.end(), {1e9, 1e12});
  const MedianEstimate hundred = EstimateMedian(many);
  EXPECT_EQ(hundred.ci95_lo, 40);
  EXPECT_EQ(hundred.ci95_hi, 61);
  EXPECT_DOUBLE_EQ(MiddleMean({1, 2, 3, 1000}), 2.5);
  EXPECT_DOUBLE_EQ(MiddleMean({4, 6}), 5);
}

TEST(NoiseOf, TellsOfWideIntervalsAndOfRunsThatDiffer) {
  std::vector<double> steady(100, 20), drifting, bumpy(100, 20);
  for (int i = 0; i < 100; ++i) drifting.push_back(20 + i);
  for (size_t i = 0; i < 100; i += 5) bumpy[i] = 70;
  EXPECT_EQ(NoiseOf(Summarize(steady)), "");
  EXPECT_EQ(NoiseOf(Summarize({})), "");
  EXPECT_THAT(NoiseOf(Summarize(drifting)), HasSubstr("the interval of the median is"));
  EXPECT_EQ(NoiseOf(Summarize(bumpy)), "one run in ten takes 3.5 times the median or more");
}

TEST(Statistics, TheIntervalIsOneOfPossibleMeans) {
  // One slow run among few: a symmetric interval would start below 0.
  const RunStatistics few = Summarize({20, 21, 20, 22, 900, 20, 21, 20});
  EXPECT_GE(few.ci95_lo, few.min);
  EXPECT_LE(few.ci95_lo, few.mean);
  EXPECT_GE(few.ci95_hi, few.mean);
  EXPECT_LE(few.ci95_hi, few.max);
  // Of many independent values: the normal distribution's.
  std::vector<double> drawn;
  uint32_t state = 1;
  for (int i = 0; i < 400; ++i) {
    state = state * 1664525u + 1013904223u;
    drawn.push_back((state >> 8) / 16777216.0);
  }
  const RunStatistics s = Summarize(drawn);
  const double half = 1.96 * s.stddev / std::sqrt(400.0);
  EXPECT_NEAR(s.ci95_lo, s.mean - half, half / 5);
  EXPECT_NEAR(s.ci95_hi, s.mean + half, half / 5);
  // Runs that disturb their neighbours say less than as many independent ones.
  std::vector<double> drifting;
  for (int i = 0; i < 10000; ++i) drifting.push_back(drawn[i / 100]);
  const RunStatistics d = Summarize(drifting);
  EXPECT_GT(d.ci95_hi - d.ci95_lo, 4 * 2 * 1.96 * d.stddev / std::sqrt(10000.0));
}

TEST(TensorText, IsAlignedAndAbbreviated) {
  EXPECT_EQ(TensorText(*ParseSpec("2x2xf32=1,-2.5,3,4", {})), "[[ 1.0 -2.5]\n [ 3.0  4.0]]\n");
  EXPECT_EQ(TensorText(*ParseSpec("200xi32=iota", {})), "[  0   1   2 … 197 198 199]\n");
  EXPECT_EQ(TensorText(*ParseSpec("i32=3", {})), "3\n");
  EXPECT_EQ(TensorText(*ParseSpec("0xf32=", {})), "(empty)\n");
}

}  // namespace
}  // namespace tenon::cli
