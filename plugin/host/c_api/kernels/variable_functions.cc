// kernels_experimental.h: variables that kernels of plug-ins assign, update, lock and read.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "plugin/host/c_api/kernels/variable_access.h"

namespace tenon {
namespace {

using UpdateFn = void (*)(TF_OpKernelContext* ctx, TF_Tensor* tensor, TF_Tensor* value, int op);

// Fails the call, not the TF_Status: so TensorFlow reports a failed assignment.
void ReportToStep(TF_OpKernelContext* ctx, const absl::Status& result) {
  if (!result.ok()) ctx->Fail(result);
}

absl::StatusOr<Tensor> ValueInput(TF_OpKernelContext* ctx, int i) {
  if (i < 0 || i >= ctx->num_inputs()) return absl::OutOfRangeError("input index out of range");
  const Tensor& value = *ctx->args->inputs[i].tensor;
  if (value.initialized()) return value;
  return absl::FailedPreconditionError("attempt to use a tensor with an uninitialized value");
}

// A variable keeps the type of its first value; a kernel that read it would take the bytes for
// another type.
absl::Status CheckType(DataType held, DataType value) {
  if (held == value) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Trying to assign variable with wrong dtype. Expected ", DataTypeName(held),
                   " got ", DataTypeName(value)));
}

absl::Status AssignVariable(TF_OpKernelContext* ctx, int input, int value_index,
                            bool validate_shape, CopyFn copy) {
  TENON_ASSIGN_OR_RETURN(Variable * variable, VariableInput(ctx, input));
  TENON_ASSIGN_OR_RETURN(Tensor value, ValueInput(ctx, value_index));
  TENON_ASSIGN_OR_RETURN(const VariableHold hold, VariableHold::Take(ctx, variable));
  Device* const memory = MemoryOfInput(ctx, value_index);
  // A first assignment has nothing to agree with.
  if (const Tensor old = variable->PeekHeld(); old.initialized()) {
    TENON_RETURN_IF_ERROR(CheckType(old.dtype(), value.dtype()));
    // Only where the node says so (validate_shape): an assignment may change the shape.
    if (validate_shape && !(old.shape() == value.shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("Trying to assign to variable with tensor with wrong shape. Expected ",
                       old.shape().ToString(), " got ", value.shape().ToString()));
    }
  }
  // Else the variable takes a share of the input's buffer, without a copy.
  if (variable->changes_in_place()) {
    TENON_ASSIGN_OR_RETURN(value, CopyByPlugin(ctx, value, memory, copy));
  }
  variable->AssignHeld(std::move(value), memory);
  return absl::OkStatus();
}

absl::Status UpdateVariable(TF_OpKernelContext* ctx, int input, int value_index, int op,
                            bool is_variant, CopyFn copy, UpdateFn update) {
  TENON_ASSIGN_OR_RETURN(Variable * variable, VariableInput(ctx, input));
  TENON_ASSIGN_OR_RETURN(const Tensor value, ValueInput(ctx, value_index));
  if (update == nullptr) return absl::InvalidArgumentError("updateFunc is NULL");
  TENON_ASSIGN_OR_RETURN(const VariableHold hold, VariableHold::Take(ctx, variable));
  Device* const memory = MemoryOfInput(ctx, value_index);
  {
    // In a scope of its own, so that this share is gone when WritableValue looks for others.
    TENON_ASSIGN_OR_RETURN(const Tensor held, HeldValue(ctx, input, variable, memory));
    TENON_RETURN_IF_ERROR(CheckType(held.dtype(), value.dtype()));
    if (!(held.shape() == value.shape())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Cannot update variable with shape ", held.shape().ToString(),
          " using a Tensor with shape ", value.shape().ToString(), ", shapes must be equal."));
    }
  }
  TENON_ASSIGN_OR_RETURN(Tensor target,
                         WritableValue(ctx, input, variable, memory, is_variant ? nullptr : copy,
                                       variable->changes_in_place()));
  update(ctx, NewTensorHandle(std::move(target)), NewTensorHandle(value), op);
  return absl::OkStatus();
}

// Makes output `output` a reference to the variable that input `input` refers to.
absl::Status PassReference(TF_OpKernelContext* ctx, int input, int output) {
  if (output < 0 || output >= ctx->num_outputs())
    return absl::OutOfRangeError("output index out of range");
  if (!IsRef(ctx->kernel->node.types->outputs[output]) || ctx->output_set(output)) {
    return absl::InternalError(
        absl::StrCat("output ", output, " of kernel ", ctx->kernel->name,
                     ctx->output_set(output) ? " is set already" : " is no reference"));
  }
  *ctx->args->outputs[output] = *ctx->args->inputs[input].tensor;
  return absl::OkStatus();
}

