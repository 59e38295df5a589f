// What auto_mixed_precision_onednn_bfloat16 and auto_mixed_precision_cpu do to numbers, and where
// they refuse.
#include <cmath>
#include <cstdlib>
#include <map>

#include "executor/proof/difference.h"
#include "executor/proof/numeric_verifier.h"
#include "executor/session/reports.h"
#include "executor/session/session.h"
#include "graph/io/io.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"
#include "grappler_lite/passes/auto_mixed_precision/precision_lists.h"
#include "gtest/gtest.h"
#include "tests/executor/passes/golden_passes_util.h"

namespace tenon {
namespace {

constexpr char kPass[] = "auto_mixed_precision_onednn_bfloat16";
constexpr char kHalfPass[] = "auto_mixed_precision_cpu";

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

TEST(MixedPrecision, RoundsToElevenBits) {
  const std::vector<Tensor> before = ResultsOf(""), after = ResultsOf(kHalfPass);
  bool differs = false;
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(after[i].dtype(), DataType::kFloat);
    for (int64_t j = 0; j < before[i].num_elements(); ++j) {
      const float a = before[i].flat<float>()[j], b = after[i].flat<float>()[j];
      EXPECT_NEAR(a, b, 0x1p-8 * std::abs(a) + 0x1p-8);
      differs |= a != b;
    }
  }
  EXPECT_TRUE(differs);
}

// The reasons that explain shows.
TEST(MixedPrecision, SaysWhyFloatsStay) {
  const Graph graph =
      LoadGraph("tests/golden/passes/auto_mixed_precision_cpu/keep_beyond_range.in.pbtxt").value();
  const std::unique_ptr<Device> host = MakeCpuDevice();
  SessionOptions options;
  ASSERT_TRUE(SetPrecision("f16", options.pipeline).ok());
  options.pipeline.disabled_passes = {"remapping"};
  const auto session = Session::Create(graph, {host.get()}, options).value();
  const Executable* const executable = session->Prepare({"x"}, {"y"}).value();
  std::map<std::string, std::string> notes;
  for (const PassReport& row : OptimizerReport(*executable).passes) {
    for (const auto& [node, why] : row.notes) notes[node] = why;
  }
  EXPECT_EQ(notes["a"], "it reads a constant beyond the range of half");
  EXPECT_EQ(notes["y"], "it is fed, fetched or marked to stay");
  EXPECT_EQ(notes.count("m"), 0u);
  EXPECT_EQ(notes.count("m2"), 0u);
}

TEST(MixedPrecision, APrecisionIsAPass) {
  PipelineOptions options;
  EXPECT_TRUE(SetPrecision("f32", options).ok());
  EXPECT_TRUE(options.enabled_passes.empty());
  EXPECT_TRUE(SetPrecision("bf16", options).ok());
  EXPECT_EQ(options.enabled_passes, std::vector<std::string>{kPass});
  EXPECT_EQ(options.min_graph_nodes, -1);
  for (const std::string_view wrong : {"", "f8", "bfloat16"})
    EXPECT_EQ(SetPrecision(wrong, options).code(), absl::StatusCode::kInvalidArgument);
  options.passes = ParsePassSpecs("remapping").value();
  EXPECT_EQ(SetPrecision("f16", options).code(), absl::StatusCode::kInvalidArgument);
}

// The golden graphs of the pass.
std::vector<GoldenPass> Goldens() {
  std::vector<GoldenPass> goldens;
  for (const std::string& path : GoldenPasses()) {
    GoldenPass golden(path);
    if (golden.pass == kPass || golden.pass == kHalfPass) goldens.push_back(std::move(golden));
  }
  return goldens;
}

SessionOptions With(const std::string& passes) {
  SessionOptions options;
  options.threads = 1;
  options.pipeline.min_graph_nodes = -1;
  options.pipeline.passes = ParsePassSpecs(passes).value();
  return options;
}

std::unique_ptr<Session> Open(const GoldenPass& golden, Device& host, SessionOptions options) {
  return Session::Create(LoadGraph(golden.path.string()).value(), {&host}, std::move(options))
      .value();
}

// What must change together is one rewrite: lists, and variables of loops.
TEST(MixedPrecision, IsRightAfterAnyNumberOfRewrites) {
  const std::unique_ptr<Device> host = MakeCpuDevice();
  for (const GoldenPass& golden : Goldens()) {
    const std::vector<Session::NamedTensor> feeds = golden.Feeds(
        LoadGraph(golden.path.string()).value(),
        [](DataType dtype, const PartialShape& shape, int) { return OrdinaryFeed(dtype, shape); });
    std::vector<Tensor> right;
    for (int limit = 0; limit <= 16; ++limit) {
      SCOPED_TRACE(golden.Name() + " after " + std::to_string(limit));
      SessionOptions options = With(golden.pass);
      options.pipeline.bisect_limit = limit;
      const absl::StatusOr<std::vector<Tensor>> run =
          Open(golden, *host, options)->Run(feeds, golden.fetches);
      ASSERT_TRUE(run.ok()) << run.status();
      if (limit == 0) right = *run;
      for (size_t i = 0; i < right.size(); ++i) {
        const auto difference = FindDifference(right[i], (*run)[i], Sameness::kRounded);
        EXPECT_FALSE(difference) << *difference;
      }
    }
  }
}

// Neither for what it rounds nor those behind it for what they round otherwise.
TEST(MixedPrecision, NumericVerifierDoesNotBlameIt) {
  const std::unique_ptr<Device> host = MakeCpuDevice();
  for (const GoldenPass& golden : Goldens()) {
    SCOPED_TRACE(golden.Name());
    NumericVerifier verifier(GraphRunner({host.get()}, With(kPass)));
    SessionOptions options = With(golden.pass + ",arithmetic_optimization,remapping");
    options.pipeline.observers = {&verifier};
    const auto session = Open(golden, *host, options);
    const auto executable = session->Prepare(golden.feeds, golden.fetches);
    ASSERT_TRUE(executable.ok()) << executable.status();
    bool changed = false;
    for (const PassReport& row : OptimizerReport(**executable).passes) {
      EXPECT_FALSE(row.failed) << row.name << ": " << row.reason;
      changed |= row.changed;
    }
    EXPECT_EQ(verifier.passes_compared() > 0, changed);
  }
}

Precision Of(const PrecisionLists& lists, std::string_view op) {
  return lists.Of(op, OpRegistry::Global().Facts(op));
}

// As TensorFlow 2.21 has them.
TEST(MixedPrecision, OpsAreOnTheListsOfTensorFlow) {
  const PrecisionLists lists = PrecisionLists::Make().value();
  EXPECT_EQ(Of(lists, "FusedPadConv2D"), Precision::kAllow);
  EXPECT_EQ(Of(lists, "Sum"), Precision::kInfer);
  EXPECT_EQ(Of(lists, "Exp"), Precision::kDeny);
  EXPECT_EQ(Of(lists, "Unpack"), Precision::kClear);
  EXPECT_EQ(Of(lists, "IdentityN"), Precision::kClear);
  EXPECT_EQ(Of(lists, "TensorListSetItem"), Precision::kClear);
  EXPECT_EQ(Of(lists, "TensorListReserve"), Precision::kNone);
  EXPECT_EQ(Of(lists, "OneHot"), Precision::kNone);
}

TEST(MixedPrecision, ListsCanBeChanged) {
  EXPECT_EQ(Of(*PrecisionLists::Make(), "MatMul"), Precision::kAllow);
  EXPECT_EQ(Of(*PrecisionLists::Make(), "MyOp"), Precision::kNone);
  setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_REMOVE", "MatMul,Conv2D", 1);
  setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_DENYLIST_ADD", "MyOp", 1);
  const PrecisionLists changed = PrecisionLists::Make().value();
  unsetenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_REMOVE");
  unsetenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_DENYLIST_ADD");
  EXPECT_EQ(Of(changed, "MatMul"), Precision::kNone);
  EXPECT_EQ(Of(changed, "Conv2D"), Precision::kNone);
  EXPECT_EQ(Of(changed, "Conv3D"), Precision::kAllow);
  EXPECT_EQ(Of(changed, "MyOp"), Precision::kDeny);
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
