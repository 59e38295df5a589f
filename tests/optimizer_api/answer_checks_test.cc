#include "optimizer_api/answer_checks.h"

#include "gtest/gtest.h"

namespace tenon {
namespace {

// Has kernels of nodes without an attribute "odd".
class EvenKernels : public KernelOracle {
 public:
  bool HasKernel(std::string_view, std::string_view, const AttrSet& attrs) const override {
    return attrs.Find("odd") == nullptr;
  }
};

Graph GraphOf(bool odd) {
  Graph graph;
  const NodeId n = *graph.AddNode("n", "NoOp", {}, {}, "/device:TEST:0");
  if (odd) graph.SetAttr(n, "odd", attr::Bool(true));
  return graph;
}

absl::Status Check(const Graph& before, const Graph& after) {
  return CheckAnswer(before, after, OptimizerItem(), EvenKernels(), "pass", "p.so");
}

TEST(AnswerChecks, ANodeKeepsItsKernelWhenItsAttributesChange) {
  EXPECT_TRUE(Check(GraphOf(false), GraphOf(false)).ok());
  EXPECT_TRUE(Check(GraphOf(true), GraphOf(false)).ok());
  EXPECT_EQ(Check(GraphOf(false), GraphOf(true)),
            absl::InvalidArgumentError("node 'n' (NoOp) stands on /device:TEST:0, which does not "
                                       "exist or has no kernel for it"));
  EXPECT_TRUE(Check(GraphOf(true), GraphOf(true)).ok());  // the pass is not to blame
}

}  // namespace
}  // namespace tenon
