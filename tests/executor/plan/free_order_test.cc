#include "executor/plan/base/free_order.h"

#include <algorithm>
#include <set>

#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::free_order_test {
namespace {

using testing::Const;
using testing::Node;
using testing::Op;
using testing::Parse;
using testing::Placeholder;
using testing::Type;

class FreeOrderTest : public ::testing::Test {
 protected:
  void Make(std::string text) {
    graph_ = Parse(std::move(text));
    fed_only_.assign(graph_.num_node_ids(), false);
    const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(graph_);
    ASSERT_TRUE(order.ok()) << order.status();
    absl::StatusOr<Schedule> schedule = MakeSchedule(graph_, *order, fed_only_);
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    made_ = *std::move(schedule);
  }
  Schedule Shuffled(uint64_t seed) const {
    Schedule schedule = made_;
    ShuffleNodes(graph_, fed_only_, seed, schedule);
    return schedule;
  }
  std::vector<std::string> Names(const Schedule& schedule) const {
    std::vector<std::string> names;
    for (const NodeId n : schedule.order) names.emplace_back(graph_.name(n));
    return names;
  }
  Schedule ByMemory(const std::vector<std::string>& fetches) const {
    std::vector<Output> outputs;
    for (const std::string& fetch : fetches) outputs.push_back(*graph_.ParseOutput(fetch));
    const absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(graph_);
    EXPECT_TRUE(shapes.ok()) << shapes.status();
    Schedule schedule = made_;
    OrderByMemory(graph_, fed_only_, outputs, *shapes, schedule);
    return schedule;
  }
  void ExpectValid(const Schedule& schedule) const {
    std::vector<NodeId> a = schedule.order, b = made_.order;
    std::ranges::sort(a);
    std::ranges::sort(b);
    EXPECT_EQ(a, b) << "each node once";
    std::set<NodeId> seen;
    for (const NodeId n : schedule.order) {
      for (const Output& from : graph_.inputs(n)) EXPECT_TRUE(seen.contains(from.node));
      seen.insert(n);
    }
    if (schedule.order == made_.order) {
      EXPECT_TRUE(schedule.places.empty());
      return;
    }
    ASSERT_EQ(schedule.places.size(), static_cast<size_t>(graph_.num_node_ids()));
    for (size_t i = 0; i < made_.order.size(); ++i) EXPECT_EQ(schedule.places[made_.order[i]], i);
  }

  Graph graph_;
  std::vector<bool> fed_only_;
  Schedule made_;
};

TEST_F(FreeOrderTest, SeedsDrawOrdersThatEdgesAndEffectsAllow) {
  std::string text = Placeholder("x", "dim { size: 2 }");
  for (const std::string i : {"0", "1", "2", "3"}) {
    text += Node("relu" + i, "Relu", {"x"}) + Node("neg" + i, "Neg", {"relu" + i});
    text += Op("random" + i, "RandomUniform", {"shape"},
               Type("dtype", "DT_FLOAT") + Type("T", "DT_INT32"));
  }
  text += Const("shape", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 2");
  Make(std::move(text));
  std::set<std::vector<NodeId>> orders;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Schedule schedule = Shuffled(seed);
    ExpectValid(schedule);
    EXPECT_EQ(schedule.order, Shuffled(seed).order);
    orders.insert(schedule.order);
    std::vector<std::string> random;
    for (const std::string& name : Names(schedule)) {
      if (name.starts_with("random")) random.push_back(name);
    }
    EXPECT_EQ(random, (std::vector<std::string>{"random0", "random1", "random2", "random3"}));
  }
  EXPECT_GT(orders.size(), 40u);
}

TEST_F(FreeOrderTest, LoopsStayAsTheyAre) {
  Make(testing::Numbers() +
       testing::Loop("l_", Node("l_body", "Neg", {"l_switch_x:1"}), "zero", "half", "n") +
       Node("a", "Neg", {"half"}) + Node("b", "Neg", {"half"}));
  for (uint64_t seed = 0; seed < 5; ++seed) EXPECT_EQ(Shuffled(seed).order, made_.order);
  EXPECT_EQ(ByMemory({"l_exit_x", "a", "b"}).order, made_.order);
}

// The file makes all large values first; each takes little once it is summed up.
TEST_F(FreeOrderTest, WhatFreesMuchComesFirst) {
  std::string large, small;
  for (const std::string i : {"0", "1", "2"}) {
    large += Node("large" + i, "Relu", {"x"});
    small += Op("sum" + i, "Sum", {"large" + i, "axes"},
                Type("T", "DT_FLOAT") + Type("Tidx", "DT_INT32"));
  }
  Make(Placeholder("x", "dim { size: 1000 }") +
       Const("axes", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 0") + large + small);
  const Schedule schedule = ByMemory({"sum0", "sum1", "sum2"});
  ExpectValid(schedule);
  EXPECT_EQ(Names(schedule), (std::vector<std::string>{"axes", "x", "large0", "sum0", "large1",
                                                       "sum1", "large2", "sum2"}));
  // With all large values fetched nothing is gained.
  EXPECT_EQ(ByMemory({"sum0", "sum1", "sum2", "large0", "large1", "large2"}).order, made_.order);
}

}  // namespace
}  // namespace tenon::free_order_test
