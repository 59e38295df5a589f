// The functions of eager/c_api_unified_experimental.h.
#include <string_view>

#include "absl/strings/str_cat.h"
#include "executor/api/tracing/engine.h"
#include "graph/c_api/counts.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::tracing {

void Fail(TF_Status* status, TF_Code code, const std::string& message) {
  if (status != nullptr) TF_SetStatus(status, code, message.c_str());
}

bool Ok(TF_Status* status) { return status == nullptr || TF_GetCode(status) == TF_OK; }

namespace {

// Sets `status` to OK, or to an error if an argument is missing.
bool Given(bool all, TF_Status* status) {
  Fail(status, all ? TF_OK : TF_INVALID_ARGUMENT, all ? "" : "an argument is NULL");
  return all;
}

// The same, and an error also if one of the objects, of which any may be null, was deleted.
template <typename... T>
bool Given(bool all, TF_Status* status, const T*... objects) {
  if (((objects == nullptr || !WasDeleted(objects)) && ...)) return Given(all, status);
  Fail(status, TF_INVALID_ARGUMENT, "an argument was deleted");
  return false;
}

// Nothing may be NULL or deleted in a list of inputs either.
bool GivenInputs(int count, TF_AbstractTensor* const* inputs, TF_Status* status) {
  if (!api::IsCount(count)) {
    Fail(status, TF_INVALID_ARGUMENT, absl::StrCat("an op cannot have ", count, " inputs"));
    return false;
  }
  if (!Given(count == 0 || inputs != nullptr, status)) return false;
  for (int i = 0; i < count; ++i) {
    if (!Given(inputs[i] != nullptr, status, inputs[i])) return false;
  }
  return true;
}

}  // namespace
}  // namespace tenon::tracing

using tenon::IsThere;
using tenon::tracing::EnginePtr;
using tenon::tracing::Fail;
using tenon::tracing::Given;
using tenon::tracing::GivenInputs;
using tenon::tracing::Ok;

