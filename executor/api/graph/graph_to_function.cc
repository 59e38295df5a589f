#include "executor/api/graph/graph_to_function.h"

#include <algorithm>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/api/base/op_text.h"
#include "executor/api/graph/function_hash.h"
#include "graph/base/status_macros.h"
#include "graph/functions/body_sources.h"
#include "graph/functions/function_library.h"
#include "graph/io/io.h"
#include "graph/ir/device_string.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/attr_entry.h"
#include "graph/op_defs/node_full_type.h"
#include "graph/op_defs/op_def.h"
#include "graph/verify/verifier.h"
#include "graph/wire/wire.h"
#include "proto/function.pb.h"

namespace tenon::api {
namespace {

template <typename... Parts>
absl::Status BadPart(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Small letters, digits and '_', from the first letter on.
std::string ArgName(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (out.empty() && !absl::ascii_isalpha(c)) continue;
    out.push_back(absl::ascii_isalnum(c) ? absl::ascii_tolower(c) : '_');
  }
  return out.empty() ? "unknown" : out;
}

// Names of arguments, results and nodes of the function share one space.
class NamesOfFunction {
 public:
  // `name`, or name_0, name_1 … if it is taken.
  std::string Unique(const std::string& name) {
    const auto [used, added] = used_.try_emplace(name, 0);
    if (added) return name;
    while (true) {
      std::string candidate = absl::StrCat(name, "_", used_[name]++);
      if (used_.try_emplace(candidate, 0).second) return candidate;
    }
  }
  void Reserve(size_t names) { used_.reserve(names); }
  // Whether the name was free.
  bool Take(const std::string& name) { return used_.try_emplace(name, 0).second; }

 private:
  absl::flat_hash_map<std::string, int64_t> used_;
};

// TensorFlow numbers the edges of a graph from 1 on, in the order in which they were added.
std::string EdgeText(const Graph& graph, NodeId from, NodeId to) {
  size_t id = 1;
  for (NodeId n = 0; n < to; ++n) id += graph.inputs(n).size();
  for (const Output& in : graph.inputs(to)) {
    if (in.is_control() && in.node == from) break;
    ++id;
  }
  return absl::StrCat("[id=", id, " ", graph.name(from), ":-1 -> ", graph.name(to), ":-1]");
}

// Of NodeDef.
constexpr uint32_t kNodeName = 1, kNodeOp = 2, kNodeInput = 3, kNodeDevice = 4, kFullType = 7;
constexpr uint32_t kFunctionNode = 3;  // FunctionDef.node_def

class FunctionMaker {
 public:
  FunctionMaker(const Graph& graph, const FunctionParts& parts) : graph_(graph), parts_(parts) {}

  absl::StatusOr<MadeFunction> Make() && {
    if (parts_.description != nullptr) signature().set_description(parts_.description);
    // Results take their names first: a name that the caller gave to a result must stay as it is,
    // while arguments and nodes may give way.
    TENON_RETURN_IF_ERROR(AddResults());
    for (size_t i = 0; i < parts_.inputs.size(); ++i) AddArgument(static_cast<int>(i));
    const size_t nodes = parts_.inputs.size() + parts_.body.size();
    names_.Reserve(parts_.outputs.size() + nodes);
    names_of_nodes_.reserve(nodes);
    for (const NodeId n : parts_.body) TENON_RETURN_IF_ERROR(NameNode(n));
    for (const NodeId n : parts_.body) TENON_RETURN_IF_ERROR(AddNode(n));
    TENON_RETURN_IF_ERROR(ConnectResults());
    // The hash is of the function without its name and control outputs.
    std::string hash;
    if (parts_.append_hash) {
      pb::FunctionDef whole = function_;
      whole.MergeFromString(nodes_);
      hash = absl::StrCat("_", FunctionHashText(whole));
    }
    signature().set_name(absl::StrCat(parts_.name, hash));
    TENON_RETURN_IF_ERROR(AddControlOutputs());
    is_sound_ = is_sound_ && !signature().name().empty() && attr_names_.empty();
    return MadeFunction{Bytes(), is_sound_};
  }

