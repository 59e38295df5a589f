// The view of one node that rules for gradients have.
#include "graph/gradients/gradient_scope.h"

#include "absl/strings/str_cat.h"
#include "graph/gradients/summing.h"

namespace tenon::gradients {
namespace {

// Zeros of the shape of a tensor, or of the variable behind a handle.
Value ZerosFor(Value y, const Graph& graph) {
  if (y.dtype() != DataType::kResource) return ZerosLike(y);
  const AttrValue* const type = graph.attr(y.output().node, "dtype");
  const DataType dtype =
      type == nullptr ? DataType::kFloat : type->AsType().value_or(DataType::kFloat);
  return Op("Fill", {Op("VariableShape", {y}), y.builder().Scalar(dtype, 0)});
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
  if (incoming_[i].none()) return dense_[i] = ZerosFor(y(i), graph());
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
