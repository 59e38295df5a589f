// Nodes for gradients: attributes from the types of the inputs, shapes at once.
#include "graph/gradients/graph_builder.h"

#include <farmhash.h>

#include <algorithm>
#include <complex>
#include <optional>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_library.h"
#include "graph/ir/node_places.h"
#include "graph/tensor/small_float.h"

namespace tenon::gradients {
namespace {

// Constants above this size are not looked for again: comparing them would cost more than it saves.
constexpr size_t kMostSharedBytes = 64;

// The number of inputs in each argument that is a list; nullopt if the op has none, or several
// whose lengths need not agree.
std::optional<size_t> LengthOfList(const OpDef& op, size_t inputs) {
  size_t lists = 0;
  const ArgDef* first = nullptr;
  for (const ArgDef& arg : op.inputs) {
    if (arg.number_attr.empty() && arg.type_list_attr.empty()) continue;
    if (first == nullptr) first = &arg;
    if (lists++ > 0 && (arg.number_attr.empty() || arg.number_attr != first->number_attr))
      return std::nullopt;
  }
  const size_t singles = op.inputs.size() - lists;
  if (lists == 0 || inputs < singles || (inputs - singles) % lists != 0) return std::nullopt;
  return (inputs - singles) / lists;
}

bool Has(const NewAttrs& attrs, std::string_view name) {
  return std::ranges::any_of(attrs, [&](const Graph::NewAttr& a) { return a.name == name; });
}

// Adds the attributes that follow from the types of the inputs, as far as `attrs` lacks them.
void InferAttrs(const OpDef& op, absl::Span<const DataType> types, NewAttrs& attrs) {
  const std::optional<size_t> list = LengthOfList(op, types.size());
  const auto put = [&](std::string_view name, std::string wire) {
    if (!name.empty() && !Has(attrs, name)) attrs.push_back({name, std::move(wire)});
  };
  size_t at = 0;
  for (const ArgDef& arg : op.inputs) {
    const bool is_list = !arg.number_attr.empty() || !arg.type_list_attr.empty();
    if (is_list && !list.has_value()) return;  // the caller has said them
    const size_t length = is_list ? *list : 1;
    if (at + length > types.size()) return;
    put(arg.number_attr, attr::Int(static_cast<int64_t>(length)));
    if (!arg.type_list_attr.empty())
      put(arg.type_list_attr, attr::TypeList(types.subspan(at, length)));
    if (!arg.type_attr.empty() && length > 0) put(arg.type_attr, attr::Type(types[at]));
    at += length;
  }
}

absl::Status CheckInputs(const Graph& graph, NodeId n) {
  const NodeKind& kind = graph.kind(n);
  TENON_RETURN_IF_ERROR(kind.types_status);
  if (std::vector<std::string> faults = CheckAttrs(*kind.op, kind.attrs); !faults.empty())
    return absl::InvalidArgumentError(faults.front());
  const std::span<const Output> inputs = graph.data_inputs(n);
  if (inputs.size() != kind.types.inputs.size())
    return absl::InternalError(
        absl::StrCat("takes ", kind.types.inputs.size(), " inputs, not ", inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DataType given = graph.output_type(inputs[i]), taken = kind.types.inputs[i];
    if (given != taken && (IsRef(taken) || BaseType(given) != taken))
      return absl::InvalidArgumentError(absl::StrCat(
          "input ", i, " has type ", DataTypeSpecName(given), ", not ", DataTypeSpecName(taken)));
  }
  return absl::OkStatus();
}

template <typename T>
Tensor Single(DataType type, T value) {
  return Tensor::Of(type, absl::MakeConstSpan(&value, 1), Shape());
}

absl::StatusOr<Tensor> ScalarTensor(DataType type, double value) {
  if (const std::optional<SmallFloat> format = SmallFloatOf(type)) {
    const uint32_t bits = format->Encode(value);
    return format->bits() > 8 ? Single(type, static_cast<uint16_t>(bits))
                              : Single(type, static_cast<uint8_t>(bits));
  }
  switch (type) {
    case DataType::kFloat:
      return Single(type, static_cast<float>(value));
    case DataType::kDouble:
      return Single(type, value);
    case DataType::kComplex64:
      return Single(type, std::complex<float>(static_cast<float>(value)));
    case DataType::kComplex128:
      return Single(type, std::complex<double>(value));
    case DataType::kBool:
      return Single(type, value != 0);
    case DataType::kInt8:
      return Single(type, static_cast<int8_t>(value));
    case DataType::kUint8:
      return Single(type, static_cast<uint8_t>(value));
    case DataType::kInt16:
      return Single(type, static_cast<int16_t>(value));
    case DataType::kUint16:
      return Single(type, static_cast<uint16_t>(value));
    case DataType::kInt32:
      return Single(type, static_cast<int32_t>(value));
    case DataType::kUint32:
      return Single(type, static_cast<uint32_t>(value));
    case DataType::kInt64:
      return Single(type, static_cast<int64_t>(value));
    case DataType::kUint64:
      return Single(type, static_cast<uint64_t>(value));
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("a constant of type ", DataTypeSpecName(type)));
  }
}

}  // namespace

DataType Value::dtype() const {
  if (builder_ == nullptr || output_.node == kNoNode) return DataType::kInvalid;
  return BaseType(builder_->graph().output_type(output_));
}

PartialShape Value::shape() const {
  if (builder_ == nullptr || output_.node == kNoNode) return {};
  return builder_->shapes().shape(output_);
}

void GraphBuilder::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void GraphBuilder::SyncShapes() {
  const size_t errors = options_.errors == nullptr ? 0 : options_.errors->size();
  while (shapes_.num_nodes() < graph_.num_node_ids()) {
    absl::Status status = shapes_.Append(graph_, options_);
    if (!status.ok()) Fail(std::move(status));
  }
  // Errors that are collected concern nodes that were there before, and are no reason to go on
  // here.
  if (options_.errors == nullptr || options_.errors->size() == errors) return;
  Fail(std::move((*options_.errors)[errors].second));
  options_.errors->resize(errors);
}

NodeId GraphBuilder::Add(std::string_view op, absl::Span<const Output> inputs, NewAttrs attrs) {
  absl::StatusOr<NodeId> node = graph_.AddNode(graph_.UniqueName(absl::StrCat(scope_, "/", op)), op,
                                               {inputs.data(), inputs.size()}, std::move(attrs));
  absl::Status status = node.ok() ? CheckInputs(graph_, *node) : node.status();
  if (!status.ok()) {
    Fail(Annotate(status, absl::StrCat(op, ": ")));
    return kNoNode;
  }
  if (source_ != kNoNode) CopyDebugInfo(graph_, source_, graph_, *node);
  SyncShapes();
  return ok() ? *node : kNoNode;
}

NodeId GraphBuilder::AddNode(std::string_view op, absl::Span<const Value> inputs, NewAttrs attrs) {
  if (!ok()) return kNoNode;
  absl::InlinedVector<Output, 4> outputs;
  absl::InlinedVector<DataType, 4> types;
  for (const Value& input : inputs) {
    if (!input || input.output().node == kNoNode) {
      Fail(absl::InternalError(absl::StrCat(op, ": input ", outputs.size(), " is missing")));
      return kNoNode;
    }
    outputs.push_back(input.output());
    types.push_back(input.dtype());
  }
  const OpDef* const def = graph_.FindOp(op);
  if (def != nullptr) InferAttrs(*def, types, attrs);
  return Add(op, outputs, std::move(attrs));
}

void GraphBuilder::Rewrite(NodeId n, std::string_view op, NewAttrs attrs,
                           absl::Span<const Value> more) {
  if (!ok()) return;
  const auto data = graph_.data_inputs(n), control = graph_.control_inputs(n);
  Before before = {n,
                   std::string(graph_.op_name(n)),
                   AllAttrs(graph_, n),
                   {data.begin(), data.end()},
                   {control.begin(), control.end()}};
  std::vector<Output> inputs = before.data;
  for (const Value& value : more) inputs.push_back(value.output());
  graph_.SetKind(n, op, std::move(attrs));
  graph_.SetInputs(n, inputs, before.control);
  rewritten_.push_back(std::move(before));
  Fail(CheckInputs(graph_, n));
  if (ok()) Fail(shapes_.Update(graph_, options_, n));
}

void GraphBuilder::AddFunctions(absl::Span<const std::string> wires) {
  if (!library_) library_.emplace(graph_);
  PutFunctions(graph_, wires);
}

std::string AddFunction(Graph& graph, std::string_view base, const FunctionGraph& function) {
  const std::string content = function.Wire(base);
  const std::string with_content = absl::StrCat(
      base, "_", absl::Hex(util::Fingerprint64(content.data(), content.size()), absl::kZeroPad16));
  std::string name = with_content;
  std::string wire = function.Wire(name);
  for (int i = 1; graph.FindOp(name) != nullptr || graph.FindFunction(name) != nullptr; ++i) {
    const FunctionEntry* const known = graph.FindFunction(name);
    if (known != nullptr && known->wire == wire) return name;
    name = absl::StrCat(with_content, "_", i);
    wire = function.Wire(name);
  }
  PutFunctions(graph, {wire});
  return name;
}

std::string GraphBuilder::AddFunction(std::string_view base, const FunctionGraph& function) {
  if (!library_) library_.emplace(graph_);
  return gradients::AddFunction(graph_, base, function);
}

// In the reverse order of what was done. Rewritten nodes first: they may read new nodes, which can
// be removed only afterwards. Functions last: until then nodes may call them.
void GraphBuilder::Undo(NodeId first) {
  for (; !rewritten_.empty(); rewritten_.pop_back()) {
    Before& before = rewritten_.back();
    graph_.SetKind(before.node, before.op, std::move(before.attrs));
    graph_.SetInputs(before.node, before.data, before.control);
    // The node was inferred without an error before.
    (void)shapes_.Update(graph_, options_, before.node);
  }
  for (NodeId n = first; n < graph_.num_node_ids(); ++n) {
    if (graph_.alive(n)) graph_.RemoveNode(n);
  }
  if (library_) library_->Restore(graph_);
  SyncShapes();
}

Value GraphBuilder::Constant(const Tensor& value) {
  if (!ok()) return At(kNoNode, 0);
  absl::StatusOr<NewAttrs> attrs = ConstAttrs(value);
  if (!attrs.ok()) {
    Fail(attrs.status());
    return At(kNoNode, 0);
  }
  if (value.bytes() > kMostSharedBytes) return At(Add("Const", {}, *std::move(attrs)), 0);
  std::string key;
  for (const Graph::NewAttr& a : *attrs) key += a.wire;
  const auto [known, fresh] = constants_.try_emplace(std::move(key), kNoNode);
  if (fresh) known->second = Add("Const", {}, *std::move(attrs));
  return At(known->second, 0);
}

Value GraphBuilder::Scalar(DataType type, double value) {
  if (!ok()) return At(kNoNode, 0);
  absl::StatusOr<Tensor> tensor = ScalarTensor(type, value);
  if (tensor.ok()) return Constant(*tensor);
  Fail(tensor.status());
  return At(kNoNode, 0);
}

Value GraphBuilder::IntTensor(absl::Span<const int64_t> values, Shape shape, DataType type) {
  if (type == DataType::kInt64) return Constant(Tensor::Of(type, values, std::move(shape)));
  for (const int64_t value : values) {
    if (value != static_cast<int32_t>(value)) {
      Fail(absl::InvalidArgumentError(absl::StrCat(value, " is beyond int32")));
      return At(kNoNode, 0);
    }
  }
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Constant(Tensor::Of(DataType::kInt32, absl::MakeConstSpan(narrow), std::move(shape)));
}

Value GraphBuilder::Ints(absl::Span<const int64_t> values, DataType type) {
  return IntTensor(values, {static_cast<int64_t>(values.size())}, type);
}

Value GraphBuilder::IntMatrix(absl::Span<const int64_t> values, int64_t columns, DataType type) {
  return IntTensor(values, {static_cast<int64_t>(values.size()) / columns, columns}, type);
}

}  // namespace tenon::gradients
