// Helpers of the CPU kernels of every family: sets of types, checks of inputs, shapes, index
// elements.
//
// Functions that take a Prepare run while a step is prepared. Their INVALID_ARGUMENT errors name
// the op and the inputs' types and shapes (Prepare::Invalid). The executor adds the node's name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Sets of types in the form of TypeConstraint: one bit per type.
inline constexpr uint64_t kHalfTypes = TypeBits(DataType::kHalf, DataType::kBfloat16);
inline constexpr uint64_t kFloatTypes = kHalfTypes | TypeBits(DataType::kFloat, DataType::kDouble);
inline constexpr uint64_t kComplexTypes = TypeBits(DataType::kComplex64, DataType::kComplex128);
inline constexpr uint64_t kSignedTypes =
    TypeBits(DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64);
inline constexpr uint64_t kUnsignedTypes =
    TypeBits(DataType::kUint8, DataType::kUint16, DataType::kUint32, DataType::kUint64);
inline constexpr uint64_t kIntTypes = kSignedTypes | kUnsignedTypes;
inline constexpr uint64_t kRealTypes = kFloatTypes | kIntTypes;
inline constexpr uint64_t kNumberTypes = kRealTypes | kComplexTypes;
inline constexpr uint64_t kQuantizedTypes = TypeBits(
    DataType::kQint8, DataType::kQuint8, DataType::kQint16, DataType::kQuint16, DataType::kQint32);
inline constexpr uint64_t kFloat8Types =
    TypeBits(DataType::kFloat8E5m2, DataType::kFloat8E4m3fn, DataType::kFloat8E4m3fnuz,
             DataType::kFloat8E4m3b11fnuz, DataType::kFloat8E5m2fnuz);
// The types that kernels usually accept if they only copy elements: all but resources, variants,
// int2, uint2 and float4_e2m1fn.
inline constexpr uint64_t kCopyTypes =
    kNumberTypes | kQuantizedTypes | kFloat8Types |
    TypeBits(DataType::kBool, DataType::kString, DataType::kInt4, DataType::kUint4);
// Every type. For kernels that take every type where TensorFlow has one kernel for each type: with
// this constraint, a node that lacks the attribute has no kernel, as in TensorFlow.
inline constexpr uint64_t kEveryType =
    kCopyTypes | TypeBits(DataType::kResource, DataType::kVariant, DataType::kInt2,
                          DataType::kUint2, DataType::kFloat4E2m1fn);
inline constexpr uint64_t kIndexTypes = TypeBits(DataType::kInt32, DataType::kInt64);

constexpr bool HasType(uint64_t set, DataType t) { return (set & TypeBit(t)) != 0; }

// Returns the dimension number of `axis`. A negative axis counts from the last dimension.
// INVALID_ARGUMENT if `axis` lies outside of [-rank, rank).
absl::StatusOr<int> NormalizeAxis(const Prepare& p, int64_t axis, int rank);

// Returns INVALID_ARGUMENT unless each of the inputs [begin, end) is a scalar.
absl::Status CheckScalars(const Prepare& p, int begin, int end);

// Returns INVALID_ARGUMENT unless input i has the shape `want`.
absl::Status CheckInputShape(const Prepare& p, int i, const Shape& want);

// Returns the element of input i. INVALID_ARGUMENT unless input i is a scalar of type int8, int16,
// int32 or int64; INTERNAL if its value is not known.
absl::StatusOr<int64_t> InputInt(const Prepare& p, int i);

// Returns the elements of input i in row-major order. The input may have any rank.
// INVALID_ARGUMENT unless its type is int32 or int64; INTERNAL if its value is not known.
absl::StatusOr<Dims> InputIntsOfAnyRank(const Prepare& p, int i);

// Makes output i a constant of shape `shape` with the elements `values`, one per element of the
// shape. The output's type must be int32 or int64. INVALID_ARGUMENT if a value does not fit the
// type; RESOURCE_EXHAUSTED if memory is short.
absl::Status SetInts(Prepare& p, int i, absl::Span<const int64_t> values, const Shape& shape);

