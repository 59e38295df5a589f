// QuantizedMaxPool and QuantizedAvgPool.
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/quantize/type_sets.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status RunPool(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pool*>(state);
  const int64_t places = s.out_places();
  const int64_t bytes = s.out_channels * s.covered_places();
  VisitQuantized(s.type, [&](auto element) {
    args.workers->ParallelFor(s.batch * places, GrainFor(bytes), [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t n = t / places, out = t % places;
        for (int64_t c = 0; c < s.out_channels; ++c) {
          // The mean is cut off towards 0.
          element.Put(args.out[0], s.OutputAt(n, out, c),
                      PoolOne<int64_t>(s, args.in[0], element, n, out, c));
        }
      }
    });
  });
  // The greatest and the mean of integers stand for those of the values, so the range stays.
  StoreRange(args, 1, InputRange(args, 1));
  return absl::OkStatus();
}

template <bool kMax>
absl::Status PreparePool(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Pool s, ReadPool(p, p.input_shape(0), {.max = kMax}));
  if (s.depth_window != 1) return p.Unimplemented("pooling over channels is not built");
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 1, 3));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, s.OutputDims()));
  SetQuantizedOutput(p, output);
  p.set_run(&RunPool, std::make_shared<Pool>(s));
  return absl::OkStatus();
}

const CpuKernelSpec kQuantizedPoolKernels[] = {
    {"QuantizedMaxPool", {{"T", kBytes}}, &PreparePool<true>},
    {"QuantizedAvgPool", {{"T", kBytes}}, &PreparePool<false>},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizedPoolKernels() { return kQuantizedPoolKernels; }

}  // namespace tenon::cpu
