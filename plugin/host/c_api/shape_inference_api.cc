// The functions that a plug-in's shape function may call. The host's InferenceContext does the
// work; errors have TensorFlow's messages.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "plugin/host/c_api/attr_errors.h"
#include "plugin/host/c_api/shape_handles.h"

namespace tenon {
namespace {

// Names by which AbiWatch records the handles.
constexpr char kShape[] = "TF_ShapeHandle";
constexpr char kDimension[] = "TF_DimensionHandle";

// WithRank, WithRankAtLeast or WithRankAtMost.
using RankCheck = absl::StatusOr<PartialShape> (InferenceContext::*)(const PartialShape&,
                                                                     int) const;

// `result` may be the same handle as `handle`, and keeps its shape on an error.
void CheckRank(RankCheck check, TF_ShapeInferenceContext* ctx, TF_ShapeHandle* handle, int64_t rank,
               TF_ShapeHandle* result, TF_Status* status) {
  if (!api::AllGiven({{"ctx", ctx}, {"handle", handle}, {"result", result}}, status)) return;
  if (rank < 0 || rank > std::numeric_limits<int32_t>::max()) {
    return StatusToC(absl::InvalidArgumentError("Rank cannot be negative or exceed kint32max"),
                     status);
  }
  absl::StatusOr<PartialShape> checked =
      (ctx->context->*check)(handle->shape, static_cast<int>(rank));
  StatusToC(checked.status(), status);
  if (checked.ok()) result->shape = *std::move(checked);
}

// Of unknown rank if either is: the position of the second one's dimensions is not known then.
absl::StatusOr<PartialShape> Concatenate(const PartialShape& first, const PartialShape& second) {
  if (!first.known_rank() || !second.known_rank()) return PartialShape();
  Dims dims(first.dims().begin(), first.dims().end());
  dims.insert(dims.end(), second.dims().begin(), second.dims().end());
  return PartialShape::Make(dims);
}

// Returns dimensions [start, end). A negative number counts from the end; both are clamped to the
// rank.
absl::StatusOr<PartialShape> Subshape(const PartialShape& shape, int64_t start, int64_t end) {
  if (start == 0 && end >= std::numeric_limits<int32_t>::max()) return shape;
  if (!shape.known_rank()) return PartialShape();
  const int64_t rank = shape.rank();
  const auto out_of_bounds = [rank](std::string_view what, int64_t at) {
    return absl::InvalidArgumentError(
        absl::StrCat("Subshape ", what, " out of bounds: ", at, ", for shape with rank ", rank));
  };
  const auto clamp = [rank](int64_t at) { return at < 0 ? at + rank : std::min(at, rank); };
  const int64_t from = clamp(start);
  const int64_t to = clamp(end);
  if (from < 0) return out_of_bounds("start", start);
  if (to < 0) return out_of_bounds("end", end);
  if (from > to) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Subshape must have computed start <= end, but is ", from, " and ", to,
        " (computed from start ", start, " and end ", end, " over shape with rank ", rank, ")"));
  }
  return PartialShape(shape.dims().subspan(from, to - from));
}

// Errors are those of kernels that ask for the attribute.
absl::StatusOr<DataType> GetType(const InferenceContext& context, std::string_view name) {
  const absl::StatusOr<AttrValue> value = context.AttrOf(name);
  if (!value.ok()) return MissingAttr(name, context.node());
  if (value->kind() != AttrKind::kType) return WrongAttrType(*value, "type");
  return value->AsType();
}

// Writes the shape, or the error. On an error the handle keeps its shape.
void Put(absl::StatusOr<PartialShape> shape, TF_ShapeHandle* result, TF_Status* status) {
  StatusToC(shape.status(), status);
  if (shape.ok()) result->shape = *std::move(shape);
}

}  // namespace
}  // namespace tenon

using tenon::DeleteForPlugin;
using tenon::kDimension;
using tenon::kShape;
using tenon::NewForPlugin;
using tenon::PartialShape;
using tenon::StatusToC;
using tenon::api::AllGiven;

extern "C" {

TF_ShapeHandle* TF_NewShapeHandle(void) try {
  return NewForPlugin<TF_ShapeHandle>(kShape);
} catch (...) {
  return tenon::WithoutMemory();
}
void TF_DeleteShapeHandle(TF_ShapeHandle* handle) { DeleteForPlugin(kShape, handle); }
TF_DimensionHandle* TF_NewDimensionHandle(void) try {
  return NewForPlugin<TF_DimensionHandle>(kDimension);
} catch (...) {
  return tenon::WithoutMemory();
}
void TF_DeleteDimensionHandle(TF_DimensionHandle* handle) { DeleteForPlugin(kDimension, handle); }

int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext* ctx) {
  return ctx == nullptr ? 0 : ctx->context->num_inputs();
}

