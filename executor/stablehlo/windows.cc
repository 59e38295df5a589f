#include "executor/stablehlo/windows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace {

// Sizes and steps beyond this cannot stand for memory; below it no sum or product here overflows.
constexpr int64_t kMost = int64_t{1} << 30;

// One step for each dimension of the input.
absl::Status CheckSteps(const Op& op, const ops::WindowFormat& format, IntSpan steps,
                        std::string_view what) {
  if (steps.size() != static_cast<size_t>(format.rank()))
    return op.Unimplemented(absl::StrCat(what, " of another rank than the input's"));
  for (const int64_t step : steps) {
    if (step < 1 || step > kMost)
      return op.Invalid(absl::StrCat("each of the ", what, " must be positive, not ", step));
  }
  if (steps[0] == 1 && steps[format.channels()] == 1) return absl::OkStatus();
  return op.Invalid(absl::StrCat("the ", what, " must be 1 for batch and channels"));
}

void PadSame(int64_t in, int64_t size, int64_t stride, int64_t dilation, bool forward,
             SpatialWindows* w) {
  const int64_t out = (in + stride - 1) / stride;
  const int64_t reach = (size - 1) * dilation + 1;
  // Strides beyond the window skip elements: of volumes half of them before the first window.
  const int64_t least = w->format.spatial == 3 && forward ? INT64_MIN : 0;
  const int64_t total = std::max((out - 1) * stride + reach - in, least);
  w->low.push_back(total / 2);
  w->high.push_back(total - total / 2);
}

}  // namespace

absl::StatusOr<SpatialWindows> ReadWindows(Op& op, int spatial, const Shape& input, IntSpan sizes,
                                           IntSpan strides) {
  SpatialWindows w;
  TENON_ASSIGN_OR_RETURN(w.format, ops::WindowFormatOf(op.shapes(), spatial));
  const int rank = w.format.rank();
  if (input.rank() != rank) return op.Unimplemented("an input of this rank");
  TENON_RETURN_IF_ERROR(CheckSteps(op, w.format, strides, "strides"));
  for (const int64_t size : sizes) {
    if (size < 0 || size > kMost) return op.Invalid(absl::StrCat("a window of ", size, " values"));
  }
  TENON_ASSIGN_OR_RETURN(const ops::WindowPadding padding, ops::WindowPaddingOf(op.shapes(), rank));
  const std::string_view name = op.name();
  const bool forward = name.find("Grad") == name.npos && name.find("Backprop") == name.npos;
  std::vector<int64_t> dilations(rank, 1);
  // TensorFlow's gradients of depthwise convolutions do not look at their dilations.
  if (op.shapes().HasAttr("dilations") && (forward || !name.starts_with("Depthwise"))) {
    TENON_ASSIGN_OR_RETURN(dilations, op.IntList("dilations"));
    TENON_RETURN_IF_ERROR(CheckSteps(op, w.format, dilations, "dilations"));
  }
  for (int i = 0; i < spatial; ++i) {
    const int at = w.format.first() + i;
    w.stride.push_back(strides[at]);
    w.dilation.push_back(dilations[at]);
    if (padding.same) {
      PadSame(input.dim(at), sizes[i], strides[at], dilations[at], forward, &w);
    } else if (padding.explicit_pads.empty()) {
      w.low.push_back(0);
      w.high.push_back(0);
    } else {
      w.low.push_back(padding.explicit_pads[2 * at]);
      w.high.push_back(padding.explicit_pads[2 * at + 1]);
    }
  }
  return w;
}

absl::StatusOr<SpatialWindows> ReadWindows(Op& op, int spatial, const Shape& input, IntSpan sizes) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, op.IntList("strides"));
  return ReadWindows(op, spatial, input, sizes, strides);
}

}  // namespace tenon::stablehlo
