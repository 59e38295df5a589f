// TF_InitKernel: the op ApuBiasRelu, and kernels for it and for Relu.
//
// Compute functions run on a host thread. They ask for memory, check, and queue the work on the
// device's stream; the numbers are computed on the stream's own thread, later. By then the tensor
// handles are gone: what was queued holds addresses, which the host keeps valid.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apu_pace.h"
#include "apu_status.h"
#include "apu_stream.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

namespace apu {
namespace {

struct DeleteTensor {
  void operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }
};
using TensorPtr = std::unique_ptr<TF_Tensor, DeleteTensor>;

bool Ok(const StatusPtr& status) { return TF_GetCode(status.get()) == TF_OK; }

TensorPtr GetInput(TF_OpKernelContext* context, int index, const StatusPtr& status) {
  TF_Tensor* tensor = nullptr;
  TF_GetInput(context, index, &tensor, status.get());
  return TensorPtr(tensor);
}

std::vector<int64_t> Dims(const TF_Tensor* tensor) {
  std::vector<int64_t> dims(static_cast<size_t>(TF_NumDims(tensor)));
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = TF_Dim(tensor, static_cast<int>(i));
  return dims;
}

// `count` floats at a device address, as the device sees them.
float* Floats(Stream* stream, const void* address, int64_t count, const StatusPtr& status) {
  char* bytes = stream->memory().Reach(address, static_cast<uint64_t>(count) * sizeof(float));
  if (bytes == nullptr) {
    TF_SetStatus(status.get(), TF_INTERNAL, "APU: a tensor is not in device memory");
  }
  return reinterpret_cast<float*>(bytes);
}

// NaN stays NaN, as in TensorFlow.
float Relu(float x) { return x < 0 ? 0 : x; }

// The output of an elementwise kernel: it has the shape of input 0, and the input's memory where
// the host allows that. `value` is the input's address. It stays valid without a handle: the host
// keeps the input until the queued work is done.
struct Elementwise {
  int64_t count = 0;
  std::vector<int64_t> dims;
  const void* value = nullptr;
  TensorPtr output;
};

bool Prepare(TF_OpKernelContext* context, const StatusPtr& status, Elementwise* out) {
  TensorPtr value = GetInput(context, 0, status);
  if (!Ok(status)) return false;
  out->count = TF_TensorElementCount(value.get());
  out->dims = Dims(value.get());
  out->value = TF_TensorData(value.get());
  value.reset();  // a second handle would keep the host from reusing the buffer
  const int candidate = 0;
  out->output.reset(TF_ForwardInputOrAllocateOutput(context, &candidate, 1, 0, out->dims.data(),
                                                    static_cast<int>(out->dims.size()), nullptr,
                                                    status.get()));
  return Ok(status);
}

void ComputeRelu(TF_OpKernelContext* context, const StatusPtr& status) {
  Elementwise node;
  if (!Prepare(context, status, &node) || node.count == 0) return;
  SP_Stream stream = TF_GetStream(context, status.get());
  if (!Ok(status)) return;
  const int64_t count = node.count;
  const float* in = Floats(stream, node.value, count, status);
  float* out = Floats(stream, TF_TensorData(node.output.get()), count, status);
  if (!Ok(status)) return;
  stream->Enqueue([=] {
    const Paced paced("kernel", Pace::Get().OfKernel());
    for (int64_t i = 0; i < count; ++i) out[i] = Relu(in[i]);
  });
}

// Whether there is one bias value for each position of the last dimension; else sets the status.
bool BiasFits(const std::vector<int64_t>& value, const std::vector<int64_t>& bias,
              const StatusPtr& status) {
  std::string message;
  if (value.size() < 2) {
    message = "value must have at least 2 dimensions, not " + std::to_string(value.size());
  } else if (bias.size() != 1) {
    message = "bias must have 1 dimension, not " + std::to_string(bias.size());
  } else if (bias[0] != value.back()) {
    message = "bias has " + std::to_string(bias[0]) + " values, the last dimension of value " +
              std::to_string(value.back());
  } else {
    return true;
  }
  TF_SetStatus(status.get(), TF_INVALID_ARGUMENT, ("ApuBiasRelu: " + message).c_str());
  return false;
}

void ComputeBiasRelu(TF_OpKernelContext* context, const StatusPtr& status) {
  const TensorPtr bias = GetInput(context, 1, status);
  if (!Ok(status)) return;
  Elementwise node;
  if (!Prepare(context, status, &node)) return;
  if (!BiasFits(node.dims, Dims(bias.get()), status) || node.count == 0) return;
  SP_Stream stream = TF_GetStream(context, status.get());
  if (!Ok(status)) return;
  const int64_t columns = node.dims.back();
  const int64_t rows = node.count / columns;
  const float* in = Floats(stream, node.value, node.count, status);
  const float* add = Floats(stream, TF_TensorData(bias.get()), columns, status);
  float* out = Floats(stream, TF_TensorData(node.output.get()), node.count, status);
  if (!Ok(status)) return;
  stream->Enqueue([=] {
    const Paced paced("kernel", Pace::Get().OfKernel());
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t i = 0; i < columns; ++i) {
        out[row * columns + i] = Relu(in[row * columns + i] + add[i]);
      }
    }
  });
}

