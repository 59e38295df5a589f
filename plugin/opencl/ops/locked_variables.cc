#include "locked_variables.h"

#include <numeric>

#include "../base/strided.h"

#pragma weak TF_GetInputTensorFromVariable
#pragma weak TF_MaybeLockVariableInputMutexesInOrder
#pragma weak TF_ReleaseVariableInputLockHolder

namespace opencl {
namespace {

// The host asks for copies of values that somebody else still has. It has no status for them: what
// fails here is seen by the work behind it.
void CopyValue(TF_OpKernelContext* context, TF_Tensor* source, TF_Tensor* target) {
  const StatusPtr status(TF_NewStatus());
  Guard(status.get(), [&] {
    Call call(context);
    const Tensor from = Call::Facts(source), to = Call::Facts(target);
    CopyAll(call, from, to);
  });
  if (TF_GetCode(status.get()) != TF_OK) TF_OpKernelContext_Failure(context, status.get());
}

}  // namespace

bool HasVariables() { return TF_GetInputTensorFromVariable != nullptr; }

void LockedVariables::Release::operator()(TF_VariableInputLockHolder* holder) const {
  TF_ReleaseVariableInputLockHolder(holder);
}

LockedVariables::LockedVariables(Call& call, int count, bool locks) {
  std::vector<int> inputs(static_cast<size_t>(count));
  std::iota(inputs.begin(), inputs.end(), 0);
  const StatusPtr status(TF_NewStatus());
  TF_VariableInputLockHolder* holder = nullptr;
  TF_MaybeLockVariableInputMutexesInOrder(call.context(), locks, false, inputs.data(),
                                          inputs.size(), CopyValue, &holder, status.get());
  locked_.reset(holder);
  ThrowIfFailed(status);
  for (const int i : inputs) {
    TF_Tensor* handle = nullptr;
    TF_GetInputTensorFromVariable(call.context(), i, locks, false, false, CopyValue, &handle,
                                  status.get());
    handles_.emplace_back(handle);
    ThrowIfFailed(status);
    tensors_.push_back(Call::Facts(handle));
  }
}

}  // namespace opencl
