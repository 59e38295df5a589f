// Sums and zeros of lists, optionals and ragged tensors, given those of plain tensors. They are new
// values; whoever holds the others keeps them.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/containers/lists/optional_value.h"
#include "plugin/cpu/containers/lists/ragged_value.h"
#include "plugin/cpu/containers/lists/tensor_list.h"

namespace tenon::cpu {

// Of values within values, which may share parts: written out, they may be many more than there
// are.
class NestingLimit {
 public:
  // Of one more value. RESOURCE_EXHAUSTED for too many of them, or too many within each other.
  absl::Status Count(int depth);

 private:
  int64_t values_ = 0;
};

// INVALID_ARGUMENT for values of different kinds, types or shapes.
class VariantAdder {
 public:
  // Both have one type and shape, and are no variants.
  using AddFn = absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor& a, const Tensor& b)>;
  // What it refers to must outlive this.
  explicit VariantAdder(AddFn add) : add_(add) {}

  // A tensor without a value counts as nothing.
  absl::StatusOr<Tensor> Add(const Tensor& a, const Tensor& b, int depth = 0);

 private:
  absl::StatusOr<ObjectRef<Object>> Add(Object* a, Object* b, int depth);
  absl::StatusOr<ObjectRef<Object>> Lists(const TensorList& a, const TensorList& b, int depth);
  absl::StatusOr<ObjectRef<Object>> Optionals(const OptionalValue& a, const OptionalValue& b,
                                              int depth);
  absl::StatusOr<ObjectRef<Object>> RaggedTensors(const RaggedValue& a, const RaggedValue& b,
                                                  int depth);

  const AddFn add_;
  NestingLimit limit_;
};

class VariantZeros {
 public:
  // Of a tensor that is no variant.
  using ZerosFn = absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor& like)>;
  // What it refers to must outlive this.
  explicit VariantZeros(ZerosFn zeros) : zeros_(zeros) {}

  absl::StatusOr<Tensor> Like(const Tensor& tensor, int depth = 0);

 private:
  absl::StatusOr<ObjectRef<Object>> Like(Object* value, int depth);

  const ZerosFn zeros_;
  NestingLimit limit_;
};

}  // namespace tenon::cpu
