#include "executor/cli/graphs/graph_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "executor/values/element.h"
#include "executor/values/tensor_text.h"
#include "graph/base/crc32c.h"
#include "graph/op_defs/attr_text.h"
#include "graph/tensor/tensor_proto.h"

namespace tenon::cli {
namespace {

constexpr int64_t kMaxShown = 8;        // elements of a tensor
constexpr size_t kMaxStringShown = 80;  // bytes
constexpr std::string_view kMalformedTensor = "<malformed tensor>";

std::string Quoted(std::string_view s) {
  const bool cut = s.size() > kMaxStringShown;
  return absl::StrCat("\"", absl::CHexEscape(s.substr(0, kMaxStringShown)), cut ? "…" : "", "\"");
}

std::string TensorAttrText(std::string_view wire) {
  const absl::StatusOr<Tensor> tensor = TensorFromWire(wire, nullptr);
  if (!tensor.ok()) return std::string(kMalformedTensor);
  std::string text = TypeText(tensor->dtype(), tensor->shape());
  // A checksum, so that a diff shows that a large constant changed.
  if (tensor->num_elements() > kMaxShown) return ChecksumText(wire);
  for (int64_t i = 0; i < tensor->num_elements(); ++i)
    absl::StrAppend(&text, " ", ElementText(*tensor, i));
  return text;
}

template <typename List, typename Format>
std::string ListText(const absl::StatusOr<List>& list, Format format) {
  if (!list.ok()) return "<malformed>";
  std::string text = "[";
  for (const auto& item : *list) absl::StrAppend(&text, text.size() > 1 ? "," : "", format(item));
  return text + "]";
}

std::string AttrListText(const AttrValue& value) {
  switch (value.list_kind()) {
    case AttrKind::kString:
      return ListText(value.AsStringList(), Quoted);
    case AttrKind::kInt:
      return ListText(value.AsIntList(), [](int64_t v) { return absl::StrCat(v); });
    case AttrKind::kFloat:
      return ListText(value.AsFloatList(), [](float v) { return absl::StrCat(v); });
    case AttrKind::kBool:
      return ListText(value.AsBoolList(), [](bool v) { return v ? "true" : "false"; });
    case AttrKind::kType:
      return ListText(value.AsTypeList(), DataTypeName);
    case AttrKind::kShape:
      return ListText(value.AsShapeList(), [](const PartialShape& s) { return s.ToString(); });
    case AttrKind::kTensor:
      return ListText(value.AsTensorWireList(), TensorAttrText);
    case AttrKind::kFunc:
      return ListText(value.AsFuncList(), [](const FuncAttr& f) { return f.name; });
    default:
      return "[]";
  }
}

}  // namespace

std::string ChecksumText(std::string_view wire) {
  const absl::StatusOr<Tensor> tensor = TensorFromWire(wire, nullptr);
  if (!tensor.ok()) return std::string(kMalformedTensor);
  return absl::StrFormat("%s #%08x", TypeText(tensor->dtype(), tensor->shape()),
                         ExtendCrc32c(0, wire));
}

std::string AttrText(const AttrValue& value) {
  if (std::string text = PlainAttrText(value); !text.empty()) return text;
  switch (value.kind()) {
    case AttrKind::kString:
      return Quoted(value.AsString().value_or("<malformed>"));
    case AttrKind::kType:
      return std::string(DataTypeName(value.AsType().value_or(DataType::kInvalid)));
    case AttrKind::kTensor:
      return TensorAttrText(value.AsTensorWire().value_or(""));
    case AttrKind::kFunc:
      return std::string(value.AsFunc().value_or(FuncAttr()).name);
    case AttrKind::kList:
      return AttrListText(value);
    default:
      return "<none>";
  }
}

std::string NodeText(const Graph& graph, NodeId n) {
  std::string text = absl::StrCat(graph.name(n), " = ", graph.op_name(n), "(");
  bool first = true;
  for (const Output& in : graph.inputs(n)) {
    absl::StrAppend(&text, first ? "" : ", ", graph.OutputName(in));
    first = false;
  }
  text += ")";
  for (const Attr& a : graph.attrs(n).all())
    absl::StrAppend(&text, " ", a.name, "=", AttrText(a.value));
  if (!graph.device(n).empty()) absl::StrAppend(&text, " @", graph.device(n));
  return text;
}

std::string GraphText(const Graph& graph) {
  std::string text;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) absl::StrAppend(&text, NodeText(graph, n), "\n");
  }
  return text;
}

std::string DiffText(const Graph& before, const Graph& after,
                     const std::vector<NodeChange>& changes, const Style& style) {
  std::string text;
  for (const NodeChange& change : changes) {
    if (change.before != kNoNode)
      absl::StrAppend(&text, style.Red("- " + NodeText(before, change.before)), "\n");
    if (change.after != kNoNode)
      absl::StrAppend(&text, style.Green("+ " + NodeText(after, change.after)), "\n");
  }
  return text;
}

}  // namespace tenon::cli
