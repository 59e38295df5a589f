// Finds the flag that says whether a node runs. No step is needed where one flag of the tree
// implies the other ones; else a step computes the conjunction of two flags.

#include "executor/plan/steps/liveness.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace tenon {

int32_t Liveness::OfNode(NodeId n) {
  const StepGraph& graph = steps_.graph();
  int32_t alive = FlagTree::kAlways;
  for (const Output& from : nodes_.data_inputs(n))
    alive = Both(n, alive, graph.values[graph.ValueOf(from)].alive);
  for (const Output& from : nodes_.control_inputs(n)) {
    // A node that a feed replaces need not be in the order: then there is nothing to wait for.
    if (graph.first_value[from.node] >= 0) alive = Both(n, alive, graph.node_alive[from.node]);
  }
  return alive;
}

int32_t Liveness::Both(NodeId n, int32_t a, int32_t b) {
  FlagTree& flags = steps_.graph().flags;
  if (flags.Implies(a, b)) return a;
  if (flags.Implies(b, a)) return b;
  const std::pair<int32_t, int32_t> key(std::min(a, b), std::max(a, b));
  if (const int32_t* made = both_.Find(key)) return *made;
  const int32_t out = flags.Add(1, a);  // a tree has one parent: that `out` implies b is not known
  both_.Add(key, out);
  GraphStep& step =
      steps_.AddSlowStep(n, std::make_unique<BothAliveStep>(a, b, out), FlagTree::kAlways, {}, {});
  step.SetsFlags(out, 1, a);
  return out;
}

int32_t Liveness::OfMerge(absl::Span<const int32_t> alive) const {
  const FlagTree& flags = steps_.graph().flags;
  // A Merge of all outputs of one Switch, which may be a single one, is alive whenever the Switch
  // is: behind a conditional, values are unconditional again.
  if (const int32_t family = flags[alive[0]].family; family != 0) {
    std::vector<int32_t> members(alive.begin(), alive.end());
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    // Distinct numbers between the first and the last flag of the family, as many as the family
    // has: all of them.
    const int32_t size = flags[alive[0]].family_size;
    if (static_cast<int32_t>(members.size()) == size && members.front() == family &&
        members.back() == family + size - 1)
      return flags[family].parent;
  }
  int32_t common = alive[0];
  for (int32_t flag : alive) common = flags.Common(common, flag);
  return std::find(alive.begin(), alive.end(), common) != alive.end() ? common : -1;
}

Chooser Liveness::ChosenBy(int32_t choice, int32_t storage) const {
  const Tensor* const constant = steps_.graph().values[choice].constant;
  if (constant != nullptr) return {constant->data(), -1};
  return {nullptr, storage};
}

int32_t Liveness::TakenOutput(Chooser chosen_by, int32_t count, int32_t alive) const {
  const StepGraph& graph = steps_.graph();
  const auto find = [&](int32_t flag) {
    for (; flag != FlagTree::kAlways; flag = graph.flags[flag].parent) {
      const FlagTree::Flag& f = graph.flags[flag];
      if (f.family != 0 && f.family_size == count && f.chosen_by == chosen_by)
        return flag - f.family;
    }
    return -1;
  };
  // Flags within a loop do not hang below the flag of the loop, so loops are asked one by one.
  int32_t taken = find(alive);
  for (int32_t l = graph.open_loop; l >= 0 && taken < 0; l = graph.loops[l].parent)
    taken = find(graph.loops[l].guard);
  return taken;
}

int32_t Liveness::OfSwitch(NodeId n, const StepInput& choice, Chooser chosen_by, int32_t count) {
  StepGraph& graph = steps_.graph();
  const int32_t alive = graph.node_alive[n];
  const std::tuple key(chosen_by, alive, count);
  if (const int32_t* made = families_.Find(key)) return *made;
  const int32_t first = graph.flags.AddFamily(count, alive, chosen_by);
  families_.Add(key, first);
  // The step runs while `alive` is dead, too: it must then clear the flags.
  GraphStep& step = steps_.AddSlowStep(n, std::make_unique<SwitchStep>(choice, alive, first, count),
                                       FlagTree::kAlways, {choice.storage}, {});
  step.SetsFlags(first, count, alive);
  return first;
}

void Liveness::ForgetSince(Mark mark) {
  both_.Shrink(mark.both);
  families_.Shrink(mark.families);
}

}  // namespace tenon
