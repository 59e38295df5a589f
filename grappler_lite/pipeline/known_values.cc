// Constant evaluation on demand: a depth-first search back through pure nodes, with an explicit
// stack, since a chain may be as long as the graph. Values and failures are kept, so that questions
// about overlapping parts of the graph compute each node once.

#include "grappler_lite/pipeline/known_values.h"

#include <algorithm>

#include "graph/op_defs/op_facts.h"
#include "graph/shapes/cost.h"
#include "graph/tensor/memory_bound.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {
namespace {

constexpr size_t kMaxNodes = 256;  // that one value may be the work of
constexpr size_t kMaxBytes = size_t{1} << 20;
// Of one node, and of all in a run of the pipeline.
constexpr int64_t kMaxWork = 100'000'000, kMaxWorkOfAll = 10'000'000'000;

}  // namespace

bool NeverFolds(const Graph& g, NodeId n) {
  const OpDef* op = g.op(n);
  if (op == nullptr || op->is_stateful || op->outputs.empty()) return true;
  if (IsControlFlow(*op->facts) || op->facts->from_outside) return true;
  for (DataType t : g.kind(n).types.outputs) {
    if (!IsMemcpyable(t) && t != DataType::kString) return true;
  }
  return false;
}

bool KnownValues::MayCompute(NodeId n) const {
  return !unknown_.contains(n) && !hopeless_.contains(n) && !NeverFolds(graph_, n) &&
         graph_.control_inputs(n).empty();
}

// The inputs are known.
bool KnownValues::Compute(NodeId n) {
  if (graph_.op_name(n) == "Const") {
    absl::StatusOr<Tensor> value = ConstValueWithin(graph_, n, kMaxBytes);
    if (!value.ok() || HeldBytes(*value) > kMaxBytes) return false;
    values_[{n, 0}] = *std::move(value);
    return true;
  }
  std::vector<Tensor> inputs;
  for (const Output& in : graph_.data_inputs(n)) inputs.push_back(values_.at(in));
  // An Identity needs no kernel, whatever the type.
  if (graph_.facts(n).identity) {
    values_[{n, 0}] = inputs[0];
    return true;
  }
  const int64_t work = EstimateWork(graph_, n, inputs, 0);
  // Asked before the kernel runs: a few bytes of a graph can ask for hours of work.
  if (work > kMaxWork || gate_.worked() + work > kMaxWorkOfAll) return false;
  gate_.Work(work);
  absl::StatusOr<std::vector<Tensor>> outputs = evaluator_.Evaluate(graph_, n, inputs, kMaxBytes);
  if (!outputs.ok()) return false;
  for (size_t i = 0; i < outputs->size(); ++i)
    values_[{n, static_cast<int32_t>(i)}] = std::move((*outputs)[i]);
  return true;
}

std::optional<Tensor> KnownValues::Find(Output output) {
  if (output.is_control()) return std::nullopt;
  std::vector<NodeId> stack = {output.node};
  if (values_.contains(output)) stack.clear();
  absl::flat_hash_set<NodeId> open;
  while (!stack.empty()) {
    const NodeId n = stack.back();
    if (!MayCompute(n)) {
      hopeless_.insert(stack.begin(), stack.end());
      break;
    }
    if (open.size() > kMaxNodes) break;
    const std::span<const Output> inputs = graph_.data_inputs(n);
    const auto missing =
        std::ranges::find_if(inputs, [this](const Output& in) { return !values_.contains(in); });
    if (missing == inputs.end()) {
      if (!Compute(n)) {
        hopeless_.insert(stack.begin(), stack.end());
        break;
      }
      stack.pop_back();
      continue;
    }
    if (!open.insert(missing->node).second) break;  // it waits for itself: there is a loop
    stack.push_back(missing->node);
  }
  if (!stack.empty()) {
    // Where the search met the limit of nodes, only its start is given up: a question nearer to the
    // constants may stay within the limit.
    hopeless_.insert(output.node);
    return std::nullopt;
  }
  const auto it = values_.find(output);
  return it == values_.end() ? std::nullopt : std::optional<Tensor>(it->second);
}

std::optional<bool> Truth(const Tensor& value) {
  if (value.shape().rank() != 0) return std::nullopt;
  switch (value.dtype()) {
    case DataType::kBool:
      return ElementAt<bool>(value, 0);
    case DataType::kInt32:
    case DataType::kInt64:
    case DataType::kFloat:
    case DataType::kDouble:
      return NumberAt(value, 0) != 0;
    default:
      return std::nullopt;
  }
}

}  // namespace tenon
