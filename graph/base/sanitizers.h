// Whether the build has the sanitizer for addresses or the one for threads, by the macros of g++:
// false with a sanitizer of a compiler that does not define these. Allocators ask this: with a
// sanitizer they must neither keep freed blocks for later nor put several objects into one block,
// since a sanitizer sees a fault only at the bounds and after the end of a block.
#pragma once

namespace tenon {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tenon
