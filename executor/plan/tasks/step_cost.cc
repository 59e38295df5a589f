#include "executor/plan/tasks/step_cost.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/op_defs/op_facts.h"
#include "graph/shapes/cost.h"

namespace tenon {
namespace {

constexpr double kDispatchUs = 0.03;
constexpr double kSlowStepUs = 0.2;     // a step on tensors looks its kernel up
constexpr double kUnknownUs = 3;        // of a value that only the run knows
constexpr double kPluginUs = 5;         // a call through the C ABI, which may compute anything
constexpr double kFlopsPerUs = 30e3;    // of products, on one thread with AVX2
constexpr double kElementsPerUs = 1e3;  // of functions of single elements
constexpr double kBytesPerUs = 10e3;    // from a cache or from memory

bool IsProduct(CostRule rule) {
  switch (rule) {
    case CostRule::kProduct:
    case CostRule::kEinsum:
    case CostRule::kWindow:
    case CostRule::kChannelWindow:
    case CostRule::kWindowOfInput:
    case CostRule::kWindowOfFilter:
      return true;
    default:
      return false;
  }
}

PartialShape ShapeOf(const PlanValue& v) {
  return v.shape == nullptr ? PartialShape() : PartialShape(*v.shape);
}

double ArithmeticUs(const Graph& nodes, const StepGraph& graph, NodeId n) {
  if (nodes.num_outputs(n) == 0 || graph.first_value[n] < 0) return 0;
  std::vector<PartialShape> inputs;
  for (const Output& from : nodes.data_inputs(n)) {
    if (graph.first_value[from.node] < 0) return 0;
    inputs.push_back(ShapeOf(graph.values[graph.ValueOf(from)]));
  }
  const PartialShape output = ShapeOf(graph.values[graph.first_value[n]]);
  const std::optional<double> flops = EstimateNodeFlops(nodes, n, inputs, output);
  if (!flops.has_value()) return kUnknownUs;
  return *flops / (IsProduct(nodes.facts(n).cost.rule) ? kFlopsPerUs : kElementsPerUs);
}

int HandlesOf(const Graph& nodes, NodeId n) {
  int handles = 0;
  const int inputs = static_cast<int>(nodes.data_inputs(n).size());
  for (int i = 0; i < inputs; ++i)
    handles += nodes.input_type(n, i) == DataType::kResource;
  return handles;
}

}  // namespace

double StepCostUs(const Graph& nodes, const StepGraph& graph, int32_t k) {
  const GraphStep& step = graph.steps[k];
  if (step.fn == nullptr) return 0;
  if (step.plugin != nullptr) return kPluginUs;
  double us = step.fn == RunSlowStep ? kSlowStepUs : kDispatchUs;
  // A variable behind a handle is taken to be as long as the longest argument beside it: an update
  // has its gradient there.
  const int handles = step.node == kNoNode ? 0 : HandlesOf(nodes, step.node);
  double bytes = 0, longest = 0;
  int unknown = -handles;
  for (const int32_t s : graph.Args(step)) {
    if (s < 0) continue;
    const auto size = static_cast<double>(graph.storages[s].bytes);
    bytes += size;
    longest = std::max(longest, size);
    unknown += graph.storages[s].where == Where::kSlot;
  }
  us += std::max(unknown, 0) * kUnknownUs / 2 + (bytes + handles * longest) / kBytesPerUs;
  if (step.node != kNoNode) us = std::max(us, ArithmeticUs(nodes, graph, step.node));
  return us;
}

}  // namespace tenon
