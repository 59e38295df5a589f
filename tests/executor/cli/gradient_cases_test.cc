// Self-checking gradients: the golden ones pass, and what breaks the convention or is wrong is
// told.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "executor/cli/check/case_gradients.h"
#include "executor/cli/check/check_run.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/folder_test.h"
#include "tests/support/paths.h"

namespace tenon::cli {
namespace {

using ::testing::HasSubstr;

CaseResult RunGradientCase(const CheckFile& file, const CheckCase& c) {
  const auto host = Host::Open(CommonFlags());
  EXPECT_TRUE(host.ok()) << host.status();
  CaseOptions options;
  options.session.threads = 1;
  options.session.opt_level = 0;
  return RunCase(file, c, **host, options);
}

// Every graph of the folder.
std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(testing::Golden("gradients"))) {
    const std::string name = entry.path().filename();
    if (name.find(".pbtxt") != std::string::npos) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class GoldenGradients : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenGradients, AreRight) {
  const auto file = ReadCheckFile(GetParam(), ImportLimits(), CheckKind::kGradients);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_FALSE(file->cases.empty());
  for (const CheckCase& c : file->cases) {
    const CaseResult result = RunGradientCase(*file, c);
    EXPECT_EQ(result.status, CaseStatus::kPassed) << c.name << ": " << result.detail;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenGradients, ::testing::ValuesIn(GoldenFiles()),
                         [](const auto& info) {
                           const std::string name = std::filesystem::path(info.param).filename();
                           return name.substr(0, name.find('.'));
                         });

class GradientCases : public testing::FolderTest {
 protected:
  static constexpr char kValue[] = "tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2";

  // loss = sum over `op`(x), or of other inputs, where the gradient of x is said to be `answer`.
  CaseResult Run(const std::string& op, const std::string& wrt, const std::string& answer,
                 const std::vector<std::string>& inputs = {"c/x"}) {
    const std::string text =
        testing::Const("c/x", "DT_FLOAT", kValue) + testing::Const("c/z", "DT_FLOAT", kValue) +
        testing::Node("c/op", op, inputs) + testing::Node("c/loss", "Identity", {"c/op"}) +
        testing::Op("c/wrt", "NoOp", {}, wrt) + answer + "node { name: 'nograd' op: 'NoOp' }\n";
    const auto file =
        ReadCheckFile(Write("case.pbtxt", text), ImportLimits(), CheckKind::kGradients);
    EXPECT_TRUE(file.ok()) << file.status();
    if (!file.ok()) return CaseResult();
    EXPECT_EQ(file->cases.size(), 1u);  // nograd is none
    return RunGradientCase(*file, file->cases[0]);
  }
  static std::string Wrt(const std::string& names, const std::string& grads) {
    return "attr { key: 'wrt' value { list { " + names +
           " } } } attr { key: 'grads' value { list { " + grads + " } } }";
  }
  static std::string Answer(const std::string& values) {
    return testing::Const("c/d0", "DT_FLOAT", "tensor_shape { dim { size: 2 } } " + values);
  }
};

TEST_F(GradientCases, RightAnswersPassAndWrongOnesFail) {
  const std::string wrt = Wrt("s: 'c/x'", "b: true");
  EXPECT_EQ(Run("Neg", wrt, Answer("float_val: -1")).status, CaseStatus::kPassed);
  const CaseResult wrong = Run("Neg", wrt, Answer("float_val: -1 float_val: -2"));
  EXPECT_EQ(wrong.status, CaseStatus::kFailed);
  EXPECT_THAT(wrong.detail, HasSubstr("element [1]"));
}

TEST_F(GradientCases, NoGradientIsAnAnswer) {
  EXPECT_EQ(Run("Neg", Wrt("s: 'c/z'", "b: false"), "").status, CaseStatus::kPassed);
  // Zeros will do, other values will not.
  EXPECT_EQ(Run("Sign", Wrt("s: 'c/x'", "b: false"), "").status, CaseStatus::kPassed);
  EXPECT_THAT(Run("Neg", Wrt("s: 'c/x'", "b: false"), "").detail, HasSubstr("is not zero"));
  const CaseResult missing = Run("Neg", Wrt("s: 'c/z'", "b: true"), Answer("float_val: 1"));
  EXPECT_EQ(missing.status, CaseStatus::kFailed);
  EXPECT_THAT(missing.detail, HasSubstr("there is no gradient for 'c/z'"));
}

TEST_F(GradientCases, AnOpWithoutGradientIsUnimplemented) {
  const CaseResult result = Run("Snapshot", Wrt("s: 'c/x'", "b: true"), Answer("float_val: 1"));
  EXPECT_EQ(result.status, CaseStatus::kUnimplemented);
  EXPECT_THAT(result.detail, HasSubstr("No gradient defined for op: Snapshot"));
}

TEST_F(GradientCases, WhatBreaksTheConventionFails) {
  for (const std::string& wrt :
       {std::string(), Wrt("s: 'c/x'", "b: false"), Wrt("", ""), Wrt("s: 'c/x'", "b: true b: true"),
        Wrt("s: 'c/nowhere'", "b: true")})
    EXPECT_EQ(Run("Neg", wrt, Answer("float_val: -1")).status, CaseStatus::kFailed) << wrt;
}

// TensorFlow's first numbers of this seed are 0.4063967 and 0.8575996.
TEST_F(GradientCases, AreOfTheSecondStep) {
  const std::string numbers =
      testing::Const("c/shape", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 2") +
      testing::Op("c/numbers", "RandomUniform", {"c/shape"},
                  "attr { key: 'dtype' value { type: DT_FLOAT } } "
                  "attr { key: 'T' value { type: DT_INT32 } } "
                  "attr { key: 'seed' value { i: 1 } } attr { key: 'seed2' value { i: 2 } }");
  const std::string wrt = Wrt("s: 'c/x'", "b: true");
  EXPECT_EQ(Run("Mul", wrt, numbers + Answer("float_val: 0.6038654 float_val: 0.5261081"),
                {"c/x", "c/numbers"})
                .status,
            CaseStatus::kPassed);
  EXPECT_EQ(Run("Mul", wrt, numbers + Answer("float_val: 0.4063967 float_val: 0.8575996"),
                {"c/x", "c/numbers"})
                .status,
            CaseStatus::kFailed);
}

TEST(IsAllZeros, CountsBothSigns) {
  const float zeros[] = {0.0f, -0.0f}, others[] = {0.0f, 1e-30f};
  EXPECT_TRUE(IsAllZeros(Tensor::Of(DataType::kFloat, absl::MakeConstSpan(zeros), {2})));
  EXPECT_FALSE(IsAllZeros(Tensor::Of(DataType::kFloat, absl::MakeConstSpan(others), {2})));
  EXPECT_TRUE(IsAllZeros(Tensor::Of<float>(DataType::kFloat, {}, {0})));
}

}  // namespace
}  // namespace tenon::cli
