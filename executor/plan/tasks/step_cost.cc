#include "executor/plan/tasks/step_cost.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/op_defs/op_facts.h"
#include "graph/shapes/cost.h"
#include "plugin/cpu/base/isa.h"

namespace tenon {
namespace {

// Fitted to the times of single steps of 14 models (--op-table, one thread of a Xeon with AVX-512,
// 2026-11-30): most ops are within a factor of two.
constexpr double kDispatchUs = 0.06;
constexpr double kSlowStepUs = 0.2;         // a step on tensors looks its kernel up
constexpr double kUnknownUs = 1;            // of a value that only the run knows
constexpr double kPluginUs = 5;             // a call through the C ABI, which may compute anything
constexpr double kElementsPerUs = 4e3;      // of functions of single elements
constexpr double kReducedPerUs = 6e3;       // elements that a reduction reads
constexpr double kPooledPerUs = 1.5e3;      // elements that a pool reads
constexpr double kHardElementsPerUs = 1e3;  // of functions of more than one element
constexpr double kMovedBytesPerUs = 20e3;   // read and written, with strides or from memory
constexpr double kPlainBytesPerUs = 50e3;   // read and written one after the other

// Of products, on one thread.
double FlopsPerUs() { return cpu::SelectIsa(10e3, 40e3, 100e3); }

// The arithmetic of a rule, as EstimateNodeFlops counts it, that takes a microsecond.
double PerUs(CostRule rule) {
  switch (rule) {
    case CostRule::kProduct:
    case CostRule::kEinsum:
    case CostRule::kWindow:
    case CostRule::kWindowOfInput:
    case CostRule::kWindowOfFilter:
      return FlopsPerUs();
    case CostRule::kChannelWindow:
      return FlopsPerUs() / 2;
    case CostRule::kElements:
      return kElementsPerUs;
    case CostRule::kReduce:
      return kReducedPerUs;
    case CostRule::kPool:
    case CostRule::kPoolGradient:
      return kPooledPerUs;
    default:
      return kHardElementsPerUs;
  }
}

bool IsProduct(CostRule rule) {
  return rule == CostRule::kProduct || rule == CostRule::kEinsum || rule == CostRule::kWindow;
}

PartialShape ShapeOf(const PlanValue& v) {
  return v.shape == nullptr ? PartialShape() : PartialShape(*v.shape);
}

double BytesOf(const PlanValue& v) {
  if (v.shape == nullptr || !IsMemcpyable(v.dtype)) return 0;
  return static_cast<double>(v.shape->num_elements()) * DataTypeSize(v.dtype);
}

double ArithmeticUs(const Graph& nodes, const StepGraph& graph, NodeId n) {
  if (nodes.num_outputs(n) == 0 || graph.first_value[n] < 0) return 0;
  const CostRule rule = nodes.facts(n).cost.rule;
  std::vector<PartialShape> inputs;
  double bytes = 0;  // with those of packed weights, which are no arguments
  for (const Output& from : nodes.data_inputs(n)) {
    if (graph.first_value[from.node] < 0) return 0;
    const PlanValue& value = graph.values[graph.ValueOf(from)];
    inputs.push_back(ShapeOf(value));
    bytes += BytesOf(value);
  }
  const PartialShape output = ShapeOf(graph.values[graph.first_value[n]]);
  const std::optional<double> flops = EstimateNodeFlops(nodes, n, inputs, output);
  if (!flops.has_value()) return kUnknownUs;
  return std::max(*flops / PerUs(rule), IsProduct(rule) ? bytes / kMovedBytesPerUs : 0);
}

int HandlesOf(const Graph& nodes, NodeId n) {
  int handles = 0;
  const int inputs = static_cast<int>(nodes.data_inputs(n).size());
  for (int i = 0; i < inputs; ++i) handles += nodes.input_type(n, i) == DataType::kResource;
  return handles;
}

}  // namespace

double StepCostUs(const Graph& nodes, const StepGraph& graph, int32_t k) {
  const GraphStep& step = graph.steps[k];
  if (step.fn == nullptr) return 0;
  if (step.plugin != nullptr) return kPluginUs;
  double us = step.fn == RunSlowStep ? kSlowStepUs : kDispatchUs;
  const bool moves = step.node != kNoNode && nodes.facts(step.node).cost.rule == CostRule::kMove;
  // A variable behind a handle is taken to be as long as the longest argument beside it: an update
  // has its gradient there.
  const int handles = step.node == kNoNode ? 0 : HandlesOf(nodes, step.node);
  double bytes = 0, longest = 0, made = 0;
  int unknown = -handles;
  const absl::Span<const int32_t> args = graph.Args(step);
  for (size_t a = step.num_inputs; a < args.size(); ++a) {
    if (args[a] >= 0) made += static_cast<double>(graph.storages[args[a]].bytes);
  }
  for (size_t a = 0; a < args.size(); ++a) {
    if (args[a] < 0) continue;
    auto size = static_cast<double>(graph.storages[args[a]].bytes);
    longest = std::max(longest, size);
    // What moves data reads as much as it writes: of a table that is gathered from, some rows.
    if (moves && made > 0) size = std::min(size, made);
    bytes += size;
    unknown += graph.storages[args[a]].where == Where::kSlot;
  }
  us += std::max(unknown, 0) * kUnknownUs / 2 +
        (bytes + handles * longest) /
            (moves || step.node == kNoNode ? kMovedBytesPerUs : kPlainBytesPerUs);
  if (step.node != kNoNode && !moves) us = std::max(us, ArithmeticUs(nodes, graph, step.node));
  return us;
}

}  // namespace tenon
