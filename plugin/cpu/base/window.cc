// The geometry of convolutions and pools: attributes read and checked, then for each spatial
// dimension the padding and the number of windows.
#include "plugin/cpu/base/window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// Sizes beyond this cannot stand for memory; below it no sum or product here overflows.
constexpr int64_t kMost = int64_t{1} << 30;

absl::Status CheckSteps(const Prepare& p, std::string_view name, const WindowAttrs& attrs,
                        const Dims& steps) {
  for (int64_t step : steps) {
    if (step < 1 || step > kMost) {
      return p.Invalid(absl::StrCat("each of the ", name, " must be positive, not ", step));
    }
  }
  if (steps[0] == 1 && steps[attrs.channel()] == 1) return absl::OkStatus();
  return p.Invalid(absl::StrCat("the ", name, " [", absl::StrJoin(steps, ","),
                                "] must be 1 for batch and channels"));
}

// NHWC and NDHWC name the dimensions. CHANNELS_FIRST and CHANNELS_LAST are op Conv's names, for any
// number of dimensions.
absl::Status ReadFormat(const Prepare& p, WindowAttrs& attrs) {
  if (p.op().FindAttr("data_format") == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("data_format"));
  const bool images = attrs.spatial_dims == 2;
  attrs.channels_first = format == (images ? "NCHW" : "NCDHW") || format == "CHANNELS_FIRST";
  if (attrs.channels_first || format == (images ? "NHWC" : "NDHWC") || format == "CHANNELS_LAST")
    return absl::OkStatus();
  return p.Unimplemented(absl::StrCat("data_format ", format, " is not built"));
}

absl::Status ReadExplicitPaddings(const Prepare& p, WindowAttrs& attrs) {
  if (p.op().FindAttr("explicit_paddings") == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, p.AttrIntList("explicit_paddings"));
  attrs.explicit_paddings.assign(values.begin(), values.end());
  if (attrs.padding != "EXPLICIT") {
    if (values.empty()) return absl::OkStatus();
    return p.Invalid(absl::StrCat("explicit_paddings must be empty with padding ", attrs.padding));
  }
  const size_t wanted = 2 * attrs.rank();
  if (values.size() != wanted) {
    return p.Invalid(
        absl::StrCat("explicit_paddings must have ", wanted, " values, not ", values.size()));
  }
  for (int64_t v : values) {
    if (v < 0 || v > kMost)
      return p.Invalid(absl::StrCat("each of explicit_paddings must be nonnegative, not ", v));
  }
  const int c = attrs.channel();
  if (values[0] != 0 || values[1] != 0 || values[2 * c] != 0 || values[2 * c + 1] != 0) {
    return p.Invalid("explicit_paddings must be 0 for batch and channels");
  }
  return absl::OkStatus();
}

// Whether the node leaves the list empty and the op permits that: op Conv's default is the empty
// list, for dilations of 1.
bool IsLeftOut(const Prepare& p, std::string_view name) {
  const absl::StatusOr<std::vector<int64_t>> values = p.AttrIntList(name);
  return p.op().name == "Conv" && values.ok() && values->empty();
}

}  // namespace

absl::StatusOr<Dims> ReadPerDim(const Prepare& p, std::string_view name, int rank) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, p.AttrIntList(name));
  if (static_cast<int>(values.size()) == rank) return Dims(values.begin(), values.end());
  return p.Invalid(
      absl::StrCat("attribute '", name, "' must have ", rank, " values, not ", values.size()));
}

absl::StatusOr<WindowAttrs> ReadWindowAttrs(const Prepare& p, int spatial_dims,
                                            const Dims* strides) {
  WindowAttrs attrs;
  attrs.spatial_dims = spatial_dims;
  TENON_RETURN_IF_ERROR(ReadFormat(p, attrs));
  TENON_ASSIGN_OR_RETURN(attrs.padding, p.AttrString("padding"));
  if (attrs.padding != "SAME" && attrs.padding != "VALID" && attrs.padding != "EXPLICIT") {
    return p.Invalid(
        absl::StrCat("padding '", attrs.padding, "' is none of SAME, VALID, EXPLICIT"));
  }
  if (strides != nullptr) {
    attrs.strides = *strides;
  } else {
    TENON_ASSIGN_OR_RETURN(attrs.strides, ReadPerDim(p, "strides", attrs.rank()));
  }
  attrs.dilations = Dims(attrs.rank(), 1);
  // Dilation2D calls its dilations "rates".
  for (const char* name : {"dilations", "rates"}) {
    if (p.op().FindAttr(name) == nullptr || IsLeftOut(p, name)) continue;
    TENON_ASSIGN_OR_RETURN(attrs.dilations, ReadPerDim(p, name, attrs.rank()));
    TENON_RETURN_IF_ERROR(CheckSteps(p, name, attrs, attrs.dilations));
  }
  TENON_RETURN_IF_ERROR(ReadExplicitPaddings(p, attrs));
  return attrs;
}

