// Sums and zeros of lists, optionals and ragged tensors, given those of plain tensors.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "plugin/cpu/lists/optional_value.h"
#include "plugin/cpu/lists/tensor_list.h"
#include "plugin/cpu/ragged/ragged_value.h"

namespace tenon::cpu {

// Makes new values of others; whoever holds those keeps them. INVALID_ARGUMENT for values of
// different kinds, types or shapes, RESOURCE_EXHAUSTED for too many within each other.
class VariantMath {
 public:
  // Both have one type and shape, and are no variants.
  using AddFn = absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor& a, const Tensor& b)>;
  using ZerosFn = absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor& like)>;
  // What they refer to must outlive this.
  VariantMath(AddFn add, ZerosFn zeros) : add_(add), zeros_(zeros) {}

  // A tensor without a value counts as nothing.
  absl::StatusOr<Tensor> Add(const Tensor& a, const Tensor& b, int depth = 0);
  absl::StatusOr<Tensor> ZerosLike(const Tensor& tensor, int depth = 0);

 private:
  absl::StatusOr<ObjectRef<Object>> Add(Object* a, Object* b, int depth);
  absl::StatusOr<ObjectRef<Object>> Lists(const TensorList& a, const TensorList& b, int depth);
  absl::StatusOr<ObjectRef<Object>> Optionals(const OptionalValue& a, const OptionalValue& b,
                                              int depth);
  absl::StatusOr<ObjectRef<Object>> RaggedTensors(const RaggedValue& a, const RaggedValue& b,
                                                  int depth);
  absl::StatusOr<ObjectRef<Object>> ZerosLike(Object* value, int depth);
  absl::Status Count(int depth);

  const AddFn add_;
  const ZerosFn zeros_;
  int64_t values_ = 0;
};

}  // namespace tenon::cpu