 private:
  // The function with its nodes behind the signature, where protobuf writes them.
  std::string Bytes() const {
    const std::string rest = function_.SerializeAsString();
    WireReader reader(rest);
    WireField signature;
    const size_t end = reader.Next(&signature) ? signature.raw.size() : 0;
    return absl::StrCat(rest.substr(0, end), nodes_, rest.substr(end));
  }

  pb::OpDef& signature() { return *function_.mutable_signature(); }
  pb::DataType TypeOf(Output o) const {
    return static_cast<pb::DataType>(static_cast<int>(graph_.output_type(o)));
  }

  absl::Status AddResults() {
    for (size_t i = 0; i < parts_.outputs.size(); ++i) {
      pb::OpDef::ArgDef& arg = *signature().add_output_arg();
      arg.set_type(TypeOf(parts_.outputs[i]));
      if (!parts_.output_names.has_value()) {
        arg.set_name(names_.Unique(ArgName(graph_.name(parts_.outputs[i].node))));
        continue;
      }
      const std::string& name = (*parts_.output_names)[i];
      if (!names_.Take(name)) {
        return BadPart("Cannot have duplicate output names. Name '", name,
                       "' appears more than once in 'output_names' array.");
      }
      arg.set_name(name);
    }
    return absl::OkStatus();
  }

  void AddArgument(int i) {
    const Output input = parts_.inputs[i];
    pb::OpDef::ArgDef& arg = *signature().add_input_arg();
    arg.set_type(TypeOf(input));
    arg.set_name(names_.Unique(ArgName(graph_.name(input.node))));
    names_of_nodes_[input.node] = {arg.name()};
    texts_[input] = arg.name();
    AddArgumentAttrs(i, input.node);
  }

  // The notes of the argument's node, and its shape, go with the argument.
  void AddArgumentAttrs(int i, NodeId n) {
    pb::NodeDef node;
    node.ParseFromString(ExportNode(graph_, n));
    pb::FunctionDef::ArgAttrs attrs;
    for (const auto& [name, value] : node.attr()) {
      if (absl::StartsWith(name, "_")) {
        (*attrs.mutable_attr())[name] = value;
      } else if (name == "shape" && graph_.output_type(parts_.inputs[i]) != DataType::kResource) {
        *(*attrs.mutable_attr())["_output_shapes"].mutable_list()->add_shape() = value.shape();
      } else if (name == "value" && graph_.op_name(n) == "Const") {
        *(*attrs.mutable_attr())["_output_shapes"].mutable_list()->add_shape() =
            value.tensor().tensor_shape();
      }
      if (name == "_resource_arg_unique_id")
        (*function_.mutable_resource_arg_unique_id())[i] = static_cast<uint32_t>(value.i());
    }
    if (attrs.attr_size() > 0) (*function_.mutable_arg_attr())[i] = std::move(attrs);
  }

  // Names the node and the texts by which others read its outputs: "node:result:0".
  absl::Status NameNode(NodeId n) {
    const std::string name = names_.Unique(std::string(graph_.name(n)));
    const OpDef& op = *graph_.op(n);
    const bool gives_single_tensors = std::all_of(
        op.outputs.begin(), op.outputs.end(),
        [](const ArgDef& arg) { return arg.number_attr.empty() && arg.type_list_attr.empty(); });
    NamedNode& named = names_of_nodes_[n];
    if (named.in_body) {
      // The body has the node twice. Readers keep its first name, as in TensorFlow.
      is_sound_ = false;
      for (int port = 0; named.gives_single_tensors && port < graph_.num_outputs(n); ++port)
        texts_.try_emplace(Output{n, port}, TextOf({n, port}));
    }
    named = {name, /*in_body=*/true, gives_single_tensors};
    is_sound_ = is_sound_ && IsNodeName(name, /*from_file=*/false) && IsDevice(graph_.device(n));
    if (gives_single_tensors) return absl::OkStatus();
    for (int arg = 0; arg < static_cast<int>(op.outputs.size()); ++arg) {
      TENON_ASSIGN_OR_RETURN(const auto range, OutputRange(op, graph_.attrs(n), arg));
      for (int port = range.first; port < range.second; ++port) {
        // An output that is an argument of the function keeps that name.
        texts_.try_emplace(Output{n, port},
                           absl::StrCat(name, ":", op.outputs[arg].name, ":", port - range.first));
      }
    }
    return absl::OkStatus();
  }

