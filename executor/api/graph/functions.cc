// The functions of c_api.h for TF_Function.
#include <algorithm>
#include <climits>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/base/op_text.h"
#include "executor/api/graph/edits.h"
#include "executor/api/graph/graph_to_function.h"
#include "executor/api/graph/tf_function.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/without_memory.h"
#include "graph/functions/library_merge.h"
#include "graph/wire/wire.h"
#include "graph/wire/wire_check.h"
#include "proto/function.pb.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"

namespace tenon::api {
namespace {

constexpr int64_t kMaxDepthOfMessages = 100;  // as protobuf reads them

// The arguments of TF_GraphToFunction, as they come.
struct FunctionRequest {
  const TF_Graph* body;
  const char* name;
  bool append_hash;
  int num_opers;
  const TF_Operation* const* opers;
  absl::Span<const TF_Output> inputs, outputs;
  const char* const* output_names;
  absl::Span<const TF_Operation* const> control_outputs;
  const char* const* control_output_names;
  const char* description;
};

absl::StatusOr<std::vector<Output>> ReadOutputs(const FunctionRequest& request,
                                                absl::Span<const TF_Output> outputs,
                                                std::string_view what)
    ABSL_SHARED_LOCKS_REQUIRED(request.body->mutex) {
  const Graph& graph = request.body->graph;
  std::vector<Output> read;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string where =
        absl::StrCat("\n\tEncountered while processing ", what[0] == 'i' ? "input " : "output ", i,
                     what[0] == 'i' ? " into" : " from", " function '", request.name, "'");
    const absl::StatusOr<Output> output = OutputOf(*request.body, outputs[i]);
    if (!output.ok()) return Annotate(output.status(), "", where);
    if (IsRef(graph.output_type(*output))) {
      return absl::InvalidArgumentError(
          absl::StrCat("Output ", output->port, " of node '", graph.name(output->node),
                       "' has a reference type ", TypeText(graph.output_type(*output)), where));
    }
    read.push_back(*output);
  }
  return read;
}

absl::Status CheckInputsOnce(const Graph& graph, const std::vector<Output>& inputs) {
  absl::flat_hash_set<Output> seen;
  for (const Output& input : inputs) {
    if (seen.insert(input).second) continue;
    return absl::InvalidArgumentError(absl::StrCat("TF_Output ", graph.name(input.node), ":",
                                                   input.port,
                                                   " appears more than once in the input list"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NodeId>> ReadOperations(
    const TF_Graph& graph, absl::Span<const TF_Operation* const> operations) {
  std::vector<NodeId> nodes;
  for (const TF_Operation* oper : operations) {
    if (oper == nullptr || oper->graph != &graph)
      return absl::InvalidArgumentError("an operation of the function is none of the graph");
    nodes.push_back(oper->node);
  }
  return nodes;
}

// All nodes but those that give inputs.
absl::StatusOr<std::vector<NodeId>> WholeBody(const Graph& graph, const FunctionRequest& request,
                                              const std::vector<Output>& inputs) {
  absl::flat_hash_set<NodeId> left_out;
  for (const Output& input : inputs) {
    left_out.insert(input.node);
    if (graph.num_outputs(input.node) == 1) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "When `num_opers` is set to -1, nodes referenced in `inputs` must have a single output. "
        "Node ",
        graph.name(input.node), " has ", graph.num_outputs(input.node),
        " outputs. Encountered while creating function '", request.name, "'"));
  }
  std::vector<NodeId> body;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && !left_out.contains(n)) body.push_back(n);
  }
  return body;
}

std::optional<std::vector<std::string>> ReadNames(const char* const* names, size_t count) {
  if (names == nullptr) return std::nullopt;
  std::vector<std::string> read;
  for (size_t i = 0; i < count; ++i) read.emplace_back(absl::NullSafeStringView(names[i]));
  return read;
}

bool IsFunctionDef(std::string_view wire) {
  return !CheckWire(WireMessage::kFunctionDef, wire, {kMaxDepthOfMessages}).has_value();
}

// FunctionDef { signature = 1 { name = 1 } }
std::string NameIn(std::string_view function) {
  std::string_view name;
  WireField field, part;
  for (WireReader reader(function); reader.Next(&field);) {
    if (field.number != 1 || field.type != WireType::kBytes) continue;
    for (WireReader signature(field.bytes); signature.Next(&part);) {
      if (part.number == 1 && part.type == WireType::kBytes) name = part.bytes;
    }
  }
  return std::string(name);
}

absl::StatusOr<TF_Function> MakeFunction(const FunctionRequest& request) {
  absl::ReaderMutexLock lock(&request.body->mutex);
  const Graph& graph = request.body->graph;
  TENON_RETURN_IF_ERROR(CheckEdits(*request.body));
  FunctionParts parts;
  parts.name = request.name;
  parts.append_hash = request.append_hash;
  parts.description = request.description;
  TENON_ASSIGN_OR_RETURN(parts.inputs, ReadOutputs(request, request.inputs, "input"));
  TENON_RETURN_IF_ERROR(CheckInputsOnce(graph, parts.inputs));
  TENON_ASSIGN_OR_RETURN(parts.outputs, ReadOutputs(request, request.outputs, "output"));
  parts.output_names = ReadNames(request.output_names, request.outputs.size());
  if (request.num_opers < 0) {
    TENON_ASSIGN_OR_RETURN(parts.body, WholeBody(graph, request, parts.inputs));
  } else {
    TENON_ASSIGN_OR_RETURN(
        parts.body,
        ReadOperations(*request.body, absl::MakeConstSpan(request.opers, request.num_opers)));
  }
  TENON_ASSIGN_OR_RETURN(parts.control_outputs,
                         ReadOperations(*request.body, request.control_outputs));
  parts.control_output_names =
      ReadNames(request.control_output_names, request.control_outputs.size());
  TENON_ASSIGN_OR_RETURN(MadeFunction made, GraphToFunction(graph, parts));
  // What a parser would refuse is found without one.
  if (made.wire.size() > INT_MAX || !IsFunctionDef(made.wire))
    return absl::InvalidArgumentError("Invalid FunctionDef given to TF_FunctionImportFunctionDef");
  std::string name = NameIn(made.wire);
  return TF_Function{std::move(name), std::move(made.wire), made.is_sound};
}

TF_Function* NewFunction(absl::StatusOr<TF_Function> function, TF_Status* status) {
  StatusToC(function.status(), status);
  return function.ok() ? TF_Function::Pool::New(*std::move(function)) : nullptr;
}

// Adds the functions, or none.
absl::Status CopyFunction(TF_Graph& graph, const TF_Function& func, const TF_Function* grad)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  const LibraryState before(graph.graph);
  absl::Status status = AddFunction(graph.graph, func.wire);
  if (status.ok() && grad != nullptr) status = AddFunction(graph.graph, grad->wire);
  if (status.ok() && grad != nullptr) status = AddGradientOf(graph.graph, func.name, grad->name);
  if (!status.ok()) before.Restore(graph.graph);
  ++graph.version;
  return status;
}

