// A place of the filter is a product: the channels of the input at all places that it meets, by the
// channels of the output's gradient there.
#include "plugin/cpu/nn/conv/conv_any_loops.h"

#include <algorithm>

#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/linalg/products/packed_gemm.h"

namespace tenon::cpu {
namespace {

constexpr int kDepth = 256;  // places that are packed and multiplied together

// Memory of one place of the filter, in numbers of type A.
template <typename A>
struct Scratch {
  explicit Scratch(const ConvProblem& q)
      : gemm(ChoosePackedGemm<A>()),
        in_panels((q.in_per_group() + gemm.rows - 1) / gemm.rows),
        out_panels((q.out_per_group() + gemm.columns - 1) / gemm.columns),
        in(std::max(q.in_channels, in_panels * gemm.rows * kDepth)),
        out(std::max(q.out_channels, out_panels * gemm.columns * kDepth)),
        wide(std::max(q.in_per_group(), q.out_per_group())),
        bytes(AlignedBytes(static_cast<size_t>(in + out + q.place_elements() + wide) * sizeof(A))) {
  }

  const PackedGemm<A>& gemm;
  int64_t in_panels, out_panels;  // of one group
  int64_t in, out, wide;          // numbers; the last of a place's channels in one group
  size_t bytes;
};

// Packs `channels` numbers, `step` apart, at each of the places in panels of `width`.
template <typename A, typename Element>
void PackChannels(Element element, const void* from, const int64_t* at, int places, int64_t first,
                  int64_t channels, int64_t step, int width, A* to) {
  for (int64_t panel = 0; panel < channels; panel += width) {
    for (int p = 0; p < places; ++p, to += width) {
      for (int64_t c = 0; c < width; ++c) {
        to[c] = panel + c < channels
                    ? element.template As<A>(from, at[p] + first + (panel + c) * step)
                    : A();
      }
    }
  }
}

// Adds up one place of the filter in one order, whatever the threads.
template <typename A>
class FilterPlace {
 public:
  FilterPlace(const AnyFilterGrad& s, const Scratch<A>& sizes, const StepArgs& args, char* memory)
      : s_(s),
        sizes_(sizes),
        args_(args),
        in_(reinterpret_cast<A*>(memory)),
        out_(in_ + sizes.in),
        sums_(out_ + sizes.out),
        wide_(sums_ + s.q.place_elements()) {}

  // Returns the sums of all elements of the filter at the place.
  const A* Sum(int64_t place) {
    const ConvProblem& q = s_.q;
    std::fill(sums_, sums_ + q.place_elements(), A());
    for (int64_t n = 0; n < q.batch; ++n) {
      q.ForEachAtWindowPlace(place, [&](int64_t in, int64_t out) {
        if (s_.by_channel()) return AddByChannel(q.InputAt(n, in), q.OutputAt(n, out));
        x_[count_] = q.InputAt(n, in);
        y_[count_] = q.OutputAt(n, out);
        if (++count_ == kDepth) Multiply();
      });
    }
    Multiply();
    return sums_;
  }

 private:
  void Multiply() {
    const ConvProblem& q = s_.q;
    for (int64_t group = 0; group < q.groups && count_ > 0; ++group) {
      const int64_t first_in = group * q.in_per_group(), first_out = group * q.out_per_group();
      if (!q.channels_first) {
        PackRows(args_.in[0], x_, first_in, q.in_per_group(), sizes_.gemm.rows, in_);
        PackRows(args_.in[2], y_, first_out, q.out_per_group(), sizes_.gemm.columns, out_);
        MultiplyGroup(sums_ + first_out);
        continue;
      }
      VisitFloat(s_.type, [&](auto element) {
        PackChannels(element, args_.in[0], x_, count_, first_in * q.input_step(), q.in_per_group(),
                     q.input_step(), sizes_.gemm.rows, in_);
        PackChannels(element, args_.in[2], y_, count_, first_out * q.output_step(),
                     q.out_per_group(), q.output_step(), sizes_.gemm.columns, out_);
      });
      MultiplyGroup(sums_ + first_out);
    }
    count_ = 0;
  }

