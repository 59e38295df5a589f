// TF_InitKernel: the op SampleNegate, and kernels for it and for TensorFlow's Neg.

#include <cstdio>
#include <vector>

#include "status.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

namespace sample {
namespace {

struct DeleteTensor {
  void operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }
};
using TensorPtr = std::unique_ptr<TF_Tensor, DeleteTensor>;

bool Ok(const StatusPtr& status) { return TF_GetCode(status.get()) == TF_OK; }

// y = -x. A device with real streams queues the loop on TF_GetStream and returns.
void Negate(TF_OpKernelContext* context, const StatusPtr& status) {
  TF_Tensor* handle = nullptr;
  TF_GetInput(context, 0, &handle, status.get());
  const TensorPtr x(handle);
  if (!Ok(status)) return;
  std::vector<int64_t> dims(static_cast<size_t>(TF_NumDims(x.get())));
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = TF_Dim(x.get(), static_cast<int>(i));
  const TensorPtr y(TF_AllocateOutput(context, 0, TF_FLOAT, dims.data(),
                                      static_cast<int>(dims.size()), TF_TensorByteSize(x.get()),
                                      status.get()));
  if (!Ok(status)) return;
  const float* in = static_cast<const float*>(TF_TensorData(x.get()));
  float* out = static_cast<float*>(TF_TensorData(y.get()));
  const int64_t count = TF_TensorElementCount(x.get());
  for (int64_t i = 0; i < count; ++i) out[i] = -in[i];
}

// The function that the host calls: makes the status, contains exceptions, reports the failure.
void Compute(void*, TF_OpKernelContext* context) {
  const StatusPtr status(TF_NewStatus());
  Guard(status.get(), [&] { Negate(context, status); });
  if (!Ok(status)) TF_OpKernelContext_Failure(context, status.get());
}

// The output has the input's shape.
void SameShape(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(context, 0, shape, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(context, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

// TF_InitKernel has no status to return: stderr is all there is.
void Report(const char* what, const StatusPtr& status) {
  if (!Ok(status)) std::fprintf(stderr, "sample: %s: %s\n", what, TF_Message(status.get()));
}

void RegisterOp() {
  const StatusPtr status(TF_NewStatus());
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("SampleNegate");
  TF_OpDefinitionBuilderAddInput(op, "x: T");
  TF_OpDefinitionBuilderAddOutput(op, "y: T");
  TF_OpDefinitionBuilderAddAttr(op, "T: {float}");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, SameShape);
  TF_RegisterOpDefinition(op, status.get());
  Report("op SampleNegate", status);
}

void RegisterKernel(const char* op) {
  const StatusPtr status(TF_NewStatus());
  TF_KernelBuilder* builder = TF_NewKernelBuilder(op, "SAMPLE", nullptr, Compute, nullptr);
  TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status.get());
  if (Ok(status)) {
    TF_RegisterKernelBuilder(op, builder, status.get());
  } else {
    TF_DeleteKernelBuilder(builder);
  }
  Report(op, status);
}

}  // namespace
}  // namespace sample

SAMPLE_ENTRY_POINT void TF_InitKernel(void) {
  sample::RegisterOp();
  sample::RegisterKernel("Neg");
  sample::RegisterKernel("SampleNegate");
}
