// A body as a Graph and back. Arguments are Placeholders and results Identities, so that passes see
// nothing but nodes. Writer puts the FunctionDef together: what no pass can have changed is copied
// from the old bytes.

#include "graph/functions/function_graph.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/functions/body_sources.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_fields.h"
#include "graph/ir/library_access.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/arg_ranges.h"
#include "graph/op_defs/attr_entry.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

bool IsOneTensor(const ArgDef& arg) {
  return arg.type != DataType::kInvalid && arg.number_attr.empty() && arg.type_list_attr.empty() &&
         !arg.is_ref;
}

}  // namespace

FunctionGraph::FunctionGraph(const Graph& owner, const FunctionEntry& function,
                             std::shared_ptr<SharedFunctions> functions)
    : graph(LibraryAccess::Beside(owner, std::move(functions))), function_(function) {}

absl::StatusOr<FunctionGraph> FunctionGraph::Make(const Graph& owner, const FunctionEntry& function,
                                                  std::shared_ptr<SharedFunctions> functions) {
  if (function.signature == nullptr) return absl::InvalidArgumentError("it has no signature");
  const OpDef& signature = *function.signature;
  if (!signature.attrs.empty() ||
      !std::all_of(signature.inputs.begin(), signature.inputs.end(), IsOneTensor) ||
      !std::all_of(signature.outputs.begin(), signature.outputs.end(), IsOneTensor)) {
    return absl::UnimplementedError("it takes attributes or lists of tensors");
  }
  if (functions == nullptr) functions = SharedFunctions::Of(owner);
  FunctionGraph made(owner, function, std::move(functions));
  const FunctionBody body = ParseFunctionBody(owner, function);
  TENON_RETURN_IF_ERROR(made.AddNodes(body));
  made.attrs = AttrSet(body.attrs);
  return made;
}

FunctionGraph FunctionGraph::New(const Graph& owner, std::shared_ptr<SharedFunctions> functions) {
  if (functions == nullptr) functions = SharedFunctions::Of(owner);
  return FunctionGraph(owner, {}, std::move(functions));
}

absl::StatusOr<NodeId> FunctionGraph::AddArgument(std::string_view name, DataType type) {
  TENON_ASSIGN_OR_RETURN(const NodeId n, graph.AddNode(graph.UniqueName(name), "Placeholder", {},
                                                       {{"dtype", attr::Type(type)}}));
  args.push_back(n);
  return n;
}

absl::Status FunctionGraph::AddResult(std::string_view name, Output from) {
  TENON_ASSIGN_OR_RETURN(
      const NodeId n,
      graph.AddNode(graph.UniqueName(absl::StrCat(name, "/result")), "Identity", {&from, 1},
                    {{"T", attr::Type(BaseType(graph.output_type(from)))}}));
  std::string free_name(name);
  const auto taken = [&](size_t i) { return ResultName(i) == free_name; };
  const auto numbers = std::views::iota(size_t{0}, NumOldResults() + added_results_.size());
  for (int i = 1; std::ranges::any_of(numbers, taken); ++i) free_name = absl::StrCat(name, "_", i);
  added_results_.push_back(std::move(free_name));
  results.push_back(n);
  return absl::OkStatus();
}

size_t FunctionGraph::NumOldResults() const {
  return function_.signature == nullptr ? 0 : function_.signature->outputs.size();
}

std::string_view FunctionGraph::ResultName(size_t i) const {
  const size_t old = NumOldResults();
  return i < old ? std::string_view(function_.signature->outputs[i].name) : added_results_[i - old];
}

absl::Status FunctionGraph::AddNodes(const FunctionBody& body) {
  const OpDef& signature = *function_.signature;
  for (const ArgDef& arg : signature.inputs) {
    TENON_ASSIGN_OR_RETURN(const NodeId n, graph.AddNode(arg.name, "Placeholder", {},
                                                         {{"dtype", attr::Type(arg.type)}}));
    args.push_back(n);
  }
  BodySources sources(graph);
  TENON_RETURN_IF_ERROR(sources.SetArgs(signature, AttrSet(), args));
  std::vector<NodeId> nodes;
  for (const BodyNode& node : body.nodes) {
    TENON_ASSIGN_OR_RETURN(const NodeId n, graph.AddNode(node.name, node.op_name(), {},
                                                         CopyOf(node.attrs().all()), node.device));
    TENON_RETURN_IF_ERROR(graph.kind(n).types_status);
    if (!node.debug_info.empty()) graph.SetExtra(n, node.debug_info);
    sources.AddNode(node.name, n);
    nodes.push_back(n);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<Output> data, control;
    for (const std::string_view text : body.nodes[i].inputs)
      TENON_RETURN_IF_ERROR(sources.Append(text, text.starts_with('^') ? control : data));
    TENON_RETURN_IF_ERROR(CheckInputs(graph, nodes[i], data));
    graph.SetInputs(nodes[i], data, control);
  }
  return AddEnds(body, sources, nodes);
}

