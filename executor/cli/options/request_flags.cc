#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

void ToleranceFlags::DeclareTolerance(Declarer& d) {
  constexpr auto kFromZero = Declarer::Bound::kFromZero;
  d.Group(FlagGroup::kData);
  d.Real("--rtol", rtol, "X", "right is |got - want| <= atol + rtol * |want| (default 1e-5)",
         kFromZero);
  d.Real("--atol", atol, "X", "(default 1e-6)", kFromZero);
  d.Integer("--max-ulp", max_ulp, "N", "right is at most N floating-point steps away", 0);
  d.Flag("--equal-nan", equal_nan, "NaN equals NaN");
}

void RequestFlags::DeclareFeeds(Declarer& d) {
  d.Group(FlagGroup::kData);
  d.Repeat("--input", inputs, "NAME=SPEC",
           "feed a tensor: x=2x2xf32=1,2,3,4  x=@x.npy  x=4x20xf32=random(seed=1)");
  d.Repeat("--inputs", input_files, "FILE.npz", "feed every array of an archive by its name");
}

}  // namespace tenon::cli
