#include "executor/plan/steps/liveness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/plan/planned_graph_util.h"

namespace tenon {
namespace {

using testing::Node;
using testing::Placeholder;

// Two nodes "a" and "b" with flags that tests set, and "both" that reads them.
class LivenessTest : public ::testing::Test {
 protected:
  int32_t NewFlag(int32_t parent = FlagTree::kAlways) { return graph_.flags.Add(1, parent); }
  void SetAlive(std::string_view name, int32_t flag) {
    graph_.values[graph_.first_value[planned_.node(name)]].alive = flag;
  }
  // The outputs of a Switch at node "a", which lives if `alive` does.
  int32_t Switch(int32_t storage, int32_t alive, int32_t outputs = 2) {
    graph_.node_alive[planned_.node("a")] = alive;
    return liveness_.OfSwitch(planned_.node("a"), {storage, DataType::kBool, Shape()},
                              {nullptr, storage}, outputs);
  }

  testing::PlannedGraph planned_{Placeholder("a", "") + Placeholder("b", "") +
                                 Node("both", "AddV2", {"a", "b"})};
  StepGraph graph_{planned_.graph(), planned_.input().schedule.order};
  StepBuilder steps_{planned_.graph(), planned_.constants(), graph_};
  Liveness liveness_{planned_.graph(), steps_};
};

TEST_F(LivenessTest, ANodeThatWaitsForNothingDeadCarriesNoFlag) {
  EXPECT_EQ(liveness_.OfNode(planned_.node("both")), FlagTree::kAlways);
  EXPECT_EQ(graph_.num_steps(), 0);
}

TEST_F(LivenessTest, TheDeeperOfTwoFlagsSaysAll) {
  const int32_t outer = NewFlag(), inner = NewFlag(outer);
  SetAlive("a", inner);
  SetAlive("b", outer);
  EXPECT_EQ(liveness_.OfNode(planned_.node("both")), inner);
  EXPECT_EQ(graph_.num_steps(), 0);
}

TEST_F(LivenessTest, UnrelatedFlagsNeedAStepOnce) {
  const int32_t a = NewFlag(), b = NewFlag();
  SetAlive("a", a);
  SetAlive("b", b);
  const int32_t both = liveness_.OfNode(planned_.node("both"));
  EXPECT_TRUE(graph_.flags.Implies(both, a));
  EXPECT_EQ(liveness_.Both(planned_.node("both"), b, a), both);
  ASSERT_EQ(graph_.num_steps(), 1);
  EXPECT_EQ(graph_.steps[0].first_flag, both);
  EXPECT_EQ(graph_.steps[0].num_flags, 1);
}

TEST_F(LivenessTest, WhatWasMadeWithinALoopIsForgottenBehindIt) {
  const int32_t a = NewFlag(), b = NewFlag(), c = NewFlag();
  const int32_t before = liveness_.Both(0, a, b);
  const int32_t family = Switch(1, FlagTree::kAlways);
  const Liveness::Mark mark = liveness_.Now();
  const int32_t within = liveness_.Both(0, b, c);
  const int32_t family_within = Switch(2, FlagTree::kAlways);
  liveness_.ForgetSince(mark);
  EXPECT_EQ(liveness_.Both(0, a, b), before);
  EXPECT_EQ(Switch(1, FlagTree::kAlways), family);
  EXPECT_NE(liveness_.Both(0, b, c), within);
  EXPECT_NE(Switch(2, FlagTree::kAlways), family_within);
}

TEST_F(LivenessTest, OneStepServesAllSwitchesOnAValue) {
  const int32_t first = Switch(5, FlagTree::kAlways);
  EXPECT_EQ(Switch(5, FlagTree::kAlways), first);
  EXPECT_NE(Switch(6, FlagTree::kAlways), first);
  EXPECT_NE(Switch(5, FlagTree::kAlways, 3), first);
  EXPECT_EQ(graph_.num_steps(), 3);
}

TEST_F(LivenessTest, ASwitchBehindOneOnTheSameValueIsDecided) {
  const int32_t outer = Switch(5, FlagTree::kAlways);
  const int32_t deep = NewFlag(outer + 1);
  EXPECT_EQ(liveness_.TakenOutput({nullptr, 5}, 2, deep), 1);
  EXPECT_EQ(liveness_.TakenOutput({nullptr, 5}, 2, outer), 0);
  EXPECT_EQ(liveness_.TakenOutput({nullptr, 6}, 2, deep), -1);
  EXPECT_EQ(liveness_.TakenOutput({nullptr, 5}, 3, deep), -1);
  // Within a loop that only runs if the Switch took its output 1.
  EXPECT_EQ(liveness_.TakenOutput({nullptr, 5}, 2, FlagTree::kAlways), -1);
  PlanLoop loop;
  loop.guard = deep;
  graph_.loops.push_back(loop);
  graph_.open_loop = 0;
  EXPECT_EQ(liveness_.TakenOutput({nullptr, 5}, 2, FlagTree::kAlways), 1);
}

TEST_F(LivenessTest, AMergeOfAWholeFamilyLivesWithItsParent) {
  const int32_t parent = NewFlag();
  const int32_t family = Switch(5, parent, 3), other = Switch(6, parent, 3);
  EXPECT_EQ(liveness_.OfMerge({family, family + 1, family + 2}), parent);
  EXPECT_EQ(liveness_.OfMerge({family + 2, family, family + 1, family}), parent);
  EXPECT_EQ(liveness_.OfMerge({family, family + 2}), -1);
  EXPECT_EQ(liveness_.OfMerge({family, family + 1, other + 2}), -1);
  // One that lives whenever any other does.
  EXPECT_EQ(liveness_.OfMerge({family + 1, parent}), parent);
  EXPECT_EQ(liveness_.OfMerge({family + 1, FlagTree::kAlways}), FlagTree::kAlways);
}

}  // namespace
}  // namespace tenon
