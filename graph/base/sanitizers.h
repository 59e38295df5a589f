// Whether the build has the sanitizer for addresses or the one for threads. These see a fault only
// where each object has a block of memory of its own, which ends with the object.
#pragma once

namespace tenon {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tenon
