// Control edges that longer paths imply, in graphs too large to be written out.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/grappler_lite/pipeline/pipeline_util.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using testing::Only;
using testing::Optimize;

// Of nodes that each add to a variable, which no pass takes away.
class Steps {
 public:
  Steps() {
    const std::string type = attr::Type(DataType::kFloat);
    x_ = *graph.AddNode("x", "Placeholder", {}, {{"dtype", type}});
    v_ = *graph.AddNode("v", "VarHandleOp", {},
                        {{"dtype", type}, {"shape", attr::Shape(PartialShape())}});
  }

  NodeId Add(const std::vector<NodeId>& controls) {
    std::vector<Output> inputs = {{v_, 0}, {x_, 0}};
    for (const NodeId n : controls) inputs.push_back({n, kControlPort});
    last_ = *graph.AddNode(absl::StrCat("n", graph.num_node_ids()), "AssignAddVariableOp", inputs,
                           {{"dtype", attr::Type(DataType::kFloat)}});
    return last_;
  }

  PassReport Reduce() {
    const auto report =
        Optimize(graph, {absl::StrCat("^", graph.name(last_))}, Only("dependency_optimization"));
    EXPECT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->passes[0].reason, "");
    return report->passes[0];
  }

  int controls() const {
    int count = 0;
    for (NodeId n = 0; n < graph.num_node_ids(); ++n)
      count += graph.alive(n) ? static_cast<int>(graph.control_inputs(n).size()) : 0;
    return count;
  }

  Graph graph;

 private:
  NodeId x_, v_, last_ = kNoNode;
};

TEST(TransitiveReduction, FindsEdgesOfAnyLengthAtOnce) {
  Steps steps;
  std::vector<NodeId> lanes[2];
  for (int i = 0; i < 1500; ++i) {
    std::vector<NodeId> controls[2];
    for (int lane = 0; lane < 2 && i > 0; ++lane)
      controls[lane] = {lanes[0][i - 1], lanes[1][i - 1]};
    for (int lane = 0; lane < 2 && i > 4; ++lane) {
      controls[lane].push_back(lanes[1 - lane][i / 2]);
      controls[lane].push_back(lanes[lane][i / 3]);
      controls[lane].push_back(lanes[0][0]);
    }
    for (int lane = 0; lane < 2; ++lane) lanes[lane].push_back(steps.Add(controls[lane]));
  }
  steps.Add({lanes[0].back(), lanes[1].back(), lanes[0][7]});
  EXPECT_TRUE(steps.Reduce().changed);
  EXPECT_EQ(steps.controls(), 1499 * 4 + 2);
  const PassReport again = steps.Reduce();
  EXPECT_FALSE(again.changed);
  EXPECT_EQ(again.budget_spent, "");
}

// Where many nodes lie before each, few lie behind.
TEST(TransitiveReduction, LooksFromBothEnds) {
  Steps steps;
  std::vector<NodeId> many;
  for (int i = 0; i < 1000; ++i) many.push_back(steps.Add({}));
  NodeId last = steps.Add(many);
  for (const NodeId n : many) last = steps.Add({last, n});
  const PassReport report = steps.Reduce();
  EXPECT_EQ(steps.controls(), 2000);
  EXPECT_EQ(report.budget_spent, "");
}

TEST(TransitiveReduction, SaysWhereItStopsLooking) {
  Steps steps;
  std::vector<NodeId> before, behind;
  for (int i = 0; i < 3000; ++i) before.push_back(steps.Add({}));
  NodeId between = steps.Add(before);
  for (int i = 0; i < 500; ++i) between = steps.Add({between});
  for (int i = 0; i < 3000; ++i) behind.push_back(steps.Add({between, before[2999 - i]}));
  steps.Add(behind);
  const PassReport report = steps.Reduce();
  EXPECT_THAT(report.budget_spent, HasSubstr("for longer paths"));
  EXPECT_TRUE(report.changed);
  EXPECT_GT(steps.controls(), 9500);
  EXPECT_LT(steps.controls(), 12500);
}

}  // namespace
}  // namespace tenon
