// Ops as nodes of the function that this thread traces. Used by the library's own headers; a file
// that traces nothing does without it, and its ops are traced where another one does.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/internal/own.h"
#include "tenon/internal/trace_graph.h"
#include "tenon/internal/wire.h"
#include "tenon/op.h"
#include "tenon/scopes.h"

namespace tenon::inline v0::internal {

// Implemented in function_rep.h.
void UseFunction(TraceGraph& graph, const std::shared_ptr<FunctionRep>& function);
// Whether an attribute of the call is a function that has a gradient of the program's own.
bool NamesCustomGradient(const OpCall& call);
// Runs such a call. A CustomGradient sets it: a program without one does not compile what it calls.
inline std::atomic<std::vector<Tensor> (*)(OpCall& call, const NodeOptions& options)>
    run_with_custom_gradient = nullptr;

// What ops of this type do to state: kRandom, kRead and kNone by lists, kWrite for every other op
// that is registered as stateful. Looked up once a type. Thread-safe.
inline Effect EffectOfOp(const std::string& type) {
  static constexpr const char* kReads[] = {
      "ReadVariableOp",    "VariableShape",      "ResourceGather",
      "ResourceGatherNd",  "VarIsInitializedOp", "IsResourceInitialized",
      "LookupTableFindV2", "LookupTableSizeV2",  "LookupTableExportV2"};
  static constexpr const char* kPure[] = {
      "VarHandleOp",    "Placeholder",   "PlaceholderWithDefault", "StatelessIf",
      "StatelessWhile", "StatelessCase", "PartitionedCall"};
  const auto is_in = [&type](const auto& list) {
    for (const char* const name : list) {
      if (type == name) return true;
    }
    return false;
  };
  struct Known {
    std::mutex mutex;
    std::unordered_map<std::string, int64_t> effects;  // an Effect
  };
  static Known* const known = new Known;
  const std::lock_guard lock(known->mutex);
  const auto found = known->effects.find(type);
  if (found != known->effects.end()) return static_cast<Effect>(found->second);
  Effect effect = Effect::kNone;
  if (DrawsNumbers(type)) {
    effect = Effect::kRandom;
  } else if (is_in(kReads)) {
    effect = Effect::kRead;
  } else if (!is_in(kPure)) {
    TF_Status* const status = ThreadStatus();
    if (TF_OpIsStateful(type.c_str(), status) != 0) effect = Effect::kWrite;
  }
  known->effects.emplace(type, static_cast<int64_t>(effect));
  return effect;
}

// Sets one attribute of a node that is being made, and makes the functions that the attribute names
// known to the graph. Sets `status` to the error of a tensor or of a list of functions; errors of
// other attributes come from TF_FinishOperation.
inline void SetNodeAttr(TraceGraph& graph, TF_OperationDescription* node, const NamedAttr& attr,
                        TF_Status* status) {
  using Kind = NamedAttr::Kind;
  const char* const name = attr.name.c_str();
  switch (attr.kind) {
    case Kind::kBool:
      TF_SetAttrBool(node, name, attr.number != 0 ? 1 : 0);
      break;
    case Kind::kInt:
      TF_SetAttrInt(node, name, attr.number);
      break;
    case Kind::kFloat:
      TF_SetAttrFloat(node, name, attr.real);
      break;
    case Kind::kString:
      TF_SetAttrString(node, name, attr.strings[0].data(), attr.strings[0].size());
      break;
    case Kind::kType:
      TF_SetAttrType(node, name, static_cast<TF_DataType>(attr.number));
      break;
    case Kind::kShape:
      TF_SetAttrShape(node, name, attr.shapes[0].dims().data(), attr.shapes[0].rank());
      break;
    case Kind::kTensor:
      TF_SetAttrTensor(node, name, attr.tensor.Host({}), status);
      break;
    case Kind::kFunction: {
      const FunctionName& function = attr.functions[0];
      if (function.rep != nullptr) UseFunction(graph, function.rep);
      TF_SetAttrFuncName(node, name, function.name.data(), function.name.size());
      break;
    }
    case Kind::kBools: {
      const auto values = Converted<unsigned char>(attr.numbers);
      TF_SetAttrBoolList(node, name, values.data(), static_cast<int>(values.size()));
      break;
    }
    case Kind::kInts:
      TF_SetAttrIntList(node, name, attr.numbers.data(), static_cast<int>(attr.numbers.size()));
      break;
    case Kind::kFloats:
      TF_SetAttrFloatList(node, name, attr.reals.data(), static_cast<int>(attr.reals.size()));
      break;
    case Kind::kStrings:
      WithStrings(attr.strings, [&](const void* const* values, const size_t* lengths) {
        TF_SetAttrStringList(node, name, values, lengths, static_cast<int>(attr.strings.size()));
      });
      break;
    case Kind::kTypes: {
      const auto types = Converted<TF_DataType>(attr.numbers);
      TF_SetAttrTypeList(node, name, types.data(), static_cast<int>(types.size()));
      break;
    }
    case Kind::kShapes:
      WithShapes(attr.shapes, [&](const int64_t** dims, const int* ranks) {
        TF_SetAttrShapeList(node, name, dims, ranks, static_cast<int>(attr.shapes.size()));
      });
      break;
    case Kind::kFunctions: {
      // AttrValue { list { func { name } ... } }: the C API has no function for it.
      std::string list;
      for (const FunctionName& function : attr.functions) {
        if (function.rep != nullptr) UseFunction(graph, function.rep);
        wire::Message(list, 9, wire::Text(1, function.name));
      }
      std::string proto;
      wire::Message(proto, 1, list);
      TF_SetAttrValueProto(node, name, proto.data(), proto.size(), status);
      break;
    }
  }
}

// Adds the node of `call` to the graph: with the scopes of this thread for name, device and control
// inputs, with the control inputs that keep side effects in order, and with its place. Tensors from
// outside become constants or captures. Throws the error of the op; the graph has no node then.
inline TF_Operation* AddNode(TraceGraph& graph, const OpCall& call, const NodeOptions& options) {
  CheckAttrs(call);
  if (scopes.watch != nullptr) [[unlikely]]
    check_variables.load(std::memory_order_acquire)(*scopes.watch, call);
  // Inputs first: a capture adds nodes of its own.
  std::vector<TF_Output> inputs;
  inputs.reserve(call.tensors.size());
  for (const Tensor& tensor : call.tensors) inputs.push_back(graph.Resolve(tensor, call.where));
  TF_Status* const status = ThreadStatus();
  const std::string name = graph.UniqueName(options.name.empty() ? call.type : options.name);
  TF_OperationDescription* const node =
      TF_NewOperation(graph.graph(), call.type.c_str(), name.c_str());
  if (scopes.device != nullptr) TF_SetDevice(node, scopes.device->c_str());
  auto list = call.lists.begin();
  for (size_t i = 0; i < inputs.size() || list != call.lists.end();) {
    if (list == call.lists.end() || i != list->first) {
      TF_AddInput(node, inputs[i++]);
    } else {
      TF_AddInputList(node, inputs.data() + i, static_cast<int>(list->count));
      i += list->count;
      ++list;
    }
  }
  TF_Code code = TF_OK;
  std::string message;
  for (const NamedAttr& attr : call.attrs) {
    SetNodeAttr(graph, node, attr, status);
    if (TF_GetCode(status) == TF_OK) continue;
    code = TF_GetCode(status);
    message = TF_Message(status);
    TF_SetStatus(status, TF_OK, "");
  }
  for (const ControlScope* scope = scopes.control; scope != nullptr; scope = scope->outer) {
    for (const Tensor& tensor : scope->tensors) {
      if (tensor.rep(call.where).graph.get() == &graph)
        TF_AddControlInput(node, tensor.output().oper);
    }
  }
  if (TENON_SetNodePlace != nullptr && call.where.line() != 0)
    TENON_SetNodePlace(node, ToString(call.where).c_str());
  const Effect effect = options.effect_is_known ? options.effect : EffectOfOp(call.type);
  graph.OrderBefore(node, effect, options.touches_world, inputs);
  TF_Operation* const operation = TF_FinishOperation(node, status);
  if (code != TF_OK) Throw(Error(code, message, call.type, name, call.where));
  if (TF_GetCode(status) != TF_OK) ThrowFromOp(call, status, name);
  graph.OrderAfter(operation, effect, options.touches_world, inputs);
  graph.NotePlace(operation, call.where);
  return operation;
}

// GraphOf, UniqueName, AddToTrace and RunInTrace are used from files that do not include this one,
// so that the compiler must keep them. AddToTrace and RunAsNode add the node to the trace of this
// thread, with seeds for an op that draws numbers and has none. RunAsNode returns the outputs as
// symbols. RunInTrace does the same, and takes care of functions that have a CustomGradient.
[[gnu::used]] inline TF_Graph* GraphOf(const TensorRep& rep) { return rep.graph->graph(); }
[[gnu::used]] inline Where LastPlace() { return scopes.trace->LastPlace(); }
[[gnu::used]] inline std::string UniqueName(TraceGraph& graph, const std::string& base) {
  return graph.UniqueName(base);
}
[[gnu::used]] inline TF_Operation* AddToTrace(OpCall& call, const NodeOptions& options) {
  if (LacksSeeds(call)) AddSeeds(call, scopes.trace->next_seed());
  return AddNode(*scopes.trace, call, options);
}
inline std::vector<Tensor> RunAsNode(OpCall& call, const NodeOptions& options) {
  TF_Operation* const operation = AddToTrace(call, options);
  const int count = TF_OperationNumOutputs(operation);
  std::vector<Tensor> outputs;
  outputs.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i)
    outputs.push_back(scopes.trace->Symbol({operation, i}, call.where));
  return outputs;
}
[[gnu::used]] inline std::vector<Tensor> RunInTrace(OpCall& call, const NodeOptions& options) {
  const auto run = run_with_custom_gradient.load(std::memory_order_acquire);
  if (run != nullptr && NamesCustomGradient(call)) [[unlikely]]
    return run(call, options);
  return RunAsNode(call, options);
}

}  // namespace tenon::inline v0::internal
