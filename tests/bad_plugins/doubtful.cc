// Kernels that register without an error and that no node can use.
#include "tensorflow/c/kernels.h"

namespace {

void Compute(void*, TF_OpKernelContext*) {}

struct Registration {
  const char *name, *op, *device, *constrained, *in_host_memory;
};

constexpr Registration kRegistrations[] = {
    {"Misspelt", "Relru", "CPU", "T", nullptr},
    {"MisspeltToo", "Relru", "CPU", nullptr, nullptr},
    {"Elsewhere", "Relu", "GPUX", "T", nullptr},
    {"NoArgument", "Relu", "CPU", "T", "y"},
    {"NoAttribute", "Abs", "CPU", "Tidx", nullptr},
    {"NoTypeAttribute", "MatMul", "CPU", "transpose_a", nullptr},
    {"First", "Neg", "CPU", "T", nullptr},
    {"Second", "Neg", "CPU", "T", nullptr},
    {"Third", "Neg", "CPU", nullptr, nullptr},
    {"Good", "Exp", "CPU", "T", "x"},
    {"GoodToo", "Reshape", "DEFAULT", "Tshape", "shape"},
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  for (const Registration& r : kRegistrations) {
    TF_KernelBuilder* builder = TF_NewKernelBuilder(r.op, r.device, nullptr, Compute, nullptr);
    if (r.constrained != nullptr)
      TF_KernelBuilder_TypeConstraint(builder, r.constrained, TF_FLOAT, status);
    if (r.in_host_memory != nullptr) TF_KernelBuilder_HostMemory(builder, r.in_host_memory);
    TF_RegisterKernelBuilder(r.name, builder, status);
  }
  TF_DeleteStatus(status);
}
