// The functions of kernels_experimental.h but for those on variables (variable_functions.cc):
// inputs by name, shapes of attributes, sums and zeros of variants.
#include "tensorflow/c/kernels_experimental.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "plugin/cpu/containers/lists/variant_math.h"
#include "plugin/device/device_copy.h"
#include "plugin/host/c_api/kernels/variable_access.h"

namespace tenon {
namespace {

// The index of the input's one tensor. An input that is a list has no single tensor to give.
absl::StatusOr<int> InputByName(const KernelInfo& kernel, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(const auto range, RangeOf(kernel, name));
  if (range.second == range.first + 1) return range.first;
  return absl::InvalidArgumentError(absl::StrCat("input ", name, " of op ", kernel.node.op->name,
                                                 " is a list of ", range.second - range.first,
                                                 " tensors"));
}

absl::Status CopyDims(const TF_OpKernelConstruction* ctx, std::string_view attr_name, int64_t* dims,
                      size_t num_dims) {
  const std::optional<AttrValue> value = FindAttr(ctx->kernel->node, attr_name);
  if (!value) {
    return absl::NotFoundError(absl::StrCat(
        "No attr named '", attr_name, "' in NodeDef:\n\t [[{{node ", ctx->kernel->name, "}}]]"));
  }
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, value->AsShape());
  if (shape.rank() != static_cast<int64_t>(num_dims)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expected rank is ", num_dims, " but actual rank is ", shape.rank()));
  }
  if (dims == nullptr && num_dims != 0) return absl::InvalidArgumentError("dims is NULL");
  std::copy(shape.dims().begin(), shape.dims().end(), dims);
  return absl::OkStatus();
}

using BinaryFn = void (*)(TF_OpKernelContext* ctx, TF_Tensor* a, TF_Tensor* b, TF_Tensor* out);
using UnaryFn = void (*)(TF_OpKernelContext* ctx, TF_Tensor* input, TF_Tensor* out);

// Runs `compute` on tensors of variants, which lie in host memory. `compute` gets copies of the
// operands, and the result to be filled, in the memory of the kernel's device. Returns the result
// on the host.
absl::StatusOr<Tensor> OnKernelDevice(
    TF_OpKernelContext* ctx, absl::Span<const Tensor> operands,
    absl::FunctionRef<void(absl::Span<const Tensor> operands, const Tensor& result)> compute) {
  Device* const device = MemoryOf(ctx, operands[0].dtype());
  absl::InlinedVector<Tensor, 2> there;
  for (const Tensor& operand : operands) {
    TENON_ASSIGN_OR_RETURN(there.emplace_back(), CopyAcross(operand, nullptr, device));
  }
  TENON_ASSIGN_OR_RETURN(const Tensor result, AllocateLike(operands[0], device));
  compute(there, result);
  TENON_RETURN_IF_ERROR(StepStatus(ctx));
  return CopyAcross(result, device, nullptr);
}

// Input i, a scalar of type variant.
absl::StatusOr<Tensor> VariantInput(TF_OpKernelContext* ctx, int i, std::string_view op) {
  if (i >= ctx->num_inputs()) return absl::OutOfRangeError("input index out of range");
  const Tensor& input = *ctx->args->inputs[i].tensor;
  if (input.dtype() != DataType::kVariant) {
    return absl::InternalError(absl::StrCat(op, " of variants has an input of type ",
                                            DataTypeName(input.dtype()), ", input ", i));
  }
  if (input.shape().rank() == 0) return input;
  return absl::InvalidArgumentError(
      absl::StrCat(op, " of non-scalar Tensor with dtype=DT_VARIANT is not supported; inputs[", i,
                   "] has shape: ", input.shape().ToString(), "."));
}

// By the function that plug-ins call, for its checks of output 0.
absl::Status SetVariant(TF_OpKernelContext* ctx, Tensor value) {
  TF_Tensor* const handle = NewTensorHandle(std::move(value));
  CStatus status;
  TF_SetOutput(ctx, 0, handle, status.get());
  TF_DeleteTensor(handle);
  return status.ToStatus();
}

absl::Status AddVariants(TF_OpKernelContext* ctx, BinaryFn binary_add) {
  if (binary_add == nullptr) return absl::InvalidArgumentError("binary_add_func is NULL");
  const auto add = [&](const Tensor& a, const Tensor& b) {
    const Tensor operands[] = {a, b};
    return OnKernelDevice(ctx, operands, [&](auto in, const Tensor& out) {
      binary_add(ctx, NewTensorHandle(in[0]), NewTensorHandle(in[1]), NewTensorHandle(out));
    });
  };
  cpu::VariantAdder adder(add);
  TENON_ASSIGN_OR_RETURN(Tensor sum, VariantInput(ctx, 0, "AddN"));
  for (int i = 1; i < ctx->num_inputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Tensor summand, VariantInput(ctx, i, "AddN"));
    TENON_ASSIGN_OR_RETURN(sum, adder.Add(sum, summand));
  }
  return SetVariant(ctx, std::move(sum));
}

absl::Status ZerosLikeVariant(TF_OpKernelContext* ctx, UnaryFn zeros_like) {
  if (zeros_like == nullptr) return absl::InvalidArgumentError("zeros_like_func is NULL");
  const auto zeros = [&](const Tensor& like) {
    return OnKernelDevice(ctx, {&like, 1}, [&](auto in, const Tensor& out) {
      zeros_like(ctx, NewTensorHandle(in[0]), NewTensorHandle(out));
    });
  };
  TENON_ASSIGN_OR_RETURN(const Tensor input, VariantInput(ctx, 0, "ZerosLike"));
  TENON_ASSIGN_OR_RETURN(Tensor result, cpu::VariantZeros(zeros).Like(input));
  return SetVariant(ctx, std::move(result));
}

}  // namespace
}  // namespace tenon

extern "C" {

void TF_GetInputByName(TF_OpKernelContext* ctx, const char* inputName, TF_Tensor** tensor,
                       TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  const absl::StatusOr<int> index =
      tenon::InputByName(*ctx->kernel, absl::NullSafeStringView(inputName));
  if (!index.ok()) return tenon::StatusToC(index.status(), status);
  TF_GetInput(ctx, *index, tensor, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrTensorShape(TF_OpKernelConstruction* ctx, const char* attr_name,
                                                int64_t* dims, size_t num_dims,
                                                TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  tenon::StatusToC(tenon::CopyDims(ctx, absl::NullSafeStringView(attr_name), dims, num_dims),
                   status);
} catch (...) {
  tenon::WithoutMemory(status);
}

bool TF_IsRefInput(TF_OpKernelContext* ctx, int i, TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  const tenon::TypeVector& types = ctx->kernel->node.types->inputs;
  if (i < 0 || static_cast<size_t>(i) >= types.size()) {
    tenon::StatusToC(absl::OutOfRangeError("input index out of range"), status);
    return false;
  }
  tenon::ClearStatus(status);
  return tenon::IsRef(types[i]);
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_AddNVariant(TF_OpKernelContext* ctx,
                    void (*binary_add_func)(TF_OpKernelContext* ctx, TF_Tensor* a, TF_Tensor* b,
                                            TF_Tensor* out),
                    TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  tenon::Report(ctx, tenon::AddVariants(ctx, binary_add_func), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ZerosLikeVariant(TF_OpKernelContext* ctx,
                         void (*zeros_like_func)(TF_OpKernelContext* ctx, TF_Tensor* input,
                                                 TF_Tensor* out),
                         TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  tenon::Report(ctx, tenon::ZerosLikeVariant(ctx, zeros_like_func), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
