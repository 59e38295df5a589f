// Numbers of elements that callers of the C API pass.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::api {

// The most elements that a caller's array may have. A larger number is no length that a program
// means: it is refused before memory is read or taken for it.
inline constexpr int64_t kMaxElements = int64_t{1} << 26;

// Whether an array may have so many elements.
inline bool IsCount(int64_t count) { return count >= 0 && count <= kMaxElements; }

// Whether there may be so many bytes: at most 2^46, more than a machine has.
inline bool IsSize(size_t bytes) { return bytes <= size_t{1} << 46; }

}  // namespace tenon::api
