// Arenas of plans with tasks.
#include "executor/plan/layout/task_arena.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "executor/plan/layout/layout.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/plan/planned_graph_util.h"
#include "tests/executor/plan/random_steps_util.h"

namespace tenon::task_arena_test {
namespace {

using testing::MakeRandomSteps;
using testing::RandomSteps;
using testing::StepMachine;

// What lies in one part of the arena.
struct Tenant {
  uint64_t begin, end;
  std::vector<int32_t> users;  // steps
};

// Says of steps which comes first in every run, from the followers of tasks alone.
class Orders {
 public:
  Orders(const StepGraph& graph, const TaskGraph& tasks) : graph_(graph), tasks_(tasks) {
    const size_t n = tasks.tasks.size();
    reaches_.assign(n, std::vector<bool>(n, false));
    for (size_t from = 0; from < n; ++from) {
      std::vector<int32_t> open = tasks.tasks[from].followers;
      while (!open.empty()) {
        const int32_t t = open.back();
        open.pop_back();
        if (reaches_[from][t]) continue;
        reaches_[from][t] = true;
        open.insert(open.end(), tasks.tasks[t].followers.begin(), tasks.tasks[t].followers.end());
      }
    }
  }
  // Whether all uses of a come before all of b.
  bool Precedes(const Tenant& a, const Tenant& b) const {
    for (const int32_t i : a.users) {
      for (const int32_t j : b.users) {
        const int32_t of_i = tasks_.task_of[i], of_j = tasks_.task_of[j];
        const bool before = of_i == of_j ? LastOf(i, a) < FirstOf(j, b) : reaches_[of_i][of_j];
        if (!before) return false;
      }
    }
    return true;
  }

 private:
  // The innermost loop around all users of a tenant.
  int32_t Home(const Tenant& tenant) const {
    int32_t home = graph_.steps[tenant.users[0]].loop;
    for (const int32_t k : tenant.users) {
      while (home >= 0 && !Within(k, home)) home = graph_.loops[home].parent;
    }
    return home;
  }
  bool Within(int32_t step, int32_t loop) const {
    int32_t l = graph_.steps[step].loop;
    while (l >= 0 && l != loop) l = graph_.loops[l].parent;
    return l == loop;
  }
  // A use within a loop that the tenant outlives goes on for the whole loop.
  int32_t Around(int32_t step, const Tenant& tenant) const {
    const int32_t home = Home(tenant);
    int32_t outermost = -1;
    for (int32_t l = graph_.steps[step].loop; l != home; l = graph_.loops[l].parent) outermost = l;
    return outermost;
  }
  int32_t FirstOf(int32_t step, const Tenant& tenant) const {
    const int32_t loop = Around(step, tenant);
    return loop < 0 ? step : graph_.loops[loop].open_step;
  }
  int32_t LastOf(int32_t step, const Tenant& tenant) const {
    const int32_t loop = Around(step, tenant);
    return loop < 0 ? step : graph_.loops[loop].close_step;
  }

  const StepGraph& graph_;
  const TaskGraph& tasks_;
  std::vector<std::vector<bool>> reaches_;
};

std::vector<Tenant> FindTenants(const StepGraph& graph, const Layout& layout) {
  std::vector<Tenant> by_place(graph.storages.size()), tenants;
  for (int32_t k = 0; k < graph.num_steps(); ++k) {
    for (const int32_t s : graph.Args(graph.steps[k])) {
      if (s >= 0) by_place[layout.places.Find(s)].users.push_back(k);
    }
    if (const uint64_t bytes = graph.steps[k].scratch_bytes; bytes > 0) {
      const uint64_t begin = uint64_t{layout.scratch_line[k]} * 64;
      tenants.push_back({begin, begin + bytes, {k}});
    }
  }
  for (size_t s = 0; s < by_place.size(); ++s) {
    const Storage& storage = layout.storages[s];
    if (by_place[s].users.empty() || storage.where != Where::kArena) continue;
    tenants.push_back({storage.offset, storage.offset + storage.bytes, by_place[s].users});
  }
  return tenants;
}

class TaskArenaTest : public ::testing::Test {
 protected:
  // `wide`: without branches and loops, and so with more that may run at once.
  RandomSteps Make(std::mt19937& random, bool wide) {
    RandomSteps steps = MakeRandomSteps(random, 0, wide ? 60 : 25, wide ? 0 : 3);
    steps.graph.first_value.assign(planned_.graph().num_node_ids(), -1);
    return steps;
  }

  testing::PlannedGraph planned_{testing::Placeholder("x", ""), {}, {}, 3};
};

TEST_F(TaskArenaTest, WhatSharesMemoryIsUsedOneAfterTheOther) {
  int shared = 0, with_tasks = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937 random(seed);
    const RandomSteps steps = Make(random, seed % 2 == 0);
    const StepSchedule schedule = ScheduleSteps(steps.graph);
    const absl::StatusOr<Layout> layout = MakeLayout(planned_.input(), steps.graph, schedule);
    ASSERT_TRUE(layout.ok()) << layout.status();
    if (layout->tasks.empty()) continue;  // a single unit
    ++with_tasks;
    const Orders orders(steps.graph, layout->tasks);
    const std::vector<Tenant> tenants = FindTenants(steps.graph, *layout);
    EXPECT_EQ(layout->arena_lower_bound > 0, layout->arena_bytes > 0);
    for (size_t a = 0; a < tenants.size(); ++a) {
      ASSERT_LE(tenants[a].end, layout->arena_bytes);
      for (size_t b = 0; b < a; ++b) {
        if (tenants[a].begin >= tenants[b].end || tenants[b].begin >= tenants[a].end) continue;
        ++shared;
        ASSERT_TRUE(orders.Precedes(tenants[a], tenants[b]) ||
                    orders.Precedes(tenants[b], tenants[a]))
            << "steps " << tenants[a].users[0] << " and " << tenants[b].users[0];
      }
    }
  }
  EXPECT_GT(with_tasks, 150);
  EXPECT_GT(shared, 500);
}

// In any order that tasks allow, steps find what they read, in the arena and in slots.
TEST_F(TaskArenaTest, RandomStepsFindWhatTheyReadInAnyOrderOfTasks) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const RandomSteps steps = Make(random, seed % 2 == 0);
    const StepSchedule schedule = ScheduleSteps(steps.graph);
    const absl::StatusOr<Layout> layout = MakeLayout(planned_.input(), steps.graph, schedule);
    ASSERT_TRUE(layout.ok()) << layout.status();
    for (int run = 0; run < 5; ++run)
      ASSERT_EQ(StepMachine(steps, schedule, *layout, random).Run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace tenon::task_arena_test
