#include "executor/api/graph/constant_value.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/api/base/arguments.h"
#include "executor/api/graph/edits.h"
#include "executor/compile/passes/evaluator.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/tensor_handles.h"
#include "graph/c_api/without_memory.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;  // of the results of one node

// Whether the node gives the same in every run, for the same inputs.
bool MayBeConstant(const Graph& graph, NodeId n) {
  const OpFacts& facts = graph.facts(n);
  return !graph.op(n)->is_stateful && !facts.placeholder && !facts.from_outside &&
         !IsControlFlow(facts) && !IsFunctional(graph, n) && graph.control_inputs(n).empty();
}

// By node: whether its inputs or attributes changed, or those of a node that it depends on, since
// its shapes were inferred. Empty if nothing has changed.
std::vector<bool> StaleNodes(const TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  if (graph.edited.empty()) return {};
  std::vector<bool> stale(graph.graph.num_node_ids());
  for (const NodeId n : graph.edited) {
    if (n < graph.graph.num_node_ids()) stale[n] = true;  // else its addition was taken back
  }
  for (NodeId n = 0; n < graph.graph.num_node_ids(); ++n) {
    // An edge from a later node was put there by a change.
    for (const Output& from : graph.graph.data_inputs(n)) {
      if (from.node >= n || stale[from.node]) stale[n] = true;
    }
  }
  return stale;
}

// What is known of the output without a kernel: small constants and what follows from shapes.
std::optional<Tensor> KnownValue(TF_Graph& graph, Output output)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  const TensorInfo& info = graph.shapes.info(output);
  if (info.value != nullptr) return *info.value;
  const std::optional<Shape> shape = info.shape.ToShape();
  if (!info.partial_value.has_value() || !shape.has_value()) return std::nullopt;
  const Dims& elements = *info.partial_value;
  if (shape->num_elements() != static_cast<int64_t>(elements.size())) return std::nullopt;
  for (const int64_t e : elements) {
    if (e == kUnknownDim) return std::nullopt;
  }
  const DataType type = graph.graph.output_type(output);
  if (type == DataType::kInt64)
    return Tensor::Of<int64_t>(type, absl::MakeConstSpan(elements), *shape);
  if (type != DataType::kInt32) return std::nullopt;
  const std::vector<int32_t> narrow(elements.begin(), elements.end());
  return Tensor::Of<int32_t>(type, narrow, *shape);
}

class ConstantFinder {
 public:
  explicit ConstantFinder(TF_Graph& graph) : graph_(graph) {}

  absl::StatusOr<std::optional<Tensor>> Find(Output output)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_.mutex) {
    KnowShapes(graph_, graph_.graph.num_node_ids());
    TENON_RETURN_IF_ERROR(CheckEdits(graph_));
    stale_ = StaleNodes(graph_);
    if (!FindNodes(output)) return std::nullopt;
    CpuEvaluator evaluator(KernelRegistry::Global());
    for (auto n = order_.rbegin(); n != order_.rend(); ++n) {
      if (values_.contains(*n)) continue;
      absl::StatusOr<std::vector<Tensor>> outputs =
          graph_.graph.op_name(*n) == "Const"
              ? ConstOf(*n)
              : evaluator.Evaluate(graph_.graph, *n, InputsOf(*n), kMaxBytes);
      if (absl::IsUnimplemented(outputs.status())) return std::nullopt;
      TENON_RETURN_IF_ERROR(outputs.status());
      values_.emplace(*n, *std::move(outputs));
    }
    return ValueOf(output);
  }

 private:
  // Collects the nodes that must be computed, each before its inputs and perhaps several times.
  // False if one of them is not constant.
  bool FindNodes(Output output) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_.mutex) {
    absl::flat_hash_set<NodeId> seen;
    std::vector<Output> work = {output};
    while (!work.empty()) {
      const Output next = work.back();
      work.pop_back();
      const bool is_stale = !stale_.empty() && stale_[next.node];
      if (!is_stale) {
        if (std::optional<Tensor> known = KnownValue(graph_, next); known.has_value()) {
          known_.emplace(next, *std::move(known));
          continue;
        }
      }
      if (!seen.insert(next.node).second) continue;
      if (!MayBeConstant(graph_.graph, next.node)) return false;
      for (const Output& from : graph_.graph.data_inputs(next.node)) work.push_back(from);
    }
    // Ids of nodes grow along the edges of a graph that was built in order.
    order_.assign(seen.begin(), seen.end());
    std::sort(order_.begin(), order_.end(), std::greater<>());
    for (const NodeId n : order_) {
      for (const Output& from : graph_.graph.data_inputs(n)) {
        if (from.node >= n) return false;
      }
    }
    return true;
  }

  absl::StatusOr<std::vector<Tensor>> ConstOf(NodeId n) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_.mutex) {
    TENON_ASSIGN_OR_RETURN(Tensor value, graph_.graph.ConstValue(n));
    return std::vector<Tensor>{std::move(value)};
  }

  Tensor ValueOf(Output output) const {
    const auto known = known_.find(output);
    return known != known_.end() ? known->second : values_.at(output.node)[output.port];
  }

  std::vector<Tensor> InputsOf(NodeId n) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_.mutex) {
    std::vector<Tensor> inputs;
    for (const Output& from : graph_.graph.data_inputs(n)) inputs.push_back(ValueOf(from));
    return inputs;
  }

  TF_Graph& graph_;
  std::vector<bool> stale_;
  std::vector<NodeId> order_;
  absl::flat_hash_map<Output, Tensor> known_;
  absl::flat_hash_map<NodeId, std::vector<Tensor>> values_;
};

// The value as a tensor of its own: constants are views of the graph's bytes.
absl::StatusOr<TF_Tensor*> ConstantTensor(TF_Graph* graph, TF_Output output) {
  absl::MutexLock lock(&graph->mutex);
  TENON_ASSIGN_OR_RETURN(const Output o, OutputOf(*graph, output));
  TENON_ASSIGN_OR_RETURN(const std::optional<Tensor> value, ConstantValue(*graph, o));
  if (!value.has_value()) return nullptr;
  TENON_ASSIGN_OR_RETURN(Tensor copy, value->Copy());
  return NewTensorHandle(std::move(copy));
}

}  // namespace

absl::StatusOr<std::optional<Tensor>> ConstantValue(TF_Graph& graph, Output output) {
  return ConstantFinder(graph).Find(output);
}

}  // namespace tenon::api

extern "C" {

unsigned char TF_TryEvaluateConstant(TF_Graph* graph, TF_Output output, TF_Tensor** result,
                                     TF_Status* status) try {
  if (!tenon::api::AllGiven({{"graph", graph}, {"result", result}}, status)) return 0;
  *result = nullptr;
  const absl::StatusOr<TF_Tensor*> value = tenon::api::ConstantTensor(graph, output);
  tenon::StatusToC(value.status(), status);
  if (value.ok()) *result = *value;
  return *result != nullptr ? 1 : 0;
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
