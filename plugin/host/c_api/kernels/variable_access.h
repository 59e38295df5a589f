// Gives kernels of plug-ins access to variables, which are inputs of type resource or references.
// Any thread may call the functions within the call of a kernel that `ctx` is for.
#pragma once

#include "absl/status/statusor.h"
#include "plugin/host/c_api/kernels/kernel_context.h"
#include "plugin/kernels/variable.h"
#include "tensorflow/c/kernels_experimental.h"

namespace tenon {

// A plug-in's function that copies `source` to `dest`, on the kernel's device. It deletes both
// handles.
using CopyFn = void (*)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest);

// Returns the variable that input i refers to. It lives at least as long as the call. OUT_OF_RANGE
// if there is no input i, INVALID_ARGUMENT if the input is no variable.
absl::StatusOr<Variable*> VariableInput(TF_OpKernelContext* ctx, int i);

// Return the device in the memory of which the kernel has values of the type, or has input i, which
// must exist. Null means the host. The input of a variable is its handle, which is on the host:
// MemoryOf, with the type of the value, says where the value is.
Device* MemoryOf(const TF_OpKernelContext* ctx, DataType type);
Device* MemoryOfInput(const TF_OpKernelContext* ctx, int i);

// Whether the call has locked the variable by TF_MaybeLockVariableInputMutexesInOrder or
// TF_LockVariableInfos. A VariableHold does not count.
bool Holds(TF_OpKernelContext* ctx, const Variable* variable);
// Returns the holder by which the call has locked the variable, or null.
TF_VariableInputLockHolder* HolderOf(TF_OpKernelContext* ctx, const Variable* variable)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(ctx->mutex);

// Locks a variable for the lifetime of the object. Does nothing if Holds is true. Must not be taken
// while the same call has another VariableHold of the variable: Take would wait for that one.
class VariableHold {
 public:
  // DEADLINE_EXCEEDED if the variable stays locked for a minute.
  static absl::StatusOr<VariableHold> Take(TF_OpKernelContext* ctx, Variable* variable);
  VariableHold(VariableHold&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  VariableHold& operator=(VariableHold&&) = delete;
  ~VariableHold() {
    if (held_ != nullptr) held_->LetGo();
  }

 private:
  explicit VariableHold(Variable* held) : held_(held) {}
  Variable* held_;  // null: the lock is the call's
};

// Moves the value of a variable that the call holds into the memory of the device `memory`, and
// returns the value. Without a value the error is FAILED_PRECONDITION for a reference and NOT_FOUND
// for a resource. Other errors are those of CopyAcross, which moves the value.
absl::StatusOr<Tensor> HeldValue(TF_OpKernelContext* ctx, int input, Variable* variable,
                                 Device* memory);

// Makes sure that nobody else has a share of the buffer of a variable that the call holds, and
// returns the value, to be written to. If somebody has a share, or if `always`, the variable gets a
// copy made by CopyByPlugin. A value without elements is returned as it is. A tensor that the
// caller still has from HeldValue or from here counts as a share. Errors are those of HeldValue and
// CopyByPlugin; the variable then keeps its value.
absl::StatusOr<Tensor> WritableValue(TF_OpKernelContext* ctx, int input, Variable* variable,
                                     Device* memory, CopyFn copy, bool always);

// Returns a copy of `value` in the memory of `memory`, made by `copy`. The host copies itself where
// that is possible: values that are no plain bytes, and host memory if `copy` is null.
// INVALID_ARGUMENT if a device's value must be copied and `copy` is null. Otherwise errors are
// those of Tensor::Copy for a copy by the host, else those of AllocateLike and the call's first
// error, even one from before the copy.
absl::StatusOr<Tensor> CopyByPlugin(TF_OpKernelContext* ctx, const Tensor& value, Device* memory,
                                    CopyFn copy);

// Returns a lock holder that is not in use, marked as out, with one use. The context owns the
// holder.
TF_VariableInputLockHolder* TakeHolder(TF_OpKernelContext* ctx);

// Returns the first error of the call so far; OK if there is none.
absl::Status StepStatus(TF_OpKernelContext* ctx);
// Writes `result` to `status`. An error also fails the call, since a plug-in may not look at the
// status.
void Report(TF_OpKernelContext* ctx, const absl::Status& result, TF_Status* status);

}  // namespace tenon
