#include "plugin/cpu/window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"

namespace tenon::cpu {
namespace {

// Sizes beyond this cannot stand for memory; below it no sum or product here overflows.
constexpr int64_t kMost = int64_t{1} << 30;

absl::StatusOr<Dims> ReadFour(const Prepare& p, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, p.AttrIntList(name));
  if (values.size() == 4) return Dims(values.begin(), values.end());
  return p.Invalid(absl::StrCat("attribute '", name, "' must have 4 values, not ", values.size()));
}

absl::Status CheckSteps(const Prepare& p, std::string_view name, const WindowAttrs& attrs,
                        const Dims& steps) {
  for (int i = 0; i < 4; ++i) {
    if (steps[i] < 1 || steps[i] > kMost) {
      return p.Invalid(absl::StrCat("each of the ", name, " must be positive, not ", steps[i]));
    }
  }
  if (steps[0] == 1 && steps[attrs.channel()] == 1) return absl::OkStatus();
  return p.Invalid(absl::StrCat("the ", name, " [", absl::StrJoin(steps, ","),
                                "] must be 1 for batch and channels"));
}

absl::Status ReadExplicitPaddings(const Prepare& p, WindowAttrs& attrs) {
  if (p.op().FindAttr("explicit_paddings") == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, p.AttrIntList("explicit_paddings"));
  attrs.explicit_paddings.assign(values.begin(), values.end());
  if (attrs.padding != "EXPLICIT") {
    if (values.empty()) return absl::OkStatus();
    return p.Invalid(absl::StrCat("explicit_paddings must be empty with padding ", attrs.padding));
  }
  if (values.size() != 8)
    return p.Invalid(absl::StrCat("explicit_paddings must have 8 values, not ", values.size()));
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

}  // namespace

absl::StatusOr<WindowAttrs> ReadWindowAttrs(const Prepare& p, const Dims* strides) {
  WindowAttrs attrs;
  TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("data_format"));
  if (format != "NHWC" && format != "NCHW")
    return p.Unimplemented(absl::StrCat("data_format ", format, " is not built"));
  attrs.nchw = format == "NCHW";
  TENON_ASSIGN_OR_RETURN(attrs.padding, p.AttrString("padding"));
  if (attrs.padding != "SAME" && attrs.padding != "VALID" && attrs.padding != "EXPLICIT") {
    return p.Invalid(
        absl::StrCat("padding '", attrs.padding, "' is none of SAME, VALID, EXPLICIT"));
  }
  if (strides != nullptr) {
    attrs.strides = *strides;
  } else {
    TENON_ASSIGN_OR_RETURN(attrs.strides, ReadFour(p, "strides"));
  }
  attrs.dilations = Dims(4, 1);
  if (p.op().FindAttr("dilations") != nullptr) {
    TENON_ASSIGN_OR_RETURN(attrs.dilations, ReadFour(p, "dilations"));
    TENON_RETURN_IF_ERROR(CheckSteps(p, "dilations", attrs, attrs.dilations));
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
  if (size < 1 || size > kMost || in > kMost) {
    return p.Invalid(absl::StrCat("a window of ", size, " over ", in, " values has no meaning"));
  }
  if (attrs.padding == "SAME") {
    axis.out = (in + axis.stride - 1) / axis.stride;
    const int64_t total = std::max<int64_t>(0, (axis.out - 1) * axis.stride + axis.extent() - in);
    axis.before = total / 2;
    axis.after = total - axis.before;
    return axis;
  }
  if (attrs.padding == "EXPLICIT") {
    axis.before = attrs.explicit_paddings[2 * d];
    axis.after = attrs.explicit_paddings[2 * d + 1];
  }
  const int64_t padded = axis.before + in + axis.after;
  if (padded < axis.extent()) {
    return p.Invalid(
        absl::StrCat("a window of extent ", axis.extent(), " does not fit ", padded, " values"));
  }
  axis.out = (padded - axis.extent()) / axis.stride + 1;
  return axis;
}

WindowPiece PieceOf(const WindowAxis& axis, int64_t begin, int64_t count) {
  if (begin == 0 && count == axis.out) return {0, axis};
  const int64_t first = begin * axis.stride - axis.before;
  const int64_t last = first + (count - 1) * axis.stride + axis.extent();
  WindowPiece piece;
  piece.axis = axis;
  piece.start = std::max<int64_t>(0, first);
  piece.axis.in = std::max<int64_t>(0, std::min(last, axis.in) - piece.start);
  piece.axis.out = count;
  piece.axis.before = std::max<int64_t>(0, -first);
  piece.axis.after = std::max<int64_t>(0, last - axis.in);
  return piece;
}

}  // namespace tenon::cpu