// The functions for references are of no use on resources, which have functions of their own.
absl::Status CheckReference(TF_OpKernelContext* ctx, int input) {
  if (IsRef(ctx->kernel->node.types->inputs[input])) return absl::OkStatus();
  return absl::InvalidArgumentError("lhs input needs to be a ref type");
}

absl::Status AssignReference(TF_OpKernelContext* ctx, int input, int output, int value_index,
                             bool validate_shape, CopyFn copy) {
  TENON_ASSIGN_OR_RETURN(Variable * variable, VariableInput(ctx, input));
  TENON_RETURN_IF_ERROR(CheckReference(ctx, input));
  TENON_ASSIGN_OR_RETURN(const Tensor value, ValueInput(ctx, value_index));
  TENON_RETURN_IF_ERROR(PassReference(ctx, input, output));
  TENON_ASSIGN_OR_RETURN(const VariableHold hold, VariableHold::Take(ctx, variable));
  const Tensor old = variable->PeekHeld();
  if (old.initialized()) {
    TENON_RETURN_IF_ERROR(CheckType(old.dtype(), value.dtype()));
    if (validate_shape && !(old.shape() == value.shape())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Assign requires shapes of both tensors to match. lhs shape= ", old.shape().ToString(),
          " rhs shape= ", value.shape().ToString()));
    }
  }
  Device* const memory = MemoryOfInput(ctx, value_index);
  TENON_ASSIGN_OR_RETURN(Tensor made, CopyByPlugin(ctx, value, memory, copy));
  variable->AssignHeld(std::move(made), memory);
  return absl::OkStatus();
}

// Returns the value of a variable that the kernel changes in part. The variable gets a buffer of
// its own once, and from then on keeps one, since an assigned value is copied.
absl::StatusOr<Tensor> ValueForParts(TF_OpKernelContext* ctx, int input, Variable* variable,
                                     CopyFn copy) {
  Device* const memory = MemoryOf(ctx, variable->PeekHeld().dtype());
  TENON_ASSIGN_OR_RETURN(Tensor value, WritableValue(ctx, input, variable, memory, copy, false));
  variable->set_changes_in_place();
  return value;
}

absl::StatusOr<TF_Tensor*> VariableTensor(TF_OpKernelContext* ctx, int input, bool is_variant,
                                          bool sparse, CopyFn copy) {
  TENON_ASSIGN_OR_RETURN(Variable * variable, VariableInput(ctx, input));
  TENON_ASSIGN_OR_RETURN(const VariableHold hold, VariableHold::Take(ctx, variable));
  // The plug-in's function copies bytes, which variants do not consist of; the host copies those.
  if (is_variant) copy = nullptr;
  const bool reference = IsRef(ctx->kernel->node.types->inputs[input]);
  if (sparse && !reference) {
    TENON_ASSIGN_OR_RETURN(Tensor value, ValueForParts(ctx, input, variable, copy));
    return NewTensorHandle(std::move(value));
  }
  Device* const memory = MemoryOf(ctx, variable->PeekHeld().dtype());
  TENON_ASSIGN_OR_RETURN(Tensor value, WritableValue(ctx, input, variable, memory, copy,
                                                     !reference && variable->changes_in_place()));
  return NewTensorHandle(std::move(value));
}

// Locks the variables of these inputs. `do_lock` asks for a lock on references too, `sparse` says
// that the kernel changes parts. The holder has those that were locked when an error ends this.
absl::Status LockVariables(TF_OpKernelContext* ctx, bool do_lock, bool sparse,
                           absl::Span<const int> inputs, CopyFn copy,
                           TF_VariableInputLockHolder& holder) {
  absl::InlinedVector<Variable*, 4> variables;
  bool resources = false;
  for (const int i : inputs) {
    TENON_ASSIGN_OR_RETURN(Variable * variable, VariableInput(ctx, i));
    resources |= !IsRef(ctx->kernel->node.types->inputs[i]);
    variables.push_back(variable);
  }
  // References alone are locked only where the kernel asks for it, resources always.
  if (!do_lock && !resources) return absl::OkStatus();
  // By address, so that two kernels which lock the same variables cannot wait for each other.
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  for (Variable* variable : variables) {
    // An error, not a wait: the lock counts holders, not threads, so the call would wait for
    // itself.
    if (Holds(ctx, variable)) {
      return absl::FailedPreconditionError(
          absl::StrCat("variable '", variable->name(),
                       "' is locked by this call already, which would wait for itself; release "
                       "that lock first"));
    }
    // Sparse updates without a lock may run side by side: each changes parts in place.
    TENON_RETURN_IF_ERROR(variable->Hold(/*alone=*/do_lock || !sparse));
    absl::MutexLock lock(&ctx->mutex);
    holder.variables.push_back(ObjectRef<Variable>::Share(variable));
  }
  for (const int i : sparse ? inputs : absl::Span<const int>()) {
    if (IsRef(ctx->kernel->node.types->inputs[i])) continue;
    TENON_ASSIGN_OR_RETURN(Variable * variable, VariableInput(ctx, i));
    TENON_RETURN_IF_ERROR(ValueForParts(ctx, i, variable, copy).status());
  }
  return absl::OkStatus();
}

