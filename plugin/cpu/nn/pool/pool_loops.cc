#include "plugin/cpu/nn/pool/pool_loops.h"

#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

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

absl::Status RunChannelPool(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ChannelPool*>(state);
  const Pool& q = s.pool;
  const int64_t place = q.in_channels * static_cast<int64_t>(DataTypeSize(q.type));
  const int64_t lines = q.planes.out * q.rows.out;  // of outputs, for one image
  const int64_t work = q.columns.out * q.covered_places() * place;
  args.workers->ParallelFor(q.batch * lines, GrainFor(work), [&](int64_t begin, int64_t end) {
    PoolWindow w;
    w.channels = q.in_channels, w.least = s.least;
    w.column_bytes = q.columns.dilation * place;
    w.row_bytes = q.rows.dilation * q.columns.in * place;
    w.plane_bytes = q.planes.dilation * q.rows.in * q.columns.in * place;
    for (int64_t t = begin; t < end; ++t) {
      const WindowAxis::Inside planes = q.planes.InsideAt(t % lines / q.rows.out),
                               rows = q.rows.InsideAt(t % q.rows.out);
      w.planes = planes.end - planes.begin, w.rows = rows.end - rows.begin;
      const int64_t line = ((t / lines * q.planes.in + planes.first) * q.rows.in + rows.first);
      char* out = static_cast<char*>(args.out[0]) + t * q.columns.out * place;
      for (int64_t o = 0; o < q.columns.out; ++o, out += place) {
        const WindowAxis::Inside columns = q.columns.InsideAt(o);
        w.columns = columns.end - columns.begin;
        w.in = static_cast<const char*>(args.in[0]) + (line * q.columns.in + columns.first) * place;
        w.out = out;
        s.loop(w);
      }
    }
  });
  return absl::OkStatus();
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
