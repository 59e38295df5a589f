#include "executor/plan/tasks/task_graph.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "executor/plan/build_plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/bare_device_util.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/plan/planned_graph_util.h"

namespace tenon::task_graph_test {
namespace {

using testing::Const;
using testing::Node;
using testing::Op;
using testing::Placeholder;
using testing::PlannedGraph;
using testing::Type;

class TestDevice : public testing::BareDevice {
 public:
  std::string_view type() const override { return "TEST"; }
};

// Tasks of steps that are made by hand. Times follow from the bytes of storages.
class TaskGraphTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kLarge = 1 << 20, kSmall = 64;  // about 100 us and 0.03 us to read

  int32_t Storage(uint64_t bytes, Where where = Where::kArena) {
    graph_.storages.push_back({where, 0, bytes, 0, nullptr});
    return static_cast<int32_t>(graph_.storages.size()) - 1;
  }
  int32_t Step(std::vector<int32_t> reads, std::vector<int32_t> writes) {
    GraphStep& step = graph_.steps.emplace_back();
    step.fn = [](const void*, const StepArgs&) { return absl::OkStatus(); };
    step.first_arg = static_cast<uint32_t>(graph_.args.size());
    step.num_inputs = static_cast<uint32_t>(reads.size());
    step.num_outputs = static_cast<uint32_t>(writes.size());
    graph_.args.insert(graph_.args.end(), reads.begin(), reads.end());
    graph_.args.insert(graph_.args.end(), writes.begin(), writes.end());
    return graph_.num_steps() - 1;
  }
  // A step from one new storage to another, which it returns.
  int32_t From(std::vector<int32_t> reads, uint64_t bytes = kLarge) {
    const int32_t out = Storage(bytes);
    Step(std::move(reads), {out});
    return out;
  }
  void Find(InterOp inter_op, std::vector<int32_t> place_of = {}) {
    if (place_of.empty()) {
      place_of.resize(graph_.storages.size());
      std::iota(place_of.begin(), place_of.end(), 0);
    }
    planned_.SetInterOp(inter_op);
    tasks_ = FindTasks(planned_.input(), graph_, ScheduleSteps(graph_), place_of);
  }
  int32_t TaskOf(int32_t step) const { return tasks_.task_of[step]; }
  bool Before(int32_t a, int32_t b) const { return tasks_.Precedes(TaskOf(a), TaskOf(b)); }
  bool Unordered(int32_t a, int32_t b) const {
    return TaskOf(a) != TaskOf(b) && !Before(a, b) && !Before(b, a);
  }