  // Packs channels that lie side by side: whole rows of a panel at a time.
  void PackRows(const void* from, const int64_t* at, int64_t first, int64_t channels, int width,
                A* to) const {
    for (int p = 0; p < count_; ++p) {
      const A* const row = Channels(from, at[p] + first, channels, wide_);
      for (int64_t c = 0; c < channels; c += width) {
        A* const panel = to + c * count_ + p * width;
        const int64_t some = std::min<int64_t>(width, channels - c);
        std::copy(row + c, row + c + some, panel);
        std::fill(panel + some, panel + width, A());
      }
    }
  }

  // `channels` numbers from element `at` on; `wide` is memory for them.
  const A* Channels(const void* from, int64_t at, int64_t channels, A* wide) const {
    const void* x =
        static_cast<const char*>(from) + at * static_cast<int64_t>(DataTypeSize(s_.type));
    if (s_.widen == nullptr) return static_cast<const A*>(x);
    s_.widen(&x, wide, channels, 0);
    return wide;
  }
  void AddByChannel(int64_t in, int64_t out) {
    const int64_t channels = s_.q.out_channels;
    const A* const x = Channels(args_.in[0], in, channels, in_);
    const A* const y = Channels(args_.in[2], out, channels, out_);
    sizes_.gemm.add_products(1, &x, &y, channels, sums_);
  }

  void MultiplyGroup(A* sums) {
    const ConvProblem& q = s_.q;
    const PackedGemm<A>& gemm = sizes_.gemm;
    for (int64_t j = 0; j < sizes_.out_panels; ++j) {
      const int64_t column = j * gemm.columns;
      const int n = static_cast<int>(std::min<int64_t>(gemm.columns, q.out_per_group() - column));
      for (int64_t i = 0; i < sizes_.in_panels; ++i) {
        const int64_t row = i * gemm.rows;
        const int m = static_cast<int>(std::min<int64_t>(gemm.rows, q.in_per_group() - row));
        gemm.multiply(count_, in_ + row * count_, out_ + column * count_, m, n,
                      sums + row * q.out_channels + column, q.out_channels, SumInto::kAdd);
      }
    }
  }

  const AnyFilterGrad& s_;
  const Scratch<A>& sizes_;
  const StepArgs& args_;
  A* const in_;
  A* const out_;
  A* const sums_;
  A* const wide_;
  int count_ = 0;
  int64_t x_[kDepth], y_[kDepth];  // of places that are not multiplied yet
};

template <typename A>
absl::Status RunAnyFilterGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AnyFilterGrad*>(state);
  const int64_t elements = s.q.place_elements();
  const Scratch<A> sizes(s.q);
  return ForEachTile(args, s.q.window_places(), sizes.bytes, [&](int64_t place, char* scratch) {
    const A* const sums = FilterPlace<A>(s, sizes, args, scratch).Sum(place);
    VisitFloat(s.type, [&](auto element) {
      for (int64_t k = 0; k < elements; ++k)
        element.Put(args.out[0], place * elements + k, sums[k]);
    });
    return absl::OkStatus();
  });
}

template <typename A>
AnyConvRun RunOfFilterGrad(const Workers& workers, const ConvProblem& q) {
  return {&RunAnyFilterGrad<A>, TileScratchBytes(workers, q.window_places(), Scratch<A>(q).bytes)};
}

}  // namespace

AnyConvRun FindAnyFilterGrad(const Workers& workers, const AnyFilterGrad& s) {
  return s.type == DataType::kDouble ? RunOfFilterGrad<double>(workers, s.q)
                                     : RunOfFilterGrad<float>(workers, s.q);
}

}  // namespace tenon::cpu