// The plug-in allocates the tensor, through `allocate`; the host checks it, since `allocate` may
// leave anything in the handle.
absl::Status MakeTemporary(TF_OpKernelContext* ctx, DataType type, const int64_t* dims,
                           int num_dims, std::string_view name,
                           void (*allocate)(TF_OpKernelContext*, TF_Tensor*, TF_DataType,
                                            const int64_t*, int, TF_Status*)) {
  if (ctx->num_outputs() < 1 || !IsRef(ctx->kernel->node.types->outputs[0]) || ctx->output_set(0))
    return absl::InternalError("output 0 must be a reference that is not set yet");
  if (allocate == nullptr) return absl::InvalidArgumentError("plugin_allocator is NULL");
  CStatus status;
  TF_Tensor* const made = NewTensorHandle(Tensor());
  allocate(ctx, made, DataTypeToC(type), dims, num_dims, status.get());
  Tensor value = made->value();
  TF_DeleteTensor(made);
  TENON_RETURN_IF_ERROR(status.ToStatus());
  TENON_RETURN_IF_ERROR(StepStatus(ctx));
  // Type and shape are what the node states; the rest of the graph relies on them.
  const absl::Span<const int64_t> wanted(dims, static_cast<size_t>(std::max(num_dims, 0)));
  if (!value.initialized() || value.dtype() != type ||
      !std::equal(wanted.begin(), wanted.end(), value.shape().dims().begin(),
                  value.shape().dims().end())) {
    return absl::InternalError(absl::StrCat("plugin_allocator left ",
                                            value.initialized() ? "another" : "no",
                                            " tensor for temporary variable '", name, "'"));
  }
  auto variable = ObjectRef<Variable>::Make(name);
  variable->AssignHeld(std::move(value), MemoryOf(ctx, type));
  TENON_ASSIGN_OR_RETURN(Tensor handle, Tensor::Allocate(DataType::kResource, Shape()));
  handle.SetObject(0, std::move(variable));
  *ctx->args->outputs[0] = std::move(handle);
  return absl::OkStatus();
}

// Moves the value out of the variable into output 0. The variable goes with its last reference.
absl::Status DestroyTemporary(TF_OpKernelContext* ctx, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(Variable * variable, VariableInput(ctx, 0));
  TENON_RETURN_IF_ERROR(CheckReference(ctx, 0));
  if (ctx->num_outputs() < 1 || ctx->output_set(0))
    return absl::InternalError("output 0 must be there, and not be set yet");
  if (variable->name() != name) {
    return absl::NotFoundError(
        absl::StrCat("input 0 is temporary variable '", variable->name(), "', not '", name, "'"));
  }
  TENON_ASSIGN_OR_RETURN(const VariableHold hold, VariableHold::Take(ctx, variable));
  const DataType type = ctx->kernel->node.types->outputs[0];
  Device* const memory = ctx->kernel->memory.output_on_host[0] ? nullptr : MemoryOf(ctx, type);
  TENON_ASSIGN_OR_RETURN(Tensor value, HeldValue(ctx, 0, variable, memory));
  TENON_RETURN_IF_ERROR(CheckType(type, value.dtype()));
  variable->AssignHeld(Tensor(), nullptr);  // so that the output has the only share of the buffer
  *ctx->args->outputs[0] = std::move(value);
  return absl::OkStatus();
}

std::string_view ViewOf(const TF_StringView* s) {
  return s == nullptr || s->data == nullptr ? std::string_view() : std::string_view(s->data);
}

}  // namespace
}  // namespace tenon

using tenon::CopyFn;
using tenon::ReportToStep;
using tenon::StatusToC;
using tenon::api::AllGiven;
using tenon::api::IsArray;

