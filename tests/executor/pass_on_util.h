// A kernel of a plug-in whose output is its input.
#pragma once

#include "tensorflow/c/kernels.h"

namespace tenon::testing {

inline void PassOn(void*, TF_OpKernelContext* context) {
  TF_Status* const status = TF_NewStatus();
  TF_Tensor* in = nullptr;
  TF_GetInput(context, 0, &in, status);
  TF_SetOutput(context, 0, in, status);
  TF_DeleteTensor(in);
  TF_DeleteStatus(status);
}

}  // namespace tenon::testing
