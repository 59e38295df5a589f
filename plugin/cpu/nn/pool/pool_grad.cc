// Gradients of MaxPool and AvgPool, and the gradients of those of MaxPool.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/nn/conv/channel_block.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

using Block = ChannelBlock;
constexpr int64_t kGradBlock = Block::kMost;

// Adds each output's gradient, divided by the size of its window, to the sums of the window.
template <typename A, typename Element>
void SpreadAverage(const Pool& s, const void* gradient, const Block& b, A* sums, Element element) {
  for (int64_t out = 0; out < s.out_places(); ++out) {
    int64_t count = 0;
    // The size differs at the borders: padding is not counted.
    s.ForEachInWindow(out, [&](int64_t, int64_t) { ++count; });
    std::array<A, kGradBlock> share;
    b.ForEach([&](int64_t c) {
      share[c] = element.template As<A>(gradient, s.OutputAt(b.image, out, b.first + c)) /
                 static_cast<A>(count);
    });
    s.ForEachInWindow(out, [&](int64_t in, int64_t) {
      A* const sum = sums + in * b.size;
      b.ForEach([&](int64_t c) { sum[c] += share[c]; });
    });
  }
}

// A window's gradient goes to its first largest value.
template <typename A, typename Element>
void SpreadToFirst(const Pool& s, const StepArgs& args, const Block& b, A* sums, Element element) {
  using Ordered = typename Element::Ordered;
  for (int64_t out = 0; out < s.out_places(); ++out) {
    std::array<int64_t, kGradBlock> best;
    std::array<Ordered, kGradBlock> most;
    best.fill(-1);
    s.ForEachInWindow(out, [&](int64_t in, int64_t) {
      const int64_t from = s.InputAt(b.image, in, b.first), step = s.input_step();
      b.ForEach([&](int64_t c) {
        const auto x = element.template As<Ordered>(args.in[0], from + c * step);
        // Choices without a branch, over all channels of a block: the compiler can use vectors.
        const bool more = best[c] < 0 || x > most[c];
        best[c] = more ? in : best[c];
        most[c] = more ? x : most[c];
      });
    });
    for (int64_t c = 0; c < b.size; ++c) {
      // A window without places in the input.
      if (best[c] < 0) continue;
      sums[best[c] * b.size + c] +=
          element.template As<A>(args.in[2], s.OutputAt(b.image, out, b.first + c));
    }
  }
}

// Of a volume's window each value that is equal to the output gets the gradient.
template <typename A, typename Element>
void SpreadToEqual(const Pool& s, const StepArgs& args, const Block& b, A* sums, Element element) {
  for (int64_t out = 0; out < s.out_places(); ++out) {
    s.ForEachInWindow(out, [&](int64_t in, int64_t) {
      for (int64_t c = 0; c < b.size; ++c) {
        const int64_t at = s.OutputAt(b.image, out, b.first + c);
        const A x = element.template As<A>(args.in[0], s.InputAt(b.image, in, b.first + c));
        if (x != element.template As<A>(args.in[1], at)) continue;
        sums[in * b.size + c] += element.template As<A>(args.in[2], at);
      }
    });
  }
}

// AvgPoolGrad has the gradient as input 1, MaxPoolGrad the input, the output and the gradient. Sums
// are of the type Wide: those of integers wrap around.
template <typename A, typename Element>
void ComputeBlock(const Pool& s, const StepArgs& args, const Block& b, A* sums, Element element) {
  std::fill(sums, sums + s.in_places() * b.size, A());
  // Of equal largest values TensorFlow's op for images takes the first, its op for volumes all.
  if (!s.max) {
    SpreadAverage(s, args.in[1], b, sums, element);
  } else if (s.volume) {
    SpreadToEqual(s, args, b, sums, element);
  } else {
    SpreadToFirst(s, args, b, sums, element);
  }
  for (int64_t in = 0; in < s.in_places(); ++in) {
    for (int64_t c = 0; c < b.size; ++c)
      element.Put(args.out[0], s.InputAt(b.image, in, b.first + c), sums[in * b.size + c]);
  }
}

size_t BlockBytes(const Pool& s) {
  return s.in_places() * std::min(kGradBlock, s.in_channels) * sizeof(double);
}

absl::Status RunPoolGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pool*>(state);
  const int64_t blocks = Block::Count(s.in_channels);
  return ForEachTile(args, s.batch * blocks, BlockBytes(s), [&](int64_t t, char* scratch) {
    const Block b = Block::At(t / blocks, t % blocks, s.in_channels);
    VisitReal(s.type, [&](auto element, auto) {
      using Wide = typename decltype(element)::Wide;
      ComputeBlock(s, args, b, reinterpret_cast<Wide*>(scratch), element);
    });
    return absl::OkStatus();
  });
}

