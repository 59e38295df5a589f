// Dilation2D, the grey-scale dilation of images: the largest sum of window and filter; and its
// gradients, which go to the first place where that sum was found.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/window.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/nn/conv/channel_block.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Dilation {
  Windows w;
  DataType type = DataType::kFloat;
};

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

// A sum over the batch, in one order.
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

absl::StatusOr<Dilation> ReadDilation(const Prepare& p) {
  const Shape& input = p.input_shape(0);
  const Shape& filter = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p, 2));
  if (attrs.strides[0] != 1 || attrs.strides[3] != 1)
    return p.Invalid("strides must be 1 for batch and channels");
  if (filter.rank() != 3)
    return p.Invalid(absl::StrCat("the filter must have rank 3, not ", filter.ToString()));
  Dilation s;
  s.type = p.input_type(0);
  TENON_ASSIGN_OR_RETURN(s.w, MakeWindows(p, attrs, input, filter.dims()));
  if (filter.dim(2) == s.w.in_channels) return s;
  return p.Invalid(
      absl::StrCat("the input has ", s.w.in_channels, " channels, the filter ", filter.dim(2)));
}

absl::Status PrepareDilation(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dilation s, ReadDilation(p));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, s.w.OutputDims()));
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunDilation, std::make_shared<Dilation>(s));
  return absl::OkStatus();
}

// The gradient of input `of`.
absl::Status PrepareGrad(Prepare& p, int of) {
  TENON_ASSIGN_OR_RETURN(const Dilation s, ReadDilation(p));
  const Shape output(s.w.OutputDims());
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 2, output));
  p.set_output_shape(0, p.input_shape(of));
  if (p.input_shape(of).num_elements() == 0) return absl::OkStatus();
  const int64_t blocks = ChannelBlock::Count(s.w.in_channels);
  const int64_t places = of == 0 ? s.w.in_places() : s.w.window_places();
  p.set_scratch_bytes(TileScratchBytes(p.workers(), of == 0 ? s.w.batch * blocks : blocks,
                                       BlockBytes(s.w, places)));
  p.set_run(of == 0 ? &RunDilationInputGrad : &RunDilationFilterGrad,
            std::make_shared<Dilation>(s));
  return absl::OkStatus();
}

absl::Status PrepareDilationInputGrad(Prepare& p) { return PrepareGrad(p, 0); }
absl::Status PrepareDilationFilterGrad(Prepare& p) { return PrepareGrad(p, 1); }

const CpuKernelSpec kDilationKernels[] = {
    {"Dilation2D", {{"T", kRealTypes}}, &PrepareDilation},
    {"Dilation2DBackpropInput", {{"T", kRealTypes}}, &PrepareDilationInputGrad},
    {"Dilation2DBackpropFilter", {{"T", kRealTypes}}, &PrepareDilationFilterGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> DilationKernels() { return kDilationKernels; }

}  // namespace tenon::cpu
