#include "plugin/cpu/nn/conv/conv_any_loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/linalg/products/packed_gemm.h"

namespace tenon::cpu {
namespace {

// Written places whose windows are packed and multiplied together: a multiple of the rows of a
// block on every processor.
constexpr int64_t kTilePlaces = 96;
// Places of a window by channel that are multiplied together.
constexpr int kPlacesTogether = 16;

// Whether elements are numbers of type A as they lie.
template <typename A>
bool IsNative(DataType type) {
  return type != DataType::kHalf && type != DataType::kBfloat16 && DataTypeSize(type) == sizeof(A);
}

// Whether sums of places are the output as they lie.
template <typename A>
bool SumsAreOutput(const AnyConv& s) {
  return s.q.fused.empty() && !s.q.channels_first && IsNative<A>(s.type);
}

// Sizes of packed operands, in numbers of type A.
template <typename A>
struct Packed {
  explicit Packed(const AnyConv& s)
      : gemm(ChoosePackedGemm<A>()),
        panels((s.written_channels() + gemm.columns - 1) / gemm.columns),
        filter(s.by_channel() ? s.q.groups * s.depth()
                              : s.q.groups * panels * gemm.columns * s.depth()),
        windows(s.by_channel() ? kPlacesTogether * s.all_written()
                               : Places(s) * PackedRowOf<A>(s.depth())),
        sums(SumsAreOutput<A>(s) ? 0 : kTilePlaces * s.all_written()) {}

  // Of a tile, in whole blocks.
  int64_t Places(const AnyConv& s) const {
    return std::min(kTilePlaces, (s.written_places() + gemm.rows - 1) / gemm.rows * gemm.rows);
  }

  const PackedGemm<A>& gemm;
  int64_t panels;                 // of the filter, for one group
  int64_t filter, windows, sums;  // the latter two: of one tile
};

// Packs the filter's channels from `first` on, of one group, as a panel.
template <typename A, typename Element>
void PackFilterPanel(const AnyConv& s, Element element, const void* filter, int64_t group,
                     int64_t first, int64_t columns, A* to) {
  const int64_t valid = std::min(columns, s.written_channels() - first);
  for (int64_t d = 0; d < s.depth(); ++d, to += columns) {
    const int64_t place = d / s.read_channels(), read = d % s.read_channels();
    std::fill(to + valid, to + columns, A());
    for (int64_t c = 0; c < valid; ++c)
      to[c] = element.template As<A>(filter, s.FilterAt(place, group, read, first + c));
  }
}

// Packs the filter in panels of written channels, group after group; by channel it stays as it is.
template <typename A>
void PackFilter(const AnyConv& s, const Packed<A>& packed, const void* filter, A* to) {
  const int64_t columns = packed.gemm.columns, panels = s.q.groups * packed.panels;
  VisitKindOf<A>(s.type, [&](auto element) {
    if (s.by_channel()) {
      for (int64_t i = 0; i < packed.filter; ++i) to[i] = element.template As<A>(filter, i);
      return;
    }
    for (int64_t i = 0; i < panels; ++i, to += columns * s.depth())
      PackFilterPanel(s, element, filter, i / packed.panels, i % packed.panels * columns, columns,
                      to);
  });
}

// Reads `channels` elements from index `from` on, `step` apart.
template <typename A>
using ReadFn = void (*)(const void* input, int64_t from, int64_t step, int64_t channels, A* to);

template <typename A>
ReadFn<A> FindRead(DataType type) {
  ReadFn<A> found = nullptr;
  VisitKindOf<A>(type, [&]<typename Element>(Element) {
    found = [](const void* input, int64_t from, int64_t step, int64_t channels, A* to) {
      for (int64_t c = 0; c < channels; ++c, from += step)
        to[c] = Element().template As<A>(input, from);
    };
  });
  return found;
}

// Packs the windows of `count` places from `first` on, of one image and one group of channels, as
// rows, up to a whole block of them. What lies outside of the input, behind a window or behind the
// last one is 0.
template <typename A>
void PackWindows(const AnyConv& s, int rows, const void* input, int64_t image, int64_t group,
                 int64_t first, int64_t count, A* to) {
  const int64_t channels = s.read_channels(), step = s.read_step();
  const int64_t row = PackedRowOf<A>(s.depth());
  const ReadFn<A> read_channels = FindRead<A>(s.type);
  const bool copies = step == 1 && IsNative<A>(s.type);
  for (int64_t place = 0; place < count; ++place, to += row) {
    int64_t filled = 0;  // numbers of the row; places of a window come in ascending order
    s.ForEachRead(first + place, [&](int64_t read, int64_t window_place) {
      const int64_t from = s.ReadAt(image, read) + group * channels * step;
      A* const at = to + window_place * channels;
      std::fill(to + filled, at, A());
      if (copies) {
        std::memcpy(at, static_cast<const A*>(input) + from, channels * sizeof(A));
      } else {
        read_channels(input, from, step, channels, at);
      }
      filled = (window_place + 1) * channels;
    });
    std::fill(to + filled, to + row, A());
  }
  std::fill(to, to + (rows - count % rows) % rows * row, A());
}

// ReadArg and AddFused are not inline: they would be so for each type that is stored.
template <typename A>
[[gnu::noinline]] A ReadArg(const AnyConv& s, const StepArgs& args, int input, int64_t i) {
  A x = 0;
  VisitFloat(s.input_types[input],
             [&](auto element) { x = element.template As<A>(args.in[input], i); });
  return x;
}

// Bias or batch normalisation, addition and activation of one channel of one output element.
template <typename A>
[[gnu::noinline]] A AddFused(const AnyConv& s, const StepArgs& args, int64_t channel, int64_t at,
                             A x) {
  const FusedOps& fused = s.q.fused;
  if (fused.bias >= 0) x += ReadArg<A>(s, args, fused.bias, channel);
  if (fused.batch_norm >= 0) {
    const auto arg = [&](int i) { return ReadArg<A>(s, args, fused.batch_norm + i, channel); };
    x = (x - arg(2)) * (arg(0) / std::sqrt(arg(3) + static_cast<A>(fused.epsilon))) + arg(1);
  }
  if (fused.add >= 0) x += ReadArg<A>(s, args, fused.add, at);
  return static_cast<A>(Activate(fused.activation, fused.alpha, x));
}

// Adds up the places of a window where each channel has a filter of its own.
template <typename A>
class ChannelSums {
 public:
  // `wide` is memory for the numbers of kPlacesTogether places.
  ChannelSums(const AnyConv& s, const PackedGemm<A>& gemm, const void* input, const A* filter,
              A* wide)
      : s_(s),
        gemm_(gemm),
        input_(static_cast<const char*>(input)),
        filter_(filter),
        wide_(wide),
        channels_(s.all_written()) {}

