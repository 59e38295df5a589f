// What auto_mixed_precision_onednn_bfloat16 does to numbers, and where it refuses.
#include <cmath>
#include <cstdlib>

#include "executor/session.h"
#include "graph/io.h"
#include "grappler_lite/mixed_precision/precision_lists.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

constexpr char kPass[] = "auto_mixed_precision_onednn_bfloat16";

std::vector<Tensor> ResultsOf(const std::string& passes) {
  const Graph graph =
      LoadGraph("tests/golden/passes/auto_mixed_precision_onednn_bfloat16/products.in.pbtxt")
          .value();
  std::unique_ptr<Device> host = MakeCpuDevice();
  Tensor x = Tensor::Allocate(DataType::kFloat, Shape({4, 4})).value();
  for (int i = 0; i < 16; ++i) x.flat<float>()[i] = 0.3f * static_cast<float>(i % 7) - 0.9f;
  SessionOptions options;
  options.threads = 1;
  options.opt_level = passes.empty() ? 0 : 1;
  options.pipeline.passes = ParsePassSpecs(passes).value();
  std::unique_ptr<Session> session = Session::Create(graph, {host.get()}, options).value();
  return session->Run({{"x", x}}, {"y", "z"}).value();
}

TEST(MixedPrecision, RoundsToEightBits) {
  const std::vector<Tensor> before = ResultsOf(""), after = ResultsOf(kPass);
  bool differs = false;
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(after[i].dtype(), DataType::kFloat);
    for (int64_t j = 0; j < before[i].num_elements(); ++j) {
      const float a = before[i].flat<float>()[j], b = after[i].flat<float>()[j];
      EXPECT_NEAR(a, b, 0x1p-5 * std::abs(a) + 0x1p-5);
      differs |= a != b;
    }
  }
  EXPECT_TRUE(differs);
}

// As TensorFlow 2.21 has them.
TEST(MixedPrecision, OpsAreOnTheListsOfTensorFlow) {
  const PrecisionLists lists = PrecisionLists::Make().value();
  EXPECT_EQ(lists.Of("FusedPadConv2D"), Precision::kAllow);
  EXPECT_EQ(lists.Of("Sum"), Precision::kInfer);
  EXPECT_EQ(lists.Of("Exp"), Precision::kDeny);
  EXPECT_EQ(lists.Of("Unpack"), Precision::kClear);
  EXPECT_EQ(lists.Of("OneHot"), Precision::kNone);
}

TEST(MixedPrecision, ListsCanBeChanged) {
  EXPECT_EQ(PrecisionLists::Make()->Of("MatMul"), Precision::kAllow);
  EXPECT_EQ(PrecisionLists::Make()->Of("MyOp"), Precision::kNone);
  setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_REMOVE", "MatMul,Conv2D", 1);
  setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_DENYLIST_ADD", "MyOp", 1);
  const PrecisionLists changed = PrecisionLists::Make().value();
  unsetenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_REMOVE");
  unsetenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_DENYLIST_ADD");
  EXPECT_EQ(changed.Of("MatMul"), Precision::kNone);
  EXPECT_EQ(changed.Of("Conv2D"), Precision::kNone);
  EXPECT_EQ(changed.Of("Conv3D"), Precision::kAllow);
  EXPECT_EQ(changed.Of("MyOp"), Precision::kDeny);
}

TEST(MixedPrecision, AnOpIsOnOneListOnly) {
  setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_DENYLIST_ADD", "Tanh", 1);
  const absl::StatusOr<PrecisionLists> lists = PrecisionLists::Make();
  unsetenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_DENYLIST_ADD");
  EXPECT_EQ(lists.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(lists.status().message().find("Tanh"), std::string::npos);
}

}  // namespace
}  // namespace tenon
