// One line for each step: its node, the places of its inputs, an arrow, the places of its outputs.
// An output in the place of an input is marked: the kernel writes over the input.

#include "executor/plan/plan_text.h"

#include "absl/strings/str_cat.h"
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

}  // namespace

std::string PlanToText(const Plan& plan) {
  std::string text = absl::StrCat("plan: ", plan.steps.size(), " steps, arena ", plan.arena_bytes,
                                  " bytes (lower bound ", plan.arena_lower_bound, "), ",
                                  plan.copies.size(), " copies\n");
  for (size_t i = 0; i < plan.steps.size(); ++i) {
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