  bool IsDevice(std::string_view text) {
    if (text == device_) return true;  // neighbours mostly have the same
    if (!ParseDeviceRequest(text).ok()) return false;
    device_ = text;
    return true;
  }

  absl::Status AddNode(NodeId n) {
    node_.clear();
    WireWriter writer(&node_);
    writer.Bytes(kNodeName, names_of_nodes_[n].name);
    TENON_RETURN_IF_ERROR(AddInputs(n, &writer));
    writer.Bytes(kNodeOp, graph_.op_name(n));
    if (!graph_.device(n).empty()) writer.Bytes(kNodeDevice, graph_.device(n));
    TENON_ASSIGN_OR_RETURN(const KindFields* const kind, FieldsOf(n));
    node_.append(kind->attrs);
    const std::string_view extra = graph_.extra(n);
    node_.append(extra);
    if (!kind->full_type.empty() && !HasFullType(extra)) node_.append(kind->full_type);
    WireWriter(&nodes_).Bytes(kFunctionNode, node_);
    return absl::OkStatus();
  }

  // The fields that nodes of one kind have in common, with the defaults of attributes and the full
  // type, as TensorFlow writes them.
  struct KindFields {
    std::string attrs, full_type;
  };
  // Valid until the next call.
  absl::StatusOr<const KindFields*> FieldsOf(NodeId n) {
    if (const auto it = kinds_.find(&graph_.kind(n)); it != kinds_.end()) return &it->second;
    const OpDef& op = *graph_.op(n);
    if (op.is_stateful) signature().set_is_stateful(true);
    TENON_RETURN_IF_ERROR(AddPlaceholderAttrs(n));
    is_sound_ = is_sound_ && CalledBy(op.name, graph_.attrs(n)).size() == 1 &&
                !IsFunctional(graph_, n) &&
                CheckKind(graph_, graph_.kind(n), VerifyOptions(), &log_).empty();
    KindFields fields;
    const AttrSet attrs = WithDefaults(op, graph_.attrs(n));
    for (const Attr& attr : attrs.all()) AppendAttrEntry(attr, &fields.attrs);
    const std::string full_type = NodeFullType(op, attrs.all());
    if (!full_type.empty()) WireWriter(&fields.full_type).Bytes(kFullType, full_type);
    // Nodes do not share kinds with large constants.
    if (fields.attrs.size() > kMaxInternedBytes) return &(large_kind_ = std::move(fields));
    return &kinds_.emplace(&graph_.kind(n), std::move(fields)).first->second;
  }

  static bool HasFullType(std::string_view extra) {
    WireReader reader(extra);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == kFullType) return true;
    }
    return false;
  }

  // The text by which the function reads an output; empty if neither the body nor the arguments
  // give it.
  std::string TextOf(const Output& output) const {
    if (const auto text = texts_.find(output); text != texts_.end()) return text->second;
    const auto node = names_of_nodes_.find(output.node);
    if (node == names_of_nodes_.end() || !node->second.gives_single_tensors) return "";
    return absl::StrCat(node->second.name, ":", graph_.op(output.node)->outputs[output.port].name,
                        ":0");
  }

  absl::Status AddInputs(NodeId n, WireWriter* node) {
    int i = 0;
    for (const Output& from : graph_.inputs(n)) is_sound_ = is_sound_ && from.node < n;
    for (const Output& from : graph_.data_inputs(n)) {
      const std::string text = TextOf(from);
      if (text.empty()) {
        return BadPart("Input ", i, ", '", graph_.name(from.node), ":", from.port, "', of node '",
                       graph_.name(n), "' in function '", parts_.name,
                       "' is not available. You might need to include it in inputs or include its "
                       "source node in the body");
      }
      node->Bytes(kNodeInput, text);
      ++i;
    }
    std::vector<NodeId> control;
    for (const Output& from : graph_.control_inputs(n)) control.push_back(from.node);
    std::sort(control.begin(), control.end(),
              [this](NodeId a, NodeId b) { return graph_.name(a) < graph_.name(b); });
    for (const NodeId from : control) {
      const auto name = names_of_nodes_.find(from);
      if (name == names_of_nodes_.end()) {
        return BadPart("The source of control edge ", EdgeText(graph_, from, n),
                       " is not in the body. Encountered while creating function '", parts_.name,
                       "'");
      }
      node->Bytes(kNodeInput, absl::StrCat("^", name->second.name));
    }
    return absl::OkStatus();
  }