  PlannedGraph planned_{Placeholder("x", ""), {}, {}, 4};
  StepGraph graph_;
  TaskGraph tasks_;
};

TEST_F(TaskGraphTest, AChainIsNoMatterForTasks) {
  int32_t value = From({});
  for (int i = 0; i < 10; ++i) value = From({value});
  Find(InterOp::kOn);
  EXPECT_TRUE(tasks_.empty());
  Find(InterOp::kOff);
  EXPECT_TRUE(tasks_.empty());
  Find(InterOp::kAlways);
  ASSERT_EQ(tasks_.tasks.size(), 11u);
  for (int32_t k = 0; k < 10; ++k) EXPECT_TRUE(Before(k, k + 1));
}

TEST_F(TaskGraphTest, ChainsSideBySideAreTasks) {
  for (int chain = 0; chain < 3; ++chain) {
    int32_t value = From({});
    for (int i = 0; i < 4; ++i) value = From({value});
  }
  Find(InterOp::kOn);
  ASSERT_EQ(tasks_.tasks.size(), 3u);
  for (int32_t k = 0; k < graph_.num_steps(); ++k) EXPECT_EQ(TaskOf(k), TaskOf(k / 5 * 5)) << k;
  for (const PlannedTask& task : tasks_.tasks) {
    EXPECT_EQ(task.waits_for, 0);
    EXPECT_TRUE(task.followers.empty());
    EXPECT_EQ(task.entries.size(), 5u);
  }
}

// The chain that stands last is the longest: it is the most urgent, or else the last.
TEST_F(TaskGraphTest, TasksGoByPathOrByTheFile) {
  for (int chain = 0; chain < 3; ++chain) {
    int32_t value = From({});
    for (int i = 0; i < 2 + 2 * chain; ++i) value = From({value});
  }
  Find(InterOp::kOn);
  ASSERT_EQ(tasks_.tasks.size(), 3u);
  EXPECT_EQ(TaskOf(0), 2);
  planned_.SetOrder(NodeOrder::kFile);
  Find(InterOp::kOn);
  ASSERT_EQ(tasks_.tasks.size(), 3u);
  EXPECT_EQ(TaskOf(0), 0);
  EXPECT_EQ(TaskOf(graph_.num_steps() - 1), 2);
  for (const PlannedTask& task : tasks_.tasks) EXPECT_TRUE(std::ranges::is_sorted(task.entries));
}

TEST_F(TaskGraphTest, WhatIsTooShortStaysInOneThread) {
  for (int chain = 0; chain < 3; ++chain) From({From({}, kSmall)}, kSmall);
  Find(InterOp::kOn);
  EXPECT_TRUE(tasks_.empty());
}

TEST_F(TaskGraphTest, ForksAndJoins) {
  const int32_t a = From({}), left = From({a}), right = From({a});
  const int32_t left2 = From({left}), right2 = From({right});
  From({left2, right2});
  for (const InterOp inter_op : {InterOp::kOn, InterOp::kAlways}) {
    Find(inter_op);
    ASSERT_FALSE(tasks_.empty());
    EXPECT_TRUE(Before(0, 1));
    EXPECT_TRUE(Before(0, 2));
    EXPECT_TRUE(Unordered(1, 2));
    EXPECT_TRUE(Unordered(3, 4));
    EXPECT_TRUE(Unordered(3, 2));
    EXPECT_EQ(TaskOf(1) == TaskOf(3), inter_op == InterOp::kOn);
    for (int32_t k = 0; k < 5; ++k) EXPECT_TRUE(Before(k, 5));
  }
}

TEST_F(TaskGraphTest, SmallStepsGoWithWhatMakesTheirInput) {
  const int32_t weights = Storage(kLarge, Where::kConst);
  const int32_t a = From({weights}, kSmall), b = From({weights}, kSmall);
  const int32_t small = From({a}, kSmall);
  From({small}, kSmall);
  From({a, weights}, kSmall);
  From({b, weights}, kSmall);
  Find(InterOp::kOn);
  ASSERT_FALSE(tasks_.empty());
  EXPECT_EQ(TaskOf(2), TaskOf(0));
  EXPECT_EQ(TaskOf(3), TaskOf(0));
  EXPECT_TRUE(Unordered(0, 1));
}

// The readers of what a step writes over come before it, and so do writers of the same place.
TEST_F(TaskGraphTest, AStepThatWritesOverItsInputComesAfterTheOtherReaders) {
  const int32_t a = From({});
  From({a});
  From({a});
  const int32_t over = From({a});
  From({over});
  std::vector<int32_t> place_of(graph_.storages.size());
  std::iota(place_of.begin(), place_of.end(), 0);
  Find(InterOp::kAlways, place_of);
  EXPECT_TRUE(Unordered(1, 3));
  place_of[over] = a;
  Find(InterOp::kAlways, place_of);
  EXPECT_TRUE(Before(1, 3));
  EXPECT_TRUE(Before(2, 3));
  EXPECT_TRUE(Unordered(1, 2));
  EXPECT_TRUE(Before(3, 4));
}

TEST_F(TaskGraphTest, ConstantsAndFeedsOrderNothing) {
  const int32_t constant = Storage(kLarge, Where::kConst), feed = Storage(kLarge, Where::kFeed);
  From({constant, feed});
  From({feed, constant});
  Find(InterOp::kAlways);
  EXPECT_TRUE(Unordered(0, 1));
}

TEST_F(TaskGraphTest, FlagsAreSetOneAfterTheOtherAndReadInBetween) {
  const int32_t first = graph_.flags.AddFamily(2, FlagTree::kAlways, {nullptr, -1});
  Step({}, {});
  graph_.steps.back().SetsFlags(first, 2, FlagTree::kAlways);
  From({});
  graph_.steps.back().guard = first;
  From({});
  From({});
  graph_.steps.back().guard = first + 1;
  const int32_t second = graph_.flags.AddFamily(2, FlagTree::kAlways, {nullptr, -1});
  Step({}, {});
  graph_.steps.back().SetsFlags(second, 2, FlagTree::kAlways);
  Find(InterOp::kAlways);
  EXPECT_TRUE(Before(0, 1));
  EXPECT_TRUE(Before(0, 3));
  EXPECT_TRUE(Unordered(1, 3));
  EXPECT_TRUE(Unordered(0, 2));
  EXPECT_TRUE(Before(1, 4));
  EXPECT_TRUE(Before(3, 4));
}

// Queues its work on a stream, or waits for a device.
class StreamStep : public SlowStep {
 public:
  explicit StreamStep(Device* queues) : queues_(queues) {}
  absl::Status Run(Frame&, const StepArgs&) const override { return absl::OkStatus(); }
  std::string Describe() const override { return "stream"; }
  bool Waits() const override { return queues_ == nullptr; }
  StreamOf Queues() const override { return {queues_, nullptr, "stream"}; }

