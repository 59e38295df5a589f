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

// Limits the recursion into values that contain values. Values may share parts: a walk can visit
// many more values than exist.
class NestingLimit {
 public:
  // Counts one more value, at depth `depth`. RESOURCE_EXHAUSTED for too many values or too deep
  // nesting.
  absl::Status Count(int depth);

 private:
  int64_t values_ = 0;
};

// INVALID_ARGUMENT for values of different kinds, types or shapes.
class VariantAdder {
 public:
  // Adds two tensors of equal type and shape. The type is not variant.
  using AddFn = absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor& a, const Tensor& b)>;
  // What it refers to must outlive this.
  explicit VariantAdder(AddFn add) : add_(add) {}

  // Returns the sum. If one tensor is uninitialized, the sum is the other tensor.
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
  // Returns zeros of the type and shape of `like`. The type is not variant.
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
