// The floating-point mode of a thread: rounding, denormals, traps. A plug-in may set the mode
// during a call, but must leave it as it was: the host's kernels compute next.
#pragma once

#include <cstdint>
#include <string_view>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace tenon {

// The constructor notes the thread's mode, and the destructor, on the same thread, restores that
// mode. The mode is that of SSE (MXCSR). A change of its exception flags alone counts as none.
// After any other change all of MXCSR gets the noted value, flags included, and the x87 unit gets
// the rounding that MXCSR had; the x87 traps stay. The guard does not see a change of the x87 unit
// alone. The destructor warns (WarnOf) once for each plug-in for which it
// restores the mode. `plugin` is the plug-in's path and must outlive the guard. Without SSE2 the
// guard does nothing.
class FloatModeGuard {
 public:
#ifdef __SSE2__
  explicit FloatModeGuard(std::string_view plugin) : plugin_(plugin), before_(_mm_getcsr()) {}
  ~FloatModeGuard() {
    // All bits of MXCSR but the sticky exception flags (the low six), which any arithmetic may set.
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