 private:
  Device* const queues_;
};

TEST_F(TaskGraphTest, StepsOfDevicesKeepTheirOrder) {
  TestDevice device;
  const StreamStep queues(&device), waits(nullptr);
  for (int i = 0; i < 5; ++i) From({});
  for (const int i : {0, 3, 4}) {
    graph_.steps[i].fn = RunSlowStep;
    graph_.steps[i].state = static_cast<const SlowStep*>(i == 4 ? &waits : &queues);
  }
  Find(InterOp::kAlways);
  EXPECT_TRUE(Unordered(0, 3));
  graph_.devices.push_back(&device);
  Find(InterOp::kAlways);
  EXPECT_TRUE(Before(0, 3));
  EXPECT_TRUE(Unordered(0, 1));
  EXPECT_TRUE(Unordered(1, 2));
  EXPECT_TRUE(Unordered(3, 4));
}

TEST_F(TaskGraphTest, UrgentTasksStandFirstAndProducersBeforeTheirReaders) {
  From({});  // short way
  int32_t value = From({});
  for (int i = 0; i < 5; ++i) value = From({value});
  Find(InterOp::kAlways);
  EXPECT_EQ(TaskOf(1), 0);
  for (size_t t = 0; t < tasks_.tasks.size(); ++t) {
    if (t > 0) EXPECT_GE(tasks_.tasks[t - 1].path_us, tasks_.tasks[t].path_us);
    for (const int32_t follower : tasks_.tasks[t].followers)
      EXPECT_GT(follower, static_cast<int32_t>(t));
  }
}

TEST_F(TaskGraphTest, TooManyUnitsAreOneRow) {
  for (int i = 0; i < 5000; ++i) From({}, kSmall);
  Find(InterOp::kAlways);
  EXPECT_TRUE(tasks_.empty());
}

// Tasks of whole graphs.
class TasksOfGraph {
 public:
  TasksOfGraph(std::string text, std::vector<std::string> fetches)
      : planned_(std::move(text), {{"x", Shape({4})}}, std::move(fetches), 3) {
    absl::StatusOr<std::unique_ptr<Plan>> plan = BuildPlan(planned_.input());
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) return;
    plan_ = *std::move(plan);
    const size_t n = plan_->tasks.size();
    EXPECT_GT(n, 0u);
    reaches_.assign(n, std::vector<bool>(n, false));
    for (size_t t = n; t-- > 0;) {
      for (const int32_t f : plan_->tasks[t].followers) {
        reaches_[t][f] = true;
        for (size_t u = 0; u < n; ++u) {
          if (reaches_[f][u]) reaches_[t][u] = true;
        }
      }
    }
  }
  // Whether all steps of a node run before those of another.
  bool Before(std::string_view a, std::string_view b) const {
    const std::vector<size_t> of_a = TasksOf(a), of_b = TasksOf(b);
    EXPECT_FALSE(of_a.empty() || of_b.empty()) << a << " " << b;
    return std::ranges::all_of(of_a, [&](size_t ta) {
      return std::ranges::all_of(of_b, [&](size_t tb) { return reaches_[ta][tb]; });
    });
  }
  bool Unordered(std::string_view a, std::string_view b) const {
    return !Before(a, b) && !Before(b, a);
  }
  void ExpectOrder(const std::vector<std::string>& nodes) const {
    for (size_t i = 1; i < nodes.size(); ++i)
      EXPECT_TRUE(Before(nodes[i - 1], nodes[i])) << nodes[i - 1] << " " << nodes[i];
  }

