// Access to the elements of string tensors, and the limit of the bytes that one call of a kernel
// may make.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::cpu {

// Returns element i of the string tensor at `data`. The view lasts until the element is written or
// freed.
inline std::string_view StringAt(const void* data, int64_t i) {
  const TF_TString* s = static_cast<const TF_TString*>(data) + i;
  return {TF_TString_GetDataPointer(s), TF_TString_GetSize(s)};
}

// Copies `value` into element i of the string tensor at `data`, which must be initialized. Throws
// std::bad_alloc if there is no memory for the bytes, or the thread's MemoryBound
// (graph/tensor/memory_bound.h) does not permit them; the element then keeps its value. `value`
// must be no part of that element.
void PutString(void* data, int64_t i, std::string_view value);
// Appends `value` to element i. Throws as PutString does; the element then keeps its value.
void AppendString(void* data, int64_t i, std::string_view value);

// The most bytes that one call of a kernel may make where a small input can ask for any amount,
// e.g. by repeating a string: 4 GiB.
inline constexpr uint64_t kMostStringBytes = uint64_t{1} << 32;

// Returns RESOURCE_EXHAUSTED if `bytes` exceeds kMostStringBytes, or what the thread's MemoryBound
// has left. `bytes` is a double so that the caller's products cannot overflow.
absl::Status CheckStringBytes(double bytes);

// Returns whether `c` is a continuation byte of UTF-8: any byte of a character but its first.
inline bool IsTrailByte(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace tenon::cpu
