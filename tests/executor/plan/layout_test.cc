#include "executor/plan/layout/layout.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/plan/planned_graph_util.h"
#include "tests/executor/plan/random_steps_util.h"

namespace tenon {
namespace {

using testing::MakeRandomSteps;
using testing::RandomSteps;
using testing::StepMachine;

class LayoutTest : public ::testing::Test {
 protected:
  int32_t Storage(uint64_t bytes, Where where = Where::kArena) {
    graph_.storages.push_back({where, 0, bytes, 0, nullptr});
    return static_cast<int32_t>(graph_.storages.size()) - 1;
  }
  // Returns its number. `over`: its output may go over its input.
  int32_t Step(std::vector<int32_t> reads, std::vector<int32_t> writes, bool over = false) {
    GraphStep& step = graph_.steps.emplace_back();
    step.node = 0;
    step.fn = RunSlowStep;
    step.loop = graph_.open_loop;
    step.first_arg = static_cast<uint32_t>(graph_.args.size());
    step.num_inputs = static_cast<uint32_t>(reads.size());
    step.num_outputs = static_cast<uint32_t>(writes.size());
    graph_.args.insert(graph_.args.end(), reads.begin(), reads.end());
    graph_.args.insert(graph_.args.end(), writes.begin(), writes.end());
    if (over) graph_.in_place.push_back({graph_.num_steps() - 1, 0, 0});
    return graph_.num_steps() - 1;
  }
  // A loop of one variable, which `next` becomes. Within an open loop, a loop of that one.
  void OpenLoop(int32_t first, int32_t variable) {
    PlanLoop loop;
    loop.parent = graph_.open_loop;
    loop.open_step = Step({first}, {variable});
    loop.variables.push_back({0, 0, variable, {first, DataType::kFloat, {}}, {}});
    graph_.open_loop = static_cast<int32_t>(graph_.loops.size());
    graph_.loops.push_back(loop);
  }
  void CloseLoop(int32_t next) {
    PlanLoop& loop = graph_.loops[graph_.open_loop];
    loop.variables[0].follow.storage = next;
    loop.close_step = Step({next}, {loop.variables[0].storage});
    graph_.steps.back().fn = nullptr;
    graph_.open_loop = loop.parent;
  }
  void Fetch(int32_t storage) {
    PlanValue& v = graph_.values.emplace_back();
    v.storage = storage;
    v.dtype = DataType::kInt8;
    v.shape = &*graph_.shapes.insert(Shape({8})).first;
    v.output = {0, 0};
    graph_.fetch_values.push_back(static_cast<int32_t>(graph_.values.size()) - 1);
    graph_.fetches.emplace_back();
  }
  absl::StatusOr<Layout> Make() {
    schedule_ = ScheduleSteps(graph_);
    return MakeLayout(planned_.input(), graph_, schedule_);
  }

  testing::PlannedGraph planned_{testing::Placeholder("x", "")};
  StepGraph graph_;
  StepSchedule schedule_;
};

TEST_F(LayoutTest, AChainThatMayGoOverItsInputsHasOnePlace) {
  std::vector<int32_t> chain = {Storage(8)};
  Step({}, {chain[0]});
  for (int i = 0; i < 5; ++i) {
    chain.push_back(Storage(8));
    Step({chain[i]}, {chain[i + 1]}, true);
  }
  const absl::StatusOr<Layout> layout = Make();
  ASSERT_TRUE(layout.ok()) << layout.status();
  for (int32_t s : chain) EXPECT_EQ(layout->places.Find(s), chain[0]);
  EXPECT_EQ(layout->arena_lower_bound, 8u);
}

TEST_F(LayoutTest, NothingGoesOverWhatIsReadLater) {
  const int32_t a = Storage(8), b = Storage(8), c = Storage(8);
  Step({}, {a});
  Step({a}, {b}, true);
  Step({a, b}, {c}, true);
  const absl::StatusOr<Layout> layout = Make();
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_NE(layout->places.Find(b), a);
  EXPECT_EQ(layout->places.Find(c), a);
}

TEST_F(LayoutTest, OtherSizesAndInputsThatAreReadTwiceStayApart) {
  const int32_t a = Storage(8), b = Storage(4), c = Storage(4);
  Step({}, {a});
  Step({a}, {b}, true);
  Step({b, b}, {c}, true);  // may go over its input 0 only
  const absl::StatusOr<Layout> layout = Make();
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_FALSE(layout->places.IsShared(b));
  EXPECT_FALSE(layout->places.IsShared(c));
}

TEST_F(LayoutTest, WhatALoopReadsFromOutsideLivesAsLongAsTheLoop) {
  const int32_t outside = Storage(8), first = Storage(8), variable = Storage(8), inner = Storage(8);
  Step({}, {outside});
  Step({}, {first});
  OpenLoop(first, variable);
  Step({outside}, {inner}, true);  // again in the next pass
  CloseLoop(inner);
  const Lifetimes lifetimes = FindLifetimes(graph_);
  EXPECT_EQ(lifetimes.first[outside], 0);
  EXPECT_EQ(lifetimes.last[outside], graph_.loops[0].close_step);
  EXPECT_EQ(lifetimes.first[inner], 3);
  const absl::StatusOr<Layout> layout = Make();
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_NE(layout->places.Find(inner), outside);
}

TEST_F(LayoutTest, ALoopVariableIsComputedWhereItIs) {
  const int32_t first = Storage(8), variable = Storage(8), next = Storage(8);
  Step({}, {first});
  OpenLoop(first, variable);
  Step({variable}, {next}, true);
  CloseLoop(next);
  const absl::StatusOr<Layout> layout = Make();
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->places.Find(next), variable);
}

TEST_F(LayoutTest, NoStepTakesALoopVariableThatIsHeld) {
  const int32_t first = Storage(0, Where::kSlot), variable = Storage(0, Where::kSlot);
  const int32_t next = Storage(0, Where::kSlot);
  Step({}, {first});
  OpenLoop(first, variable);
  const int32_t reader = Step({variable}, {next});
  CloseLoop(next);
  const absl::StatusOr<Layout> free = Make();
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_TRUE(free->last_uses.IsLast(reader, 0));
  graph_.held.push_back(variable);
  const absl::StatusOr<Layout> held = Make();
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_FALSE(held->last_uses.IsLast(reader, 0));
}

TEST_F(LayoutTest, AVariableOfALoopWithinALoopIsComputedWhereItIs) {
  const int32_t first = Storage(8), outer = Storage(8), inner = Storage(8), next = Storage(8);
  Step({}, {first});
  OpenLoop(first, outer);
  OpenLoop(outer, inner);
  Step({inner}, {next}, true);
  CloseLoop(next);
  CloseLoop(inner);
  const absl::StatusOr<Layout> layout = Make();
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->places.Find(next), inner);
  EXPECT_FALSE(layout->places.IsShared(inner));  // two steps set it in each pass of the outer loop
}

