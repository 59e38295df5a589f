#include "plugin/host/c_api/kernels/variable_access.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/tensor_guards.h"
#include "plugin/device/device_copy.h"

namespace tenon {

// A kernel that has locked a variable calls functions that lock it again; those must not wait for
// it.
bool Holds(TF_OpKernelContext* ctx, const Variable* variable) {
  absl::MutexLock lock(&ctx->mutex);
  return HolderOf(ctx, variable) != nullptr;
}

TF_VariableInputLockHolder* HolderOf(TF_OpKernelContext* ctx, const Variable* variable) {
  for (const auto& holder : ctx->lock_holders) {
    for (const auto& held : holder->variables) {
      if (held.get() == variable) return holder.get();
    }
  }
  return nullptr;
}

absl::StatusOr<Variable*> VariableInput(TF_OpKernelContext* ctx, int i) {
  if (i < 0 || i >= ctx->num_inputs()) return absl::OutOfRangeError("input index out of range");
  const Tensor& handle = *ctx->args->inputs[i].tensor;
  Object* const object = handle.dtype() == DataType::kResource && handle.num_elements() == 1
                             ? handle.ObjectAt(0)
                             : nullptr;
  Variable* const variable = ObjectAs<Variable>(object);
  if (variable != nullptr) return variable;
  return absl::InvalidArgumentError(
      absl::StrCat("input ", i, " must be a variable, it is ",
                   object == nullptr ? DataTypeName(handle.dtype()) : object->kind()));
}

// Types that own memory stay on the host, whatever the device.
Device* MemoryOf(const TF_OpKernelContext* ctx, DataType type) {
  return IsMemcpyable(type) ? ctx->kernel->device : nullptr;
}

Device* MemoryOfInput(const TF_OpKernelContext* ctx, int i) {
  if (ctx->kernel->memory.input_on_host[i]) return nullptr;
  return MemoryOf(ctx, ctx->args->inputs[i].tensor->dtype());
}

absl::StatusOr<VariableHold> VariableHold::Take(TF_OpKernelContext* ctx, Variable* variable) {
  if (Holds(ctx, variable)) return VariableHold(nullptr);
  TENON_RETURN_IF_ERROR(variable->Hold(/*alone=*/true));
  return VariableHold(variable);
}

absl::StatusOr<Tensor> HeldValue(TF_OpKernelContext* ctx, int input, Variable* variable,
                                 Device* memory) {
  Tensor value;
  TENON_RETURN_IF_ERROR(variable->UpdateHeld(
      [&](Tensor& held) {
        value = held;
        return absl::OkStatus();
      },
      memory));
  if (value.initialized()) return value;
  const bool by_reference = IsRef(ctx->kernel->node.types->inputs[input]);
  return variable->NoValue(by_reference ? absl::StatusCode::kFailedPrecondition
                                        : absl::StatusCode::kNotFound);
}

absl::StatusOr<Tensor> WritableValue(TF_OpKernelContext* ctx, int input, Variable* variable,
                                     Device* memory, CopyFn copy, bool always) {
  TENON_ASSIGN_OR_RETURN(Tensor value, HeldValue(ctx, input, variable, memory));
  if (value.num_elements() == 0) return value;  // nothing to write to, and no buffer to share
  bool shared = false;
  value.Clear();  // else this function's own share would make the buffer look shared
  TENON_RETURN_IF_ERROR(variable->UpdateHeld(
      [&](Tensor& held) {
        shared = !held.buffer()->unique();
        if (!shared) MayBeWritten(held);
        value = held;
        return absl::OkStatus();
      },
      memory));
  if (!shared && !always) return value;
  TENON_ASSIGN_OR_RETURN(value, CopyByPlugin(ctx, value, memory, copy));
  variable->AssignHeld(value, memory);
  return value;
}

absl::StatusOr<Tensor> CopyByPlugin(TF_OpKernelContext* ctx, const Tensor& value, Device* memory,
                                    CopyFn copy) {
  // Strings and variants own memory that a plug-in's copy of bytes would share.
  if (!IsMemcpyable(value.dtype()) || (copy == nullptr && memory == nullptr)) return value.Copy();
  if (copy == nullptr)
    return absl::InvalidArgumentError("the value must be copied, and copyFunc is NULL");
  TENON_ASSIGN_OR_RETURN(Tensor made, AllocateLike(value, memory));
  // The handles are the plug-in's to delete. An error that it reports is in the call's status.
  if (value.num_elements() > 0) copy(ctx, NewTensorHandle(value), NewTensorHandle(made));
  TENON_RETURN_IF_ERROR(StepStatus(ctx));
  return made;
}

// Holders are used again, so that a plug-in that locks in each call makes the host allocate once.
TF_VariableInputLockHolder* TakeHolder(TF_OpKernelContext* ctx) {
  ctx->locked = true;
  absl::MutexLock lock(&ctx->mutex);
  for (const auto& holder : ctx->lock_holders) {
    if (holder->out) continue;
    holder->out = true;
    holder->uses = 1;
    ++holder->taken;
    return holder.get();
  }
  ctx->lock_holders.push_back(std::make_unique<TF_VariableInputLockHolder>());
  TF_VariableInputLockHolder* const holder = ctx->lock_holders.back().get();
  holder->out = true;
  holder->uses = 1;
  holder->context = ctx;
  return holder;
}

absl::Status StepStatus(TF_OpKernelContext* ctx) {
  if (!ctx->failed) return absl::OkStatus();
  absl::MutexLock lock(&ctx->mutex);
  return ctx->status;
}

void Report(TF_OpKernelContext* ctx, const absl::Status& result, TF_Status* status) {
  if (!result.ok()) ctx->Fail(result);
  StatusToC(result, status);
}

}  // namespace tenon
