// The ranges that accompany quantized tensors as scalar inputs and outputs.
#pragma once

#include <string_view>

#include "graph/tensor/shape.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

struct ValueRange {
  float min, max;
};

// Reads min from input i and max from input i + 1, each of one float.
inline ValueRange InputRange(const StepArgs& args, int i) {
  return {*static_cast<const float*>(args.in[i]), *static_cast<const float*>(args.in[i + 1])};
}
// Stores min in output i and max in output i + 1, each of one float.
inline void StoreRange(const StepArgs& args, int i, const ValueRange& range) {
  *static_cast<float*>(args.out[i]) = range.min;
  *static_cast<float*>(args.out[i + 1]) = range.max;
}

// Returns INVALID_ARGUMENT, with the inputs' names min_`name` and max_`name`, unless max > min. NaN
// fails, too.
absl::Status CheckRange(const ValueRange& range, std::string_view name);
// Returns INVALID_ARGUMENT unless each of the inputs [begin, end) has one element, of any rank.
absl::Status CheckSingleValues(const Prepare& p, int begin, int end);
// Sets the shapes: output 0 has shape `shape`, outputs 1 and 2 are the scalars of its range.
void SetQuantizedOutput(Prepare& p, const Shape& shape);

// Returns the integer that stands for 0 in the range (QuantizeUnclamped). It may lie outside of the
// type's integers; beyond int32 its low 32 bits are returned, beyond 2^62 or for a min of -infinity
// 0.
int32_t ZeroOf(const QuantizedType& type, const ValueRange& range);
// Returns the range of a qint32 in which one step is a step of a's range times a step of b's range.
// Products of integers of the two, from which their zeros (ZeroOf) are subtracted, are then right
// without any scaling.
ValueRange ProductRange(const QuantizedType& a_type, const ValueRange& a,
                        const QuantizedType& b_type, const ValueRange& b);

// Arithmetic modulo 2^32: defined where int32's own overflow is not.
inline int32_t WrappingAdd(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
inline int32_t WrappingSubtract(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
inline int32_t WrappingMultiply(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

}  // namespace tenon::cpu