absl::Status SetFunctionAttr(TF_Function& func, const char* attr_name, std::string_view wire) {
  pb::AttrValue value;
  if (wire.size() > INT_MAX || !value.ParseFromArray(wire.data(), static_cast<int>(wire.size())))
    return absl::InvalidArgumentError(
        "Unparseable AttrValue proto passed to TF_FunctionSetAttrValueProto");
  pb::FunctionDef def;
  def.ParseFromString(func.wire);
  (*def.mutable_attr())[attr_name] = std::move(value);
  func.wire = def.SerializeAsString();
  func.is_sound = false;
  return absl::OkStatus();
}

absl::Status GetFunctionAttr(const TF_Function& func, const char* attr_name, TF_Buffer* to) {
  pb::FunctionDef def;
  def.ParseFromString(func.wire);
  const auto found = def.attr().find(attr_name);
  if (found == def.attr().end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Function '", func.name, "' has no attr named '", attr_name, "'."));
  }
  return FillBuffer(found->second.SerializeAsString(), to);
}

}  // namespace

absl::StatusOr<TF_Function> FunctionOf(std::string_view wire) {
  pb::FunctionDef def;
  if (wire.size() > INT_MAX || !IsFunctionDef(wire) ||
      !def.ParseFromArray(wire.data(), static_cast<int>(wire.size()))) {
    return absl::InvalidArgumentError("Invalid FunctionDef given to TF_FunctionImportFunctionDef");
  }
  return TF_Function{def.signature().name(), std::string(wire)};
}

}  // namespace tenon::api

using tenon::StatusToC;
using tenon::api::AllGiven;
using tenon::api::IsArray;
using tenon::api::IsBytes;

