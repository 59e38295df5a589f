// A kernel for Neg on DEVICE that answers ANSWER whatever it is given; TIMES: so many of it.
#include "tensorflow/c/kernels.h"

#ifndef DEVICE
#define DEVICE "CPU"
#endif

namespace {

void Compute(void*, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* out = TF_AllocateOutput(ctx, 0, TF_FLOAT, nullptr, 0, 4, status);
  *static_cast<float*>(TF_TensorData(out)) = ANSWER;
  TF_DeleteTensor(out);
  TF_DeleteStatus(status);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  for (int i = 0; i < TIMES; ++i) {
    TF_KernelBuilder* builder = TF_NewKernelBuilder("Neg", DEVICE, nullptr, Compute, nullptr);
    TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status);
    TF_RegisterKernelBuilder("Neg", builder, status);
  }
  TF_DeleteStatus(status);
}
