// MaxPool and AvgPool in two dimensions. AvgPool counts only what lies inside the input.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "plugin/cpu/element.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/onednn.h"
#include "plugin/cpu/pool.h"
#include "plugin/cpu/tiled_primitive.h"
#include "plugin/cpu/window.h"

namespace tenon::cpu {
namespace {

using Memory = dnnl::memory;

// oneDNN's pooling of `batch` images and some rows of them.
int AddPoolRunner(TiledPrimitive& tiled, const Pool& s, Memory::dim batch, const WindowAxis& rows) {
  const auto type = *OneDnnType(s.type);
  const auto layout = s.nchw ? Memory::format_tag::nchw : Memory::format_tag::nhwc;
  const MemoryDesc in({batch, s.channels, rows.in, s.columns.in}, type, layout);
  const MemoryDesc out({batch, s.channels, rows.out, s.columns.out}, type, layout);
  const auto after = [](const WindowAxis& a) {
    return std::max<Memory::dim>(0, (a.out - 1) * a.stride + a.extent() - a.before - a.in);
  };
  using Pooling = dnnl::pooling_forward;
  const auto algorithm =
      s.max ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding;
  const Pooling::desc desc(dnnl::prop_kind::forward_inference, algorithm, in, out,
                           {rows.stride, s.columns.stride}, {rows.size, s.columns.size},
                           {rows.before, s.columns.before}, {after(rows), after(s.columns)});
  const Pooling::primitive_desc pd(desc, UserScratchpad(), OneDnnEngine());
  return tiled.AddRunner(Pooling(pd), {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}},
                         pd.scratchpad_desc());
}

absl::Status PrepareOneDnnPool(Prepare& p, const Pool& s) {
  return Guarded([&]() -> absl::Status {
    auto tiled = std::make_shared<TiledPrimitive>();
    const int64_t element = DataTypeSize(s.type);
    const int64_t in_row = s.columns.in * s.channels, out_row = s.columns.out * s.channels;
    const double flops = 4.0 * s.batch * s.rows.out * out_row * s.rows.size * s.columns.size;
    const int64_t tiles = s.nchw ? 1 : TilesFor(p.workers(), flops);
    const int64_t per_image = std::min(s.rows.out, (tiles + s.batch - 1) / s.batch);
    const int64_t rows = tiles == 1 ? s.rows.out : (s.rows.out + per_image - 1) / per_image;
    const int64_t images = rows == s.rows.out ? std::max<int64_t>(1, s.batch / tiles) : 1;
    for (int64_t n = 0; n < s.batch; n += images) {
      for (int64_t r = 0; r < s.rows.out; r += rows) {
        const WindowPiece piece = PieceOf(s.rows, r, std::min(rows, s.rows.out - r));
        const int runner = AddPoolRunner(*tiled, s, std::min(images, s.batch - n), piece.axis);
        tiled->AddTile(runner,
                       {TiledPrimitive::Input(0, (n * s.rows.in + piece.start) * in_row * element),
                        TiledPrimitive::Output(0, (n * s.rows.out + r) * out_row * element)});
      }
    }
    TiledPrimitive::Install(p, std::move(tiled));
    return absl::OkStatus();
  });
}

template <typename A, typename Element>
A PoolOne(const Pool& s, const void* in, Element element, int64_t n, int64_t r, int64_t c,
          int64_t channel) {
  const int64_t r0 = r * s.rows.stride - s.rows.before,
                c0 = c * s.columns.stride - s.columns.before;
  A result = 0;
  int64_t count = 0;
  for (int64_t i = std::max<int64_t>(r0, 0); i < std::min(r0 + s.rows.size, s.rows.in); ++i) {
    for (int64_t j = std::max<int64_t>(c0, 0); j < std::min(c0 + s.columns.size, s.columns.in);
         ++j) {
      for (int64_t d = 0; d < s.depth_window; ++d, ++count) {
        const A x = element.template As<A>(in, s.InputAt(n, i, j, channel * s.depth_window + d));
        if (!s.max) {
          result += x;
        } else if (count == 0 || x > result) {
          result = x;
        }
      }
    }
  }
  return s.max || count == 0 ? result : static_cast<A>(result / static_cast<A>(count));
}

template <typename A, typename Element>
void PoolRows(const Pool& s, const StepArgs& args, Element element) {
  const int64_t row = s.columns.out * s.out_channels() * s.rows.size * s.columns.size * 8;
  args.workers->ParallelFor(s.batch * s.rows.out, GrainFor(row), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t n = t / s.rows.out, r = t % s.rows.out;
      for (int64_t c = 0; c < s.columns.out; ++c) {
        for (int64_t channel = 0; channel < s.out_channels(); ++channel) {
          element.Put(args.out[0], s.OutputAt(n, r, c, channel),
                      PoolOne<A>(s, args.in[0], element, n, r, c, channel));
        }
      }
    }
  });
}

