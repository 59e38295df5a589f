#include "plugin/cpu/nn/pool/pool_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kPoolTilePlaces = 64;

template <typename A>
void PoolChannels(const ChannelPool& s, const StepArgs& args, int64_t n, int64_t out, A* sums,
                  A* wide) {
  const Pool& q = s.pool;
  const auto bytes = static_cast<int64_t>(DataTypeSize(q.type));
  A least = 0;
  if (q.max) VisitFloat(q.type, [&](auto element) { least = LeastOf<A, decltype(element)>(q); });
  std::fill(sums, sums + q.out_channels, least);
  int64_t count = 0;
  q.ForEachInWindow(out, [&](int64_t place, int64_t) {
    const void* x = static_cast<const char*>(args.in[0]) + q.InputAt(n, place, 0) * bytes;
    if (s.widen != nullptr) {
      s.widen(&x, wide, q.out_channels, 0);
      x = wide;
    }
    const void* const operands[] = {sums, x};
    s.combine(operands, sums, q.out_channels, 0);
    ++count;
  });
  if (count > 1 && !q.max) {
    for (int64_t c = 0; c < q.out_channels; ++c) sums[c] /= static_cast<A>(count);
  }
  char* const to = static_cast<char*>(args.out[0]) + q.OutputAt(n, out, 0) * bytes;
  const void* const result = sums;
  if (s.narrow != nullptr) {
    s.narrow(&result, to, q.out_channels, 0);
  } else {
    memcpy(to, sums, static_cast<size_t>(q.out_channels * bytes));
  }
}

int64_t PlaceTiles(const Pool& q) {
  return (q.out_places() + kPoolTilePlaces - 1) / kPoolTilePlaces;
}

template <typename A>
size_t ChannelBytes(const Pool& q) {
  return 2 * AlignedBytes(static_cast<size_t>(q.out_channels) * sizeof(A));
}

template <typename A>
absl::Status RunChannelPool(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ChannelPool*>(state);
  const Pool& q = s.pool;
  const int64_t tiles = PlaceTiles(q);
  return ForEachTile(args, q.batch * tiles, ChannelBytes<A>(q), [&](int64_t tile, char* scratch) {
    A* const sums = reinterpret_cast<A*>(scratch);
    A* const wide = reinterpret_cast<A*>(scratch + ChannelBytes<A>(q) / 2);
    const int64_t first = tile % tiles * kPoolTilePlaces;
    const int64_t end = std::min(first + kPoolTilePlaces, q.out_places());
    for (int64_t out = first; out < end; ++out)
      PoolChannels(s, args, tile / tiles, out, sums, wide);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status RunAnyPool(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pool*>(state);
  const int64_t places = s.out_places();
  const int64_t bytes = s.out_channels * s.covered_places() * 8;
  args.workers->ParallelFor(s.batch * places, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    VisitReal(s.type, [&](auto element, auto zero) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t n = t / places, out = t % places;
        for (int64_t c = 0; c < s.out_channels; ++c) {
          element.Put(args.out[0], s.OutputAt(n, out, c),
                      PoolOne<decltype(zero)>(s, args.in[0], element, n, out, c));
        }
      }
    });
  });
  return absl::OkStatus();
}

size_t ChannelPoolScratch(const Workers& workers, const Pool& q, DataType wide) {
  const bool is_double = wide == DataType::kDouble;
  return TileScratchBytes(workers, q.batch * PlaceTiles(q),
                          is_double ? ChannelBytes<double>(q) : ChannelBytes<float>(q));
}

RunFn FindChannelPool(DataType wide) {
  return wide == DataType::kDouble ? &RunChannelPool<double> : &RunChannelPool<float>;
}

absl::Status RunIntegerPool(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const IntegerPool*>(state);
  const Pool& q = s.pool;
  const auto bytes = static_cast<int64_t>(DataTypeSize(q.type));
  const auto row = static_cast<size_t>(q.out_channels * bytes);
  const int64_t places = q.out_places(), work = q.out_channels * q.covered_places() * bytes;
  args.workers->ParallelFor(q.batch * places, GrainFor(work), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t n = t / places;
      char* const to = static_cast<char*>(args.out[0]) + t * q.out_channels * bytes;
      bool first = true;
      q.ForEachInWindow(t % places, [&](int64_t place, int64_t) {
        const void* const x = static_cast<const char*>(args.in[0]) + q.InputAt(n, place) * bytes;
        if (first) {
          memcpy(to, x, row);
        } else {
          const void* const operands[] = {to, x};
          s.combine(operands, to, q.out_channels, 0);
        }
        first = false;
      });
    }
  });
  return absl::OkStatus();
}

}  // namespace tenon::cpu