// Returns the shape of dimensions that came from data. INVALID_ARGUMENT for dimensions that
// Shape::Make refuses, and for more than 2^48 elements; the C API answers RESOURCE_EXHAUSTED for
// the latter, as TensorFlow does (NoteAnswer).
absl::StatusOr<Shape> CheckedShape(const Prepare& p, absl::Span<const int64_t> dims);

// Returns the dimensions to which `a` and `b` broadcast, aligned at the last dimension. nullopt if
// they do not broadcast together.
std::optional<Dims> BroadcastDims(absl::Span<const int64_t> a, absl::Span<const int64_t> b);

// Returns the number of items that touch about 64 KB, at least 1: the grain for
// Workers::ParallelFor. For less work, waking a thread costs more than the thread saves.
inline int64_t GrainFor(int64_t bytes_per_item) {
  constexpr int64_t kPieceBytes = 64 << 10;
  return bytes_per_item <= 0 ? kPieceBytes : (kPieceBytes + bytes_per_item - 1) / bytes_per_item;
}

// Rounds `bytes` up to a multiple of kTensorAlignment, so that the next piece of scratch memory is
// aligned as tensors are.
constexpr size_t AlignedBytes(size_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

// Returns the number of elements in the vectors with which TensorFlow reduces to the maximum.
// TensorFlow compares the elements of a vector at once; these comparisons ignore NaN. TensorFlow
// compares the elements behind the last full vector one by one; there, the maximum starts anew
// after each NaN.
inline int64_t LanesOf(DataType t) { return DataTypeSize(t) == 8 ? 4 : 8; }

// Returns the product of dimensions [begin, end).
inline int64_t DimProduct(const Shape& s, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= s.dim(i);
  return n;
}

// Returns the dimensions of `n` rows of shape `row`: [n, row...].
inline Dims Stacked(int64_t n, const Shape& row) {
  Dims dims = {n};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  return dims;
}

// A tensor seen as [outer, size, inner] around one of its dimensions. `outer` is 0 for a tensor
// without elements: loops over it end at once, however large its other dimensions are.
struct AxisSplit {
  int64_t outer = 0, size = 0, inner = 1;
};
// Returns the split around dimension `axis`, which must be in [0, rank).
inline AxisSplit SplitAt(const Shape& s, int axis) {
  return {s.num_elements() == 0 ? 0 : DimProduct(s, 0, axis), s.dim(axis),
          DimProduct(s, axis + 1, s.rank())};
}

// Returns element i of an int32 tensor, or of an int64 tensor if `is64`.
inline int64_t LoadIndex(const void* data, bool is64, int64_t i) {
  return is64 ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
}
// The same for type `t`, one of int8, uint8, int16, uint16, int32 and int64.
inline int64_t LoadIndex(const void* data, DataType t, int64_t i) {
  switch (t) {
    case DataType::kInt8:
      return static_cast<const int8_t*>(data)[i];
    case DataType::kUint8:
      return static_cast<const uint8_t*>(data)[i];
    case DataType::kInt16:
      return static_cast<const int16_t*>(data)[i];
    case DataType::kUint16:
      return static_cast<const uint16_t*>(data)[i];
    case DataType::kInt64:
      return static_cast<const int64_t*>(data)[i];
    default:
      return static_cast<const int32_t*>(data)[i];
  }
}

// Writes `value` to element i of an int32 tensor, or of an int64 tensor if `is64`. A value that
// does not fit the type loses its high bits.
inline void StoreIndex(void* data, bool is64, int64_t i, int64_t value) {
  if (is64) {
    static_cast<int64_t*>(data)[i] = value;
  } else {
    static_cast<int32_t*>(data)[i] = static_cast<int32_t>(value);
  }
}
// The same for type `t`, one of int16, uint16, int32 and int64.
inline void StoreIndex(void* data, DataType t, int64_t i, int64_t value) {
  if (t != DataType::kInt16 && t != DataType::kUint16)
    return StoreIndex(data, t == DataType::kInt64, i, value);
  static_cast<uint16_t*>(data)[i] = static_cast<uint16_t>(value);
}

}  // namespace tenon::cpu
