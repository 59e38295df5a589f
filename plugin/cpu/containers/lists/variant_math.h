// Sums and zeros of lists, optionals and ragged tensors, made from sums and zeros of plain tensors.
// The results are new objects; the operands do not change. Parts that stay equal (row splits, an
// element that one list alone has) are shared with the operands.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/containers/lists/optional_value.h"
#include "plugin/cpu/containers/lists/ragged_value.h"
#include "plugin/cpu/containers/lists/tensor_list.h"

namespace tenon::cpu {

// Limits the recursion into values that contain values. Values may share parts, so that a walk can
// visit many more values than exist. The limits are 64 levels and, over the life of the object,
// 2^24 visits.
class NestingLimit {
 public:
  // Counts a visit to a value at depth `depth`. RESOURCE_EXHAUSTED beyond a limit.
  absl::Status Count(int depth);

 private:
  int64_t values_ = 0;
};

// Adds tensors that may hold lists, optionals and ragged tensors. INVALID_ARGUMENT for values of
// different kinds, types or shapes, for lists of different lengths, optionals of different
// components, or ragged tensors of different row splits, for an empty variant element, and for a
// kind without sums. RESOURCE_EXHAUSTED beyond NestingLimit, where the visits of all calls count
// together, and if memory is short. One thread uses an adder.
class VariantAdder {
 public:
  // Adds two tensors of equal type and shape. The type is not variant.
  using AddFn = absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor& a, const Tensor& b)>;
  // The function that `add` refers to must outlive the adder.
  explicit VariantAdder(AddFn add) : add_(add) {}

  // Returns the sum, or the error of `add`. An uninitialized tensor counts as zeros: the sum is the
  // other tensor, itself. `depth` is for the recursion; callers leave it 0.
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

// Makes zeros of tensors that may hold lists, optionals and ragged tensors. INVALID_ARGUMENT for an
// empty variant element or a kind without zeros; RESOURCE_EXHAUSTED and threads as of VariantAdder.
class VariantZeros {
 public:
  // Returns zeros of the type and shape of `like`. The type is not variant.
  using ZerosFn = absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor& like)>;
  // The function that `zeros` refers to must outlive this object.
  explicit VariantZeros(ZerosFn zeros) : zeros_(zeros) {}

  // Returns zeros in the form of `tensor`, or the error of `zeros`. Lists keep their lengths and
  // unset elements, ragged tensors their row splits, optionals their lack of a value. An
  // uninitialized tensor stays uninitialized. `depth` as in VariantAdder::Add.
  absl::StatusOr<Tensor> Like(const Tensor& tensor, int depth = 0);

 private:
  absl::StatusOr<ObjectRef<Object>> Like(Object* value, int depth);

  const ZerosFn zeros_;
  NestingLimit limit_;
};

}  // namespace tenon::cpu
