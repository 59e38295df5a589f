#include "graph/c_api/float_mode.h"

#ifdef __SSE2__

#include <cfenv>

#include "absl/strings/str_cat.h"
#include "graph/c_api/callback_scope.h"

namespace tenon {

void FloatModeGuard::Restore() {
  // fesetround sets the x87 unit's rounding too, which a plug-in's fesetround has changed as well.
  // Bits 13 and 14 of MXCSR hold the rounding, in the order of kModes.
  constexpr int kModes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  fesetround(kModes[before_ >> 13 & 3]);
  _mm_setcsr(before_);
  WarnOf(absl::FailedPreconditionError(
      absl::StrCat("plug-in ", plugin_,
                   " changed how floats are rounded and did not change it back; the host did")));
}

}  // namespace tenon

#endif
