// Access for kernels of plug-ins to variables that are inputs, as resources or as references.
#pragma once

#include "absl/status/statusor.h"
#include "plugin/host/c_api/kernels/kernel_context.h"
#include "plugin/kernels/variable.h"
#include "tensorflow/c/kernels_experimental.h"

namespace tenon {

// The plug-in's way to copy a tensor; it deletes both handles.
using CopyFn = void (*)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest);

// The variable that is input i; lives at least as long as the call. OUT_OF_RANGE if there is no
// input i, INVALID_ARGUMENT if the input is no variable.
absl::StatusOr<Variable*> VariableInput(TF_OpKernelContext* ctx, int i);

// The device with the memory in which the kernel has values of the type, or has input i. Null: the
// host.
Device* MemoryOf(const TF_OpKernelContext* ctx, DataType type);
Device* MemoryOfInput(const TF_OpKernelContext* ctx, int i);

// Whether the call has locked the variable.
bool Holds(TF_OpKernelContext* ctx, const Variable* variable);

// Locks a variable for the lifetime of the object. Does nothing if the call holds the lock already.
class VariableHold {
 public:
  static absl::StatusOr<VariableHold> Take(TF_OpKernelContext* ctx, Variable* variable);
  VariableHold(VariableHold&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  VariableHold& operator=(VariableHold&&) = delete;
  ~VariableHold() {
    if (held_ != nullptr) held_->LetGo();
  }

 private:
  explicit VariableHold(Variable* held) : held_(held) {}
  Variable* held_;
};

// The value of a variable that the call holds, in that memory. FAILED_PRECONDITION (of a reference)
// or NOT_FOUND without one.
absl::StatusOr<Tensor> HeldValue(TF_OpKernelContext* ctx, int input, Variable* variable,
                                 Device* memory);

// Gives a variable that the call holds a buffer that nobody else has, if it has none or `always`:
// what it held is copied by `copy`. Its value then.
absl::StatusOr<Tensor> WritableValue(TF_OpKernelContext* ctx, int input, Variable* variable,
                                     Device* memory, CopyFn copy, bool always);

// A copy that the plug-in makes, in that memory.
absl::StatusOr<Tensor> CopyByPlugin(TF_OpKernelContext* ctx, const Tensor& value, Device* memory,
                                    CopyFn copy);

// A lock holder for this call that is not in use.
TF_VariableInputLockHolder* TakeHolder(TF_OpKernelContext* ctx);

// The error of the step so far.
absl::Status StepStatus(TF_OpKernelContext* ctx);
// Sets `status`, and fails the step too, since a plug-in may not look at the status.
void Report(TF_OpKernelContext* ctx, const absl::Status& result, TF_Status* status);

}  // namespace tenon
