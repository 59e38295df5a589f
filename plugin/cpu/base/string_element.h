// Elements of string tensors as string views, and a limit to what kernels make of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::cpu {

inline std::string_view StringAt(const void* data, int64_t i) {
  const TF_TString* s = static_cast<const TF_TString*>(data) + i;
  return {TF_TString_GetDataPointer(s), TF_TString_GetSize(s)};
}

// Throws bad_alloc where the thread may not allocate so much.
void PutString(void* data, int64_t i, std::string_view value);

// Bytes that one run may make out of its inputs where it repeats them: no graph needs more, and
// small inputs can ask for any amount. Less where the thread may allocate less.
inline constexpr uint64_t kMostStringBytes = uint64_t{1} << 32;

// RESOURCE_EXHAUSTED if `bytes`, computed in double so that nothing overflows, are more than that.
absl::Status CheckStringBytes(double bytes);

// Whether the byte goes on with a character of UTF-8 that began before it.
inline bool IsTrailByte(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace tenon::cpu