TEST_F(LayoutTest, ALoopVariableThatIsReadAfterItsNextValueIsCopied) {
  const int32_t first = Storage(8), variable = Storage(8), next = Storage(8), late = Storage(8);
  Step({}, {first});
  OpenLoop(first, variable);
  Step({variable}, {next}, true);
  Step({variable}, {late});
  CloseLoop(next);
  const absl::StatusOr<Layout> layout = Make();
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_FALSE(layout->places.IsShared(next));
}

TEST_F(LayoutTest, FetchesAreComputedIntoBuffersOfTheirOwn) {
  const int32_t a = Storage(8), b = Storage(8);
  Step({}, {a});
  Step({a}, {b}, true);
  Fetch(b);
  const absl::StatusOr<Layout> layout = Make();
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->fetches[0].where, Where::kFetch);
  ASSERT_EQ(layout->fetch_buffers.size(), 1u);
  EXPECT_EQ(layout->storages[a].where, Where::kFetch);  // b goes over it
  EXPECT_EQ(layout->arena_bytes, 0u);
}

TEST_F(LayoutTest, MoreThanAnyMachineHasIsAnErrorWithTheNodesName) {
  for (int i = 0; i < 2; ++i) Step({}, {Storage(uint64_t{3} << 60)});
  const absl::StatusOr<Layout> layout = Make();
  EXPECT_EQ(layout.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(layout.status().message()), ::testing::HasSubstr("'x'"));
}

// The seed of a graph is in the message.
TEST_F(LayoutTest, RandomStepsFindWhatTheyRead) {
  int in_place = 0, loops_in_place = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const RandomSteps steps = MakeRandomSteps(random, 0, 25, 3);
    const StepSchedule schedule = ScheduleSteps(steps.graph);
    const absl::StatusOr<Layout> layout = MakeLayout(planned_.input(), steps.graph, schedule);
    ASSERT_TRUE(layout.ok()) << layout.status();
    for (int run = 0; run < 3; ++run)
      ASSERT_EQ(StepMachine(steps, schedule, *layout, random).Run(), "") << "seed " << seed;
    for (size_t s = 0; s < steps.graph.storages.size(); ++s)
      in_place += layout->places.IsShared(static_cast<int32_t>(s)) ? 1 : 0;
    for (const PlanLoop& loop : steps.graph.loops) {
      for (const LoopVariable& v : loop.variables)
        loops_in_place += layout->places.Find(v.follow.storage) == v.storage ? 1 : 0;
    }
  }
  EXPECT_GT(in_place, 1000);
  EXPECT_GT(loops_in_place, 100);
}

// The machine that runs them is no judge who lets all pass.
TEST_F(LayoutTest, RandomStepsSeeThatALayoutIsWrong) {
  int wrong = 0;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const RandomSteps steps = MakeRandomSteps(random, 0, 25, 3);
    const StepSchedule schedule = ScheduleSteps(steps.graph);
    absl::StatusOr<Layout> layout = MakeLayout(planned_.input(), steps.graph, schedule);
    ASSERT_TRUE(layout.ok()) << layout.status();
    for (tenon::Storage& s : layout->storages) s.offset = 0;
    wrong += StepMachine(steps, schedule, *layout, random).Run().empty() ? 0 : 1;
  }
  EXPECT_GT(wrong, 45);
}

}  // namespace
}  // namespace tenon
