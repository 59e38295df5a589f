// Conv2DBackpropInput (also a transposed convolution's forward) and Conv2DBackpropFilter.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "plugin/cpu/conv.h"
#include "plugin/cpu/element.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/onednn.h"
#include "plugin/cpu/tiled_primitive.h"
#include "plugin/cpu/workers.h"

namespace tenon::cpu {
namespace {

// The forward convolution of which a gradient is taken. Its input is [batch, rows, columns,
// in_channels].
struct ConvGrad {
  ConvProblem q;
  DataType type = DataType::kFloat;
  int64_t in_per_group() const { return q.in_channels / q.groups; }
  int64_t out_per_group() const { return q.out_channels / q.groups; }
};

absl::Status CheckRank4(const Prepare& p, const Shape& shape, std::string_view what) {
  if (shape.rank() == 4) return absl::OkStatus();
  return p.Invalid(absl::StrCat(what, " must have rank 4, not ", shape.ToString()));
}

// Everything from the shapes of the forward input and filter, and that of the gradient (input 2).
absl::StatusOr<ConvGrad> ReadGrad(const Prepare& p, const Shape& input, const Shape& filter) {
  const Shape& gradient = p.input_shape(2);
  TENON_RETURN_IF_ERROR(CheckRank4(p, input, "the input"));
  TENON_RETURN_IF_ERROR(CheckRank4(p, filter, "the filter"));
  TENON_RETURN_IF_ERROR(CheckRank4(p, gradient, "the gradient"));
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p));
  if (attrs.nchw) return p.Unimplemented("data_format NCHW is not built");
  if (attrs.strides[0] != 1 || attrs.strides[3] != 1)
    return p.Invalid("strides must be 1 for batch and channels");
  ConvGrad s;
  s.type = p.input_type(2);
  s.q.batch = input.dim(0);
  s.q.in_channels = input.dim(3);
  s.q.out_channels = filter.dim(3);
  if (filter.dim(2) < 1 || s.q.in_channels % filter.dim(2) != 0) {
    return p.Invalid(absl::StrCat("the ", s.q.in_channels,
                                  " channels of the input are no multiple of the filter's ",
                                  filter.dim(2)));
  }
  s.q.groups = std::max<int64_t>(1, s.q.in_channels / filter.dim(2));
  if (s.q.out_channels % s.q.groups != 0) {
    return p.Invalid(absl::StrCat(s.q.out_channels, " output channels cannot be split into ",
                                  s.q.groups, " groups"));
  }
  TENON_ASSIGN_OR_RETURN(s.q.rows, MakeWindowAxis(p, attrs, 0, input.dim(1), filter.dim(0)));
  TENON_ASSIGN_OR_RETURN(s.q.columns, MakeWindowAxis(p, attrs, 1, input.dim(2), filter.dim(1)));
  const Shape want({s.q.batch, s.q.rows.out, s.q.columns.out, s.q.out_channels});
  if (gradient == want) return s;
  return p.Invalid(absl::StrCat("the gradient has shape ", gradient.ToString(),
                                " where the convolution's output has ", want.ToString()));
}

// A shape given as a vector.
absl::StatusOr<Shape> ShapeInput(const Prepare& p, int i) {
  TENON_ASSIGN_OR_RETURN(Dims dims, p.InputInts(i));
  // Rows and columns alone: the batch is the gradient's, the channels are the filter's.
  if (dims.size() == 2 && i == 0 && p.input_shape(1).rank() == 4 && p.input_shape(2).rank() == 4) {
    dims = {p.input_shape(2).dim(0), dims[0], dims[1], p.input_shape(1).dim(2)};
  }
  if (dims.size() != 4)
    return p.Invalid(absl::StrCat("the sizes of input ", i, " must be 4, not ", dims.size()));
  return CheckedShape(p, dims);
}

// --- The input's gradient.

// The sums of all input channels at one place. Every place of the gradient whose window covers it
// contributes.
template <typename A, typename Element>
void GatherPlace(const ConvGrad& s, const StepArgs& args, int64_t n, int64_t r, int64_t c, A* sums,
                 Element element) {
  const ConvProblem& q = s.q;
  std::fill(sums, sums + q.in_channels, A());
  for (int64_t i = 0; i < q.rows.size; ++i) {
    const int64_t row = r + q.rows.before - i * q.rows.dilation;
    if (row < 0 || row % q.rows.stride != 0 || row / q.rows.stride >= q.rows.out) continue;
    for (int64_t j = 0; j < q.columns.size; ++j) {
      const int64_t column = c + q.columns.before - j * q.columns.dilation;
      if (column < 0 || column % q.columns.stride != 0 ||
          column / q.columns.stride >= q.columns.out)
        continue;
      const int64_t from =
          ((n * q.rows.out + row / q.rows.stride) * q.columns.out + column / q.columns.stride) *
          q.out_channels;
      const int64_t filter = (i * q.columns.size + j) * s.in_per_group() * q.out_channels;
      for (int64_t in = 0; in < q.in_channels; ++in) {
        const int64_t first = in / s.in_per_group() * s.out_per_group();
        const int64_t weights = filter + in % s.in_per_group() * q.out_channels;
        for (int64_t o = first; o < first + s.out_per_group(); ++o) {
          sums[in] += element.template As<A>(args.in[2], from + o) *
                      element.template As<A>(args.in[1], weights + o);
        }
      }
    }
  }
}

