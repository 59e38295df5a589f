// MaxPool and AvgPool of images and volumes. AvgPool counts only what lies inside the input.
#include "plugin/cpu/nn/pool/pool.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/conv/window_descriptors.h"
#include "plugin/cpu/nn/pool/pool_loops.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/cpu/onednn/tiled_primitive.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// oneDNN's pooling of channels that come first.
absl::Status BuildOneDnnPool(Prepare& p, const Pool& s) {
  const auto type = *OneDnnType(s.type);
  const MemoryDesc in = InputDesc(s, s.batch, type), out = OutputDesc(s, s.batch, type);
  const WindowGeometry g(s);
  using Pooling = dnnl::pooling_forward;
  const auto algorithm =
      s.max ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding;
  const Pooling::desc desc(dnnl::prop_kind::forward_inference, algorithm, in, out, g.strides,
                           g.sizes, g.before, g.after);
  const Pooling::primitive_desc pd(desc, UserScratchpad(), OneDnnEngine());
  auto tiled = std::make_shared<TiledPrimitive>();
  const int runner = tiled->AddRunner(Pooling(pd), {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}},
                                      pd.scratchpad_desc());
  // One tile: the rows of a piece would not be contiguous.
  tiled->AddTile(runner, {TiledPrimitive::Input(0, 0), TiledPrimitive::Output(0, 0)});
  TiledPrimitive::Install(p, std::move(tiled));
  return absl::OkStatus();
}

// The loops for elements of a floating-point type.
const PoolLoops& LoopsOf(DataType type) {
  const AllPoolLoops& all =
      *SelectIsa<const AllPoolLoops*>(&sse2::kPoolLoops, &avx2::kPoolLoops, &avx512::kPoolLoops);
  switch (type) {
    case DataType::kDouble:
      return all.doubles;
    case DataType::kHalf:
      return all.halves;
    case DataType::kBfloat16:
      return all.bfloat16s;
    default:
      return all.floats;
  }
}

// Returns false for channels that do not lie side by side, windows over channels, and means of
// integers.
bool PrepareChannelPool(Prepare& p, const Pool& q) {
  if (q.channels_first || q.depth_window != 1) return false;
  if (HasType(kFloatTypes, q.type)) {
    const PoolLoops& loops = LoopsOf(q.type);
    double least = 0;
    VisitFloat(q.type, [&](auto element) {
      least = LeastOf<typename decltype(element)::Native, decltype(element)>(q);
    });
    p.set_run(&RunChannelPool,
              std::make_shared<ChannelPool>(ChannelPool{q, q.max ? loops.max : loops.mean, least}));
    return true;
  }
  const ElementLoop combine = FindElementLoop(ElementOp::kAtLeast, q.type);
  if (!q.max || combine == nullptr) return false;
  p.set_run(&RunIntegerPool, std::make_shared<IntegerPool>(IntegerPool{q, combine}));
  return true;
}

// ksize or strides.
absl::StatusOr<Dims> ReadSizes(const Prepare& p, std::string_view attr, int input, int rank) {
  TENON_ASSIGN_OR_RETURN(Dims values, input < 0 ? ReadPerDim(p, attr, rank) : p.InputInts(input));
  if (static_cast<int>(values.size()) != rank)
    return p.Invalid(absl::StrCat(attr, " must have ", rank, " values, not ", values.size()));
  for (const int64_t value : values) {
    if (value < 1) return p.Invalid(absl::StrCat(attr, " must be positive, not ", value));
  }
  return values;
}

// MaxPool over channels: the only pooling that may not move over space. The step of windows of one
// channel over images counts for nothing.
absl::Status ReadDepthWindow(const Prepare& p, const WindowAttrs& attrs, const Dims& sizes,
                             Pool& s) {
  const int64_t window = sizes[attrs.channel()], stride = attrs.strides[attrs.channel()];
  if (window == 1 && (stride == 1 || !s.volume)) return absl::OkStatus();
  if (!s.max || s.channels_first || s.volume)
    return p.Unimplemented("pooling over channels is built for MaxPool in NHWC alone");
  if (s.window_places() != 1)
    return p.Unimplemented("pooling over channels and space at once is not built");
  if (window != stride || window < 1 || s.in_channels % window != 0) {
    return p.Unimplemented(
        absl::StrCat("pooling ", s.in_channels, " channels by ", window, " in steps of ", stride,
                     " is not built: window and step must be equal and divide the channels"));
  }
  s.depth_window = window;
  s.out_channels = s.in_channels / window;
  return absl::OkStatus();
}

