#include "plugin/cpu/nn/pool/fractional_pool_loops.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

// The largest or the mean of a cell's values, which are data[place * channels]. As in TensorFlow
// the largest passes over NaN and is at least the least finite number. Sums of integers wrap around
// in their type.
template <typename A, typename Element>
A PoolCell(const FractionalPool& s, const StepArgs& args, int64_t n, int64_t out, int64_t c,
           Element element) {
  std::conditional_t<std::is_integral_v<A>, uint64_t, A> sum = 0;
  A largest = static_cast<A>(Element::Lowest());
  int64_t count = 0;
  s.cells.ForEachInCell(static_cast<const int64_t*>(args.out[1]),
                        static_cast<const int64_t*>(args.out[2]), out, [&](int64_t place) {
                          const int64_t at =
                              (n * s.cells.in_places() + place) * s.cells.channels + c;
                          const A x = element.template As<A>(args.in[0], at);
                          if (!s.max) {
                            sum += x;
                          } else if (x > largest) {
                            largest = x;
                          }
                          ++count;
                        });
  if (count == 0) return 0;
  if (s.max) return largest;
  if constexpr (std::is_integral_v<A>) {
    // The sum has wrapped in the element's type before it is divided.
    return static_cast<typename Element::Native>(sum) / count;
  } else {
    return sum / static_cast<A>(count);
  }
}

// Every cell must hold something.
absl::Status CheckBoundaries(const FractionalCells& cells, const int64_t* boundaries, int64_t out,
                             int64_t size, std::string_view what) {
  for (int64_t i = 0; i < out; ++i) {
    const FractionalCells::Range r = cells.RangeAt(boundaries, i, size);
    if (r.begin >= 0 && r.begin < r.end) continue;
    return absl::InvalidArgumentError(absl::StrCat(what, "_pooling_sequence has no ", what,
                                                   "s in [0, ", size, ") between its values ",
                                                   boundaries[i], " and ", boundaries[i + 1]));
  }
  return absl::OkStatus();
}

// One channel of one image: FractionalAvgPoolGrad's sums are double, as integers are divided.
template <typename Element>
void AverageChannel(const FractionalGrad& s, const StepArgs& args, int64_t n, int64_t c,
                    double* sums, Element element) {
  const auto* rows = static_cast<const int64_t*>(args.in[s.gradient_input + 1]);
  const auto* columns = static_cast<const int64_t*>(args.in[s.gradient_input + 2]);
  for (int64_t out = 0; out < s.cells.out_places(); ++out) {
    int64_t count = 0;
    s.cells.ForEachInCell(rows, columns, out, [&](int64_t) { ++count; });
    const int64_t at = (n * s.cells.out_places() + out) * s.cells.channels + c;
    const double share =
        element.template As<double>(args.in[s.gradient_input], at) / static_cast<double>(count);
    s.cells.ForEachInCell(rows, columns, out, [&](int64_t place) { sums[place] += share; });
  }
}

// The gradient goes to the first largest value, which must be what was pooled.
template <typename A, typename Element>
absl::Status MaxChannel(const FractionalGrad& s, const StepArgs& args, int64_t n, int64_t c,
                        A* sums, Element element) {
  const auto* rows = static_cast<const int64_t*>(args.in[s.gradient_input + 1]);
  const auto* columns = static_cast<const int64_t*>(args.in[s.gradient_input + 2]);
  for (int64_t out = 0; out < s.cells.out_places(); ++out) {
    int64_t best = -1;
    A most = 0;
    s.cells.ForEachInCell(rows, columns, out, [&](int64_t place) {
      const A x = element.template As<A>(args.in[0],
                                         (n * s.cells.in_places() + place) * s.cells.channels + c);
      if (best >= 0 && !(x > most)) return;
      best = place;
      most = x;
    });
    const int64_t at = (n * s.cells.out_places() + out) * s.cells.channels + c;
    const A pooled = element.template As<A>(args.in[1], at);
    // NaN is not looked for: the forward op passes over it.
    if (pooled != most && pooled == pooled) {
      return absl::InvalidArgumentError(absl::StrCat("orig_output[", at, "] = ", pooled,
                                                     " is not the largest value ", most,
                                                     " of its cell in orig_input"));
    }
    sums[best] += element.template As<A>(args.in[s.gradient_input], at);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunFractionalPool(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FractionalPool*>(state);
  const FractionalCells& cells = s.cells;
  // The same cells in every run, or new ones.
  const int64_t blocks = BoundaryBlocks(cells.out_rows) + BoundaryBlocks(cells.out_columns);
  Philox philox = s.generator->Reserve(s.deterministic ? 0 : static_cast<uint64_t>(blocks));
  DrawBoundaries(cells.rows, cells.out_rows, s.pseudo_random, philox,
                 static_cast<int64_t*>(args.out[1]));
  DrawBoundaries(cells.columns, cells.out_columns, s.pseudo_random, philox,
                 static_cast<int64_t*>(args.out[2]));
  const int64_t places = cells.out_places();
  const int64_t bytes = cells.channels * 32;
  args.workers->ParallelFor(cells.batch * places, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    VisitReal(s.type, [&](auto element, auto zero) {
      for (int64_t t = begin; t < end; ++t) {
        for (int64_t c = 0; c < cells.channels; ++c) {
          element.Put(args.out[0], t * cells.channels + c,
                      PoolCell<decltype(zero)>(s, args, t / places, t % places, c, element));
        }
      }
    });
  });
  return absl::OkStatus();
}

absl::Status RunFractionalGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FractionalGrad*>(state);
  const FractionalCells& cells = s.cells;
  const auto* rows = static_cast<const int64_t*>(args.in[s.gradient_input + 1]);
  const auto* columns = static_cast<const int64_t*>(args.in[s.gradient_input + 2]);
  TENON_RETURN_IF_ERROR(CheckBoundaries(cells, rows, cells.out_rows, cells.rows, "row"));
  TENON_RETURN_IF_ERROR(CheckBoundaries(cells, columns, cells.out_columns, cells.columns, "col"));
  const int64_t places = cells.in_places();
  return ForEachTile(
      args, cells.batch * cells.channels, places * sizeof(double), [&](int64_t t, char* scratch) {
        const int64_t n = t / cells.channels, c = t % cells.channels;
        absl::Status status;
        VisitReal(s.type, [&](auto element, auto zero) {
          using A = decltype(zero);
          const auto store = [&](const auto* sums) {
            for (int64_t i = 0; i < places; ++i)
              element.Put(args.out[0], (n * places + i) * cells.channels + c, sums[i]);
          };
          if (s.max) {
            A* const sums = reinterpret_cast<A*>(scratch);
            std::fill(sums, sums + places, A());
            status = MaxChannel(s, args, n, c, sums, element);
            store(sums);
          } else {
            auto* const sums = reinterpret_cast<double*>(scratch);
            std::fill(sums, sums + places, 0.0);
            AverageChannel(s, args, n, c, sums, element);
            store(sums);
          }
        });
        return status;
      });
}

}  // namespace tenon::cpu
