// Each buffer has a set of tasks that come after all of its uses. Two buffers may overlap if the
// first task of one is in the set of the other.

#include "executor/plan/layout/task_arena.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon {
namespace {

class TaskArena {
 public:
  TaskArena(const StepGraph& graph, const TaskGraph& tasks, const Places& places)
      : graph_(graph), tasks_(tasks), places_(places) {}

  ArenaLayout Plan(absl::Span<const BufferRequest> buffers, absl::Span<const int32_t> owners) {
    FindUses();
    uses_.reserve(buffers.size());
    for (size_t i = 0; i < buffers.size(); ++i) uses_.push_back(UseOf(buffers[i], owners[i]));
    return PlanArena(buffers, [this](int32_t a, int32_t b) {
      return !EndsBefore(uses_[a], uses_[b]) && !EndsBefore(uses_[b], uses_[a]);
    });
  }

 private:
  struct Use {
    int32_t first_task = 0, first_step = 0;
    // The task that all other users precede, and the buffer's last use within it; -1: none.
    int32_t last_task = -1, last_step = 0;
    std::vector<uint64_t> after;  // the tasks that all users precede; empty: none
  };
  struct TaskUse {
    int32_t task, last_step;
  };

  // By place: the tasks that use it.
  void FindUses() {
    users_.resize(graph_.storages.size());
    for (int32_t k = 0; k < graph_.num_steps(); ++k) {
      // A step of a loop runs in each pass: what others share with it must stay to the loop's end.
      const int32_t last = EndOfLoops(k);
      for (const int32_t s : graph_.Args(graph_.steps[k])) {
        if (s < 0) continue;
        std::vector<TaskUse>& users = users_[places_.Find(s)];
        const auto known = std::ranges::find(users, tasks_.task_of[k], &TaskUse::task);
        if (known == users.end()) {
          users.push_back({tasks_.task_of[k], last});
        } else {
          known->last_step = std::max(known->last_step, last);
        }
      }
    }
  }
  int32_t EndOfLoops(int32_t k) const {
    int32_t last = k;
    for (int32_t l = graph_.steps[k].loop; l >= 0; l = graph_.loops[l].parent)
      last = graph_.loops[l].close_step;
    return last;
  }

  Use UseOf(const BufferRequest& buffer, int32_t owner) const {
    Use use;
    use.first_step = buffer.first;
    use.first_task = tasks_.task_of[buffer.first];
    if (buffer.last >= graph_.num_steps()) return use;  // it lives to the end of the run
    if (owner < 0 || users_[owner].size() == 1) {
      // The steps of one task stand in one order, so that the lifetime holds.
      use.last_task = use.first_task;
      use.last_step = buffer.last;
      use.after = tasks_.after[use.first_task];
      return use;
    }
    const std::vector<TaskUse>& users = users_[owner];
    use.after = tasks_.after[users[0].task];
    for (const TaskUse& user : users) {
      for (size_t w = 0; w < use.after.size(); ++w) use.after[w] &= tasks_.after[user.task][w];
      const bool is_last = std::ranges::all_of(users, [&](const TaskUse& other) {
        return other.task == user.task || tasks_.Precedes(other.task, user.task);
      });
      if (!is_last) continue;
      use.last_task = user.task;
      use.last_step = user.last_step;
    }
    return use;
  }

  static bool EndsBefore(const Use& a, const Use& b) {
    if (a.last_task == b.first_task) return a.last_step < b.first_step;
    return !a.after.empty() && (a.after[b.first_task / 64] >> (b.first_task % 64) & 1) != 0;
  }

  const StepGraph& graph_;
  const TaskGraph& tasks_;
  const Places& places_;
  std::vector<std::vector<TaskUse>> users_;
  std::vector<Use> uses_;  // by buffer
};

}  // namespace

ArenaLayout PlanTaskArena(const StepGraph& graph, const TaskGraph& tasks, const Places& places,
                          absl::Span<const BufferRequest> buffers,
                          absl::Span<const int32_t> owners) {
  return TaskArena(graph, tasks, places).Plan(buffers, owners);
}

}  // namespace tenon