absl::Status CheckPadding(const Prepare& p, const WindowAxis& axis) {
  if (axis.before < axis.size && axis.after < axis.size) return absl::OkStatus();
  return p.Invalid(absl::StrCat("padding of ", std::max(axis.before, axis.after),
                                " must be below the window's ", axis.size));
}

absl::Status PreparePool(Prepare& p, const PoolOp& op) {
  TENON_ASSIGN_OR_RETURN(const Pool s, ReadPool(p, p.input_shape(0), op));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, s.OutputDims()));
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  // Padding alone may give windows, without a place, to an input without places.
  if (s.in_places() == 0) {
    p.set_run(&RunAnyPool, std::make_shared<Pool>(s));
    return absl::OkStatus();
  }
  if (PrepareChannelPool(p, s)) return absl::OkStatus();
  // oneDNN has no windows over channels and no negative padding.
  if (s.depth_window == 1 && !s.starts_inside() && OneDnnType(s.type).has_value()) {
    const absl::Status status = Guarded([&] { return BuildOneDnnPool(p, s); });
    if (!absl::IsUnimplemented(status)) return status;
  }
  p.set_run(&RunAnyPool, std::make_shared<Pool>(s));
  return absl::OkStatus();
}

absl::Status PrepareMaxPool(Prepare& p) { return PreparePool(p, {.max = true}); }
absl::Status PrepareMaxPoolV2(Prepare& p) {
  return PreparePool(p, {.max = true, .sizes_input = 1});
}
absl::Status PrepareMaxPool3D(Prepare& p) {
  return PreparePool(p, {.max = true, .spatial_dims = 3, .skips_evenly = true});
}
absl::Status PrepareAvgPool(Prepare& p) { return PreparePool(p, {}); }
absl::Status PrepareAvgPool3D(Prepare& p) {
  return PreparePool(p, {.spatial_dims = 3, .skips_evenly = true});
}

const CpuKernelSpec kPoolKernels[] = {
    {"MaxPool", {{"T", kRealTypes}}, &PrepareMaxPool},
    {"MaxPoolV2", {{"T", kRealTypes}}, &PrepareMaxPoolV2, 0b110},
    {"MaxPool3D", {{"T", kFloatTypes}}, &PrepareMaxPool3D},
    {"AvgPool", {{"T", kFloatTypes}}, &PrepareAvgPool},
    {"AvgPool3D", {{"T", kFloatTypes}}, &PrepareAvgPool3D},
};

}  // namespace

absl::StatusOr<Pool> ReadPool(const Prepare& p, const Shape& input, const PoolOp& op) {
  const int rank = op.spatial_dims + 2;
  TENON_ASSIGN_OR_RETURN(const Dims sizes, ReadSizes(p, "ksize", op.sizes_input, rank));
  TENON_ASSIGN_OR_RETURN(
      const Dims strides,
      // The V2 ops have ksize and strides in two inputs that follow each other.
      ReadSizes(p, "strides", op.sizes_input < 0 ? -1 : op.sizes_input + 1, rank));
  TENON_ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(p, op.spatial_dims, &strides));
  attrs.skips_evenly = op.skips_evenly;
  if (sizes[0] != 1 || strides[0] != 1)
    return p.Unimplemented("pooling over the batch is not built");
  Pool s;
  TENON_ASSIGN_OR_RETURN(
      static_cast<Windows&>(s),
      MakeWindows(p, attrs, input,
                  absl::MakeConstSpan(sizes).subspan(attrs.spatial(0), op.spatial_dims)));
  s.max = op.max;
  s.type = p.output_type(0);
  TENON_RETURN_IF_ERROR(ReadDepthWindow(p, attrs, sizes, s));
  for (const WindowAxis& axis : s.axes()) TENON_RETURN_IF_ERROR(CheckPadding(p, axis));
  return s;
}

absl::Status CheckPooled(const Prepare& p, const Pool& pool, int i) {
  TENON_ASSIGN_OR_RETURN(const Shape pooled, CheckedShape(p, pool.OutputDims()));
  return CheckInputShape(p, i, pooled);
}

absl::Span<const CpuKernelSpec> PoolKernels() { return kPoolKernels; }

}  // namespace tenon::cpu