void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext* ctx, int i, TF_ShapeHandle* handle,
                                      TF_Status* status) try {
  if (!AllGiven({{"ctx", ctx}, {"handle", handle}}, status)) return;
  // TensorFlow's code and message, here and below.
  if (i < 0 || i >= ctx->context->num_inputs()) {
    return StatusToC(absl::InvalidArgumentError("input index out of range"), status);
  }
  handle->shape = ctx->context->input(i);
  tenon::ClearStatus(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext* ctx, int i, TF_ShapeHandle* handle,
                                       TF_Status* status) try {
  if (!AllGiven({{"ctx", ctx}, {"handle", handle}}, status)) return;
  if (i < 0 || i >= ctx->context->num_outputs()) {
    return StatusToC(absl::InvalidArgumentError("output index out of range"), status);
  }
  ctx->context->set_output(i, handle->shape);
  tenon::ClearStatus(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext* ctx, TF_Status* status) try {
  if (!AllGiven({{"ctx", ctx}}, status)) return;
  for (int i = 0; i < ctx->context->num_outputs(); ++i) ctx->context->set_output(i, PartialShape());
  tenon::ClearStatus(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

// The two functions below return new handles, which the plug-in deletes.
TF_ShapeHandle* TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext*) try {
  return NewForPlugin<TF_ShapeHandle>(kShape, PartialShape(tenon::Shape()));
} catch (...) {
  return tenon::WithoutMemory();
}

TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(TF_ShapeInferenceContext*, size_t size) try {
  // No status: a size that no dimension can have, as -1 for an unknown one, gives an unknown one.
  const auto dim = static_cast<int64_t>(size);
  return NewForPlugin<TF_ShapeHandle>(kShape, PartialShape({std::max(dim, tenon::kUnknownDim)}));
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_ShapeInferenceContext_GetAttrType(TF_ShapeInferenceContext* ctx, const char* attr_name,
                                          TF_DataType* val, TF_Status* status) try {
  if (!AllGiven({{"ctx", ctx}, {"val", val}}, status)) return;
  const std::string_view name = absl::NullSafeStringView(attr_name);
  const absl::StatusOr<tenon::DataType> type = tenon::GetType(*ctx->context, name);
  if (type.ok()) *val = tenon::DataTypeToC(*type);
  StatusToC(type.status(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

int64_t TF_ShapeInferenceContextRank(TF_ShapeInferenceContext*, TF_ShapeHandle* handle) {
  return tenon::IsThere(handle) ? handle->shape.rank() : -1;
}
int TF_ShapeInferenceContextRankKnown(TF_ShapeInferenceContext*, TF_ShapeHandle* handle) {
  return tenon::IsThere(handle) && handle->shape.known_rank();
}

void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext* ctx, TF_ShapeHandle* handle,
                                      int64_t rank, TF_ShapeHandle* result, TF_Status* status) try {
  tenon::CheckRank(&tenon::InferenceContext::WithRank, ctx, handle, rank, result, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext* ctx, TF_ShapeHandle* handle,
                                             int64_t rank, TF_ShapeHandle* result,
                                             TF_Status* status) try {
  tenon::CheckRank(&tenon::InferenceContext::WithRankAtLeast, ctx, handle, rank, result, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext* ctx, TF_ShapeHandle* handle,
                                            int64_t rank, TF_ShapeHandle* result,
                                            TF_Status* status) try {
  tenon::CheckRank(&tenon::InferenceContext::WithRankAtMost, ctx, handle, rank, result, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext*, TF_ShapeHandle* shape_handle, int64_t i,
                                 TF_DimensionHandle* result) {
  // No status: an index out of range, and an unknown rank, give an unknown dimension.
  if (!tenon::IsThere(result)) return;
  const int64_t rank = TF_ShapeInferenceContextRank(nullptr, shape_handle);
  result->size = rank >= 0 && i >= -rank && i < rank ? shape_handle->shape.dim(static_cast<int>(i))
                                                     : tenon::kUnknownDim;
}

void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext*, TF_ShapeHandle* shape_handle,
                                      int64_t start, int64_t end, TF_ShapeHandle* result,
                                      TF_Status* status) try {
  if (!AllGiven({{"shape_handle", shape_handle}, {"result", result}}, status)) return;
  tenon::Put(tenon::Subshape(shape_handle->shape, start, end), result, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext*, TF_ShapeHandle* first,
                                               TF_ShapeHandle* second, TF_ShapeHandle* result,
                                               TF_Status* status) try {
  if (!AllGiven({{"first", first}, {"second", second}, {"result", result}}, status)) return;
  tenon::Put(tenon::Concatenate(first->shape, second->shape), result, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

int TF_DimensionHandleValueKnown(TF_DimensionHandle* dim_handle) {
  return TF_DimensionHandleValue(dim_handle) >= 0;
}
int64_t TF_DimensionHandleValue(TF_DimensionHandle* dim_handle) {
  return tenon::IsThere(dim_handle) ? dim_handle->size : tenon::kUnknownDim;
}

}  // extern "C"