// Identities with control inputs that no node reads. Such a node is a result itself: Writer leaves
// a result of this kind in the body, and reading it back must not add a second Identity.
absl::flat_hash_set<NodeId> FunctionGraph::WaitingIdentities(const FunctionBody& body,
                                                             const BodySources& sources,
                                                             absl::Span<const NodeId> nodes) const {
  absl::flat_hash_set<NodeId> waiting;
  for (const NodeId n : nodes) {
    if (graph.op_name(n) == "Identity" && !graph.control_inputs(n).empty()) waiting.insert(n);
  }
  for (size_t i = 0; !waiting.empty() && i < nodes.size(); ++i) {
    for (const Output& in : graph.inputs(nodes[i])) waiting.erase(in.node);
  }
  for (const Attr& entry : body.control_returns)
    waiting.erase(sources.FindNode(entry.value.wire()));
  return waiting;
}

absl::Status FunctionGraph::AddEnds(const FunctionBody& body, const BodySources& sources,
                                    absl::Span<const NodeId> nodes) {
  const auto source_of = SourcesOfResults(body.returns);
  absl::flat_hash_set<NodeId> waiting = WaitingIdentities(body, sources, nodes);
  for (const ArgDef& output : function_.signature->outputs) {
    const auto it = source_of.find(output.name);
    std::vector<Output> from;
    if (it != source_of.end()) TENON_RETURN_IF_ERROR(sources.Append(it->second, from));
    if (from.size() != 1 || from[0].port < 0 || BaseType(graph.output_type(from[0])) != output.type)
      return absl::InvalidArgumentError(
          absl::StrCat("its result '", output.name, "' is not what 'ret' fills it with"));
    if (waiting.erase(from[0].node) > 0) {
      results.push_back(from[0].node);
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const NodeId n,
                           graph.AddNode(graph.UniqueName(absl::StrCat(output.name, "/result")),
                                         "Identity", from, {{"T", attr::Type(output.type)}}));
    results.push_back(n);
  }
  absl::flat_hash_set<NodeId> listed;
  for (const Attr& entry : body.control_returns) {
    const NodeId n = sources.FindNode(entry.value.wire());
    if (n == kNoNode)
      return absl::InvalidArgumentError(
          absl::StrCat("'control_ret' names '", entry.value.wire(), "', which is no node of it"));
    if (listed.insert(n).second) effects.push_back(n);
  }
  for (const NodeId n : nodes) {
    // A call runs stateful nodes of a body even if nothing reads them.
    if (graph.op(n)->is_stateful && listed.insert(n).second) effects.push_back(n);
  }
  return absl::OkStatus();
}

