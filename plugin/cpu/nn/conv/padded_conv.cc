// FusedPadConv2D and FusedResizeAndPadConv2D: a convolution of images that are first resized, by
// linear interpolation, and padded with what they mirror.
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/attr_value.h"
#include "plugin/cpu/arrays/pad.h"
#include "plugin/cpu/arrays/sub_kernels.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/window.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/image/resize_axis.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Padding {
  DataType type;
  int64_t batch, in_rows, in_columns, channels;
  std::vector<Blend> rows, columns;  // of the padded images
};

template <typename Element>
void PadRow(const Padding& s, const void* in, void* out, int64_t t, Element element) {
  const int64_t rows = static_cast<int64_t>(s.rows.size());
  const int64_t width = static_cast<int64_t>(s.columns.size()) * s.channels;
  const int64_t line = s.in_columns * s.channels;
  const Blend& row = s.rows[t % rows];
  const int64_t image = t / rows * s.in_rows;
  const int64_t top = (image + row.lower) * line, bottom = (image + row.upper) * line;
  const auto between = [&](int64_t a, int64_t b, double share) {
    const double x = element.template As<double>(in, a);
    // Without a share the other value must not count: infinity times 0 is NaN.
    return share == 0 ? x : x + (element.template As<double>(in, b) - x) * share;
  };
  int64_t to = t * width;
  for (const Blend& column : s.columns) {
    for (int64_t c = 0; c < s.channels; ++c) {
      const int64_t left = column.lower * s.channels + c, right = column.upper * s.channels + c;
      double x = between(top + left, top + right, column.share);
      if (row.share != 0)
        x += (between(bottom + left, bottom + right, column.share) - x) * row.share;
      element.Put(out, to++, x);
    }
  }
}

absl::Status RunPadding(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Padding*>(state);
  const int64_t rows = s.batch * static_cast<int64_t>(s.rows.size());
  const int64_t row_bytes = static_cast<int64_t>(s.columns.size()) * s.channels * 32;
  args.workers->ParallelFor(rows, GrainFor(row_bytes), [&](int64_t begin, int64_t end) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t t = begin; t < end; ++t) PadRow(s, args.in[0], args.out[0], t, element);
    });
  });
  return absl::OkStatus();
}

// The rows or columns with `before` and `after` mirrored ones around them.
absl::StatusOr<std::vector<Blend>> Mirrored(const Prepare& p, const std::vector<Blend>& blends,
                                            int64_t before, int64_t after, const Mirror& mirror) {
  const int64_t n = static_cast<int64_t>(blends.size());
  TENON_RETURN_IF_ERROR(mirror.Check(p, before, after, n));
  std::vector<Blend> padded;
  for (int64_t i = 0; i < before + n + after; ++i)
    // The blends are mirrored, not the pixels: a mirrored pixel is computed from the source like
    // any other, and no resized image is stored.
    padded.push_back(blends[mirror.Source(i, before, n)]);
  return padded;
}

absl::StatusOr<std::shared_ptr<Padding>> ReadPadding(const Prepare& p, bool resize) {
  const Shape& in = p.input_shape(0);
  if (in.rank() != 4)
    return p.Invalid(absl::StrCat("the input must have rank 4, not ", in.ToString()));
  Dims size = {in.dim(1), in.dim(2)};
  Scaling scaling;
  if (resize) {
    TENON_ASSIGN_OR_RETURN(size, p.InputInts(1));
    TENON_ASSIGN_OR_RETURN(scaling.align_corners, p.AttrBool("resize_align_corners"));
    if (size.size() != 2)
      return p.Invalid(absl::StrCat("size must have 2 values, not ", size.size()));
  }
  if (size[0] < 1 || size[1] < 1 || in.dim(1) < 1 || in.dim(2) < 1) {
    return p.Invalid(absl::StrCat("images of ", in.dim(1), "x", in.dim(2), " cannot become ",
                                  size[0], "x", size[1]));
  }
  TENON_ASSIGN_OR_RETURN(const Dims pads, ReadPaddings(p, resize ? 2 : 1, 4));
  if (pads[0] != 0 || pads[1] != 0 || pads[6] != 0 || pads[7] != 0)
    return p.Invalid("paddings must be 0 for batch and channels");
  TENON_ASSIGN_OR_RETURN(const Mirror mirror, Mirror::Read(p));
  TENON_RETURN_IF_ERROR(CheckedShape(p, {in.dim(0), size[0], size[1], in.dim(3)}).status());
  auto s = std::make_shared<Padding>();
  s->type = p.input_type(0);
  s->batch = in.dim(0);
  s->in_rows = in.dim(1);
  s->in_columns = in.dim(2);
  s->channels = in.dim(3);
  TENON_ASSIGN_OR_RETURN(
      s->rows, Mirrored(p, BilinearBlends(scaling, s->in_rows, size[0]), pads[2], pads[3], mirror));
  TENON_ASSIGN_OR_RETURN(s->columns, Mirrored(p, BilinearBlends(scaling, s->in_columns, size[1]),
                                              pads[4], pads[5], mirror));
  return s;
}

absl::Status PrepareAs(Prepare& p, bool resize) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Padding> s, ReadPadding(p, resize));
  const DataType type = s->type;
  TENON_ASSIGN_OR_RETURN(const Shape padded,
                         CheckedShape(p, {s->batch, static_cast<int64_t>(s->rows.size()),
                                          static_cast<int64_t>(s->columns.size()), s->channels}));
  TENON_ASSIGN_OR_RETURN(const std::string_view padding, p.AttrString("padding"));
  TENON_ASSIGN_OR_RETURN(const Dims strides, ReadPerDim(p, "strides", 4));
  const int filter = p.num_inputs() - 1;
  // Checked here, because Conv2D would take a filter of fewer channels as one for groups.
  if (p.input_shape(filter).rank() == 4 && p.input_shape(filter).dim(2) != s->channels) {
    return p.Invalid(absl::StrCat("the input has ", s->channels, " channels, the filter ",
                                  p.input_shape(filter).dim(2)));
  }
  SubKernels parts(p);
  // The padded images exist in full. The Conv2D kernel then takes them like any other.
  const SubTensor images = parts.Run(&RunPadding, std::move(s), {parts.Input(0)}, type, padded);
  TENON_ASSIGN_OR_RETURN(const SubTensor result, parts.Call("Conv2D",
                                                            {{"padding", attr::String(padding)},
                                                             {"strides", attr::IntList(strides)}},
                                                            type, {images, parts.Input(filter)}));
  parts.Finish({result});
  return absl::OkStatus();
}

absl::Status PreparePadded(Prepare& p) { return PrepareAs(p, false); }
absl::Status PrepareResized(Prepare& p) { return PrepareAs(p, true); }

const CpuKernelSpec kPaddedConvKernels[] = {
    {"FusedPadConv2D", {{"T", kFloatTypes}}, &PreparePadded, 0b10},
    {"FusedResizeAndPadConv2D", {{"T", kFloatTypes}}, &PrepareResized, 0b110},
};

}  // namespace

absl::Span<const CpuKernelSpec> PaddedConvKernels() { return kPaddedConvKernels; }

}  // namespace tenon::cpu
