#include "plugin/cpu/containers/lists/variant_math.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/resource.h"

namespace tenon::cpu {
namespace {

// A walk recurses once per level, and visits shared parts again and again: both need a bound.
constexpr int kMaxDepth = 64;
constexpr int64_t kMaxValues = int64_t{1} << 24;

std::string_view KindOf(const Object* value) {
  return value == nullptr ? "nothing" : value->kind();
}

}  // namespace

absl::Status NestingLimit::Count(int depth) {
  if (depth <= kMaxDepth && ++values_ <= kMaxValues) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("values lie within each other more than ",
                                                   kMaxDepth, " deep, or are more than ",
                                                   kMaxValues));
}

absl::StatusOr<Tensor> VariantAdder::Add(const Tensor& a, const Tensor& b, int depth) {
  // An element that was never set stands for zeros of any shape.
  if (!a.initialized()) return b;
  if (!b.initialized()) return a;
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) {
    return absl::InvalidArgumentError(absl::StrCat(DataTypeName(a.dtype()), a.shape().ToString(),
                                                   " and ", DataTypeName(b.dtype()),
                                                   b.shape().ToString(), " cannot be added"));
  }
  if (a.dtype() != DataType::kVariant) return add_(a, b);
  TENON_ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(a.dtype(), a.shape()));
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    TENON_ASSIGN_OR_RETURN(ObjectRef<Object> value, Add(a.ObjectAt(i), b.ObjectAt(i), depth + 1));
    sum.SetObject(i, std::move(value));
  }
  return sum;
}

absl::StatusOr<ObjectRef<Object>> VariantAdder::Add(Object* a, Object* b, int depth) {
  TENON_RETURN_IF_ERROR(limit_.Count(depth));
  if (const auto* x = ObjectAs<TensorList>(a), *y = ObjectAs<TensorList>(b); x && y)
    return Lists(*x, *y, depth);
  if (const auto* x = ObjectAs<OptionalValue>(a), *y = ObjectAs<OptionalValue>(b); x && y)
    return Optionals(*x, *y, depth);
  if (const auto* x = ObjectAs<RaggedValue>(a), *y = ObjectAs<RaggedValue>(b); x && y)
    return RaggedTensors(*x, *y, depth);
  return absl::InvalidArgumentError(
      absl::StrCat("a variant of ", KindOf(a), " and one of ", KindOf(b), " cannot be added"));
}

// What is in one list only stays as it is.
absl::StatusOr<ObjectRef<Object>> VariantAdder::Lists(const TensorList& a, const TensorList& b,
                                                      int depth) {
  TENON_RETURN_IF_ERROR(a.CheckType(b.element_dtype));
  if (a.size() != b.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("lists of ", a.size(), " and ", b.size(), " elements cannot be added"));
  }
  TENON_ASSIGN_OR_RETURN(PartialShape shape, a.element_shape.Merge(b.element_shape));
  ObjectRef<TensorList> sum = a.Clone();
  sum->element_shape = std::move(shape);
  for (int64_t i = 0; i < a.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor element, Add(a.Get(i), b.Get(i), depth));
    if (element.initialized()) sum->Set(i, std::move(element));
  }
  return ObjectRef<Object>::Adopt(sum.release());
}

absl::StatusOr<ObjectRef<Object>> VariantAdder::Optionals(const OptionalValue& a,
                                                          const OptionalValue& b, int depth) {
  if (a.has_value != b.has_value || a.components.size() != b.components.size())
    return absl::InvalidArgumentError("optionals of different components cannot be added");
  if (!a.has_value) return ObjectRef<Object>::Adopt(new OptionalValue());
  std::vector<Tensor> sums;
  for (size_t i = 0; i < a.components.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor sum, Add(a.components[i], b.components[i], depth));
    sums.push_back(std::move(sum));
  }
  return ObjectRef<Object>::Adopt(new OptionalValue(std::move(sums)));
}

absl::StatusOr<ObjectRef<Object>> VariantAdder::RaggedTensors(const RaggedValue& a,
                                                              const RaggedValue& b, int depth) {
  bool same = a.splits.size() == b.splits.size();
  for (size_t i = 0; same && i < a.splits.size(); ++i) {
    const Tensor &x = a.splits[i], &y = b.splits[i];
    same = x.dtype() == y.dtype() && x.shape() == y.shape() &&
           std::memcmp(x.data(), y.data(), x.bytes()) == 0;
  }
  if (!same)
    return absl::InvalidArgumentError("ragged tensors of different row splits cannot be added");
  TENON_ASSIGN_OR_RETURN(Tensor values, Add(a.values, b.values, depth));
  return ObjectRef<Object>::Adopt(new RaggedValue(a.splits, std::move(values)));
}

absl::StatusOr<Tensor> VariantZeros::Like(const Tensor& tensor, int depth) {
  if (!tensor.initialized()) return tensor;
  if (tensor.dtype() != DataType::kVariant) return zeros_(tensor);
  TENON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(tensor.dtype(), tensor.shape()));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    TENON_ASSIGN_OR_RETURN(ObjectRef<Object> value, Like(tensor.ObjectAt(i), depth + 1));
    zeros.SetObject(i, std::move(value));
  }
  return zeros;
}

absl::StatusOr<ObjectRef<Object>> VariantZeros::Like(Object* value, int depth) {
  TENON_RETURN_IF_ERROR(limit_.Count(depth));
  if (const auto* list = ObjectAs<TensorList>(value)) {
    ObjectRef<TensorList> zeros = list->Clone();
    for (int64_t i = 0; i < list->size(); ++i) {
      TENON_ASSIGN_OR_RETURN(Tensor element, Like(list->Get(i), depth));
      if (element.initialized()) zeros->Set(i, std::move(element));
    }
    return ObjectRef<Object>::Adopt(zeros.release());
  }
  if (const auto* optional = ObjectAs<OptionalValue>(value)) {
    if (!optional->has_value) return ObjectRef<Object>::Adopt(new OptionalValue());
    std::vector<Tensor> zeros;
    for (const Tensor& component : optional->components) {
      TENON_ASSIGN_OR_RETURN(Tensor z, Like(component, depth));
      zeros.push_back(std::move(z));
    }
    return ObjectRef<Object>::Adopt(new OptionalValue(std::move(zeros)));
  }
  if (const auto* ragged = ObjectAs<RaggedValue>(value)) {
    TENON_ASSIGN_OR_RETURN(Tensor zeros, Like(ragged->values, depth));
    return ObjectRef<Object>::Adopt(new RaggedValue(ragged->splits, std::move(zeros)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a variant of ", KindOf(value), " has no zeros like it"));
}

}  // namespace tenon::cpu
