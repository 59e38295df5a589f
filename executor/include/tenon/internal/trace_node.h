// Ops as nodes of the function that this thread traces. Used by the library's own headers. A source
// that includes no more than op.h has its ops traced by TraceFunctions.
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
// that is registered as stateful, and kNone for what is left, unknown ops too. Looked up once a
// type; of a type without an op at each call, since a plug-in may bring the op. Thread-safe.
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
    if (TF_GetCode(status) != TF_OK) return effect;  // a plug-in may yet bring the op
  }
  known->effects.emplace(type, static_cast<int64_t>(effect));
  return effect;
}

// The C API's functions for attributes of nodes (SetAttr).
struct NodeAttrs {
  static constexpr auto* kSetBool = &TF_SetAttrBool;
  static constexpr auto* kSetInt = &TF_SetAttrInt;
  static constexpr auto* kSetFloat = &TF_SetAttrFloat;
  static constexpr auto* kSetString = &TF_SetAttrString;
  static constexpr auto* kSetType = &TF_SetAttrType;
  static constexpr auto* kSetTensor = &TF_SetAttrTensor;
  static constexpr auto* kSetFunction = &TF_SetAttrFuncName;
  static constexpr auto* kSetBools = &TF_SetAttrBoolList;
  static constexpr auto* kSetInts = &TF_SetAttrIntList;
  static constexpr auto* kSetFloats = &TF_SetAttrFloatList;
  static constexpr auto* kSetStrings = &TF_SetAttrStringList;
  static constexpr auto* kSetTypes = &TF_SetAttrTypeList;

  static void SetShape(TF_OperationDescription* node, const char* name, const Shape& shape,
                       TF_Status*) {
    TF_SetAttrShape(node, name, shape.dims().data(), shape.rank());
  }
  static void SetShapes(TF_OperationDescription* node, const char* name,
                        const std::vector<const int64_t*>& dims, const std::vector<int>& ranks,
                        TF_Status*) {
    TF_SetAttrShapeList(node, name, dims.data(), ranks.data(), static_cast<int>(ranks.size()));
  }
  // AttrValue { list { func { name } ... } }: the C API has no function for it.
  static void SetFunctions(TF_OperationDescription* node, const char* name,
                           const std::vector<FunctionName>& functions, TF_Status* status) {
    std::string list;
    for (const FunctionName& function : functions)
      wire::Message(list, 9, wire::Text(1, function.name));
    const std::string proto = wire::Text(1, list);
    TF_SetAttrValueProto(node, name, proto.data(), proto.size(), status);
  }
};

// Adds the node of `call` to the graph: with the scopes of this thread for name, device and control
// inputs, with the control inputs that keep side effects in order, and with its place. Tensors from
// outside become constants or captures, which stay after an error. INVALID_ARGUMENT for an empty
// Tensor, an attribute that the op does not have, and a name that no node may have.
// FAILED_PRECONDITION for a symbol of a trace that is over or does not enclose this one, and for an
// attribute that is a symbol. Else throws what check_variables throws, or the error of the op.
inline TF_Operation* AddNode(TraceGraph& graph, const OpCall& call, const NodeOptions& options) {
  CheckAttrs(call);
  if (!options.name.empty())
    CheckName(options.name, "a node", call.where, scopes.name != nullptr && !scopes.name->empty());
  if (scopes.watch != nullptr) [[unlikely]]
    check_variables.load(std::memory_order_acquire)(*scopes.watch, call);
  // First what adds nodes of its own, as a capture does, and what may throw: from TF_NewOperation
  // to TF_FinishOperation nothing does.
  std::vector<TF_Output> inputs;
  inputs.reserve(call.tensors.size());
  for (const Tensor& tensor : call.tensors) inputs.push_back(graph.Resolve(tensor, call.where));
  for (const NamedAttr& attr : call.attrs) {
    if (attr.kind == NamedAttr::Kind::kTensor) attr.tensor.Host(call.where);
    for (const FunctionName& function : attr.functions) {
      if (function.rep != nullptr) UseFunction(graph, function.rep);
    }
  }
  for (const ControlScope* scope = scopes.control; scope != nullptr; scope = scope->outer) {
    for (const Tensor& tensor : scope->tensors) tensor.rep(call.where);
  }
  TF_Status* const status = ThreadStatus();
  const std::string name = graph.UniqueName(options.name.empty() ? call.type : options.name);
  TF_OperationDescription* const node =
      TF_NewOperation(graph.graph(), call.type.c_str(), name.c_str());
  if (scopes.device != nullptr) TF_SetDevice(node, scopes.device->c_str());
  ForArguments(
      call, [&](size_t i) { TF_AddInput(node, inputs[i]); },
      [&](const ListInput& list) {
        TF_AddInputList(node, inputs.data() + list.first, static_cast<int>(list.count));
      });
  TF_Code code = TF_OK;
  std::string message;
  for (const NamedAttr& attr : call.attrs) {
    SetAttr<NodeAttrs>(node, attr, status);
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

// Adds the node to the trace of this thread. An op that lacks seeds (LacksSeeds) gets them.
inline TF_Operation* AddToTrace(OpCall& call, const NodeOptions& options) {
  if (LacksSeeds(call)) AddSeeds(call, scopes.trace->next_seed());
  return AddNode(*scopes.trace, call, options);
}
// The same; returns the outputs as symbols.
inline std::vector<Tensor> RunAsNode(OpCall& call, const NodeOptions& options) {
  TF_Operation* const operation = AddToTrace(call, options);
  const int count = TF_OperationNumOutputs(operation);
  std::vector<Tensor> outputs;
  outputs.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i)
    outputs.push_back(scopes.trace->Symbol({operation, i}, call.where));
  return outputs;
}
// The same, and takes care of functions that have a CustomGradient.
inline std::vector<Tensor> RunInTrace(OpCall& call, const NodeOptions& options) {
  const auto run = run_with_custom_gradient.load(std::memory_order_acquire);
  if (run != nullptr && NamesCustomGradient(call)) [[unlikely]]
    return run(call, options);
  return RunAsNode(call, options);
}

}  // namespace tenon::inline v0::internal