template <typename A>
absl::Status RunInputGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ConvGrad*>(state);
  const ConvProblem& q = s.q;
  return ForEachTile(args, q.batch * q.rows.in, q.in_channels * sizeof(A),
                     [&](int64_t t, char* scratch) {
                       A* const sums = reinterpret_cast<A*>(scratch);
                       VisitElement(s.type, [&](auto element) {
                         for (int64_t c = 0; c < q.columns.in; ++c) {
                           GatherPlace(s, args, t / q.rows.in, t % q.rows.in, c, sums, element);
                           const int64_t at = (t * q.columns.in + c) * q.in_channels;
                           for (int64_t in = 0; in < q.in_channels; ++in)
                             element.Put(args.out[0], at + in, sums[in]);
                         }
                       });
                       return absl::OkStatus();
                     });
}

absl::Status PrepareAnyInputGrad(Prepare& p, const ConvGrad& s) {
  const bool small =
      s.type == DataType::kFloat || s.type == DataType::kHalf || s.type == DataType::kBfloat16;
  const size_t bytes = small ? sizeof(float) : sizeof(uint64_t);
  p.set_scratch_bytes(
      TileScratchBytes(p.workers(), s.q.batch * s.q.rows.in, s.q.in_channels * bytes));
  p.set_run(small                         ? &RunInputGrad<float>
            : s.type == DataType::kDouble ? &RunInputGrad<double>
                                          : &RunInputGrad<uint64_t>,
            std::make_shared<ConvGrad>(s));
  return absl::OkStatus();
}

using Memory = dnnl::memory;

// One tile per piece of the batch, with constant filters packed.
absl::Status PrepareOneDnnInputGrad(Prepare& p, const ConvGrad& s) {
  return Guarded([&]() -> absl::Status {
    const ConvProblem& q = s.q;
    const auto type = *OneDnnType(s.type);
    const int64_t element = DataTypeSize(s.type), out = q.out_channels, in = s.in_per_group();
    const auto after = [](const WindowAxis& a) {
      return std::max<Memory::dim>(0, (a.out - 1) * a.stride + a.extent() - a.before - a.in);
    };
    Memory::dims dims = {out, in, q.rows.size, q.columns.size};
    Memory::dims strides = {1, out, q.columns.size * in * out, in * out};
    if (q.groups > 1) {
      dims = {q.groups, s.out_per_group(), in, q.rows.size, q.columns.size};
      strides.insert(strides.begin(), s.out_per_group());
    }
    const MemoryDesc plain(dims, type, strides);
    const bool constant = p.input_value(1) != nullptr;
    MemoryDesc filter(dims, type, Memory::format_tag::any);
    if (!constant) filter = plain;
    const Memory::dims steps = {q.rows.stride, q.columns.stride},
                       gaps = {q.rows.dilation - 1, q.columns.dilation - 1},
                       before = {q.rows.before, q.columns.before},
                       behind = {after(q.rows), after(q.columns)};
    const int64_t images =
        std::max<int64_t>(1, q.batch / std::min(q.batch, TilesFor(p.workers(), q.flops())));
    auto tiled = std::make_shared<TiledPrimitive>();
    const void* packed = nullptr;
    for (int64_t n = 0; n < q.batch; n += images) {
      const int64_t count = std::min(images, q.batch - n);
      const MemoryDesc x({count, q.in_channels, q.rows.in, q.columns.in}, type,
                         Memory::format_tag::nhwc);
      const MemoryDesc y({count, out, q.rows.out, q.columns.out}, type, Memory::format_tag::nhwc);
      const auto algorithm = dnnl::algorithm::convolution_direct;
      const dnnl::convolution_forward::primitive_desc hint(
          {dnnl::prop_kind::forward_training, algorithm, x, filter, y, steps, gaps, before, behind},
          OneDnnEngine());
      const dnnl::convolution_backward_data::primitive_desc pd(
          {algorithm, x, filter, y, steps, gaps, before, behind}, UserScratchpad(), OneDnnEngine(),
          hint);
      filter = pd.weights_desc();
      const int runner = tiled->AddRunner(
          dnnl::convolution_backward_data(pd),
          {{DNNL_ARG_DIFF_DST, y}, {DNNL_ARG_WEIGHTS, filter}, {DNNL_ARG_DIFF_SRC, x}},
          pd.scratchpad_desc());
      if (packed == nullptr && !(filter == plain)) {
        TENON_ASSIGN_OR_RETURN(auto bytes, PackConstant(p, 1, 0, plain, filter));
        packed = tiled->Keep(std::move(bytes));
        p.DropInput(1);
      }
      tiled->AddTile(
          runner,
          {TiledPrimitive::Input(2, n * q.rows.out * q.columns.out * out * element),
           packed == nullptr ? TiledPrimitive::Input(1) : TiledPrimitive::Fixed(packed),
           TiledPrimitive::Output(0, n * q.rows.in * q.columns.in * q.in_channels * element)});
    }
    TiledPrimitive::Install(p, std::move(tiled));
    return absl::OkStatus();
  });
}