 private:
  std::vector<size_t> TasksOf(std::string_view name) const {
    std::vector<size_t> tasks;
    const NodeId n = planned_.node(name);
    for (size_t t = 0; plan_ != nullptr && t < plan_->tasks.size(); ++t) {
      for (uint32_t k = plan_->tasks[t].begin; k < plan_->tasks[t].end; ++k) {
        if (plan_->steps[k].node == n) tasks.push_back(t);
      }
    }
    return tasks;
  }

  PlannedGraph planned_;
  std::unique_ptr<Plan> plan_;
  std::vector<std::vector<bool>> reaches_;
};

const std::string kX = Placeholder("x", "dim { size: 4 }");

TEST(TasksOfGraphs, ControlEdgesHoldThroughNodesWithoutSteps) {
  const TasksOfGraph tasks(kX + Node("a", "Neg", {"x"}) + Node("b", "Tanh", {"x"}) +
                               Op("one", "NoOp", {"^a"}) + Op("two", "NoOp", {"^one", "^b"}) +
                               Node("c", "Relu", {"x", "^two"}) + Node("d", "Square", {"x"}),
                           {"a", "b", "c", "d"});
  EXPECT_TRUE(tasks.Before("a", "c"));
  EXPECT_TRUE(tasks.Before("b", "c"));
  EXPECT_TRUE(tasks.Unordered("a", "b"));
  EXPECT_TRUE(tasks.Unordered("c", "d"));
}

TEST(TasksOfGraphs, VariablesAreReadAndWrittenInOrder) {
  const std::string dtype = Type("dtype", "DT_FLOAT");
  const TasksOfGraph tasks(
      kX + testing::VarHandle("v", "v") + Op("assign", "AssignVariableOp", {"v", "x"}, dtype) +
          Op("read", "ReadVariableOp", {"v", "^assign"}, dtype) + Node("a", "Neg", {"x"}) +
          Op("add", "AssignAddVariableOp", {"v", "a", "^assign"}, dtype) +
          Op("again", "ReadVariableOp", {"v", "^assign"}, dtype) + Node("b", "Tanh", {"x"}),
      {"read", "again", "^add", "b"});
  const bool read_first = tasks.Before("read", "add");
  EXPECT_NE(read_first, tasks.Before("add", "read"));
  EXPECT_NE(tasks.Before("again", "add"), tasks.Before("add", "again"));
  EXPECT_TRUE(tasks.Before("assign", "read"));
  EXPECT_TRUE(tasks.Unordered("b", "add"));
  EXPECT_TRUE(tasks.Unordered("b", "assign"));
}

TEST(TasksOfGraphs, ReadersOfReferencesKeepTheirPlaces) {
  const TasksOfGraph tasks(
      kX +
          Op("v", "VariableV2", {},
             Type("dtype", "DT_FLOAT") +
                 "attr { key: 'shape' value { shape { dim { size: 4 } } } } ") +
          Node("assign", "Assign", {"v", "x"}) + Node("neg", "Neg", {"v", "^assign"}) +
          Node("add", "AssignAdd", {"v", "x", "^neg"}) + Node("tanh", "Tanh", {"v", "^assign"}),
      {"neg", "^add", "tanh"});
  tasks.ExpectOrder({"assign", "neg", "add"});
  EXPECT_TRUE(tasks.Before("assign", "tanh"));
  EXPECT_NE(tasks.Before("tanh", "add"), tasks.Before("add", "tanh"));
}

