// How this thread computes with floats: rounding, denormals, traps. A plug-in may set it, but must
// leave it as it was: the host's kernels compute next.
#pragma once

#include <cstdint>
#include <string_view>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace tenon {

// Puts back for its end what its begin found. One warning for each plug-in that needs it.
class FloatModeGuard {
 public:
#ifdef __SSE2__
  explicit FloatModeGuard(std::string_view plugin) : plugin_(plugin), before_(_mm_getcsr()) {}
  ~FloatModeGuard() {
    // All but the flags that say what happened.
    if (((_mm_getcsr() ^ before_) & ~0x3Fu) != 0) [[unlikely]]
      Restore();
  }
#else
  explicit FloatModeGuard(std::string_view) {}
#endif
  FloatModeGuard(const FloatModeGuard&) = delete;
  FloatModeGuard& operator=(const FloatModeGuard&) = delete;

 private:
#ifdef __SSE2__
  void Restore();

  const std::string_view plugin_;
  const uint32_t before_;
#endif
};

}  // namespace tenon
