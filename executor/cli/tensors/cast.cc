#include "executor/cli/tensors/cast.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "executor/values/element.h"
#include "executor/values/tensor_text.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

bool IsWhole(DataType t) { return IsIntegerLike(t) || t == DataType::kBool; }

// Whether element i of `from`, cut off, is in the range. Each kind of number has its own
// comparison: no single type holds all of int64 and uint64.
bool Fits(const Tensor& from, int64_t i, const IntegerRange& range) {
  if (from.dtype() == DataType::kUint64)
    return static_cast<uint64_t>(ElementAsInt(from, i)) <= range.hi;
  if (IsWhole(from.dtype())) {
    const int64_t value = ElementAsInt(from, i);
    return value >= range.lo && (value < 0 || static_cast<uint64_t>(value) <= range.hi);
  }
  const double value = std::trunc(ElementAsDouble(from, i));
  return value >= static_cast<double>(range.lo) && value < static_cast<double>(range.hi) + 1;
}

// Rounded to odd to the 53 bits of a double: what is between two doubles becomes the one with an
// odd last bit. A float type of fewer bits than 51 then rounds it as it would round the integer.
double ToOdd(const Tensor& from, int64_t i) {
  const bool is_unsigned = from.dtype() == DataType::kUint64;
  const int64_t value = ElementAsInt(from, i);
  const bool negative = !is_unsigned && value < 0;
  uint64_t magnitude = negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int dropped = std::max(11 - std::countl_zero(magnitude | 1), 0);
  const uint64_t rest = magnitude & ((uint64_t{1} << dropped) - 1);
  magnitude -= rest;
  if (rest != 0) magnitude |= uint64_t{1} << dropped;
  const double rounded = static_cast<double>(magnitude);
  return negative ? -rounded : rounded;
}

// Returns whether the type has a value for the element.
bool CastElement(const Tensor& from, int64_t i, const Tensor& to) {
  const DataType type = to.dtype();
  const bool to_double = type == DataType::kDouble || type == DataType::kComplex128;
  if (IsWhole(from.dtype()) && !to_double && (IsComplex(type) || IsFloatLike(type))) {
    StoreDouble(to, i, ToOdd(from, i));
  } else if (IsComplex(type)) {
    StoreComplex(to, i, ElementAsComplex(from, i));
  } else if (type == DataType::kBool) {
    StoreInt(to, i, ElementAsDouble(from, i) != 0 ? 1 : 0);
  } else if (!IsIntegerLike(type)) {
    StoreDouble(to, i, ElementAsDouble(from, i));
  } else if (!Fits(from, i, RangeOf(type))) {
    return false;
  } else if (IsWhole(from.dtype())) {
    StoreInt(to, i, static_cast<uint64_t>(ElementAsInt(from, i)));
  } else {
    StoreDouble(to, i, std::trunc(ElementAsDouble(from, i)));
  }
  return true;
}

}  // namespace

absl::StatusOr<Tensor> Cast(const Tensor& tensor, DataType to) {
  const DataType from = tensor.dtype();
  if (from == to) return tensor;
  if (!IsNumber(from) || !IsNumber(to) || (IsComplex(from) && !IsComplex(to))) {
    return absl::InvalidArgumentError(
        absl::StrCat(DataTypeShortName(from), " has no meaning as ", DataTypeShortName(to)));
  }
  TENON_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(to, tensor.shape()));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (CastElement(tensor, i, result)) continue;
    return absl::InvalidArgumentError(absl::StrCat("element ", IndexText(tensor.shape(), i), ": ",
                                                   ElementText(tensor, i), " is no ",
                                                   DataTypeShortName(to)));
  }
  return result;
}

}  // namespace tenon::cli