// The function that the host calls: makes the status, contains exceptions, reports the failure.
template <void (*compute)(TF_OpKernelContext*, const StatusPtr&)>
void Compute(void*, TF_OpKernelContext* context) {
  const StatusPtr status(TF_NewStatus());
  Guard(status.get(), [&] { compute(context, status); });
  if (!Ok(status)) TF_OpKernelContext_Failure(context, status.get());
}

// --- Shape function of ApuBiasRelu ---

struct DeleteShape {
  void operator()(TF_ShapeHandle* shape) const { TF_DeleteShapeHandle(shape); }
};
using ShapePtr = std::unique_ptr<TF_ShapeHandle, DeleteShape>;

struct DeleteDimension {
  void operator()(TF_DimensionHandle* dimension) const { TF_DeleteDimensionHandle(dimension); }
};
using DimensionPtr = std::unique_ptr<TF_DimensionHandle, DeleteDimension>;

// The output has the value's shape. Its last dimension is known if that of the value or the size of
// the bias is known.
void BiasReluShape(TF_ShapeInferenceContext* context, TF_Status* status) {
  const ShapePtr value(TF_NewShapeHandle()), bias(TF_NewShapeHandle());
  const auto failed = [status] { return TF_GetCode(status) != TF_OK; };
  TF_ShapeInferenceContextGetInput(context, 0, value.get(), status);
  if (failed()) return;
  TF_ShapeInferenceContextGetInput(context, 1, bias.get(), status);
  if (failed()) return;
  TF_ShapeInferenceContextWithRankAtLeast(context, value.get(), 2, value.get(), status);
  if (failed()) return;
  TF_ShapeInferenceContextWithRank(context, bias.get(), 1, bias.get(), status);
  if (failed()) return;

  const DimensionPtr columns(TF_NewDimensionHandle());
  TF_ShapeInferenceContextDim(context, bias.get(), 0, columns.get());
  const bool refine = TF_ShapeInferenceContextRankKnown(context, value.get()) &&
                      TF_DimensionHandleValueKnown(columns.get());
  if (refine) {
    const DimensionPtr last(TF_NewDimensionHandle());
    TF_ShapeInferenceContextDim(context, value.get(), -1, last.get());
    if (TF_DimensionHandleValueKnown(last.get()) &&
        TF_DimensionHandleValue(last.get()) != TF_DimensionHandleValue(columns.get())) {
      TF_SetStatus(status, TF_INVALID_ARGUMENT,
                   "bias must have as many values as the last dimension of value");
      return;
    }
    TF_ShapeInferenceContextSubshape(context, value.get(), 0, -1, value.get(), status);
    if (failed()) return;
    TF_ShapeInferenceContextConcatenateShapes(context, value.get(), bias.get(), value.get(),
                                              status);
    if (failed()) return;
  }
  TF_ShapeInferenceContextSetOutput(context, 0, value.get(), status);
}

// --- Registration. TF_InitKernel has no status to return: stderr is all there is ---

void Report(const char* what, const StatusPtr& status) {
  if (!Ok(status)) std::fprintf(stderr, "APU: %s: %s\n", what, TF_Message(status.get()));
}

void RegisterOp() {
  const StatusPtr status(TF_NewStatus());
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("ApuBiasRelu");
  TF_OpDefinitionBuilderAddInput(op, "value: T");
  TF_OpDefinitionBuilderAddInput(op, "bias: T");
  TF_OpDefinitionBuilderAddOutput(op, "output: T");
  TF_OpDefinitionBuilderAddAttr(op, "T: {float}");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, BiasReluShape);
  TF_RegisterOpDefinition(op, status.get());
  Report("op ApuBiasRelu", status);
}

void RegisterKernel(const char* op, void (*compute)(void*, TF_OpKernelContext*)) {
  const StatusPtr status(TF_NewStatus());
  TF_KernelBuilder* builder = TF_NewKernelBuilder(op, "APU", nullptr, compute, nullptr);
  TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status.get());
  if (Ok(status)) {
    TF_RegisterKernelBuilder(op, builder, status.get());
  } else {
    TF_DeleteKernelBuilder(builder);
  }
  Report(op, status);
}

}  // namespace
}  // namespace apu

APU_ENTRY_POINT void TF_InitKernel(void) {
  apu::RegisterOp();
  apu::RegisterKernel("Relu", apu::Compute<apu::ComputeRelu>);
  apu::RegisterKernel("ApuBiasRelu", apu::Compute<apu::ComputeBiasRelu>);
}
