// The view of one node that rules for gradients have.
#include "graph/gradients/gradient_scope.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/gradients/summing.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::gradients {
namespace {

// Where node n has the output `port` from, if it hands on an input; no output if it does not.
Output HandedOn(const Graph& graph, NodeId n, int port) {
  const std::string_view op = graph.op_name(n);
  const auto inputs = graph.data_inputs(n);
  const bool is_loop = graph.facts(n).calls == CallKind::kWhile;
  if (is_loop || op == "IdentityN")
    return port < static_cast<int>(inputs.size()) ? inputs[port] : Output();
  const bool hands_on = op == "Identity" || op == "Enter" || op == "Switch" || op == "Exit" ||
                        op == "NextIteration" || op == "Merge";
  return hands_on && !inputs.empty() ? inputs[0] : Output();
}

}  // namespace

Value GradientScope::x(int i) const { return builder_.At(graph().inputs(node_)[i]); }

std::vector<Value> GradientScope::xs(int first) const {
  std::vector<Value> values;
  for (int i = first; i < num_inputs(); ++i) values.push_back(x(i));
  return values;
}

Value GradientScope::dy(int i) {
  if (dense_.empty()) dense_.resize(num_outputs());
  if (dense_[i]) return dense_[i];
  if (incoming_[i].none()) return dense_[i] = ZeroGradientOf(y(i));
  return dense_[i] = in_slices(i) ? Densify(slices(i)) : builder_.At(incoming_[i].values);
}

Slices GradientScope::slices(int i) const { return SlicesOf(builder_, incoming_[i]); }

template <typename T, typename Read>
T GradientScope::Attr(std::string_view name, Read read) {
  const AttrValue* const value = graph().attr(node_, name);
  absl::StatusOr<T> read_value =
      value == nullptr ? absl::InvalidArgumentError("is missing") : read(*value);
  if (read_value.ok()) return *std::move(read_value);
  Fail(absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' ", read_value.status().message())));
  return T();
}

int64_t GradientScope::Int(std::string_view name) {
  return Attr<int64_t>(name, [](const AttrValue& v) { return v.AsInt(); });
}
bool GradientScope::Bool(std::string_view name) {
  return Attr<bool>(name, [](const AttrValue& v) { return v.AsBool(); });
}
float GradientScope::Float(std::string_view name) {
  return Attr<float>(name, [](const AttrValue& v) { return v.AsFloat(); });
}
std::string_view GradientScope::String(std::string_view name) {
  return Attr<std::string_view>(name, [](const AttrValue& v) { return v.AsString(); });
}
DataType GradientScope::Type(std::string_view name) {
  return Attr<DataType>(name, [](const AttrValue& v) { return v.AsType(); });
}
std::vector<int64_t> GradientScope::Ints(std::string_view name) {
  return Attr<std::vector<int64_t>>(name, [](const AttrValue& v) { return v.AsIntList(); });
}

std::vector<std::string_view> GradientScope::Strings(std::string_view name) {
  return Attr<std::vector<std::string_view>>(name,
                                             [](const AttrValue& v) { return v.AsStringList(); });
}

NewAttrs GradientScope::Attrs(std::initializer_list<std::string_view> names) {
  NewAttrs attrs;
  for (const std::string_view name : names) {
    const AttrValue* const value = graph().attr(node_, name);
    if (value == nullptr) {
      Fail(absl::InvalidArgumentError(absl::StrCat("attribute '", name, "' is missing")));
      break;
    }
    attrs.push_back({name, std::string(value->wire())});
  }
  return attrs;
}

void GradientScope::Set(int i, Value gradient) {
  if (!builder_.ok()) return;
  const DataType type = x(i).dtype();
  if (gradient.dtype() != type && type != DataType::kResource && type != DataType::kVariant) {
    Fail(absl::InternalError(absl::StrCat("the gradient of input ", i, " has type ",
                                          DataTypeSpecName(gradient.dtype()), ", not ",
                                          DataTypeSpecName(type))));
    return;
  }
  results_[i] = {gradient.output(), {}, {}};
}

void GradientScope::Set(int i, const Slices& gradient) {
  results_[i] = {gradient.values.output(), gradient.indices.output(),
                 gradient.dense_shape ? gradient.dense_shape.output() : Output()};
}

void GradientScope::Pass(int to, int from) { results_[to] = incoming_[from]; }

void GradientScope::Unimplemented(std::string_view what) { Fail(absl::UnimplementedError(what)); }

// Shape inference may not know a handle that comes through a loop or a branch. The type then stands
// at the node that made the handle, so the walk goes back along the nodes that hand the handle on.
// Both inputs of a Merge are handles of one type: the first one is enough. Loops of version 1 are
// cycles, so nodes are visited once.
DataType TypeOfVariable(Value variable) {
  GraphBuilder& b = variable.builder();
  const Graph& graph = b.graph();
  Output handle = variable.output();
  absl::flat_hash_set<NodeId> seen;
  while (handle.node != kNoNode && seen.insert(handle.node).second) {
    if (const DataType known = b.shapes().info(handle).handle_type; known != DataType::kInvalid)
      return known;
    const bool makes = graph.op_name(handle.node) == "VarHandleOp";
    const AttrValue* const type = graph.attr(handle.node, makes ? "dtype" : kHandleTypeAttr);
    if (type != nullptr) return type->AsType().value_or(DataType::kInvalid);
    handle = HandedOn(graph, handle.node, handle.port);
  }
  return DataType::kInvalid;
}

Value ShapeOfVariable(Value handle, DataType type) {
  GraphBuilder& b = handle.builder();
  const auto& known = b.shapes().info(handle.output()).handle_shape;
  if (const std::optional<Shape> shape = known == nullptr ? std::nullopt : known->ToShape())
    return b.Ints(shape->dims(), type);
  return Op("VariableShape", {handle}, {{"out_type", attr::Type(type)}});
}

Value ZeroGradientOf(Value x) {
  GraphBuilder& b = x.builder();
  if (x.dtype() == DataType::kVariant) return ZerosLike(x);
  if (x.dtype() != DataType::kResource) return Fill(ShapeOf(x), Number(x, 0));
  const DataType type = TypeOfVariable(x);
  if (type == DataType::kInvalid) {
    b.Fail(absl::UnimplementedError(absl::StrCat("zeros for the gradient of '",
                                                 b.graph().OutputName(x.output()),
                                                 "', a handle of a variable of unknown type")));
    return b.At(kNoNode, 0);
  }
  return Fill(ShapeOfVariable(x), b.Scalar(type, 0));
}

Value Densify(const Slices& slices) {
  GraphBuilder& b = slices.values.builder();
  if (!slices.dense_shape) {
    b.Fail(absl::InvalidArgumentError(
        "its gradient comes in slices of a tensor of unknown shape, which cannot become dense"));
    return b.At(kNoNode, 0);
  }
  const Value rows = Reshape(Part(slices.dense_shape, 0, 1), b.Ints({}));
  return Op("UnsortedSegmentSum", {slices.values, slices.indices, rows});
}

}  // namespace tenon::gradients
