// One line for each step: its node, the places of its inputs, an arrow, the places of its outputs.
// An output in the place of an input is marked: the kernel writes over the input.

#include "executor/plan/plan_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "executor/run/slow_steps.h"

namespace tenon {
namespace {

std::string PlaceText(const Plan& plan, int32_t storage) {
  if (storage < 0) return "-";
  const Storage& s = plan.storages[storage];
  switch (s.where) {
    case Where::kArena:
      return absl::StrCat("@", s.offset, "+", s.bytes);
    case Where::kConst:
      return absl::StrCat("const+", s.bytes);
    case Where::kFeed:
      return absl::StrCat("feed", s.index);
    case Where::kFetch:
      return absl::StrCat("fetch-buffer", s.index);
    case Where::kSlot:
      return absl::StrCat("tensor", s.index);
    case Where::kNone:
      break;
  }
  return "-";
}

// "task 3: about 12 us of 80 us to the end, waits for 2 tasks, then 5, 7".
std::string TaskText(const Plan& plan, size_t number) {
  const PlanTask& task = plan.tasks[number];
  std::string text = absl::StrFormat("task %d: about %.3g us of %.3g us to the end", number,
                                     task.cost_us, task.path_us);
  if (task.waits_for > 0)
    absl::StrAppend(&text, ", waits for ", task.waits_for,
                    task.waits_for == 1 ? " task" : " tasks");
  if (!task.followers.empty())
    absl::StrAppend(&text, ", then ", absl::StrJoin(task.followers, ", "));
  return text + "\n";
}

}  // namespace

std::string PlanToText(const Plan& plan) {
  std::string text = absl::StrCat("plan: ", plan.steps.size(), " steps, arena ", plan.arena_bytes,
                                  " bytes (lower bound ", plan.arena_lower_bound, "), ",
                                  plan.copies.size(), " copies\n");
  size_t task = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (task < plan.tasks.size() && plan.tasks[task].begin == i) text += TaskText(plan, task++);
    const Step& step = plan.steps[i];
    const SlowStep* slow =
        step.fn == RunSlowStep ? static_cast<const SlowStep*>(step.state) : nullptr;
    absl::StrAppend(&text, i, "  ");
    if (step.node == kNoNode) {  // always a SlowStep: planned steps belong to nodes
      absl::StrAppend(&text, slow->Describe(), "\n");
      continue;
    }
    absl::StrAppend(&text, plan.graph->name(step.node), " (", plan.graph->op_name(step.node), ")");
    if (slow != nullptr)
      absl::StrAppend(&text, " [", slow->Describe(),
                      slow->guard != 0 ? absl::StrCat(", if alive ", slow->guard) : "", "]");
    const size_t out = step.first_arg + step.num_inputs, end = plan.ArgsEnd(i);
    for (size_t a = step.first_arg; a < out; ++a)
      absl::StrAppend(&text, a == step.first_arg ? "  " : ", ", PlaceText(plan, plan.args[a]));
    absl::StrAppend(&text, " ->");
    for (size_t a = out; a < end; ++a) {
      absl::StrAppend(&text, a == out ? " " : ", ", PlaceText(plan, plan.args[a]));
      for (size_t r = step.first_arg; r < out; ++r) {
        if (plan.args[r] >= 0 && plan.args[r] == plan.args[a]) {
          absl::StrAppend(&text, " (in place)");
          break;
        }
      }
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace tenon