  // Adds the sums of a written place to `sums`.
  void Add(int64_t image, int64_t place, A* sums) {
    const auto bytes = static_cast<int64_t>(DataTypeSize(s_.type));
    s_.ForEachRead(place, [&](int64_t read, int64_t window_place) {
      const void* x = input_ + s_.ReadAt(image, read) * bytes;
      if (s_.widen != nullptr) {
        A* const wide = wide_ + count_ * channels_;
        s_.widen(&x, wide, channels_, 0);
        x = wide;
      }
      x_[count_] = static_cast<const A*>(x);
      w_[count_] = filter_ + window_place * channels_;
      if (++count_ == kPlacesTogether) Multiply(sums);
    });
    Multiply(sums);
  }

 private:
  void Multiply(A* sums) {
    gemm_.add_products(count_, x_, w_, channels_, sums);
    count_ = 0;
  }

  const AnyConv& s_;
  const PackedGemm<A>& gemm_;
  const char* const input_;
  const A* const filter_;
  A* const wide_;
  const int64_t channels_;
  int count_ = 0;
  const A *x_[kPlacesTogether], *w_[kPlacesTogether];
};

// Multiplies packed windows and the filter of a group; the sums of a place are all_written()
// apart.
template <typename A>
void MultiplyGroup(const AnyConv& s, const Packed<A>& packed, int64_t group, int64_t count,
                   const A* windows, const A* filter, A* sums) {
  // So that a panel of the filter and a block of windows stay in the first cache.
  constexpr auto kDepth = static_cast<int64_t>(1024 / sizeof(A));
  const PackedGemm<A>& gemm = packed.gemm;
  const int64_t depth = s.depth(), row_sums = s.all_written(), window = PackedRowOf<A>(depth);
  filter += group * packed.panels * gemm.columns * depth;
  sums += group * s.written_channels();
  for (int64_t d = 0; d < depth; d += kDepth) {
    for (int64_t panel = 0; panel < packed.panels; ++panel) {
      const int64_t column = panel * gemm.columns;
      const int n =
          static_cast<int>(std::min<int64_t>(gemm.columns, s.written_channels() - column));
      for (int64_t row = 0; row < count; row += gemm.rows) {
        gemm.multiply_rows(std::min(kDepth, depth - d), windows + row * window + d, window,
                           filter + column * depth + d * gemm.columns,
                           static_cast<int>(std::min<int64_t>(gemm.rows, count - row)), n,
                           sums + row * row_sums + column, row_sums,
                           d == 0 ? SumInto::kSet : SumInto::kAdd);
      }
    }
  }
}

template <typename A>
void FinishPlaces(const AnyConv& s, const StepArgs& args, int64_t image, int64_t first,
                  int64_t count, const A* sums) {
  const int64_t channels = s.all_written();
  if (s.q.fused.empty() && !s.q.channels_first && s.narrow != nullptr) {
    const void* const from = sums;
    const auto bytes = static_cast<int64_t>(DataTypeSize(s.type));
    return s.narrow(&from, static_cast<char*>(args.out[0]) + s.WrittenAt(image, first, 0) * bytes,
                    count * channels, 0);
  }
  VisitKindOf<A>(s.type, [&](auto element) {
    for (int64_t place = 0; place < count; ++place, sums += channels) {
      for (int64_t o = 0; o < channels; ++o) {
        const int64_t at = s.WrittenAt(image, first + place, o);
        A x = sums[o];
        // TensorFlow fuses nothing to convolutions of integers but those of int8 (conv_int8.cc).
        if constexpr (std::is_floating_point_v<A>) {
          if (!s.q.fused.empty()) x = AddFused(s, args, o, at, x);
        }
        element.Put(args.out[0], at, x);
      }
    }
  });
}

template <typename A>
absl::Status RunAs(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AnyConv*>(state);
  const ConvProblem& q = s.q;
  const Packed<A> packed(s);
  // The filter is packed once: every tile reads all of it.
  A* const filter = static_cast<A*>(args.scratch);
  PackFilter(s, packed, args.in[1], filter);
  StepArgs rest = args;
  rest.scratch = static_cast<char*>(args.scratch) + AlignedBytes(packed.filter * sizeof(A));
  const int64_t tiles = (s.written_places() + kTilePlaces - 1) / kTilePlaces;
  return ForEachTile(
      rest, q.batch * tiles, AlignedBytes((packed.windows + packed.sums) * sizeof(A)),
      [&](int64_t tile, char* scratch) {
        A* const windows = reinterpret_cast<A*>(scratch);
        const int64_t image = tile / tiles, first = tile % tiles * kTilePlaces;
        const bool direct = SumsAreOutput<A>(s);
        A* const sums = direct ? static_cast<A*>(args.out[0]) + s.WrittenAt(image, first, 0)
                               : windows + packed.windows;
        const int64_t count = std::min(kTilePlaces, s.written_places() - first);
        if (s.by_channel() || s.depth() == 0) std::fill(sums, sums + count * s.all_written(), A());
        if (s.by_channel()) {
          ChannelSums<A> all(s, packed.gemm, args.in[s.source()], filter, windows);
          for (int64_t i = 0; i < count; ++i) all.Add(image, first + i, sums + i * s.all_written());
        }
        const int64_t groups = s.by_channel() || s.depth() == 0 ? 0 : q.groups;
        for (int64_t group = 0; group < groups; ++group) {
          PackWindows(s, packed.gemm.rows, args.in[s.source()], image, group, first, count,
                      windows);
          MultiplyGroup(s, packed, group, count, windows, filter, sums);
        }
        if (!direct) FinishPlaces(s, args, image, first, count, sums);
        return absl::OkStatus();
      });
}

template <typename A>
AnyConvRun RunOfSums(const Workers& workers, const AnyConv& s) {
  const Packed<A> packed(s);
  const int64_t tiles = s.q.batch * ((s.written_places() + kTilePlaces - 1) / kTilePlaces);
  return {&RunAs<A>,
          AlignedBytes(packed.filter * sizeof(A)) +
              TileScratchBytes(workers, tiles,
                               AlignedBytes((packed.windows + packed.sums) * sizeof(A)))};
}

}  // namespace

AnyConvRun FindAnyConv(const Workers& workers, const AnyConv& s) {
  switch (s.type) {
    case DataType::kFloat:
    case DataType::kHalf:
    case DataType::kBfloat16:
      return RunOfSums<float>(workers, s);
    case DataType::kDouble:
      return RunOfSums<double>(workers, s);
    case DataType::kInt64:
    case DataType::kUint64:
      return RunOfSums<uint64_t>(workers, s);
    default:
      return RunOfSums<uint32_t>(workers, s);
  }
}

}  // namespace tenon::cpu
