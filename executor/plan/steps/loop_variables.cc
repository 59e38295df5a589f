// A variable of a loop is a Merge of an Enter, which gives the first value, and a NextIteration,
// which gives the next one.

#include "executor/plan/steps/loop_variables.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/ir/cycles.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

// Bounds the work for each variable: the paths of many variables may share one long chain of nodes.
constexpr int kMaxInvariantPath = 1000;

}  // namespace

absl::StatusOr<LoopVariables> FindLoopVariables(const PlanInput& input) {
  const Graph& graph = input.graph;
  const Schedule& schedule = input.schedule;
  LoopVariables found;
  for (size_t l = 0; l < schedule.loops.size(); ++l)
    found.opening[{schedule.loops[l].begin, schedule.loops[l].parent}] = static_cast<int32_t>(l);
  found.merges.resize(schedule.loops.size());
  if (schedule.loops.empty()) return found;
  const auto counts = [&](const Output& from) {
    if (from.port == 1 && IsMerge(graph.facts(from.node))) found.counted.insert(from.node);
  };
  for (NodeId n : schedule.order) {
    for (const Output& from : graph.data_inputs(n)) {
      counts(from);
      if (!IsLoopEdge(graph, from.node, n) || input.fed_only[n]) continue;
      const int32_t loop = schedule.loop_of[n];
      // There is no next pass: the Merge takes what is fed as any other value.
      if (loop < 0 && input.fed_only[from.node]) continue;
      if (loop < 0 || graph.num_inputs(n) != 2 || found.nexts.contains(n)) {
        return NodeError(graph, input.calls, n,
                         absl::UnimplementedError(
                             "a Merge of a loop must have two inputs, one from an Enter and one "
                             "from a NextIteration"));
      }
      found.nexts[n] = from.node;
      found.merges[loop].push_back(n);
    }
  }
  for (const Output& fetch : input.fetches) counts(fetch);
  return found;
}

bool IsInvariant(const PlanInput& input, NodeId merge, NodeId next) {
  const Graph& graph = input.graph;
  Output from = graph.data_inputs(next)[0];
  for (int i = 0; i < kMaxInvariantPath && !input.fed_only[from.node]; ++i) {
    if (from.node == merge) return from.port == 0;
    // Port 1 is the side of a Switch that goes on with the loop.
    const bool passes = graph.op_name(from.node) == "Identity" ||
                        (IsSwitch(graph.facts(from.node)) && from.port == 1);
    if (!passes) return false;
    from = graph.data_inputs(from.node)[0];
  }
  return false;
}

absl::StatusOr<NodeId> EnterOf(const PlanInput& input, int32_t loop, NodeId merge, NodeId next) {
  const Graph& graph = input.graph;
  const std::span<const Output> inputs = graph.data_inputs(merge);
  NodeId enter = inputs[inputs[0].node == next ? 1 : 0].node;
  while (graph.op_name(enter) == "Identity" && !input.fed_only[enter])
    enter = graph.data_inputs(enter)[0].node;
  const bool enters = IsEnter(graph.facts(enter)) && !input.fed_only[enter] &&
                      input.schedule.loop_of[enter] == loop;
  if (enters) return enter;
  return absl::UnimplementedError(
      absl::StrCat("the first value of a loop variable must come from an Enter, not from '",
                   graph.name(enter), "' (", graph.op_name(enter), ")"));
}

}  // namespace tenon
