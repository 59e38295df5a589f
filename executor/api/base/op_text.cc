#include "executor/api/base/op_text.h"

#include <farmhash.h>

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/functions/function_body.h"
#include "graph/tensor/tensor_proto.h"
#include "plugin/cpu/base/tensor_summary.h"

namespace tenon::api {
namespace {

constexpr size_t kMaxStringText = 80;
constexpr size_t kMaxListText = 30;

std::string StringText(std::string_view text) {
  const std::string escaped = absl::CEscape(text);
  if (escaped.size() < kMaxStringText) return absl::StrCat("\"", escaped, "\"");
  return absl::StrCat("\"", escaped.substr(0, 10), "...", escaped.substr(escaped.size() - 10),
                      "\"");
}

std::string TypeNameText(DataType type) { return std::string(DataTypeName(type)); }

std::string TensorText(std::string_view wire) {
  const absl::StatusOr<Tensor> t = TensorFromWire(wire);
  if (!t.ok()) return "<Invalid TensorProto>";
  return absl::StrCat(
      "Tensor<type: ", TypeText(t->dtype()), " shape: ", t->shape().ToString(),
      " values: ", cpu::SummarizeTensor(t->dtype(), t->shape(), t->data(), /*max_entries=*/3), ">");
}

std::string FuncText(const FuncAttr& func) {
  const AttrSet attrs = ParseFuncAttrs(func);
  std::vector<std::string> entries;
  for (const Attr& a : attrs.all()) entries.push_back(absl::StrCat(a.name, "=", AttrText(a.value)));
  return absl::StrCat(func.name, "[", absl::StrJoin(entries, ", "), "]");
}

template <typename T, typename Show>
std::vector<std::string> Pieces(const absl::StatusOr<std::vector<T>>& list, Show show) {
  std::vector<std::string> pieces;
  if (!list.ok()) return pieces;
  for (const T& e : *list) pieces.push_back(show(e));
  return pieces;
}

std::vector<std::string> PiecesOf(const AttrValue& list) {
  switch (list.list_kind()) {
    case AttrKind::kString:
      return Pieces(list.AsStringList(), StringText);
    case AttrKind::kInt:
      return Pieces(list.AsIntList(), [](int64_t v) { return absl::StrCat(v); });
    case AttrKind::kFloat:
      return Pieces(list.AsFloatList(), [](float v) { return absl::StrCat(v); });
    case AttrKind::kBool:
      return Pieces(list.AsBoolList(), [](bool v) { return std::string(v ? "true" : "false"); });
    case AttrKind::kType:
      return Pieces(list.AsTypeList(), TypeNameText);
    case AttrKind::kShape:
      return Pieces(list.AsShapeList(), ShapeText);
    case AttrKind::kTensor:
      return Pieces(list.AsTensorWireList(), TensorText);
    case AttrKind::kFunc:
      return Pieces(list.AsFuncList(), FuncText);
    default:
      return {};
  }
}

std::string ListText(const AttrValue& list) {
  std::vector<std::string> pieces = PiecesOf(list);
  if (pieces.size() < kMaxListText) return absl::StrCat("[", absl::StrJoin(pieces, ", "), "]");
  const std::string all = absl::StrJoin(pieces, ",");
  const uint64_t hash = util::Fingerprint64(all.data(), all.size());
  pieces.erase(pieces.begin() + 5, pieces.end() - 6);
  pieces[5] = "...";
  return absl::StrCat("[", absl::StrJoin(pieces, ", "), "]{attr_hash=", hash, "}");
}

// A list of types is an empty text there, as in TensorFlow.
std::string ArgsText(const std::vector<ArgDef>& args) {
  return absl::StrJoin(args, ", ", [](std::string* out, const ArgDef& arg) {
    absl::StrAppend(out, arg.name, ":", arg.is_ref ? "Ref(" : "");
    if (!arg.number_attr.empty()) absl::StrAppend(out, arg.number_attr, "*");
    absl::StrAppend(out, arg.type != DataType::kInvalid ? TypeText(arg.type) : arg.type_attr,
                    arg.is_ref ? ")" : "");
  });
}

std::string AllowedText(const AttrDef& def) {
  std::vector<std::string_view> strings(def.allowed_strings.begin(), def.allowed_strings.end());
  return AttrText(AttrValue(def.allowed_types.empty() ? attr::StringList(strings)
                                                      : attr::TypeList(def.allowed_types)));
}

std::string AttrDefText(const AttrDef& def) {
  std::string out = absl::StrCat("; attr=", def.name, ":", AttrTypeText(def));
  if (def.has_default) absl::StrAppend(&out, ",default=", AttrText(AttrValue(def.default_wire)));
  if (def.has_minimum) absl::StrAppend(&out, ",min=", def.minimum);
  if (!def.allowed_types.empty() || !def.allowed_strings.empty())
    absl::StrAppend(&out, ",allowed=", AllowedText(def));
  return out;
}

std::string AttrsText(std::vector<Attr> attrs, std::string_view device) {
  std::sort(attrs.begin(), attrs.end(),
            [](const Attr& a, const Attr& b) { return a.name < b.name; });
  std::vector<std::string> texts;
  for (const Attr& a : attrs) texts.push_back(absl::StrCat(a.name, "=", AttrText(a.value)));
  if (!device.empty()) texts.push_back(absl::StrCat("_device=\"", device, "\""));
  return absl::StrJoin(texts, ", ");
}

}  // namespace

std::string TypeText(DataType type) {
  if (!IsKnownDataType(static_cast<int32_t>(type))) return "INVALID";
  return absl::StrCat(DataTypeSpecName(type), IsRef(type) ? "_ref" : "");
}

std::string ShapeText(const PartialShape& shape) { return shape.ToString(); }

std::string AttrText(const AttrValue& value) {
  switch (value.kind()) {
    case AttrKind::kString:
      return StringText(value.AsString().value_or(""));
    case AttrKind::kInt:
      return absl::StrCat(value.AsInt().value_or(0));
    case AttrKind::kFloat:
      return absl::StrCat(value.AsFloat().value_or(0));
    case AttrKind::kBool:
      return value.AsBool().value_or(false) ? "true" : "false";
    case AttrKind::kType:
      return TypeNameText(value.AsType().value_or(DataType::kInvalid));
    case AttrKind::kShape:
      return ShapeText(value.AsShape().value_or(PartialShape()));
    case AttrKind::kTensor:
      return TensorText(value.AsTensorWire().value_or(""));
    case AttrKind::kList:
      return ListText(value);
    case AttrKind::kFunc:
      return FuncText(value.AsFunc().value_or(FuncAttr()));
    case AttrKind::kPlaceholder:
      return absl::StrCat("$", value.AsPlaceholder().value_or(""));
    case AttrKind::kNone:
      return "<Unknown AttrValue type>";
  }
  return "";
}

std::string AttrTypeText(const AttrDef& attr) {
  const std::string_view kind = AttrKindName(attr.kind);
  return attr.is_list ? absl::StrCat("list(", kind, ")") : std::string(kind);
}

std::string OpText(const OpDef& op) {
  std::string out = absl::StrCat("Op<name=", op.name, "; signature=", ArgsText(op.inputs), " -> ",
                                 ArgsText(op.outputs));
  for (const AttrDef& attr : op.attrs) out += AttrDefText(attr);
  if (op.is_commutative) out += "; is_commutative=true";
  if (op.is_aggregate) out += "; is_aggregate=true";
  if (op.is_stateful) out += "; is_stateful=true";
  if (op.allows_uninitialized_input) out += "; allows_uninitialized_input=true";
  return out + ">";
}

std::string NodeNameText(std::string_view name) { return absl::StrCat("{{node ", name, "}}"); }

std::string NodeText(const Graph& graph, NodeId n) {
  std::vector<std::string> inputs;
  for (const Output& in : graph.inputs(n)) inputs.push_back(graph.OutputName(in));
  std::vector<Attr> attrs = graph.attrs(n).all();
  const std::vector<Attr>& defaults = graph.kind(n).defaults.all();
  attrs.insert(attrs.end(), defaults.begin(), defaults.end());
  return absl::StrCat(NodeNameText(graph.name(n)), " = ", graph.op_name(n), "[",
                      AttrsText(std::move(attrs), graph.device(n)), "](",
                      absl::StrJoin(inputs, ", "), ")");
}

std::string NodeText(std::string_view name, const OpDef& op, const AttrSet& given) {
  std::vector<Attr> attrs = given.all();
  for (const AttrDef& def : op.attrs) {
    if (def.has_default && given.Find(def.name) == nullptr)
      attrs.push_back({def.name, AttrValue(def.default_wire)});
  }
  return absl::StrCat(NodeNameText(name), " = ", op.name, "[", AttrsText(std::move(attrs), ""),
                      "]");
}

}  // namespace tenon::api