std::string Scalar(std::string_view name, int value) {
  return Const(name, "DT_INT32", absl::StrCat("tensor_shape { } int_val: ", value));
}

// With each kind of handle: a resource, a string, a reference to a string.
TEST(TasksOfGraphs, TensorArraysFollowTheirFlow) {
  for (const std::string version : {"", "V2", "V3"}) {
    SCOPED_TRACE(version);
    const std::string t = Type("T", "DT_FLOAT"), dtype = Type("dtype", "DT_FLOAT");
    const std::string zero_flow = version == "V3" ? "array:1" : "flow";
    const TasksOfGraph tasks(
        kX + Scalar("zero", 0) + Scalar("one", 1) + Scalar("two", 2) +
            Const("flow", "DT_FLOAT", "tensor_shape { } float_val: 0") +
            Op("array", "TensorArray" + version, {"two"}, dtype) +
            Op("first", "TensorArrayWrite" + version, {"array", "zero", "x", zero_flow}, t) +
            Op("second", "TensorArrayWrite" + version, {"array", "one", "x", "first"}, t) +
            Op("read", "TensorArrayRead" + version, {"array", "zero", "second"}, dtype) +
            Op("close", "TensorArrayClose" + version, {"array", "^read"}),
        {"read", "^close"});
    tasks.ExpectOrder({"array", "first", "second", "read", "close"});
  }
}

// What one container holds is changed in one order, though no edge asks for it.
TEST(TasksOfGraphs, ContainersAreUsedInOneOrder) {
  for (const std::string version : {"", "V2", "V3"}) {
    SCOPED_TRACE(version);
    const std::string t = Type("T", "DT_FLOAT"), dtype = Type("dtype", "DT_FLOAT");
    const std::string zero_flow = version == "V3" ? "array:1" : "flow";
    const TasksOfGraph tasks(
        kX + Scalar("zero", 0) + Scalar("two", 2) +
            Const("flow", "DT_FLOAT", "tensor_shape { } float_val: 0") +
            Op("array", "TensorArray" + version, {"two"}, dtype) +
            Op("first", "TensorArrayWrite" + version, {"array", "zero", "x", zero_flow}, t) +
            Op("second", "TensorArrayWrite" + version, {"array", "zero", "x", zero_flow}, t),
        {"first", "second"});
    EXPECT_NE(tasks.Before("first", "second"), tasks.Before("second", "first"));
  }
  for (const std::string version : {"", "V2"}) {
    SCOPED_TRACE(version);
    const std::string types = testing::Types("Tcomponents", {"DT_FLOAT"});
    const TasksOfGraph tasks(kX +
                                 Op("queue", "FIFOQueue" + version, {},
                                    testing::Types("component_types", {"DT_FLOAT"})) +
                                 Op("first", "QueueEnqueue" + version, {"queue", "x"}, types) +
                                 Op("second", "QueueEnqueue" + version, {"queue", "x"}, types),
                             {"^first", "^second"});
    EXPECT_NE(tasks.Before("first", "second"), tasks.Before("second", "first"));
  }
}

TEST(TasksOfGraphs, BranchesComeBetweenSwitchAndMerge) {
  const TasksOfGraph tasks(
      kX + Node("a", "Neg", {"x"}) + Op("late", "Any", {"p2", "axes"}, Type("Tidx", "DT_INT32")) +
          Const("axes", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 0") +
          Op("p2", "IsNan", {"x"}, Type("T", "DT_FLOAT")) + Node("s", "Switch", {"a", "late"}) +
          Node("no", "Neg", {"s"}) + Node("yes", "Tanh", {"s:1"}) +
          Node("m", "Merge", {"no", "yes"}, "attr { key: 'N' value { i: 2 } } ") +
          Node("other", "Tanh", {"x"}),
      {"m", "other"});
  tasks.ExpectOrder({"a", "s", "no", "m"});
  tasks.ExpectOrder({"late", "s", "yes", "m"});
  EXPECT_TRUE(tasks.Unordered("other", "s"));
  EXPECT_TRUE(tasks.Unordered("other", "no"));
}

}  // namespace
}  // namespace tenon::task_graph_test
