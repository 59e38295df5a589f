// Memory that is never freed by design, for tests of what the host leaves to a plug-in.
#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace tenon::testing {

// While one lives, the leak sanitizer does not report what this thread allocates: what a device may
// still write is not freed when the host gives up waiting. Does nothing without the sanitizer.
class LeaksOnPurpose {
 public:
#ifdef __SANITIZE_ADDRESS__
  LeaksOnPurpose() { __lsan_disable(); }
  ~LeaksOnPurpose() { __lsan_enable(); }
#else
  LeaksOnPurpose() = default;
#endif
  LeaksOnPurpose(const LeaksOnPurpose&) = delete;
  LeaksOnPurpose& operator=(const LeaksOnPurpose&) = delete;
};

}  // namespace tenon::testing