extern "C" {

void TF_AssignVariable(TF_OpKernelContext* ctx, int input_index, int value_index,
                       bool validate_shape, CopyFn copyFunc, TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  ReportToStep(ctx, tenon::AssignVariable(ctx, input_index, value_index, validate_shape, copyFunc));
  tenon::ClearStatus(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_AssignRefVariable(TF_OpKernelContext* ctx, int input_ref_index, int output_ref_index,
                          int value_index, bool, bool validate_shape, CopyFn copyFunc,
                          TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  ReportToStep(ctx, tenon::AssignReference(ctx, input_ref_index, output_ref_index, value_index,
                                           validate_shape, copyFunc));
  tenon::ClearStatus(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_AssignUpdateVariable(TF_OpKernelContext* ctx, int input_index, int value_index, int Op,
                             int isVariantType, CopyFn copyFunc,
                             void (*updateFunc)(TF_OpKernelContext* ctx, TF_Tensor* tensor,
                                                TF_Tensor* value, int Op),
                             TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  ReportToStep(ctx, tenon::UpdateVariable(ctx, input_index, value_index, Op, isVariantType != 0,
                                          copyFunc, updateFunc));
  tenon::ClearStatus(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelContext_ForwardRefInputToRefOutput(TF_OpKernelContext* ctx, int32_t input_index,
                                                   int32_t output_index) try {
  ctx = tenon::InCall(ctx, __func__);
  const tenon::TypeVector& types = ctx->kernel->node.types->inputs;
  if (input_index < 0 || static_cast<size_t>(input_index) >= types.size())
    return ctx->Fail(absl::OutOfRangeError("input index out of range"));
  if (types[input_index] == tenon::DataType::kResource) return;  // nothing to forward, no error
  absl::Status status = tenon::CheckReference(ctx, input_index);
  if (status.ok()) status = tenon::PassReference(ctx, input_index, output_index);
  ReportToStep(ctx, status);
} catch (...) {
  tenon::WithoutMemory();
}

void TF_GetInputTensorFromVariable(TF_OpKernelContext* ctx, int input, bool, bool isVariantType,
                                   bool sparse, CopyFn copyFunc, TF_Tensor** out,
                                   TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  if (!AllGiven({{"out", out}}, status)) return;
  const absl::StatusOr<TF_Tensor*> handle =
      tenon::VariableTensor(ctx, input, isVariantType, sparse, copyFunc);
  ReportToStep(ctx, handle.status());
  *out = handle.ok() ? *handle : nullptr;
  StatusToC(tenon::StepStatus(ctx), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_MaybeLockVariableInputMutexesInOrder(TF_OpKernelContext* ctx, bool do_lock, bool sparse,
                                             const int* const inputs, size_t len, CopyFn copyFunc,
                                             TF_VariableInputLockHolder** lockHolder,
                                             TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  if (!AllGiven({{"lockHolder", lockHolder}}, status)) return;
  *lockHolder = nullptr;
  if (!IsArray("inputs", inputs, static_cast<int64_t>(len), status)) return;
  TF_VariableInputLockHolder* const holder = tenon::TakeHolder(ctx);
  const absl::Status locked = tenon::LockVariables(
      ctx, do_lock, sparse, absl::MakeConstSpan(inputs, len), copyFunc, *holder);
  // Some of the variables may be locked already.
  if (!locked.ok()) TF_ReleaseVariableInputLockHolder(holder);
  *lockHolder = locked.ok() ? holder : nullptr;
  tenon::Report(ctx, locked, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ReleaseVariableInputLockHolder(TF_VariableInputLockHolder* lockHolder) {
  if (lockHolder == nullptr) return;
  absl::MutexLock lock(&lockHolder->context->mutex);
  if (tenon::AbiWatch* const watch = tenon::AbiWatch::Active(); watch && !lockHolder->out)
    watch->Report("double_free",
                  "it releases a TF_VariableInputLockHolder that is released already");
  lockHolder->Release();
}

void TF_TemporaryVariable(TF_OpKernelContext* ctx, TF_DataType dtype, const int64_t* dims,
                          int num_dims, TF_StringView* var_name,
                          void (*plugin_allocator)(TF_OpKernelContext*, TF_Tensor*, TF_DataType,
                                                   const int64_t*, int, TF_Status*),
                          TF_Status* tf_status) try {
  ctx = tenon::InCall(ctx, __func__);
  if (!IsArray("dims", dims, num_dims, tf_status)) return;
  tenon::Report(ctx,
                tenon::MakeTemporary(ctx, tenon::DataTypeFromC(dtype), dims, num_dims,
                                     tenon::ViewOf(var_name), plugin_allocator),
                tf_status);
} catch (...) {
  tenon::WithoutMemory(tf_status);
}

void TF_DestroyTemporaryVariable(TF_OpKernelContext* ctx, const int, TF_StringView* var_name,
                                 TF_Status* tf_status) try {
  ctx = tenon::InCall(ctx, __func__);
  tenon::Report(ctx, tenon::DestroyTemporary(ctx, tenon::ViewOf(var_name)), tf_status);
} catch (...) {
  tenon::WithoutMemory(tf_status);
}

}  // extern "C"
