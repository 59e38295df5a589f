// MaxPoolWithArgmax, which also says where each largest value was found, and the gradients that
// follow it there.
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct ArgmaxPool {
  Pool pool;
  bool is64 = true;
  bool from_batch = false;  // positions count from the batch's first element, not the image's

  int64_t image_elements() const { return pool.in_places() * pool.in_channels; }
};

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

// One thread, in the order of the outputs: overlapping windows may name one element, and sums in
// the elements' own type depend on their order.
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

absl::StatusOr<ArgmaxPool> ReadArgmaxPool(const Prepare& p) {
  ArgmaxPool s;
  TENON_ASSIGN_OR_RETURN(s.pool, ReadPool(p, p.input_shape(0), {.max = true}));
  if (s.pool.depth_window != 1)
    return p.Unimplemented("pooling over channels with positions is not built");
  TENON_ASSIGN_OR_RETURN(const DataType index, p.AttrType("Targmax"));
  s.is64 = index == DataType::kInt64;
  TENON_ASSIGN_OR_RETURN(s.from_batch, p.AttrBool("include_batch_in_index"));
  return s;
}

absl::Status PrepareWithArgmax(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(ArgmaxPool s, ReadArgmaxPool(p));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, s.pool.OutputDims()));
  if (!s.is64 && p.input_shape(0).num_elements() > std::numeric_limits<int32_t>::max())
    return p.Invalid("positions in the input do not fit int32");
  p.set_output_shape(0, output);
  p.set_output_shape(1, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunWithArgmax, std::make_shared<ArgmaxPool>(s));
  return absl::OkStatus();
}

absl::Status PrepareArgmaxGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(ArgmaxPool s, ReadArgmaxPool(p));
  for (int i : {1, 2}) TENON_RETURN_IF_ERROR(CheckPooled(p, s.pool, i));
  p.set_output_shape(0, p.input_shape(0));
  if (p.input_shape(0).num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunArgmaxGrad, std::make_shared<ArgmaxPool>(s));
  return absl::OkStatus();
}

absl::Status PrepareArgmaxGradGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(ArgmaxPool s, ReadArgmaxPool(p));
  TENON_RETURN_IF_ERROR(CheckPooled(p, s.pool, 2));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 1, p.input_shape(0)));
  p.set_output_shape(0, p.input_shape(2));
  if (p.input_shape(2).num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunArgmaxGradGrad, std::make_shared<ArgmaxPool>(s));
  return absl::OkStatus();
}

const CpuKernelSpec kArgmaxPoolKernels[] = {
    {"MaxPoolWithArgmax", {{"T", kRealTypes}, {"Targmax", kIndexTypes}}, &PrepareWithArgmax},
    {"MaxPoolGradWithArgmax", {{"T", kRealTypes}, {"Targmax", kIndexTypes}}, &PrepareArgmaxGrad},
    {"MaxPoolGradGradWithArgmax",
     {{"T", kRealTypes}, {"Targmax", kIndexTypes}},
     &PrepareArgmaxGradGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> ArgmaxPoolKernels() { return kArgmaxPoolKernels; }

}  // namespace tenon::cpu
