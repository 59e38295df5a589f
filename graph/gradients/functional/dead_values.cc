// Stand-ins and what makes them dead again.
#include "graph/gradients/functional/dead_values.h"

#include "absl/strings/str_cat.h"
#include "graph/gradients/math.h"
#include "graph/ir/new_attrs.h"

namespace tenon::gradients {

// Alive when the values of the side are dead.
Output DeadValues::StandIn(int side, DataType type) {
  const auto [known, fresh] = stand_ins_.try_emplace({side, type}, Output());
  if (!fresh) return known->second;
  const Sides::Side& of = sides_.side(side);
  const Value predicate = b_.At(of.predicate);
  const Value other =
      Op("Identity", {b_.At(b_.AddNode("Switch", {predicate, predicate}), 1 - of.port)});
  NodeId n = kNoNode;
  if (type == DataType::kVariant) {
    const Value any = b_.Scalar(DataType::kInt32, -1);
    n = b_.AddNode("EmptyTensorList", {any, any},
                   {{"element_dtype", attr::Type(DataType::kFloat)}});
  } else {
    const absl::StatusOr<Tensor> empty = Tensor::Allocate(type, Shape({0}));
    absl::StatusOr<NewAttrs> attrs = empty.ok() ? ConstAttrs(*empty) : empty.status();
    if (!attrs.ok()) b_.Fail(attrs.status());
    if (attrs.ok()) n = b_.AddNodeOf("Const", {}, *std::move(attrs));
  }
  if (!b_.ok()) return Output();
  b_.graph().AddControlInput(n, other.output().node);
  return known->second = {n, 0};
}

// What Switch nodes have sent to where `value` is.
Output DeadValues::BeforeSwitch(Output value) const {
  const Graph& graph = b_.graph();
  while (graph.op_name(value.node) == "Switch" && sides_.Of(graph, value) >= 0)
    value = graph.data_inputs(value.node)[0];
  return value;
}

// The value by way of a stand-in for each side that it lies on, and dead again. What a Switch sends
// there is saved before the Switch.
Output DeadValues::Wrap(Output value, int side) {
  const Output sent = BeforeSwitch(value);
  const std::vector<int> outer = sides_.Chain(sides_.Of(b_.graph(), sent));
  Value alive = b_.At(sent);
  const DataType type = alive.dtype();
  if (type == DataType::kResource && !outer.empty()) {
    b_.Fail(absl::UnimplementedError(absl::StrCat(
        "the gradient needs '", b_.graph().OutputName(sent), "', a handle that a branch makes")));
    return Output();
  }
  const NodeId first = b_.graph().num_node_ids();
  for (size_t k = outer.size(); k-- > 0 && b_.ok();)
    alive = Op("Merge", {alive, b_.At(StandIn(outer[k], type))});
  for (NodeId n = first; n < b_.graph().num_node_ids(); ++n) forward_.push_back(n);
  for (const int at : sides_.Chain(side)) {
    if (!b_.ok()) return Output();
    alive = b_.At(b_.AddNode("Switch", {alive, b_.At(again_.at(sides_.side(at).predicate))}),
                  sides_.side(at).port);
  }
  return alive.output();
}

Output DeadValues::Again(Output value) {
  const Graph& graph = b_.graph();
  const int side = sides_.Of(graph, value);
  if (side == Sides::kSeveral) {
    b_.Fail(absl::UnimplementedError(
        absl::StrCat("the gradient needs '", graph.OutputName(value),
                     "', which is dead by several branches that are not nested")));
    return Output();
  }
  // Predicates of inner branches may be dead too: those of outer branches come first.
  for (const int at : sides_.Chain(side)) Remember(sides_.side(at).predicate);
  return Remember(value);
}

// Each value is made once, so that who reads a run's plan sees that two sides are of one branch.
Output DeadValues::Remember(Output value) {
  const auto [known, fresh] = again_.try_emplace(value, Output());
  if (fresh) known->second = Wrap(value, sides_.Of(b_.graph(), value));
  return known->second;
}

}  // namespace tenon::gradients
