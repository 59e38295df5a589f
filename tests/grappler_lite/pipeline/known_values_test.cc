#include "grappler_lite/pipeline/known_values.h"

#include "grappler_lite/pipeline/rewriter.h"
#include "gtest/gtest.h"
#include "tests/grappler_lite/pipeline/pipeline_util.h"

namespace tenon {
namespace {

using testing::GraphOf;

class FailsAndCounts : public testing::NoKernels {
 public:
  absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph&, NodeId, absl::Span<const Tensor>,
                                               size_t) override {
    ++calls;
    return absl::InternalError("fails");
  }
  int calls = 0;
};

TEST(KnownValues, WhatFailedIsNotComputedAgainForAnotherReader) {
  const Graph graph = GraphOf({"n = Neg(a)", "m = Neg(n)", "x = Sub(m, a)", "y = Sub(a, m)"});
  FailsAndCounts evaluator;
  const absl::flat_hash_set<NodeId> fed;
  RewriteGate gate{PipelineOptions()};
  KnownValues values(graph, evaluator, fed, gate);
  values.Set({graph.FindNode("a"), 0}, *Tensor::Allocate(DataType::kFloat, Shape()));
  for (const char* name : {"x", "y", "m", "n"})
    EXPECT_FALSE(values.Find({graph.FindNode(name), 0}).has_value());
  EXPECT_EQ(evaluator.calls, 1);
}

}  // namespace
}  // namespace tenon
