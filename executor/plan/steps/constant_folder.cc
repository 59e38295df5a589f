// Computes a node while the plan is made if all of its inputs are constants. Outputs that come from
// constants of the graph alone go to the ConstStore, so that the next plan need not compute them.

#include "executor/plan/steps/constant_folder.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "executor/run/prepared_kernel.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {
namespace {

// A node is folded if its outputs take no more than this, or no more than its inputs: a chain of
// nodes must not blow a few bytes up to values that stay in memory for good.
constexpr size_t kMaxFoldedBytes = size_t{16} << 20;

}  // namespace

absl::StatusOr<bool> ConstantFolder::Fold(NodeId n, const CpuKernelSpec& spec, const Preparation& p,
                                          absl::Span<const int32_t> inputs) {
  if (spec.stateful || in_.graph.op(n)->is_stateful || p.run() == nullptr) return false;
  if (!MayFold(p, inputs)) return false;
  StepGraph& graph = steps_.graph();
  const bool of_graph = std::all_of(inputs.begin(), inputs.end(),
                                    [&](int32_t id) { return graph.values[id].graph_constant; });
  std::optional<std::vector<Tensor>> outputs;
  if (of_graph) outputs = in_.constants.Folded(n);
  if (!outputs) {
    TENON_ASSIGN_OR_RETURN(outputs, Compute(n, p, inputs));
    if (!outputs) return false;
    if (of_graph) in_.constants.SetFolded(n, *outputs);
  }
  graph.resources.folded.push_back(std::make_unique<std::vector<Tensor>>(*std::move(outputs)));
  std::vector<Tensor>& kept = *graph.resources.folded.back();
  for (int i = 0; i < p.num_outputs(); ++i)
    steps_.SetConstant(graph.first_value[n] + i, &kept[i], of_graph);
  if (of_graph) folded_.emplace(n, &kept);
  // All plans fold this node alike, so its inputs may go. But a kernel that has looked at a value
  // while it was prepared may know packed weights by the value's address, which must then stay
  // taken.
  if (of_graph && !p.asked_for_values()) DropInputs(n, inputs);
  return true;
}

bool ConstantFolder::MayFold(const Preparation& p, absl::Span<const int32_t> inputs) const {
  size_t in_bytes = 0, out_bytes = 0;
  for (int32_t id : inputs) {
    const Tensor* const constant = steps_.graph().values[id].constant;
    if (constant == nullptr) return false;
    in_bytes += constant->bytes();
  }
  for (int i = 0; i < p.num_outputs(); ++i) {
    absl::StatusOr<size_t> bytes = TensorBytes(BaseType(p.output_type(i)), p.outputs()[i].shape);
    if (!bytes.ok()) return false;
    out_bytes += *bytes;
  }
  return out_bytes <= std::max(kMaxFoldedBytes, in_bytes);
}

// The outputs; nullopt if the kernel fails and the node may never run. The node's step then fails
// when it is reached.
absl::StatusOr<std::optional<std::vector<Tensor>>> ConstantFolder::Compute(
    NodeId n, const Preparation& p, absl::Span<const int32_t> inputs) {
  std::vector<Tensor> aligned;
  absl::InlinedVector<void*, 4> data;
  for (int32_t id : inputs) {
    TENON_ASSIGN_OR_RETURN(Tensor t, in_.constants.Aligned(*steps_.value(id).constant));
    data.push_back(t.data());
    aligned.push_back(std::move(t));
  }
  DenormalGuard denormals;  // as in a run
  auto input = [&](int i, InputUse) -> absl::StatusOr<Tensor> { return aligned[i]; };
  absl::StatusOr<std::vector<Tensor>> computed =
      ComputeOutputs(PreparedKernel::From(p), data.data(), input, in_.workers);
  if (computed.ok()) return *std::move(computed);
  const bool always_runs = steps_.graph().node_alive[n] == FlagTree::kAlways && !steps_.InLoop();
  if (always_runs) return computed.status();
  return std::nullopt;
}

void ConstantFolder::CountReaders() {
  readers_.resize(in_.graph.num_node_ids(), 0);
  for (NodeId reader : in_.schedule.order) {
    for (const Output& from : in_.graph.data_inputs(reader)) ++readers_[from.node];
  }
  for (const Output& fetch : in_.fetches) ++readers_[fetch.node];
}

// Drops the outputs of nodes that were folded into node n and that no other node or fetch reads.
void ConstantFolder::DropInputs(NodeId n, absl::Span<const int32_t> inputs) {
  if (readers_.empty()) CountReaders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Output from = in_.graph.data_inputs(n)[i];
    const auto it = folded_.find(from.node);
    if (it == folded_.end() || inputs[i] != steps_.graph().ValueOf(from)) continue;
    if (--readers_[from.node] > 0 || !in_.constants.ForgetFolded(from.node)) continue;
    for (Tensor& t : *it->second) t.Clear();
  }
}

}  // namespace tenon
