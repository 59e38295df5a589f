// The estimate behind a cut, and slices of packed filters.
#include "plugin/cpu/onednn/cut.h"

#include <algorithm>

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kMostTiles = 64;  // ranges of Workers::ParallelFor
constexpr size_t kBest = 6;

int64_t Ceil(int64_t x, int64_t y) { return (x + y - 1) / y; }

// In microseconds, roughly: only the ratios matter.
class Estimate {
 public:
  explicit Estimate(const CutProblem& q) : q_(q), flops_per_us_(SelectIsa(12e3, 60e3, 110e3)) {}

  // Of tiles of up to `rows` by `columns`, of which there are `tiles`.
  double Time(int64_t rows, int64_t columns, int64_t tiles) const {
    if (tiles == 1) return TileTime(rows, columns);
    const double tile = kTile + TileTime(rows, columns) + CopyTime(rows, columns);
    const double mean = static_cast<double>(tiles) / q_.threads * tile;
    const double rounds = static_cast<double>(Ceil(tiles, q_.threads)) * tile;
    // On average a thread has done half of a tile when the last tile is taken, at worst nothing.
    return kLoop + std::max(rounds, mean + tile / 2);
  }

 private:
  static constexpr double kBytesPerUs = 20e3;  // of one core, from a far cache
  static constexpr double kCopiedPerUs = 40e3;
  static constexpr double kTile = 0.5;    // a call of oneDNN
  static constexpr double kLoop = 3;      // until other threads have begun, and are done
  static constexpr double kEdgeRows = 6;  // what a tile loses beside its rows

  double TileTime(int64_t rows, int64_t columns) const {
    const double flops = 2.0 * (static_cast<double>(rows) + kEdgeRows) *
                         static_cast<double>(columns) * static_cast<double>(q_.terms);
    const double bytes =
        q_.row_bytes * static_cast<double>(rows) / static_cast<double>(q_.rows) +
        q_.column_bytes * static_cast<double>(columns) / static_cast<double>(q_.columns);
    return flops / flops_per_us_ + bytes / kBytesPerUs;
  }
  // Tiles of some columns go through memory of their own.
  double CopyTime(int64_t rows, int64_t columns) const {
    if (columns == q_.columns) return 0;
    return static_cast<double>(rows) * static_cast<double>(columns) * 8 / kCopiedPerUs;
  }

  const CutProblem& q_;
  const double flops_per_us_;
};

}  // namespace

std::vector<Cut> BestCuts(const CutProblem& q) {
  const Cut none = {0, q.columns};
  if (q.threads == 1) return {none};
  struct Timed {
    double time;
    Cut cut;
    int64_t pieces;
  };
  std::vector<Timed> cuts;
  const Estimate estimate(q);
  const int64_t blocks = q.block > 0 ? q.columns / q.block : 0;
  for (size_t i = 0; i < q.row_cuts.size(); ++i) {
    const auto [pieces, rows] = q.row_cuts[i];
    if (pieces > kMostTiles) continue;
    cuts.push_back({estimate.Time(rows, q.columns, pieces), {i, q.columns}, pieces});
    int64_t before = blocks;  // blocks of a tile of the last cut tried
    for (int64_t parts = 2; parts <= std::min(blocks, kMostTiles / pieces); ++parts) {
      const int64_t each = Ceil(blocks, parts);
      if (each == before) continue;
      before = each;
      cuts.push_back({estimate.Time(rows, each * q.block, pieces * Ceil(blocks, each)),
                      {i, each * q.block},
                      pieces});
    }
  }
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const Timed& a, const Timed& b) { return a.time < b.time; });
  std::vector<Cut> best;
  const auto take = [&](size_t most, const auto& fits) {
    for (size_t i = 0; i < cuts.size() && most > 0; ++i) {
      if (!fits(cuts[i])) continue;
      best.push_back(cuts[i].cut);
      --most;
    }
  };
  take(kBest, [](const Timed&) { return true; });
  take(1, [&](const Timed& t) { return t.cut.columns == q.columns; });
  take(1, [](const Timed& t) { return t.pieces == 1; });
  best.push_back(none);
  return best;
}

int64_t WidthAt(int64_t begin, int64_t columns, int64_t width, int64_t block) {
  const int64_t left = columns - begin;
  return left < width + std::max<int64_t>(block, 1) ? left : width;
}

int64_t ChannelBlockOf(const MemoryDesc& filter) {
  const dnnl_memory_desc_t& d = filter.data;
  if (d.format_kind != dnnl_blocked || d.extra.flags != 0 || d.offset0 != 0) return 0;
  const dnnl_blocking_desc_t& b = d.format_desc.blocking;
  int64_t block = 1, elements = 1;
  for (int i = 0; i < b.inner_nblks; ++i) block *= b.inner_idxs[i] == 0 ? b.inner_blks[i] : 1;
  for (int i = 0; i < d.ndims; ++i) elements *= d.padded_dims[i];
  // The blocks are the outermost dimension of the memory: one begins where the one before ends.
  return b.strides[0] * (d.padded_dims[0] / block) == elements ? block : 0;
}

int64_t BlockToCutAt(int64_t channels, int64_t whole) {
  if (whole == 0 || channels % whole == 0) return whole;
  for (const int64_t block : {64, 48, 32, 16}) {
    if (channels % block == 0) return block;
  }
  return whole;
}

MemoryDesc WithChannels(const MemoryDesc& filter, int64_t channels) {
  MemoryDesc slice = filter;
  const int64_t block = ChannelBlockOf(filter);
  slice.data.dims[0] = channels;
  slice.data.padded_dims[0] = Ceil(channels, block) * block;
  return slice;
}

int64_t ChannelOffset(const MemoryDesc& filter, int64_t first) {
  const int64_t element = static_cast<int64_t>(dnnl::memory::data_type_size(filter.data_type()));
  return first / ChannelBlockOf(filter) * filter.data.format_desc.blocking.strides[0] * element;
}

}  // namespace tenon::cpu