absl::StatusOr<WindowAxis> MakeWindowAxis(const Prepare& p, const WindowAttrs& attrs, int i,
                                          int64_t in, int64_t size) {
  const int d = attrs.spatial(i);
  WindowAxis axis;
  axis.in = in;
  axis.size = size;
  axis.stride = attrs.strides[d];
  axis.dilation = attrs.dilations[d];
  if (axis.stride < 1 || axis.stride > kMost) {
    return p.Invalid(absl::StrCat("each of the strides must be positive, not ", axis.stride));
  }
  if (size < (attrs.empty_windows ? 0 : 1) || size > kMost || in > kMost) {
    return p.Invalid(absl::StrCat("a window of ", size, " over ", in, " values has no meaning"));
  }
  if (attrs.padding == "SAME") {
    // SAME: as many outputs as strides begin inside the input. The odd place of padding goes
    // behind, as in TensorFlow.
    axis.out = (in + axis.stride - 1) / axis.stride;
    int64_t total = (axis.out - 1) * axis.stride + axis.extent() - in;
    // Less than 0 where the stride skips the last inputs: padding is never negative then, unless
    // the op spreads what is skipped over both ends.
    if (!attrs.skips_evenly) total = std::max<int64_t>(0, total);
    axis.before = total / 2;
    axis.after = total - axis.before;
    return axis;
  }
  if (attrs.padding == "EXPLICIT") {
    axis.before = attrs.explicit_paddings[2 * d];
    axis.after = attrs.explicit_paddings[2 * d + 1];
  }
  const int64_t padded = axis.before + in + axis.after;
  // VALID and EXPLICIT: windows lie wholly inside of the padded input. This form of (padded -
  // extent) / stride + 1 does not round a small negative difference up to one window.
  axis.out = (padded - axis.extent() + axis.stride) / axis.stride;
  if (axis.out >= 0) return axis;
  return p.Invalid(absl::StrCat("a window of extent ", axis.extent(), " in steps of ", axis.stride,
                                " over ", padded, " values has ", axis.out, " places"));
}

WindowPiece PieceOf(const WindowAxis& axis, int64_t begin, int64_t count) {
  // The whole axis keeps its padding, which may be negative (skips_evenly).
  if (begin == 0 && count == axis.out) return {0, axis};
  // Positions in the unpadded input: of the first window's begin and the last window's end.
  const int64_t first = begin * axis.stride - axis.before;
  const int64_t last = first + (count - 1) * axis.stride + axis.extent();
  WindowPiece piece;
  piece.axis = axis;
  // What of the piece lies before or behind the input becomes padding.
  piece.start = std::max<int64_t>(0, first);
  piece.axis.in = std::max<int64_t>(0, std::min(last, axis.in) - piece.start);
  piece.axis.out = count;
  piece.axis.before = std::max<int64_t>(0, -first);
  piece.axis.after = std::max<int64_t>(0, last - axis.in);
  return piece;
}

absl::InlinedVector<WindowAxis, 3> Windows::axes() const {
  if (volume) return {planes, rows, columns};
  return {rows, columns};
}

Dims Windows::DimsOf(int64_t channels, int64_t WindowAxis::*size) const {
  Dims dims = {batch};
  if (channels_first) dims.push_back(channels);
  for (const WindowAxis& axis : axes()) dims.push_back(axis.*size);
  if (!channels_first) dims.push_back(channels);
  return dims;
}

absl::StatusOr<Windows> MakeWindows(const Prepare& p, const WindowAttrs& attrs, const Shape& input,
                                    absl::Span<const int64_t> window) {
  if (input.rank() != attrs.rank()) {
    return p.Invalid(
        absl::StrCat("the input must have rank ", attrs.rank(), ", not ", input.ToString()));
  }
  Windows w;
  w.volume = attrs.spatial_dims == 3;
  w.channels_first = attrs.channels_first;
  w.batch = input.dim(0);
  // Pools keep the number of channels. A convolution sets its own number of outputs later.
  w.in_channels = w.out_channels = input.dim(attrs.channel());
  int i = 0;
  for (WindowAxis* axis : {&w.planes, &w.rows, &w.columns}) {
    if (axis == &w.planes && !w.volume) continue;
    TENON_ASSIGN_OR_RETURN(*axis,
                           MakeWindowAxis(p, attrs, i, input.dim(attrs.spatial(i)), window[i]));
    ++i;
  }
  for (int64_t WindowAxis::*size : {&WindowAxis::in, &WindowAxis::out, &WindowAxis::size}) {
    // In double, which cannot overflow. The bound leaves 15 bits for channels and bytes before
    // int64 overflows.
    const double places = 1.0 * w.planes.*size * w.rows.*size * w.columns.*size;
    if (places > 0x1p48) {
      return p.Invalid(absl::StrCat("windows over ", input.ToString(), " have too many places"));
    }
  }
  return w;
}

}  // namespace tenon::cpu