  // A placeholder in an attribute becomes an attribute of the function.
  absl::Status AddPlaceholderAttrs(NodeId n) {
    for (const auto& [name, value] : graph_.attrs(n).all()) {
      if (value.kind() != AttrKind::kPlaceholder) continue;
      const std::string placeholder(value.AsPlaceholder().value_or(""));
      if (placeholder.empty() || !attr_names_.insert(placeholder).second) continue;
      const AttrDef* def = graph_.op(n)->FindAttr(name);
      if (def == nullptr) {
        return absl::UnimplementedError(absl::StrCat(
            "Placeholder value is not supported for attributes not in OpDef. Attribute: ", name,
            ", OpDef: ", OpText(*graph_.op(n))));
      }
      pb::OpDef::AttrDef& attr = *signature().add_attr();
      attr.set_name(placeholder);
      attr.set_type(AttrTypeText(*def));
    }
    return absl::OkStatus();
  }

  absl::Status ConnectResults() {
    for (size_t i = 0; i < parts_.outputs.size(); ++i) {
      const Output output = parts_.outputs[i];
      const std::string text = TextOf(output);
      if (text.empty()) {
        return BadPart("TF_Output ", graph_.name(output.node), ":", output.port,
                       " is neither in the function body nor among function inputs. Encountered "
                       "while creating function '",
                       parts_.name, "'");
      }
      (*function_.mutable_ret())[signature().output_arg(static_cast<int>(i)).name()] = text;
    }
    return absl::OkStatus();
  }

  absl::Status AddControlOutputs() {
    const auto& given = parts_.control_output_names;
    if (given.has_value() && given->size() != parts_.control_outputs.size()) {
      return BadPart("Expected number of control outputs (", parts_.control_outputs.size(),
                     ") and the number of control output names (", given->size(),
                     ") to match but they do not.");
    }
    std::set<std::string> names;
    for (size_t i = 0; i < parts_.control_outputs.size(); ++i) {
      const NodeId n = parts_.control_outputs[i];
      const std::string name = given.has_value() ? (*given)[i] : std::string(graph_.name(n));
      if (name.empty()) return BadPart("Control output name must be not empty");
      if (!names.insert(name).second) return BadPart("Repeated control output name: ", name);
      const auto node = names_of_nodes_.find(n);
      if (node == names_of_nodes_.end())
        return BadPart("Control output node name must be not empty");
      (*function_.mutable_control_ret())[name] = node->second.name;
    }
    for (const std::string& name : names) signature().add_control_output(name);
    return absl::OkStatus();
  }

  const Graph& graph_;
  const FunctionParts& parts_;
  pb::FunctionDef function_;  // without its nodes
  std::string nodes_;         // FunctionDef bytes: the nodes
  NamesOfFunction names_;
  struct NamedNode {
    std::string name;  // in the function
    bool in_body = false;
    bool gives_single_tensors = false;  // in_body, and no result is a list
  };
  absl::flat_hash_map<NodeId, NamedNode> names_of_nodes_;
  // By which the function reads arguments, and outputs of nodes whose results are lists.
  absl::flat_hash_map<Output, std::string> texts_;
  absl::flat_hash_map<const NodeKind*, KindFields> kinds_;
  KindFields large_kind_;
  std::string node_;         // scratch of AddNode
  bool is_sound_ = true;     // MadeFunction::is_sound
  std::string_view device_;  // of IsDevice
  DefectLog log_;            // of CheckKind
  std::set<std::string> attr_names_;
};

}  // namespace

absl::StatusOr<MadeFunction> GraphToFunction(const Graph& graph, const FunctionParts& parts) {
  return FunctionMaker(graph, parts).Make();
}

}  // namespace tenon::api
