// IsotonicRegression: the row that does not rise and is closest to a row in the sum of squares. By
// the algorithm "pool adjacent violators", in linear time.
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct IsotonicState {
  int64_t rows = 0, columns = 0;
  DataType in, out;
};

// Neighbours that share their mean.
struct Pool {
  double sum;
  int64_t begin, count;
  double mean() const { return sum / static_cast<double>(count); }
};

// A pool joins the one before it as long as that one is lower. `pools` has room for a row.
int64_t PoolRow(const IsotonicState& s, const void* in, int64_t row, Pool* pools) {
  int64_t n = 0;
  VisitReal(s.in, [&](auto element, auto) {
    for (int64_t c = 0; c < s.columns; ++c) {
      pools[n++] = {element.template As<double>(in, row * s.columns + c), c, 1};
      // Each element joins a pool once, which bounds the merges of a row by its length.
      for (; n > 1 && pools[n - 2].mean() < pools[n - 1].mean(); --n) {
        pools[n - 2].sum += pools[n - 1].sum;
        pools[n - 2].count += pools[n - 1].count;
      }
    }
  });
  return n;
}

absl::Status RunIsotonic(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const IsotonicState*>(state);
  Pool* const pools = static_cast<Pool*>(args.scratch);
  auto* const segments = static_cast<int32_t*>(args.out[1]);
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t n = PoolRow(s, args.in[0], row, pools);
    VisitFloat(s.out, [&](auto element) {
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t i = 0; i < pools[k].count; ++i) {
          const int64_t at = row * s.columns + pools[k].begin + i;
          element.Put(args.out[0], at, pools[k].mean());
          segments[at] = static_cast<int32_t>(k);
        }
      }
    });
  }
  return absl::OkStatus();
}

absl::Status PrepareIsotonic(Prepare& p) {
  const Shape& in = p.input_shape(0);
  auto s = std::make_shared<IsotonicState>();
  s->columns = in.rank() == 0 ? 1 : in.dim(in.rank() - 1);
  s->rows = s->columns == 0 ? 0 : in.num_elements() / s->columns;
  s->in = p.input_type(0);
  s->out = p.output_type(0);
  p.set_output_shape(0, in);
  p.set_output_shape(1, in);
  // As a shape, so that the product of row length and pool size is checked.
  TENON_ASSIGN_OR_RETURN(const Shape scratch, CheckedShape(p, {s->columns, int64_t{sizeof(Pool)}}));
  p.set_scratch_bytes(static_cast<size_t>(scratch.num_elements()));
  p.set_run(&RunIsotonic, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> IsotonicRegressionKernels() {
  static const CpuKernelSpec specs[] = {
      {"IsotonicRegression", {{"T", kRealTypes}, {"output_dtype", kFloatTypes}}, PrepareIsotonic},
  };
  return specs;
}

}  // namespace tenon::cpu
