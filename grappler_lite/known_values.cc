#include "grappler_lite/known_values.h"

#include <cstring>

#include "graph/nodes.h"

namespace tenon {
namespace {

constexpr int kMaxNodes = 256;  // that one value may be the work of
constexpr size_t kMaxBytes = size_t{1} << 20;

// A constant may lie anywhere in its file.
template <typename T>
bool IsNotZero(const Tensor& value) {
  T number;
  std::memcpy(&number, value.data(), sizeof(number));
  return number != T();
}

bool PassesOn(std::string_view op) { return op == "Identity" || op == "StopGradient"; }

}  // namespace

bool NeverFolds(const Graph& g, NodeId n) {
  const OpDef* op = g.op(n);
  if (op == nullptr || op->is_stateful || op->outputs.empty()) return true;
  if (IsControlFlowOp(op->name)) return true;
  static constexpr std::string_view kNames[] = {
      "Placeholder", "PlaceholderWithDefault", "_Arg",          "_Retval",
      "Snapshot",    "GuaranteeConst",         "CheckNumerics", "Print"};
  for (std::string_view name : kNames) {
    if (op->name == name) return true;
  }
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
    absl::StatusOr<Tensor> value = graph_.ConstValue(n);
    if (!value.ok() || value->bytes() > kMaxBytes) return false;
    values_[{n, 0}] = *std::move(value);
    return true;
  }
  std::vector<Tensor> inputs;
  for (const Output& in : graph_.data_inputs(n)) inputs.push_back(values_.at(in));
  if (PassesOn(graph_.op_name(n))) {
    values_[{n, 0}] = inputs[0];
    return true;
  }
  absl::StatusOr<std::vector<Tensor>> outputs = evaluator_.Evaluate(graph_, n, inputs);
  if (!outputs.ok()) return false;
  for (size_t i = 0; i < outputs->size(); ++i) {
    if ((*outputs)[i].bytes() > kMaxBytes) return false;
    values_[{n, static_cast<int32_t>(i)}] = std::move((*outputs)[i]);
  }
  return true;
}

std::optional<Tensor> KnownValues::Find(Output output) {
  if (output.is_control()) return std::nullopt;
  std::vector<NodeId> stack = {output.node};
  if (values_.contains(output)) stack.clear();
  absl::flat_hash_set<NodeId> open;
  while (!stack.empty()) {
    const NodeId n = stack.back();
    if (!MayCompute(n) || static_cast<int>(open.size()) > kMaxNodes) break;
    bool ready = true;
    for (const Output& in : graph_.data_inputs(n)) {
      if (values_.contains(in)) continue;
      ready = false;
      stack.push_back(in.node);
      break;
    }
    // Back at a node that waits for itself: there is a loop.
    if (!ready && !open.insert(stack.back()).second) break;
    if (!ready) continue;
    if (!Compute(n)) break;
    stack.pop_back();
  }
  if (!stack.empty()) {
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
      return IsNotZero<bool>(value);
    case DataType::kInt32:
      return IsNotZero<int32_t>(value);
    case DataType::kInt64:
      return IsNotZero<int64_t>(value);
    case DataType::kFloat:
      return IsNotZero<float>(value);
    case DataType::kDouble:
      return IsNotZero<double>(value);
    default:
      return std::nullopt;
  }
}

}  // namespace tenon
