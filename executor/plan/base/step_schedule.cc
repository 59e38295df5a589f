// Groups steps into rows in one pass that knows the innermost open row. Row 0 is the plan itself;
// each other row is a branch of at least two steps under one flag, or the body of a loop.

#include "executor/plan/base/step_schedule.h"

namespace tenon {
namespace {

// Rows run each other by recursion, on the machine's stack. Deeper branches get no row: their steps
// each look at their flag.
constexpr int32_t kMaxRowDepth = 128;

class StepScheduler {
 public:
  explicit StepScheduler(const StepGraph& graph) : graph_(graph), opens_(graph.steps.size(), -1) {
    for (size_t l = 0; l < graph.loops.size(); ++l)
      opens_[graph.loops[l].open_step] = static_cast<int32_t>(l);
  }

  StepSchedule Run() {
    schedule_.row_of.resize(graph_.steps.size());
    now_ = AddRow(-1);
    for (int32_t k = 0; k < graph_.num_steps(); ++k) {
      // Only the step that closes a loop has no function: it holds the arguments of
      // LoopStep::Advance and never runs itself.
      if (graph_.steps[k].fn == nullptr) {
        CloseLoop(k);
      } else {
        AddStep(k);
      }
    }
    return std::move(schedule_);
  }

 private:
  StepRow& row(int32_t r) { return schedule_.rows[r]; }

  int32_t AddRow(int32_t parent) {
    const auto r = static_cast<int32_t>(schedule_.rows.size());
    StepRow& added = schedule_.rows.emplace_back();
    added.parent = parent;
    added.depth = parent < 0 ? 0 : row(parent).depth + 1;
    if (parent >= 0) row(parent).entries.push_back(-1 - r);
    return r;
  }

  void CloseLoop(int32_t k) {
    while (row(now_).loop < 0) now_ = row(now_).parent;
    schedule_.row_of[k] = now_;
    now_ = row(now_).parent;
  }

  void AddStep(int32_t k) {
    const GraphStep& step = graph_.steps[k];
    // Leaves the branches to which the step does not belong. A loop's row has no guard: only its
    // closing step leaves it.
    while (row(now_).guard != 0 && !graph_.flags.Implies(step.guard, row(now_).guard))
      now_ = row(now_).parent;
    if (OpensBranch(k)) {
      now_ = AddRow(now_);
      row(now_).guard = step.guard;
    }
    schedule_.row_of[k] = now_;
    row(now_).entries.push_back(k);
    // Flags are numbered in the order of steps, so those of a row follow each other.
    for (int32_t r = step.num_flags > 0 ? now_ : -1; r >= 0; r = row(r).parent) {
      if (row(r).end_flag == 0) row(r).first_flag = step.first_flag;
      row(r).end_flag = step.first_flag + step.num_flags;
    }
    if (opens_[k] >= 0) {
      now_ = AddRow(now_);
      row(now_).loop = opens_[k];
    }
  }

  // Whether the step is the first one of a branch that gets a row. A single step gets none: it is
  // cheaper if it looks at its flag itself.
  bool OpensBranch(int32_t k) {
    const GraphStep& step = graph_.steps[k];
    if (step.guard == 0 || step.guard == row(now_).guard || opens_[k] >= 0) return false;
    if (row(now_).depth >= kMaxRowDepth || k + 1 == graph_.num_steps()) return false;
    const GraphStep& next = graph_.steps[k + 1];
    return next.fn != nullptr && next.loop == step.loop &&
           graph_.flags.Implies(next.guard, step.guard);
  }

  const StepGraph& graph_;
  std::vector<int32_t> opens_;  // by step: the loop that it opens, or -1
  StepSchedule schedule_;
  int32_t now_ = 0;  // the row of the last step
};

}  // namespace

int32_t StepSchedule::CommonRow(int32_t a, int32_t b) const {
  while (a != b) {
    int32_t& deeper = rows[a].depth >= rows[b].depth ? a : b;
    deeper = rows[deeper].parent;
  }
  return a;
}

StepSchedule ScheduleSteps(const StepGraph& graph) { return StepScheduler(graph).Run(); }

}  // namespace tenon
