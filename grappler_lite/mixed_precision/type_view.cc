#include "grappler_lite/mixed_precision/type_view.h"

namespace tenon {
namespace {

// How many tensors an argument stands for.
int64_t SizeOf(const Graph& g, NodeId n, const ArgDef& arg) {
  if (!arg.number_attr.empty()) return g.attr(n, arg.number_attr)->AsInt().value_or(0);
  if (arg.type_list_attr.empty()) return 1;
  const absl::StatusOr<std::vector<DataType>> types = g.attr(n, arg.type_list_attr)->AsTypeList();
  return types.ok() ? static_cast<int64_t>(types->size()) : 0;
}

// The argument that holds tensor i; null if there are too few.
const ArgDef* ArgOf(const Graph& g, NodeId n, const std::vector<ArgDef>& args, int64_t i) {
  for (const ArgDef& arg : args) {
    i -= SizeOf(g, n, arg);
    if (i < 0) return &arg;
  }
  return nullptr;
}

std::string_view FloatAttr(const Graph& g, NodeId n) {
  const OpDef* op = g.op(n);
  if (op == nullptr) return {};
  for (const std::vector<ArgDef>* args : {&op->inputs, &op->outputs}) {
    for (const ArgDef& arg : *args) {
      if (arg.type_attr.empty()) continue;
      if (arg.is_ref ||
          g.attr(n, arg.type_attr)->AsType().value_or(DataType::kInvalid) != DataType::kFloat)
        return {};
      return arg.type_attr;
    }
  }
  return {};
}

}  // namespace

TypeView::TypeView(const Graph& graph)
    : g_(graph), fanouts_(graph), type_attr_(graph.num_node_ids()) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) type_attr_[n] = FloatAttr(graph, n);
  }
}

bool TypeView::CarriesInput(NodeId n, int input) const {
  if (type_attr_[n].empty()) return false;
  const ArgDef* arg = ArgOf(g_, n, g_.op(n)->inputs, input);
  return arg != nullptr && arg->type_attr == type_attr_[n];
}

bool TypeView::CarriesOutput(Output o) const {
  if (o.is_control() || type_attr_[o.node].empty()) return false;
  const ArgDef* arg = ArgOf(g_, o.node, g_.op(o.node)->outputs, o.port);
  return arg != nullptr && arg->type_attr == type_attr_[o.node];
}

void TypeView::Spread(std::vector<bool>& marked, Direction direction,
                      absl::FunctionRef<bool(NodeId)> enter) const {
  std::vector<NodeId> open;
  for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
    if (marked[n]) open.push_back(n);
  }
  const auto visit = [&](NodeId to) {
    if (marked[to] || type_attr_[to].empty() || !enter(to)) return;
    marked[to] = true;
    open.push_back(to);
  };
  while (!open.empty()) {
    const NodeId n = open.back();
    open.pop_back();
    if ((direction & kInputs) != 0) {
      for (int i = 0; i < g_.num_inputs(n); ++i) {
        const Output from = g_.data_inputs(n)[i];
        if (CarriesInput(n, i) && CarriesOutput(from)) visit(from.node);
      }
    }
    if ((direction & kOutputs) == 0) continue;
    for (const Fanouts::Use& use : fanouts_.of(n)) {
      if (CarriesOutput({n, use.port}) && CarriesInput(use.node, use.input)) visit(use.node);
    }
  }
}

}  // namespace tenon