// Writes the FunctionDef. Identities that stand for results only, and that no node reads, are left
// out: `ret` names their source.
class FunctionGraph::Writer {
 public:
  explicit Writer(const FunctionGraph& from)
      : from_(from), graph_(from.graph), roles_(graph_.num_node_ids(), Role::kNode) {
    uint64_t left = 0;
    for (const NodeId n : from.args) {
      place_.push_back(left);
      if (n == kNoNode) continue;
      roles_[n] = Role::kArg;
      ++left;
    }
    for (const NodeId n : from.results) {
      if (n == kNoNode) continue;
      if (graph_.op_name(n) == "Identity" && graph_.control_inputs(n).empty())
        roles_[n] = Role::kResult;
    }
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      if (!graph_.alive(n)) continue;
      for (const Output& in : graph_.inputs(n)) {
        if (roles_[in.node] == Role::kResult) roles_[in.node] = Role::kNode;
      }
    }
  }

  std::string Write(std::string_view name) const {
    std::string signature, others;
    WireReader reader(from_.function_.wire);
    WireField f;
    while (reader.Next(&f)) {
      if (f.number == kSignature) {
        signature.append(f.bytes);
      } else if (f.number == kArgAttr || f.number == kArgUniqueId) {
        AppendArgEntry(f, &others);
      } else if (f.number == kFunctionAttr) {
        if (name == from_.function_.name || !TellsOfInterface(f.bytes)) others.append(f.raw);
      } else if (f.number != kFunctionNode && f.number != kFunctionRet) {
        others.append(f.raw);
      }
    }
    std::string out;
    WireWriter writer(&out);
    writer.Bytes(kSignature, Signature(signature, name));
    out.append(others);
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      if (graph_.alive(n) && roles_[n] == Role::kNode) writer.Bytes(kFunctionNode, Node(n));
    }
    for (size_t i = 0; i < from_.results.size(); ++i) {
      const NodeId n = from_.results[i];
      if (n == kNoNode) continue;
      const Output source = roles_[n] == Role::kResult ? graph_.data_inputs(n)[0] : Output{n, 0};
      std::string entry;
      WireWriter fields(&entry);
      fields.Bytes(kKey, from_.ResultName(i));
      fields.Bytes(kValue, SourceText(source));
      writer.Bytes(kFunctionRet, entry);
    }
    return out;
  }

 private:
  enum class Role : uint8_t { kNode, kArg, kResult };

  // Without the arguments and results that are gone, with those that were added.
  std::string Signature(std::string_view wire, std::string_view name) const {
    std::string out;
    WireWriter(&out).Bytes(kOpName, name);
    WireReader reader(wire);
    WireField f;
    size_t arg = 0, result = 0;
    while (reader.Next(&f)) {
      const bool is_bytes = f.type == WireType::kBytes;  // else it is no such field
      const bool gone =
          is_bytes &&
          (f.number == kOpName || (f.number == kInputArg && from_.args[arg++] == kNoNode) ||
           (f.number == kOutputArg && from_.results[result++] == kNoNode));
      if (!gone) out.append(f.raw);
    }
    AppendAdded(&out);
    return out;
  }

  void AppendAdded(std::string* out) const {
    const OpDef* const old = from_.function_.signature;
    for (size_t i = old == nullptr ? 0 : old->inputs.size(); i < from_.args.size(); ++i) {
      const NodeId n = from_.args[i];
      if (n != kNoNode)
        WireWriter(out).Bytes(kInputArg, ArgWire(graph_.name(n), graph_.output_type({n, 0})));
    }
    for (size_t i = from_.NumOldResults(); i < from_.results.size(); ++i) {
      const NodeId n = from_.results[i];
      if (n != kNoNode)
        WireWriter(out).Bytes(kOutputArg, ArgWire(from_.ResultName(i), graph_.output_type({n, 0})));
    }
  }

  static std::string ArgWire(std::string_view name, DataType type) {
    std::string out;
    WireWriter writer(&out);
    writer.Bytes(kArgName, name);
    writer.Varint(kArgType, static_cast<uint64_t>(type));
    return out;
  }

  // Attributes that TensorFlow compares with the arguments of a call (_input_shapes), or by which
  // it exchanges functions of one interface (_implements, api_implements).
  static bool TellsOfInterface(std::string_view entry) {
    std::string_view key;
    WireReader reader(entry);
    WireField f;
    while (reader.Next(&f)) {
      if (f.number == kKey) key = f.bytes;
    }
    return key == "_input_shapes" || key == "_implements" || key == "api_implements";
  }

  // Appends an entry of a map whose keys are numbers of arguments. Numbers of later arguments move
  // up where one is removed.
  void AppendArgEntry(const WireField& entry, std::string* out) const {
    uint64_t number = 0;
    std::string rest;
    WireReader reader(entry.bytes);
    WireField f;
    while (reader.Next(&f)) {
      if (f.number == kKey) {
        number = f.scalar;
      } else {
        rest.append(f.raw);
      }
    }
    if (number >= from_.args.size() || from_.args[number] == kNoNode) return;
    std::string moved;
    WireWriter(&moved).Varint(kKey, place_[number]);
    moved.append(rest);
    WireWriter(out).Bytes(entry.number, moved);
  }

  std::string Node(NodeId n) const {
    std::string out;
    WireWriter writer(&out);
    writer.Bytes(kNodeName, graph_.name(n));
    writer.Bytes(kNodeOp, graph_.op_name(n));
    for (const Output& in : graph_.inputs(n)) writer.Bytes(kNodeInput, SourceText(in));
    if (!graph_.device(n).empty()) writer.Bytes(kNodeDevice, graph_.device(n));
    for (const Attr& a : graph_.attrs(n).all()) AppendAttrEntry(a, &out);
    WireReader extra(graph_.extra(n));
    WireField f;
    while (extra.Next(&f)) {
      if (f.number == kNodeDebugInfo) out.append(f.raw);
    }
    return out;
  }

  // The text of `source` as an input in a body: "argument", "node:result:index", "^node". Indices
  // count within a result, so the lengths of the results before it are subtracted.
  std::string SourceText(Output source) const {
    const std::string_view name = graph_.name(source.node);
    if (source.is_control()) return absl::StrCat("^", name);
    if (roles_[source.node] == Role::kArg) return std::string(name);
    const OpDef& op = *graph_.op(source.node);
    int64_t port = source.port;
    const ArgDef* output = &op.outputs.front();
    if (op.outputs.size() > 1) {
      const AttrSet attrs = WithDefaults(op, graph_.attrs(source.node));
      const auto length = [&] { return ArgLength(op, attrs, *output).value_or(0); };
      for (; output != &op.outputs.back() && port >= length(); ++output) port -= length();
    }
    return absl::StrCat(name, ":", output->name, ":", port);
  }

  const FunctionGraph& from_;
  const Graph& graph_;
  std::vector<Role> roles_;
  std::vector<uint64_t> place_;  // of arguments, among those that are left
};

std::string FunctionGraph::Wire(std::string_view name) const { return Writer(*this).Write(name); }

}  // namespace tenon