extern "C" {

void TF_SetTracingImplementation(const char* name, TF_Status* status) try {
  if (!Given(name != nullptr, status)) return;
  if (std::string_view(name) == "graphdef") return;
  if (std::string_view(name) == "mlir")
    return Fail(status, TF_UNIMPLEMENTED, "tracing to MLIR is not built; use 'graphdef'");
  Fail(status, TF_INVALID_ARGUMENT,
       absl::StrCat("No tracing engine factory has been registered with the key '", name,
                    "' (available: graphdef)"));
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_ExecutionContext* TF_CreateFunction(const char* fn_name, TF_Status* status) try {
  if (!Given(fn_name != nullptr, status)) return nullptr;
  return TF_ExecutionContext::Pool::New(tenon::tracing::NewTrace(fn_name));
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_ExecutionContext* TF_NewEagerExecutionContext(TFE_ContextOptions* options, TF_Status* s) try {
  const EnginePtr engine = tenon::tracing::NewEagerEngine(options, s);
  return engine == nullptr ? nullptr : TF_ExecutionContext::Pool::New(engine);
} catch (...) {
  return tenon::WithoutMemory(s);
}

void TF_DeleteExecutionContext(TF_ExecutionContext* context) { tenon::DeleteHandle(context); }

TF_AbstractTensor* TF_AddFunctionParameter(TF_ExecutionContext* func, TF_DataType dtype,
                                           TF_Shape shape, TF_Status* s) try {
  if (!Given(func != nullptr, s, func)) return nullptr;
  return func->engine->AddParameter(dtype, shape, s);
} catch (...) {
  return tenon::WithoutMemory(s);
}

TF_AbstractOp* TF_NewAbstractOp(TF_ExecutionContext* ctx) try {
  return IsThere(ctx) ? TF_AbstractOp::Pool::New(ctx->engine) : nullptr;
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_DeleteAbstractOp(TF_AbstractOp* op) {
  if (!IsThere(op)) return;
  TFE_DeleteOp(op->eager);
  TF_AbstractOp::Pool::Delete(op);
}

void TF_AbstractOpSetOpType(TF_AbstractOp* op, const char* const op_type, TF_Status* s) try {
  if (Given(op != nullptr && op_type != nullptr, s, op)) op->engine->SetType(*op, op_type, s);
} catch (...) {
  tenon::WithoutMemory(s);
}

void TF_AbstractOpSetOpName(TF_AbstractOp* op, const char* const op_name, TF_Status* s) try {
  if (Given(op != nullptr && op_name != nullptr, s, op)) op->engine->SetName(*op, op_name, s);
} catch (...) {
  tenon::WithoutMemory(s);
}

void TF_AbstractOpSetAttrType(TF_AbstractOp* op, const char* const attr_name, TF_DataType value,
                              TF_Status* s) try {
  if (Given(op != nullptr && attr_name != nullptr, s, op))
    op->engine->SetAttrType(*op, attr_name, value, s);
} catch (...) {
  tenon::WithoutMemory(s);
}

void TF_DeleteAbstractTensor(TF_AbstractTensor* tensor) {
  if (!IsThere(tensor)) return;
  TFE_DeleteTensorHandle(tensor->eager);
  TF_AbstractTensor::Pool::Delete(tensor);
}

TF_OutputList* TF_NewOutputList(void) try { return TF_OutputList::Pool::New(); } catch (...) {
  return tenon::WithoutMemory();
}
void TF_DeleteOutputList(TF_OutputList* o) { tenon::DeleteHandle(o); }

void TF_OutputListSetNumOutputs(TF_OutputList* o, int num_outputs, TF_Status* status) try {
  if (!Given(o != nullptr, status, o)) return;
  if (!tenon::api::IsCount(num_outputs)) {
    return tenon::tracing::Fail(status, TF_INVALID_ARGUMENT,
                                absl::StrCat("a list cannot have ", num_outputs, " outputs"));
  }
  o->outputs.resize(num_outputs);
} catch (...) {
  tenon::WithoutMemory(status);
}

int TF_OutputListNumOutputs(TF_OutputList* o) {
  return IsThere(o) ? static_cast<int>(o->outputs.size()) : 0;
}

TF_AbstractTensor* TF_OutputListGet(TF_OutputList* o, int i) {
  return i >= 0 && i < TF_OutputListNumOutputs(o) ? o->outputs[i] : nullptr;
}

void TF_OutputListPushBack(TF_OutputList* o, TF_AbstractTensor* tensor, TF_Status* status) try {
  if (Given(o != nullptr && tensor != nullptr, status, o, tensor)) o->outputs.push_back(tensor);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ExecuteOperation(TF_AbstractOp* op, int num_inputs, TF_AbstractTensor* const* inputs,
                         TF_OutputList* o, TF_Status* s) try {
  if (!Given(op != nullptr && o != nullptr, s, op, o) || !GivenInputs(num_inputs, inputs, s))
    return;
  op->engine->Execute(*op, {inputs, inputs + num_inputs}, *o, s);
} catch (...) {
  tenon::WithoutMemory(s);
}

TF_AbstractFunction* TF_FinalizeFunction(TF_ExecutionContext* ctx, TF_OutputList* outputs,
                                         TF_Status* status) try {
  if (!Given(ctx != nullptr, status, ctx)) return nullptr;
  const bool traces = ctx->engine->traces();
  TF_AbstractFunction* function = nullptr;
  if (Given(outputs != nullptr || !traces, status, outputs))
    function = ctx->engine->Finalize(outputs == nullptr ? TF_OutputList() : *outputs, status);
  if (traces) TF_DeleteExecutionContext(ctx);
  return function;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_DeleteAbstractFunction(TF_AbstractFunction* function) {
  if (!IsThere(function)) return;
  TF_DeleteFunction(function->function);
  TF_AbstractFunction::Pool::Delete(function);
}

void TF_ExecutionContextRegisterFunction(TF_ExecutionContext* context,
                                         TF_AbstractFunction* function, TF_Status* status) try {
  if (Given(context != nullptr && function != nullptr, status, context, function))
    context->engine->Register(*function, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_AbstractTensor* TF_CreateAbstractTensorFromEagerTensor(TFE_TensorHandle* t, TF_Status* s) try {
  // Only a deleted handle has no type of device.
  if (!Given(t != nullptr, s) || TFE_TensorHandleDeviceType(t, s) == nullptr) return nullptr;
  return TF_AbstractTensor::Pool::New(t, TF_Output{}, 0);
} catch (...) {
  return tenon::WithoutMemory(s);
}

TFE_TensorHandle* TF_AbstractTensorGetEagerTensor(TF_AbstractTensor* at, TF_Status* s) try {
  if (!Given(at != nullptr, s, at)) return nullptr;
  if (at->eager == nullptr) Fail(s, TF_INVALID_ARGUMENT, "Not an eager tensor handle.");
  return at->eager;
} catch (...) {
  return tenon::WithoutMemory(s);
}

TFE_Context* TF_ExecutionContextGetTFEContext(TF_ExecutionContext* context, TF_Status* s) try {
  return Given(context != nullptr, s, context) ? context->engine->eager(s) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(s);
}

}  // extern "C"
