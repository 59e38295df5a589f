// A folded node becomes a Const without a value, and the value stays beside the graph until Finish:
// the graph's storage only grows, and most values within a chain of folds are read by folds alone.
// Counts of readers that are left tell when such a value can go.

#include "grappler_lite/passes/constant_folding/folded_constants.h"

#include "graph/base/status_macros.h"
#include "graph/ir/new_attrs.h"
#include "graph/tensor/tensor_proto.h"

namespace tenon {
namespace {

// The value comes later.
NewAttrs TypeOf(const Tensor& value) { return {{"dtype", attr::Type(value.dtype())}}; }

}  // namespace

FoldedConstants::FoldedConstants(Graph& graph, const Fanouts& uses,
                                 const absl::flat_hash_set<NodeId>& preserve)
    : g_(graph),
      uses_(uses),
      uses_left_(graph.num_node_ids(), 0),
      stays_(graph.num_node_ids(), false) {
  for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
    for (const Fanouts::Use& use : uses_.of(n)) {
      if (use.port == kControlPort) {
        // A node that others wait for stays, since its removal would drop their control edges.
        stays_[n] = true;
      } else {
        ++uses_left_[n];
      }
    }
  }
  for (const NodeId n : preserve) stays_[n] = true;
}

bool FoldedConstants::CanHold(const Tensor& value) {
  return value.initialized() && (value.dtype() == DataType::kString || IsMemcpyable(value.dtype()));
}

void FoldedConstants::BecomeConst(NodeId n, const Tensor& value) {
  DropInputs(n);
  const std::vector<Output> controls(g_.control_inputs(n).begin(), g_.control_inputs(n).end());
  g_.BecomeOp(n, "Const", TypeOf(value));
  g_.SetInputs(n, {}, controls);
  Hold(n, value);
}

absl::StatusOr<NodeId> FoldedConstants::AddConst(std::string_view name, Output output,
                                                 const Tensor& value,
                                                 absl::Span<const Output> controls) {
  TENON_ASSIGN_OR_RETURN(const NodeId n, g_.AddNode(name, "Const", controls, TypeOf(value),
                                                    g_.device(output.node), g_.pos(output.node)));
  uses_left_.push_back(CountUses(output));
  stays_.push_back(false);
  for (const Output& in : controls) Keep(in.node);
  Hold(n, value);
  return n;
}

void FoldedConstants::Replace(NodeId n) {
  if (stays_[n]) return;
  DropInputs(n);
  replaced_.push_back(n);
}

void FoldedConstants::Finish() {
  for (const NodeId n : made_) {
    const auto it = values_.find(n);
    if (it == values_.end()) {
      g_.RemoveNode(n);
      continue;
    }
    // It can be held, so that there is an encoding.
    g_.SetAttr(n, "value", attr::TensorWire(TensorToWire(it->second).value()));
    values_.erase(it);
  }
  for (const NodeId n : replaced_) g_.RemoveNode(n);
}

void FoldedConstants::Hold(NodeId n, const Tensor& value) {
  made_.push_back(n);
  if (IsUsed(n)) values_.emplace(n, value);
}

void FoldedConstants::DropInputs(NodeId n) {
  for (const Output& in : g_.data_inputs(n)) {
    --uses_left_[in.node];
    if (!IsUsed(in.node)) values_.erase(in.node);
  }
}

uint32_t FoldedConstants::CountUses(Output output) {
  // The outputs of one node are asked for one after another.
  if (counted_ != output.node) {
    counted_ = output.node;
    uses_by_output_.assign(g_.num_outputs(output.node), 0);
    for (const Fanouts::Use& use : uses_.of(output.node)) {
      if (use.port != kControlPort) ++uses_by_output_[use.port];
    }
  }
  return uses_by_output_[output.port];
}

}  // namespace tenon
