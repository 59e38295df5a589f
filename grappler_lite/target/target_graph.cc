// Attributes of later versions are dropped from nodes of the graph by its API, and from nodes of
// functions on their bytes: what is not dropped is copied as it stands, unknown fields included.

#include "grappler_lite/target/target_graph.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_library.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_facts.h"
#include "graph/wire/wire.h"
#include "grappler_lite/target/tensorflow_versions.h"

namespace tenon {
namespace {

// Fields of FunctionDef, NodeDef and map entries.
constexpr uint32_t kFunctionNode = 3, kNodeOp = 2, kNodeAttr = 5, kEntryKey = 1, kEntryValue = 2;

// Whether an attribute came after TensorFlow 2.`minor` and may be left out.
bool IsNewDefault(const OpDef* op, std::string_view op_name, const Attr& attr, int minor) {
  if (op == nullptr || TensorFlowAttrSince(op_name, attr.name) <= minor) return false;
  const AttrDef* def = op->FindAttr(attr.name);
  return def != nullptr && def->has_default && def->default_wire == attr.value.wire();
}

std::string_view FieldOf(std::string_view message, uint32_t number) {
  std::string_view found;
  WireReader reader(message);
  WireField f;
  while (reader.Next(&f)) {
    // The last one counts, as in protobuf.
    if (f.number == number && f.type == WireType::kBytes) found = f.bytes;
  }
  return found;
}

// A node of a function without its new defaults; whether it had any.
bool CopyNode(const Graph& graph, std::string_view node, int minor, std::string* copy) {
  const std::string_view op_name = FieldOf(node, kNodeOp);
  const OpDef* const op = graph.FindOp(op_name);
  WireReader reader(node);
  WireField f;
  bool dropped = false;
  while (reader.Next(&f)) {
    if (f.number == kNodeAttr && f.type == WireType::kBytes &&
        IsNewDefault(op, op_name,
                     {FieldOf(f.bytes, kEntryKey), AttrValue(FieldOf(f.bytes, kEntryValue))},
                     minor)) {
      dropped = true;
    } else {
      copy->append(f.raw);
    }
  }
  return dropped;
}

// The function without new defaults; empty if it has none.
std::string WithoutNewDefaults(const Graph& graph, const FunctionEntry& function, int minor) {
  std::string copy, node;
  WireWriter writer(&copy);
  WireReader reader(function.wire);
  WireField f;
  bool dropped = false;
  while (reader.Next(&f)) {
    if (f.number != kFunctionNode || f.type != WireType::kBytes) {
      copy.append(f.raw);
      continue;
    }
    node.clear();
    dropped |= CopyNode(graph, f.bytes, minor, &node);
    writer.Bytes(kFunctionNode, node);
  }
  return dropped ? copy : "";
}

// Notes what a node needs.
void Note(const OpDef* op, std::string_view op_name, absl::Span<const Attr> attrs,
          std::string_view node, Oldest& oldest) {
  if (const int since = TensorFlowOpSince(op_name); since > oldest.minor)
    oldest = {since, absl::StrCat("op ", op_name, " of node '", node, "'")};
  for (const Attr& attr : attrs) {
    const int since = TensorFlowAttrSince(op_name, attr.name);
    if (since > oldest.minor && !IsNewDefault(op, op_name, attr, oldest.minor))
      oldest = {since,
                absl::StrCat("attribute '", attr.name, "' of node '", node, "' (", op_name, ")")};
  }
}

// An Identity of `from`, on the device of its node.
absl::StatusOr<Output> IdentityOf(Graph& graph, Output from) {
  const std::string name = graph.UniqueName(absl::StrCat(graph.name(from.node), "/again"));
  const std::string device(graph.device(from.node));
  TENON_ASSIGN_OR_RETURN(const NodeId n,
                         graph.AddNode(name, "Identity", {&from, 1},
                                       {{"T", attr::Type(graph.output_type(from))}}, device));
  return Output{n, 0};
}

bool IsSumOfOneSwitchOutput(const Graph& graph, NodeId n) {
  const std::string_view op = graph.op_name(n);
  if (op != "Add" && op != "AddV2" && op != "AddN") return false;
  const std::span<const Output> inputs = graph.data_inputs(n);
  return inputs.size() > 1 && inputs[0].port > 0 && IsSwitch(graph.facts(inputs[0].node)) &&
         std::ranges::all_of(inputs, [&](const Output& in) { return in == inputs[0]; });
}

// Sums are of numbers.
bool MayBeSummed(DataType type) {
  return !IsRef(type) && type != DataType::kResource && type != DataType::kVariant &&
         type != DataType::kString && type != DataType::kBool;
}

absl::Status SeparateArguments(Graph& graph, NodeId n) {
  absl::flat_hash_set<Output> seen;
  for (int i = 1; i < graph.num_inputs(n); ++i) {  // input 0 decides
    const Output from = graph.data_inputs(n)[i];
    if (seen.insert(from).second || !MayBeSummed(graph.output_type(from))) continue;
    TENON_ASSIGN_OR_RETURN(const Output again, IdentityOf(graph, from));
    graph.SetInput(n, i, again);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SeparateRepeated(Graph& graph, const Target& target) {
  if (!target.is_tensorflow()) return absl::OkStatus();
  for (NodeId n = 0, end = graph.num_node_ids(); n < end; ++n) {
    if (!graph.alive(n)) continue;
    if (IsSumOfOneSwitchOutput(graph, n)) {
      TENON_ASSIGN_OR_RETURN(const Output again, IdentityOf(graph, graph.data_inputs(n)[0]));
      for (int i = 0; i < graph.num_inputs(n); ++i) graph.SetInput(n, i, again);
    } else if (const CallKind calls = graph.facts(n).calls;
               calls == CallKind::kIf || calls == CallKind::kCase) {
      TENON_RETURN_IF_ERROR(SeparateArguments(graph, n));
    }
  }
  return absl::OkStatus();
}

void DropNewDefaults(Graph& graph, const Target& target) {
  if (!target.is_tensorflow()) return;
  std::vector<std::string> names;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    names.clear();
    for (const Attr& attr : graph.attrs(n).all()) {
      if (IsNewDefault(graph.op(n), graph.op_name(n), attr, target.minor()))
        names.emplace_back(attr.name);
    }
    for (const std::string& name : names) graph.RemoveAttr(n, name);
  }
  std::vector<std::string> functions;
  for (const FunctionEntry& function : graph.functions()) {
    std::string changed = WithoutNewDefaults(graph, function, target.minor());
    if (!changed.empty()) functions.push_back(std::move(changed));
  }
  // Only now: the loop walks the list that this changes.
  PutFunctions(graph, functions);
}

Oldest OldestTensorFlow(const Graph& graph) {
  Oldest oldest;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n))
      Note(graph.op(n), graph.op_name(n), graph.attrs(n).all(), graph.name(n), oldest);
  }
  for (const FunctionEntry& function : graph.functions()) {
    for (const BodyNode& node : ParseFunctionBody(graph, function).nodes)
      Note(node.op(), node.op_name(), node.attrs().all(), node.name, oldest);
  }
  return oldest;
}

}  // namespace tenon
