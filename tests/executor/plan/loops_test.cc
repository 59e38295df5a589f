// Loops as steps: which variables they have, where their values lie, and which loops are refused.
#include "executor/plan/steps/loops.h"

#include "executor/plan/steps/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/plan/planned_graph_util.h"

namespace tenon {
namespace {

using testing::Const;
using ::testing::HasSubstr;
using testing::Loop;
using testing::Node;
using testing::Numbers;
using testing::PlannedGraph;

PlannedGraph Planned(std::string body, std::string first = "zero", std::string more = "",
                     std::vector<std::string> fetches = {"w_exit_x"}) {
  return PlannedGraph(Numbers() + more + Loop("w_", std::move(body), "zero", std::move(first), "n"),
                      {{"n", Shape()}}, std::move(fetches));
}

// The variables of the one loop, by the names of their Merges.
std::vector<std::string> Variables(const PlannedGraph& planned, const StepGraph& graph) {
  EXPECT_EQ(graph.loops.size(), 1u);
  std::vector<std::string> names;
  for (const LoopVariable& v : graph.loops[0].variables)
    names.emplace_back(planned.graph().name(v.merge));
  return names;
}

TEST(LoopSteps, VariablesAreWhatChanges) {
  const PlannedGraph planned = Planned(Node("w_body", "AddV2", {"w_switch_x:1", "w_one"}));
  const absl::StatusOr<StepGraph> graph = MakeSteps(planned.input());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(Variables(planned, *graph), ::testing::ElementsAre("w_i", "w_x"));
  const PlanLoop& loop = graph->loops[0];
  for (const LoopVariable& v : loop.variables) {
    EXPECT_EQ(graph->storages[v.storage].where, Where::kArena);
    EXPECT_EQ(graph->storages[v.first.storage].where, Where::kConst);
    EXPECT_EQ(graph->storages[v.follow.storage].bytes, sizeof(float));
  }
  EXPECT_LT(loop.open_step, loop.close_step);
  EXPECT_EQ(graph->steps[loop.close_step].fn, nullptr);
  EXPECT_EQ(graph->flags[loop.again].family_size, 2);
}

TEST(LoopSteps, WhatGoesRoundUnchangedIsNoVariable) {
  const PlannedGraph planned = Planned(Node("w_body", "Identity", {"w_switch_x:1"}));
  const absl::StatusOr<StepGraph> graph = MakeSteps(planned.input());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(Variables(planned, *graph), ::testing::ElementsAre("w_i"));
  const NodeId merge = planned.node("w_x"), next = planned.node("w_next_x");
  EXPECT_TRUE(IsInvariant(planned.input(), merge, next));
  EXPECT_FALSE(IsInvariant(planned.input(), planned.node("w_i"), planned.node("w_next_i")));
}

TEST(LoopSteps, WhoReadsTheIndexOfAMergeCountsThePasses) {
  const PlannedGraph planned = Planned(Node("w_body", "Identity", {"w_switch_x:1"}) +
                                       Node("pass", "Identity", {"w_i:1"}, "", "DT_INT32"));
  const absl::StatusOr<StepGraph> graph = MakeSteps(planned.input());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(Variables(planned, *graph), ::testing::ElementsAre("w_i", "w_i"));
  EXPECT_EQ(graph->loops[0].variables[0].next, kNoNode);
  EXPECT_EQ(graph->loops[0].variables[0].first.dtype, DataType::kInt32);
}

TEST(LoopSteps, AVariableThatGrowsIsATensorOfTheRun) {
  const PlannedGraph planned = Planned(
      Node("w_axis", "Enter", {"axis"},
           "attr { key: 'frame_name' value { s: 'w_frame' } } attr { key: 'is_constant' value { b: "
           "true } }",
           "DT_INT32") +
          Node("w_body", "ConcatV2", {"w_switch_x:1", "w_switch_x:1", "w_axis"},
               "attr { key: 'N' value { i: 2 } } attr { key: 'Tidx' value { type: DT_INT32 } }"),
      "row",
      Const("axis", "DT_INT32", "tensor_shape {} int_val: 0") +
          Const("row", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: 0"));
  // Planned with its first shape, it turns out to change it.
  StepGraph void_steps(planned.graph(), planned.input().schedule.order);
  const LooseVariables none;
  const std::vector<uint8_t> streams;
  Translator first_attempt(planned.input(), none, streams, void_steps);
  ASSERT_TRUE(first_attempt.Run().ok());
  EXPECT_THAT(first_attempt.newly_loose(), ::testing::ElementsAre(planned.node("w_x")));

  const absl::StatusOr<StepGraph> graph = MakeSteps(planned.input());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<LoopVariable>& variables = graph->loops[0].variables;
  ASSERT_EQ(variables.size(), 2u);
  EXPECT_EQ(graph->storages[variables[0].storage].where, Where::kArena);
  EXPECT_EQ(graph->storages[variables[1].storage].where, Where::kSlot);
}

// x becomes i, and i becomes x.
TEST(LoopSteps, VariablesThatChangePlacesAreCopiedAside) {
  std::string text =
      Numbers() + Loop("w_", Node("w_body", "Identity", {"w_switch_i:1"}), "zero", "half", "n");
  const std::string from = "node { name: 'w_next_i' op: 'NextIteration' input: 'w_step'";
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, from.size(),
               "node { name: 'w_next_i' op: 'NextIteration' input: 'w_switch_x:1'");
  const PlannedGraph planned(text, {{"n", Shape()}}, {"w_exit_x"});
  const absl::StatusOr<StepGraph> graph = MakeSteps(planned.input());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<LoopVariable>& variables = graph->loops[0].variables;
  ASSERT_EQ(variables.size(), 2u);
  for (const LoopVariable& v : variables) {
    EXPECT_NE(v.follow.storage, variables[0].storage);
    EXPECT_NE(v.follow.storage, variables[1].storage);
  }
}

TEST(LoopSteps, AValueThatDoesNotEndWithTheLoopIsRefused) {
  const PlannedGraph planned = Planned(Node("w_body", "AddV2", {"w_x", "w_one"}));
  const absl::StatusOr<StepGraph> graph = MakeSteps(planned.input());
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(graph.status().message()),
              HasSubstr("loop 'w_frame' does not end for all its variables at once: what goes back "
                        "to 'w_x'"));
}

TEST(LoopSteps, AResultThatLeavesOtherwiseIsRefused) {
  const PlannedGraph planned =
      Planned(Node("w_body", "AddV2", {"w_switch_x:1", "w_one"}) + Node("out", "Exit", {"w_x"}));
  const absl::StatusOr<StepGraph> graph = MakeSteps(planned.input());
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(graph.status().message()),
              HasSubstr("'out' leaves loop 'w_frame' otherwise"));
}

}  // namespace
}  // namespace tenon
