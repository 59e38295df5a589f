#include "plugin/cpu/nn/pool/pool_grad_loops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/nn/conv/channel_block.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

// Adds each output's gradient, divided by the size of its window, to the sums of the window.
template <typename A, typename Element>
void SpreadAverage(const Pool& s, const void* gradient, const ChannelBlock& b, A* sums,
                   Element element) {
  for (int64_t out = 0; out < s.out_places(); ++out) {
    int64_t count = 0;
    // The size differs at the borders: padding is not counted.
    s.ForEachInWindow(out, [&](int64_t, int64_t) { ++count; });
    std::array<A, ChannelBlock::kMost> share;
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
void SpreadToFirst(const Pool& s, const StepArgs& args, const ChannelBlock& b, A* sums,
                   Element element) {
  using Ordered = typename Element::Ordered;
  for (int64_t out = 0; out < s.out_places(); ++out) {
    std::array<int64_t, ChannelBlock::kMost> best;
    std::array<Ordered, ChannelBlock::kMost> most;
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
void SpreadToEqual(const Pool& s, const StepArgs& args, const ChannelBlock& b, A* sums,
                   Element element) {
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
void ComputeBlock(const Pool& s, const StepArgs& args, const ChannelBlock& b, A* sums,
                  Element element) {
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

size_t PoolGradBytes(const Pool& s) {
  return s.in_places() * std::min(ChannelBlock::kMost, s.in_channels) * sizeof(double);
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

}  // namespace

size_t PoolGradScratch(const Workers& workers, const Pool& s) {
  return TileScratchBytes(workers, s.batch * ChannelBlock::Count(s.in_channels), PoolGradBytes(s));
}

absl::Status RunPoolGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pool*>(state);
  const int64_t blocks = ChannelBlock::Count(s.in_channels);
  return ForEachTile(args, s.batch * blocks, PoolGradBytes(s), [&](int64_t t, char* scratch) {
    const ChannelBlock b = ChannelBlock::At(t / blocks, t % blocks, s.in_channels);
    VisitReal(s.type, [&](auto element, auto) {
      using Wide = typename decltype(element)::Wide;
      ComputeBlock(s, args, b, reinterpret_cast<Wide*>(scratch), element);
    });
    return absl::OkStatus();
  });
}

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

}  // namespace tenon::cpu