absl::Status PrepareGrad(Prepare& p, const Shape& input, const PoolOp& op) {
  TENON_ASSIGN_OR_RETURN(const Pool s, ReadPool(p, input, op));
  if (s.depth_window != 1)
    return p.Unimplemented("the gradient of pooling over channels is not built");
  for (int i = 1; i <= (op.max ? 2 : 1); ++i) TENON_RETURN_IF_ERROR(CheckPooled(p, s, i));
  p.set_output_shape(0, input);
  if (input.num_elements() == 0) return absl::OkStatus();
  p.set_scratch_bytes(
      TileScratchBytes(p.workers(), s.batch * Block::Count(s.in_channels), BlockBytes(s)));
  p.set_run(&RunPoolGrad, std::make_shared<Pool>(s));
  return absl::OkStatus();
}

absl::Status PrepareAverageGrad(Prepare& p, int spatial_dims) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  TENON_ASSIGN_OR_RETURN(const Shape input, CheckedShape(p, dims));
  return PrepareGrad(p, input, {.spatial_dims = spatial_dims});
}

// An output takes the value at the first place of its window where the input is equal to the
// output.
template <typename A, typename Element>
void TakeFromEqual(const Pool& s, const StepArgs& args, int64_t n, int64_t out, int64_t channel,
                   Element element) {
  const int64_t at = s.OutputAt(n, out, channel);
  const A wanted = element.template As<A>(args.in[1], at);
  int64_t found = -1;
  s.ForEachInWindow(out, [&](int64_t in, int64_t) {
    const int64_t from = s.InputAt(n, in, channel);
    if (found < 0 && element.template As<A>(args.in[0], from) == wanted) found = from;
  });
  element.Put(args.out[0], at, found < 0 ? A() : element.template As<A>(args.in[2], found));
}

// The gradient of the gradient.
absl::Status RunGradGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pool*>(state);
  const int64_t places = s.out_places();
  const int64_t bytes = s.out_channels * s.covered_places() * 8;
  args.workers->ParallelFor(s.batch * places, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    VisitReal(s.type, [&](auto element, auto zero) {
      using A = decltype(zero);
      for (int64_t t = begin; t < end; ++t) {
        const int64_t n = t / places, out = t % places;
        for (int64_t c = 0; c < s.out_channels; ++c) TakeFromEqual<A>(s, args, n, out, c, element);
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareGradGrad(Prepare& p, const PoolOp& op) {
  TENON_ASSIGN_OR_RETURN(const Pool s, ReadPool(p, p.input_shape(0), op));
  if (s.depth_window != 1)
    return p.Unimplemented("the gradient of pooling over channels is not built");
  TENON_RETURN_IF_ERROR(CheckPooled(p, s, 1));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 2, p.input_shape(0)));
  p.set_output_shape(0, p.input_shape(1));
  if (p.input_shape(1).num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunGradGrad, std::make_shared<Pool>(s));
  return absl::OkStatus();
}

constexpr PoolOp kMax{.max = true}, kMaxV2{.max = true, .sizes_input = 3},
    kMax3D{.max = true, .spatial_dims = 3};

template <const PoolOp& kOp>
absl::Status MaxGrad(Prepare& p) {
  return PrepareGrad(p, p.input_shape(0), kOp);
}
template <const PoolOp& kOp>
absl::Status MaxGradGrad(Prepare& p) {
  return PrepareGradGrad(p, kOp);
}
template <int kSpatialDims>
absl::Status AverageGrad(Prepare& p) {
  return PrepareAverageGrad(p, kSpatialDims);
}

const CpuKernelSpec kPoolGradKernels[] = {
    {"MaxPoolGrad", {{"T", kRealTypes}}, &MaxGrad<kMax>},
    {"MaxPoolGradV2", {{"T", kRealTypes}}, &MaxGrad<kMaxV2>, 0b11000},
    {"MaxPool3DGrad", {{"T", kFloatTypes}}, &MaxGrad<kMax3D>},
    {"MaxPoolGradGrad", {{"T", kRealTypes}}, &MaxGradGrad<kMax>},
    {"MaxPoolGradGradV2", {{"T", kRealTypes}}, &MaxGradGrad<kMaxV2>, 0b11000},
    {"MaxPool3DGradGrad", {{"T", kRealTypes}}, &MaxGradGrad<kMax3D>},
    {"AvgPoolGrad", {{"T", kFloatTypes}}, &AverageGrad<2>, 0b1},
    {"AvgPool3DGrad", {{"T", kFloatTypes}}, &AverageGrad<3>, 0b1},
};

}  // namespace

absl::Span<const CpuKernelSpec> PoolGradKernels() { return kPoolGradKernels; }

}  // namespace tenon::cpu
