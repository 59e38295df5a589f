// Sums of products of bytes in 32 bits, as ops of our own compute them: how many terms surely fit.
// Passes make no op of more terms, and kernels refuse it.
#pragma once

#include <cstdint>
#include <limits>

namespace tenon {

// Of _TenonCodedMatMul with the code int8_dynamic: numbers up to 255 by numbers up to 127.
inline constexpr int64_t kMostCodedTerms = 65536;
static_assert(kMostCodedTerms * 255 * 127 <= std::numeric_limits<int32_t>::max());

// Of _TenonQuantizedMatMul and _TenonQuantizedConv2D: numbers up to 255 on both sides.
inline constexpr int64_t kMostQuantizedTerms = 32768;
static_assert(kMostQuantizedTerms * 255 * 255 <= std::numeric_limits<int32_t>::max());

}  // namespace tenon
