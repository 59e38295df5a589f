#include "plugin/cpu/nn/pool/pool_argmax_loops.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

// Pools the windows at place `out` of image n, one for each channel, in arithmetic of type A.
template <typename A, typename Element>
void PoolPlace(const ArgmaxPool& s, const StepArgs& args, Element element, int64_t n, int64_t out) {
  const Pool& pool = s.pool;
  for (int64_t c = 0; c < pool.out_channels; ++c) {
    int64_t best = -1;
    A most = 0;
    pool.ForEachInWindow(out, [&](int64_t in, int64_t) {
      const int64_t at = pool.InputAt(n, in, c);
      const A x = element.template As<A>(args.in[0], at);
      // A NaN at the first place stays: nothing is above it.
      if (best >= 0 && !(x > most)) return;
      best = at;
      most = x;
    });
    const int64_t to = pool.OutputAt(n, out, c);
    const int64_t position = best - (s.from_batch ? 0 : n * s.image_elements());
    element.Put(args.out[0], to, most);
    StoreIndex(args.out[1], s.is64, to, position);
  }
}

// The element of the input that entry i of argmax (input 2) names; an error if there is none.
absl::StatusOr<int64_t> Target(const ArgmaxPool& s, const StepArgs& args, int64_t i) {
  // The image of entry i.
  const int64_t n = i / (s.pool.out_places() * s.pool.out_channels);
  const int64_t begin = s.from_batch ? 0 : n * s.image_elements();
  const int64_t size = s.from_batch ? s.pool.batch * s.image_elements() : s.image_elements();
  const int64_t position = LoadIndex(args.in[2], s.is64, i);
  if (position >= 0 && position < size) return begin + position;
  return absl::InvalidArgumentError(
      absl::StrCat("argmax[", i, "] = ", position, " is not in [0, ", size, ")"));
}

int64_t OutputElements(const Pool& pool) {
  return pool.batch * pool.out_places() * pool.out_channels;
}

}  // namespace

absl::Status RunWithArgmax(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ArgmaxPool*>(state);
  const Pool& pool = s.pool;
  const int64_t places = pool.out_places();
  const int64_t bytes = pool.out_channels * pool.covered_places() * 8;
  args.workers->ParallelFor(pool.batch * places, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    VisitReal(pool.type, [&](auto element, auto zero) {
      for (int64_t t = begin; t < end; ++t)
        PoolPlace<decltype(zero)>(s, args, element, t / places, t % places);
    });
  });
  return absl::OkStatus();
}

absl::Status RunArgmaxGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ArgmaxPool*>(state);
  memset(args.out[0], 0, s.pool.batch * s.image_elements() * DataTypeSize(s.pool.type));
  absl::Status status;
  VisitReal(s.pool.type, [&](auto element, auto zero) {
    using A = decltype(zero);
    for (int64_t i = 0; i < OutputElements(s.pool); ++i) {
      const absl::StatusOr<int64_t> to = Target(s, args, i);
      if (!to.ok()) {
        status = to.status();
        return;
      }
      element.Put(args.out[0], *to,
                  static_cast<A>(element.template As<A>(args.out[0], *to) +
                                 element.template As<A>(args.in[1], i)));
    }
  });
  return status;
}

absl::Status RunArgmaxGradGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ArgmaxPool*>(state);
  const size_t size = DataTypeSize(s.pool.type);
  for (int64_t i = 0; i < OutputElements(s.pool); ++i) {
    TENON_ASSIGN_OR_RETURN(const int64_t from, Target(s, args, i));
    memcpy(static_cast<char*>(args.out[0]) + i * size,
           static_cast<const char*>(args.in[1]) + from * size, size);
  }
  return absl::OkStatus();
}

}  // namespace tenon::cpu
