// kernels_experimental.h. What needs variables, references or variants is refused: the status says
// so and the step fails, also for a plug-in that does not look.
#include "tensorflow/c/kernels_experimental.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/status_macros.h"
#include "plugin/c_api/kernel_context.h"

namespace tenon {
namespace {

void Refuse(TF_OpKernelContext* ctx, std::string_view function, TF_Status* status) {
  const absl::Status refused = absl::UnimplementedError(
      absl::StrCat(function, " is not implemented by this host (node ", ctx->kernel->name, ")"));
  StatusToC(refused, status);
  ctx->Fail(refused);
}

absl::StatusOr<int> InputByName(const KernelNode& node, std::string_view name) {
  for (size_t i = 0; i < node.op->inputs.size(); ++i) {
    if (node.op->inputs[i].name != name) continue;
    TENON_ASSIGN_OR_RETURN(const auto range,
                           InputRange(*node.op, *node.attrs, static_cast<int>(i)));
    if (range.second == range.first + 1) return range.first;
    return absl::InvalidArgumentError(absl::StrCat("input ", name, " of op ", node.op->name,
                                                   " is a list of ", range.second - range.first,
                                                   " tensors"));
  }
  return absl::InvalidArgumentError(absl::StrCat("Unknown input name: ", name));
}

absl::Status CopyDims(const TF_OpKernelConstruction* ctx, const char* attr_name, int64_t* dims,
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
  std::copy(shape.dims().begin(), shape.dims().end(), dims);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon

using tenon::Refuse;

using CopyFn = void (*)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest);

extern "C" {

void TF_GetInputByName(TF_OpKernelContext* ctx, const char* inputName, TF_Tensor** tensor,
                       TF_Status* status) {
  const absl::StatusOr<int> index = tenon::InputByName(ctx->kernel->node, inputName);
  if (!index.ok()) return tenon::StatusToC(index.status(), status);
  TF_GetInput(ctx, *index, tensor, status);
}

void TF_OpKernelConstruction_GetAttrTensorShape(TF_OpKernelConstruction* ctx, const char* attr_name,
                                                int64_t* dims, size_t num_dims, TF_Status* status) {
  tenon::StatusToC(tenon::CopyDims(ctx, attr_name, dims, num_dims), status);
}

bool TF_IsRefInput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  const tenon::TypeVector& types = ctx->kernel->node.types->inputs;
  if (i < 0 || static_cast<size_t>(i) >= types.size()) {
    tenon::StatusToC(absl::OutOfRangeError("input index out of range"), status);
    return false;
  }
  tenon::ClearStatus(status);
  return tenon::IsRef(types[i]);
}

void TF_OpKernelContext_ForwardRefInputToRefOutput(TF_OpKernelContext* ctx, int32_t input_index,
                                                   int32_t) {
  const tenon::TypeVector& types = ctx->kernel->node.types->inputs;
  const bool resource = input_index >= 0 && static_cast<size_t>(input_index) < types.size() &&
                        types[input_index] == tenon::DataType::kResource;
  if (!resource) Refuse(ctx, "TF_OpKernelContext_ForwardRefInputToRefOutput", nullptr);
}

void TF_AssignVariable(TF_OpKernelContext* ctx, int, int, bool, CopyFn, TF_Status* status) {
  Refuse(ctx, "TF_AssignVariable", status);
}

void TF_AssignRefVariable(TF_OpKernelContext* ctx, int, int, int, bool, bool, CopyFn,
                          TF_Status* status) {
  Refuse(ctx, "TF_AssignRefVariable", status);
}

void TF_AssignUpdateVariable(TF_OpKernelContext* ctx, int, int, int, int, CopyFn,
                             void (*)(TF_OpKernelContext* ctx, TF_Tensor* tensor, TF_Tensor* value,
                                      int Op),
                             TF_Status* status) {
  Refuse(ctx, "TF_AssignUpdateVariable", status);
}

void TF_TemporaryVariable(TF_OpKernelContext* ctx, TF_DataType, const int64_t*, int, TF_StringView*,
                          void (*)(TF_OpKernelContext*, TF_Tensor*, TF_DataType, const int64_t*,
                                   int, TF_Status*),
                          TF_Status* tf_status) {
  Refuse(ctx, "TF_TemporaryVariable", tf_status);
}

void TF_DestroyTemporaryVariable(TF_OpKernelContext* ctx, const int, TF_StringView*,
                                 TF_Status* tf_status) {
  Refuse(ctx, "TF_DestroyTemporaryVariable", tf_status);
}

void TF_MaybeLockVariableInputMutexesInOrder(TF_OpKernelContext* ctx, bool, bool, const int* const,
                                             size_t, CopyFn,
                                             TF_VariableInputLockHolder** lockHolder,
                                             TF_Status* status) {
  *lockHolder = nullptr;
  Refuse(ctx, "TF_MaybeLockVariableInputMutexesInOrder", status);
}

// No holder is ever handed out.
void TF_ReleaseVariableInputLockHolder(TF_VariableInputLockHolder*) {}

void TF_GetInputTensorFromVariable(TF_OpKernelContext* ctx, int, bool, bool, bool, CopyFn,
                                   TF_Tensor** out, TF_Status* status) {
  *out = nullptr;
  Refuse(ctx, "TF_GetInputTensorFromVariable", status);
}

void TF_AddNVariant(TF_OpKernelContext* ctx,
                    void (*)(TF_OpKernelContext* ctx, TF_Tensor* a, TF_Tensor* b, TF_Tensor* out),
                    TF_Status* status) {
  Refuse(ctx, "TF_AddNVariant", status);
}

void TF_ZerosLikeVariant(TF_OpKernelContext* ctx,
                         void (*)(TF_OpKernelContext* ctx, TF_Tensor* input, TF_Tensor* out),
                         TF_Status* status) {
  Refuse(ctx, "TF_ZerosLikeVariant", status);
}

}  // extern "C"
