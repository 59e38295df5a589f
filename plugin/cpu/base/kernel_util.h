// Small things that the CPU kernels of every family need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Sets of types, as TypeConstraint wants them.
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
// Elements that can be copied without asking their type: all but resources and variants.
inline constexpr uint64_t kCopyTypes =
    kNumberTypes | kQuantizedTypes | kFloat8Types |
    TypeBits(DataType::kBool, DataType::kString, DataType::kInt4, DataType::kUint4);
inline constexpr uint64_t kIndexTypes = TypeBits(DataType::kInt32, DataType::kInt64);

constexpr bool HasType(uint64_t set, DataType t) { return (set & TypeBit(t)) != 0; }

// `axis` in [-rank, rank) as a dimension number; INVALID_ARGUMENT names the range otherwise.
absl::StatusOr<int> NormalizeAxis(const Prepare& p, int64_t axis, int rank);

// INVALID_ARGUMENT unless inputs [begin, end) are scalars.
absl::Status CheckScalars(const Prepare& p, int begin, int end);

// INVALID_ARGUMENT unless input i has this shape.
absl::Status CheckInputShape(const Prepare& p, int i, const Shape& want);

// The element of value input i. INVALID_ARGUMENT unless that is a scalar.
absl::StatusOr<int64_t> InputInt(const Prepare& p, int i);

// The elements of an integer value input of any rank, row by row.
absl::StatusOr<Dims> InputIntsOfAnyRank(const Prepare& p, int i);

// Output i is a tensor of these integers, known now, in its type of int32 or int64.
// INVALID_ARGUMENT where one does not fit.
absl::Status SetInts(Prepare& p, int i, absl::Span<const int64_t> values, const Shape& shape);

// Makes the shape from dimensions that came from data; INVALID_ARGUMENT with the op's name.
absl::StatusOr<Shape> CheckedShape(const Prepare& p, absl::Span<const int64_t> dims);

// What dimensions broadcast to, aligned at the last; nullopt where they do not fit.
std::optional<Dims> BroadcastDims(absl::Span<const int64_t> a, absl::Span<const int64_t> b);

// Rows to give one thread so that a piece of work touches some 64 KB: below that, waking a thread
// costs more than it saves.
inline int64_t GrainFor(int64_t bytes_per_item) {
  constexpr int64_t kPieceBytes = 64 << 10;
  return bytes_per_item <= 0 ? kPieceBytes : (kPieceBytes + bytes_per_item - 1) / bytes_per_item;
}

// The bytes that a piece of scratch takes, so that the next one is aligned as tensors are.
constexpr size_t AlignedBytes(size_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

// How many numbers TensorFlow compares at once in a reduction. There NaN counts for nothing; among
// numbers that are left over for one by one, the largest starts anew after NaN.
inline int64_t LanesOf(DataType t) { return DataTypeSize(t) == 8 ? 4 : 8; }

// Product of dims [begin, end).
inline int64_t DimProduct(const Shape& s, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= s.dim(i);
  return n;
}

// The dimensions of `n` rows of shape `row`.
inline Dims Stacked(int64_t n, const Shape& row) {
  Dims dims = {n};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  return dims;
}

// A tensor as [outer, size, inner] around one of its dimensions. One without elements has no outer
// ones: loops end at once, however large its other dimensions are.
struct AxisSplit {
  int64_t outer = 0, size = 0, inner = 1;
};
inline AxisSplit SplitAt(const Shape& s, int axis) {
  return {s.num_elements() == 0 ? 0 : DimProduct(s, 0, axis), s.dim(axis),
          DimProduct(s, axis + 1, s.rank())};
}

// An integer input element of either index type.
inline int64_t LoadIndex(const void* data, bool is64, int64_t i) {
  return is64 ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
}
// The same for all types that indices may have.
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

// Writes an output element of either index type …
inline void StoreIndex(void* data, bool is64, int64_t i, int64_t value) {
  if (is64) {
    static_cast<int64_t*>(data)[i] = value;
  } else {
    static_cast<int32_t*>(data)[i] = static_cast<int32_t>(value);
  }
}
// … or of all that indices may have, also int16 and uint16.
inline void StoreIndex(void* data, DataType t, int64_t i, int64_t value) {
  if (t != DataType::kInt16 && t != DataType::kUint16)
    return StoreIndex(data, t == DataType::kInt64, i, value);
  static_cast<uint16_t*>(data)[i] = static_cast<uint16_t>(value);
}

}  // namespace tenon::cpu