extern "C" {

TF_Function* TF_GraphToFunctionWithControlOutputs(
    const TF_Graph* fn_body, const char* fn_name, unsigned char append_hash_to_fn_name,
    int num_opers, const TF_Operation* const* opers, int ninputs, const TF_Output* inputs,
    int noutputs, const TF_Output* outputs, const char* const* output_names, int ncontrol_outputs,
    const TF_Operation* const* control_outputs, const char* const* control_output_names,
    const TF_FunctionOptions*, const char* description, TF_Status* status) try {
  if (!AllGiven({{"fn_body", fn_body}, {"fn_name", fn_name}}, status) ||
      !IsArray("opers", opers, std::max(num_opers, 0), status) ||
      !IsArray("inputs", inputs, ninputs, status) ||
      !IsArray("outputs", outputs, noutputs, status) ||
      !IsArray("control_outputs", control_outputs, ncontrol_outputs, status))
    return nullptr;
  return tenon::api::NewFunction(
      tenon::api::MakeFunction({fn_body, fn_name, append_hash_to_fn_name != 0, num_opers, opers,
                                absl::MakeConstSpan(inputs, ninputs),
                                absl::MakeConstSpan(outputs, noutputs), output_names,
                                absl::MakeConstSpan(control_outputs, ncontrol_outputs),
                                control_output_names, description}),
      status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Function* TF_GraphToFunction(const TF_Graph* fn_body, const char* fn_name,
                                unsigned char append_hash_to_fn_name, int num_opers,
                                const TF_Operation* const* opers, int ninputs,
                                const TF_Output* inputs, int noutputs, const TF_Output* outputs,
                                const char* const* output_names, const TF_FunctionOptions* opts,
                                const char* description, TF_Status* status) try {
  return TF_GraphToFunctionWithControlOutputs(
      fn_body, fn_name, append_hash_to_fn_name, num_opers, opers, ninputs, inputs, noutputs,
      outputs, output_names, 0, nullptr, nullptr, opts, description, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

const char* TF_FunctionName(TF_Function* func) {
  return tenon::IsThere(func) ? func->name.c_str() : nullptr;
}

void TF_FunctionToFunctionDef(TF_Function* func, TF_Buffer* output_func_def,
                              TF_Status* status) try {
  if (!AllGiven({{"func", func}, {"output_func_def", output_func_def}}, status)) return;
  StatusToC(tenon::FillBuffer(func->wire, output_func_def), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_Function* TF_FunctionImportFunctionDef(const void* proto, size_t proto_len,
                                          TF_Status* status) try {
  if (!IsBytes("proto", proto, proto_len, status)) return nullptr;
  return tenon::api::NewFunction(
      tenon::api::FunctionOf({static_cast<const char*>(proto), proto_len}), status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_FunctionSetAttrValueProto(TF_Function* func, const char* attr_name, const void* proto,
                                  size_t proto_len, TF_Status* status) try {
  if (!AllGiven({{"func", func}, {"attr_name", attr_name}}, status) ||
      !IsBytes("proto", proto, proto_len, status))
    return;
  StatusToC(
      tenon::api::SetFunctionAttr(*func, attr_name, {static_cast<const char*>(proto), proto_len}),
      status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_FunctionGetAttrValueProto(TF_Function* func, const char* attr_name,
                                  TF_Buffer* output_attr_value, TF_Status* status) try {
  if (!AllGiven(
          {{"func", func}, {"attr_name", attr_name}, {"output_attr_value", output_attr_value}},
          status))
    return;
  StatusToC(tenon::api::GetFunctionAttr(*func, attr_name, output_attr_value), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_DeleteFunction(TF_Function* func) { tenon::DeleteHandle(func); }

void TF_GraphCopyFunction(TF_Graph* g, const TF_Function* func, const TF_Function* grad,
                          TF_Status* status) try {
  if (!AllGiven({{"g", g}}, status)) return;
  if (func == nullptr) {
    return StatusToC(
        absl::InvalidArgumentError("'func' argument to TF_GraphCopyFunction cannot be null"),
        status);
  }
  if (!AllGiven({{"func", func}}, status) ||
      (grad != nullptr && !AllGiven({{"grad", grad}}, status)))
    return;
  absl::MutexLock lock(&g->mutex);
  StatusToC(tenon::api::CopyFunction(*g, *func, grad), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

int TF_GraphNumFunctions(TF_Graph* g) {
  if (!tenon::IsThere(g)) return 0;
  absl::ReaderMutexLock lock(&g->mutex);
  return static_cast<int>(g->graph.functions().size());
}

int TF_GraphGetFunctions(TF_Graph* g, TF_Function** funcs, int max_func, TF_Status* status) try {
  if (!AllGiven({{"g", g}}, status) || !IsArray("funcs", funcs, max_func > 0 ? 1 : 0, status))
    return 0;
  absl::ReaderMutexLock lock(&g->mutex);
  const size_t count =
      std::min(g->graph.functions().size(), static_cast<size_t>(std::max(max_func, 0)));
  for (size_t i = 0; i < count; ++i) {
    const tenon::FunctionEntry& function = g->graph.functions()[i];
    funcs[i] = TF_Function::Pool::New(std::string(function.name), std::string(function.wire));
  }
  return static_cast<int>(count);
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_GraphRemoveFunction(TF_Graph* g, const char* func_name, TF_Status* status) try {
  if (!AllGiven({{"g", g}, {"func_name", func_name}}, status)) return;
  absl::MutexLock lock(&g->mutex);
  if (g->graph.FindFunction(func_name) == nullptr) {
    return StatusToC(absl::InvalidArgumentError(
                         absl::StrCat("Tried to remove non-existent function '", func_name, "'.")),
                     status);
  }
  tenon::RemoveFunction(g->graph, func_name);
  ++g->version;
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
