// Stacks that gradients would read, in graphs without gradients.
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/passes/loop_optimization/loop_optimization.h"

namespace tenon {
namespace {

bool IsPush(std::string_view op) { return op == "StackPush" || op == "StackPushV2"; }

// Without bounds: a push onto it cannot fail.
bool IsUnbounded(const PassContext& c, NodeId stack) {
  const Graph& g = c.graph;
  const NodeId size = g.data_inputs(stack)[0].node;
  if (g.op_name(size) != "Const" || c.feeds.contains(size)) return false;
  const absl::StatusOr<Tensor> value = g.ConstValue(size);
  if (!value.ok() || value->dtype() != DataType::kInt32 || value->shape().rank() != 0) return false;
  // TensorFlow's StackV2: a negative max_size is no bound.
  return value->IntAt(0) < 0;
}

// All pushes onto this stack, if its handle goes nowhere else but to where it is closed.
bool CollectPushes(const PassContext& c, const Fanouts& fanouts, NodeId stack,
                   std::vector<Fanouts::Use>& pushes) {
  const Graph& g = c.graph;
  std::vector<NodeId> handles = {stack};
  absl::flat_hash_set<NodeId> seen;
  while (!handles.empty()) {
    const NodeId handle = handles.back();
    handles.pop_back();
    if (!seen.insert(handle).second) continue;
    if (c.preserve.contains(handle)) return false;
    for (const Fanouts::Use& use : fanouts.of(handle)) {
      const std::string_view op = g.op_name(use.node);
      if (use.port == kControlPort || op == "StackClose" || op == "StackCloseV2") continue;
      if (IsPush(op) && use.input == 0) {
        pushes.push_back(use);
      } else if (g.facts(use.node).identity || IsEnter(g.facts(use.node))) {
        handles.push_back(use.node);
      } else {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

bool RemoveStackPushes(PassContext& context) {
  Graph& g = context.graph;
  const Fanouts fanouts(g);
  bool changed = false;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n) || g.op_name(n) != "StackV2" || !context.Visit()) continue;
    std::vector<Fanouts::Use> pushes;
    if (!IsUnbounded(context, n) || !CollectPushes(context, fanouts, n, pushes)) continue;
    for (const Fanouts::Use& push : pushes) {
      const Output handle = g.data_inputs(push.node)[0], element = g.data_inputs(push.node)[1];
      NewAttrs attrs = {{"T", attr::Type(BaseType(g.output_type(element)))}};
      if (context.feeds.contains(push.node) || !context.HasKernel(push.node, "Identity", attrs) ||
          !context.Allow(kRemoveStackPush.name, push.node))
        continue;
      std::vector<Output> controls(g.control_inputs(push.node).begin(),
                                   g.control_inputs(push.node).end());
      g.BecomeOp(push.node, "Identity", std::move(attrs));
      g.SetInputs(push.node, {&element, 1}, controls);
      // A push waits for its handle, and is dead where the handle is.
      g.AddControlInput(push.node, handle.node);
      changed = true;
    }
  }
  return changed;
}

}  // namespace tenon