absl::Status RunAnyPool(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pool*>(state);
  VisitElement(s.type, [&](auto element) {
    if (s.type == DataType::kUint64) {
      PoolRows<uint64_t>(s, args, element);
    } else if (s.type == DataType::kInt64) {
      PoolRows<int64_t>(s, args, element);
    } else if (!IsComplex(s.type)) {
      PoolRows<double>(s, args, element);  // holds every value of the other types
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<Dims> ReadFour(const Prepare& p, std::string_view attr, int input) {
  Dims values;
  if (input >= 0) {
    TENON_ASSIGN_OR_RETURN(values, p.InputInts(input));
  } else {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> list, p.AttrIntList(attr));
    values.assign(list.begin(), list.end());
  }
  if (values.size() == 4) return values;
  return p.Invalid(absl::StrCat(attr, " must have 4 values, not ", values.size()));
}

// MaxPool over channels: the only pooling that may not move over rows and columns.
absl::Status ReadDepthWindow(const Prepare& p, const WindowAttrs& attrs, const Dims& sizes,
                             Pool& s) {
  const int64_t window = sizes[attrs.channel()], stride = attrs.strides[attrs.channel()];
  if (window == 1 && stride == 1) return absl::OkStatus();
  if (!s.max || s.nchw)
    return p.Unimplemented("pooling over channels is built for MaxPool in NHWC alone");
  if (sizes[1] != 1 || sizes[2] != 1)
    return p.Unimplemented("pooling over channels and space at once is not built");
  if (window != stride || window < 1 || s.channels % window != 0) {
    return p.Unimplemented(
        absl::StrCat("pooling ", s.channels, " channels by ", window, " in steps of ", stride,
                     " is not built: window and step must be equal and divide the channels"));
  }
  s.depth_window = window;
  return absl::OkStatus();
}

absl::Status CheckPadding(const Prepare& p, const WindowAxis& axis) {
  if (axis.before < axis.size && axis.after < axis.size) return absl::OkStatus();
  return p.Invalid(absl::StrCat("padding of ", std::max(axis.before, axis.after),
                                " must be below the window's ", axis.size));
}

}  // namespace

Dims Pool::OutputDims() const {
  if (nchw) return {batch, out_channels(), rows.out, columns.out};
  return {batch, rows.out, columns.out, out_channels()};
}

absl::StatusOr<Pool> ReadPool(const Prepare& p, const Shape& input, bool max, int sizes_input) {
  if (input.rank() != 4)
    return p.Invalid(absl::StrCat("the input must have rank 4, not ", input.ToString()));
  TENON_ASSIGN_OR_RETURN(const Dims sizes, ReadFour(p, "ksize", sizes_input));
  TENON_ASSIGN_OR_RETURN(const Dims strides,
                         ReadFour(p, "strides", sizes_input < 0 ? -1 : sizes_input + 1));
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p, &strides));
  if (sizes[0] != 1 || strides[0] != 1)
    return p.Unimplemented("pooling over the batch is not built");
  Pool s;
  s.max = max;
  s.nchw = attrs.nchw;
  s.type = p.output_type(0);
  s.batch = input.dim(0);
  s.channels = input.dim(attrs.channel());
  TENON_RETURN_IF_ERROR(ReadDepthWindow(p, attrs, sizes, s));
  TENON_ASSIGN_OR_RETURN(
      s.rows, MakeWindowAxis(p, attrs, 0, input.dim(attrs.spatial(0)), sizes[attrs.spatial(0)]));
  TENON_ASSIGN_OR_RETURN(
      s.columns, MakeWindowAxis(p, attrs, 1, input.dim(attrs.spatial(1)), sizes[attrs.spatial(1)]));
  TENON_RETURN_IF_ERROR(CheckPadding(p, s.rows));
  TENON_RETURN_IF_ERROR(CheckPadding(p, s.columns));
  return s;
}

namespace {

absl::Status PreparePool(Prepare& p, bool max, int sizes_input) {
  TENON_ASSIGN_OR_RETURN(const Pool s, ReadPool(p, p.input_shape(0), max, sizes_input));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, s.OutputDims()));
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  if (s.depth_window == 1 && OneDnnType(s.type).has_value()) {
    const absl::Status status = PrepareOneDnnPool(p, s);
    if (!absl::IsUnimplemented(status)) return status;
  }
  p.set_run(&RunAnyPool, std::make_shared<Pool>(s));
  return absl::OkStatus();
}

absl::Status PrepareMaxPool(Prepare& p) { return PreparePool(p, true, -1); }
absl::Status PrepareMaxPoolV2(Prepare& p) { return PreparePool(p, true, 1); }
absl::Status PrepareAvgPool(Prepare& p) { return PreparePool(p, false, -1); }

const CpuKernelSpec kKernels[] = {
    {"MaxPool", {{"T", kRealTypes}}, &PrepareMaxPool},
    {"MaxPoolV2", {{"T", kRealTypes}}, &PrepareMaxPoolV2, 0b110},
    {"AvgPool", {{"T", kFloatTypes}}, &PrepareAvgPool},
};

}  // namespace

absl::Span<const CpuKernelSpec> PoolKernels() { return kKernels; }

}  // namespace tenon::cpu
