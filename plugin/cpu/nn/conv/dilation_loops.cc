#include "plugin/cpu/nn/conv/dilation_loops.h"

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
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

// The sum as the type holds it: sums wrap and round.
template <typename A, typename Element>
A Rounded(typename Element::Wide value, Element element) {
  uint64_t bits = 0;
  element.Put(&bits, 0, value);
  return element.template As<A>(&bits, 0);
}

// Memory for the sums of a block of channels.
size_t BlockBytes(const Windows& w, int64_t places) {
  return places * std::min(ChannelBlock::kMost, w.in_channels) * sizeof(double);
}

// Where the largest sum of one output was found, for each channel of a block. A window without
// places in the input is the lowest number, found at its first place (pushed into the input).
template <typename A>
struct Found {
  std::array<A, ChannelBlock::kMost> value;
  std::array<int64_t, ChannelBlock::kMost> in, place;
};

template <typename A, typename Element>
void FindLargest(const Windows& w, const StepArgs& args, const ChannelBlock& b, int64_t out,
                 Element element, Found<A>& best) {
  using Wide = typename Element::Wide;
  const int64_t row = out / w.columns.out * w.rows.stride - w.rows.before;
  const int64_t column = out % w.columns.out * w.columns.stride - w.columns.before;
  best.value.fill(static_cast<A>(element.Lowest()));
  best.in.fill(std::clamp<int64_t>(row, 0, w.rows.in - 1) * w.columns.in +
               std::clamp<int64_t>(column, 0, w.columns.in - 1));
  best.place.fill(0);
  w.ForEachInWindow(out, [&](int64_t in, int64_t place) {
    const int64_t x = w.InputAt(b.image, in, b.first), f = place * w.in_channels + b.first;
    b.ForEach([&](int64_t c) {
      const A sum = Rounded<A>(element.template As<Wide>(args.in[0], x + c) +
                                   element.template As<Wide>(args.in[1], f + c),
                               element);
      // Three choices without a branch, over all channels of a block: the compiler can use vectors.
      const bool more = sum > best.value[c];
      best.value[c] = more ? sum : best.value[c];
      best.in[c] = more ? in : best.in[c];
      best.place[c] = more ? place : best.place[c];
    });
  });
}

// Writes the largest sums of one place of the output, block by block.
template <typename A, typename Element>
void PutLargest(const Windows& w, const StepArgs& args, int64_t image, int64_t out, Element element,
                Found<A>& best) {
  for (int64_t i = 0; i < ChannelBlock::Count(w.in_channels); ++i) {
    const ChannelBlock b = ChannelBlock::At(image, i, w.in_channels);
    FindLargest(w, args, b, out, element, best);
    const int64_t to = w.OutputAt(b.image, out, b.first);
    b.ForEach([&](int64_t c) { element.Put(args.out[0], to + c, best.value[c]); });
  }
}

// Adds the output's gradients of one image to `sums`, [places, size of the block], at the places
// that `place_of` takes from what was found. Sums of integers wrap around.
template <typename A, typename Element>
void AddGradients(const Windows& w, const StepArgs& args, const ChannelBlock& b,
                  std::array<int64_t, ChannelBlock::kMost> Found<A>::*place_of,
                  typename Element::Wide* sums, Element element) {
  using Wide = typename Element::Wide;
  Found<A> best;
  for (int64_t out = 0; out < w.out_places(); ++out) {
    FindLargest(w, args, b, out, element, best);
    const int64_t from = w.OutputAt(b.image, out, b.first);
    b.ForEach([&](int64_t c) {
      sums[(best.*place_of)[c] * b.size + c] += element.template As<Wide>(args.in[2], from + c);
    });
  }
}

}  // namespace

absl::Status RunDilation(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Dilation*>(state);
  const Windows& w = s.w;
  const int64_t places = w.out_places();
  const int64_t bytes = w.in_channels * w.covered_places() * 8;
  args.workers->ParallelFor(w.batch * places, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    VisitReal(s.type, [&](auto element, auto zero) {
      Found<decltype(zero)> best;
      for (int64_t t = begin; t < end; ++t)
        PutLargest(w, args, t / places, t % places, element, best);
    });
  });
  return absl::OkStatus();
}

absl::Status RunDilationInputGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Dilation*>(state);
  const Windows& w = s.w;
  const int64_t places = w.in_places(), blocks = ChannelBlock::Count(w.in_channels);
  return ForEachTile(args, w.batch * blocks, BlockBytes(w, places), [&](int64_t t, char* scratch) {
    VisitReal(s.type, [&](auto element, auto zero) {
      using A = decltype(zero);
      using Wide = typename decltype(element)::Wide;
      const ChannelBlock b = ChannelBlock::At(t / blocks, t % blocks, w.in_channels);
      auto* const sums = reinterpret_cast<Wide*>(scratch);
      std::fill(sums, sums + places * b.size, Wide());
      AddGradients(w, args, b, &Found<A>::in, sums, element);
      for (int64_t i = 0; i < places; ++i) {
        const int64_t to = w.InputAt(b.image, i, b.first);
        b.ForEach([&](int64_t c) { element.Put(args.out[0], to + c, sums[i * b.size + c]); });
      }
    });
    return absl::OkStatus();
  });
}

absl::Status RunDilationFilterGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Dilation*>(state);
  const Windows& w = s.w;
  const int64_t places = w.window_places(), blocks = ChannelBlock::Count(w.in_channels);
  return ForEachTile(args, blocks, BlockBytes(w, places), [&](int64_t t, char* scratch) {
    VisitReal(s.type, [&](auto element, auto zero) {
      using A = decltype(zero);
      using Wide = typename decltype(element)::Wide;
      ChannelBlock b = ChannelBlock::At(0, t, w.in_channels);
      auto* const sums = reinterpret_cast<Wide*>(scratch);
      std::fill(sums, sums + places * b.size, Wide());
      for (; b.image < w.batch; ++b.image)
        AddGradients(w, args, b, &Found<A>::place, sums, element);
      for (int64_t i = 0; i < places; ++i) {
        const int64_t to = i * w.in_channels + b.first;
        b.ForEach([&](int64_t c) { element.Put(args.out[0], to + c, sums[i * b.size + c]); });
      }
    });
    return absl::OkStatus();
  });
}

size_t DilationGradScratch(const Workers& workers, const Windows& w, int of) {
  const int64_t blocks = ChannelBlock::Count(w.in_channels);
  const int64_t places = of == 0 ? w.in_places() : w.window_places();
  return TileScratchBytes(workers, of == 0 ? w.batch * blocks : blocks, BlockBytes(w, places));
}

}  // namespace tenon::cpu