absl::Status PrepareInputGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Shape input, ShapeInput(p, 0));
  TENON_ASSIGN_OR_RETURN(const ConvGrad s, ReadGrad(p, input, p.input_shape(1)));
  p.set_output_shape(0, input);
  if (input.num_elements() == 0) return absl::OkStatus();
  if (p.input_shape(2).num_elements() > 0 && OneDnnType(s.type).has_value()) {
    const absl::Status status = PrepareOneDnnInputGrad(p, s);
    if (!absl::IsUnimplemented(status)) return status;
  }
  return PrepareAnyInputGrad(p, s);
}

// --- The filter's gradient.

// One place (i, j) of the filter: a sum over the batch and all places of the output, in one order.
template <typename A, typename Element>
void FilterPlace(const ConvGrad& s, const StepArgs& args, int64_t i, int64_t j, A* sums,
                 Element element) {
  const ConvProblem& q = s.q;
  std::fill(sums, sums + s.in_per_group() * q.out_channels, A());
  for (int64_t n = 0; n < q.batch; ++n) {
    for (int64_t row = 0; row < q.rows.out; ++row) {
      const int64_t r = row * q.rows.stride - q.rows.before + i * q.rows.dilation;
      if (r < 0 || r >= q.rows.in) continue;
      for (int64_t column = 0; column < q.columns.out; ++column) {
        const int64_t c = column * q.columns.stride - q.columns.before + j * q.columns.dilation;
        if (c < 0 || c >= q.columns.in) continue;
        const int64_t x = ((n * q.rows.in + r) * q.columns.in + c) * q.in_channels;
        const int64_t y = ((n * q.rows.out + row) * q.columns.out + column) * q.out_channels;
        for (int64_t in = 0; in < q.in_channels; ++in) {
          const A value = element.template As<A>(args.in[0], x + in);
          const int64_t first = in / s.in_per_group() * s.out_per_group();
          A* const sum = sums + in % s.in_per_group() * q.out_channels;
          for (int64_t o = first; o < first + s.out_per_group(); ++o) {
            sum[o] += value * element.template As<A>(args.in[2], y + o);
          }
        }
      }
    }
  }
}

absl::Status RunFilterGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ConvGrad*>(state);
  const ConvProblem& q = s.q;
  const int64_t place = s.in_per_group() * q.out_channels;
  return ForEachTile(
      args, q.rows.size * q.columns.size, place * sizeof(double), [&](int64_t t, char* scratch) {
        double* const sums = reinterpret_cast<double*>(scratch);
        VisitFloat(s.type, [&](auto element) {
          FilterPlace(s, args, t / q.columns.size, t % q.columns.size, sums, element);
          for (int64_t k = 0; k < place; ++k) element.Put(args.out[0], t * place + k, sums[k]);
        });
        return absl::OkStatus();
      });
}

absl::Status PrepareFilterGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Shape filter, ShapeInput(p, 1));
  TENON_ASSIGN_OR_RETURN(const ConvGrad s, ReadGrad(p, p.input_shape(0), filter));
  p.set_output_shape(0, filter);
  if (filter.num_elements() == 0) return absl::OkStatus();
  const size_t bytes = s.in_per_group() * s.q.out_channels * sizeof(double);
  p.set_scratch_bytes(TileScratchBytes(p.workers(), s.q.rows.size * s.q.columns.size, bytes));
  p.set_run(&RunFilterGrad, std::make_shared<ConvGrad>(s));
  return absl::OkStatus();
}

const CpuKernelSpec kKernels[] = {
    {"Conv2DBackpropInput",
     {{"T", kFloatTypes | TypeBit(DataType::kInt32)}},
     &PrepareInputGrad,
     0b1},
    {"Conv2DBackpropFilter", {{"T", kFloatTypes}}, &PrepareFilterGrad, 0b10},
};

}  // namespace

absl::Span<const CpuKernelSpec> ConvGradKernels() { return kKernels; }

}  // namespace tenon::cpu
