// Softmax and LogSoftmax over the last dimension.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/attention/softmax_rows.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct SoftmaxState {
  int64_t rows, n;
  bool log;
  DataType type;
  void (*compute)(const SoftmaxRows&);
  ElementLoop widen = nullptr, narrow = nullptr;  // of half and bfloat16
  void (*compute_doubles)(const DoubleSoftmaxRows&) = nullptr;
};

absl::Status RunFloatSoftmax(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SoftmaxState*>(state);
  const float* const x = static_cast<const float*>(args.in[0]);
  float* const y = static_cast<float*>(args.out[0]);
  args.workers->ParallelFor(s.rows, GrainFor(s.n * 8), [&](int64_t begin, int64_t end) {
    s.compute({x + begin * s.n, y + begin * s.n, end - begin, s.n});
  });
  return absl::OkStatus();
}

// The rows of a tile: about as many numbers as the first cache holds.
int64_t RowsOfTile(const SoftmaxState& s) { return std::max<int64_t>(1, 4096 / s.n); }
int64_t TilesOf(const SoftmaxState& s) { return (s.rows + RowsOfTile(s) - 1) / RowsOfTile(s); }
size_t SlotBytes(const SoftmaxState& s) {
  return AlignedBytes(static_cast<size_t>(RowsOfTile(s) * s.n) * sizeof(float));
}

// Half and bfloat16: rows are widened to float, and rounded once at the end.
absl::Status RunShortSoftmax(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SoftmaxState*>(state);
  return ForEachTile(args, TilesOf(s), SlotBytes(s), [&](int64_t tile, char* scratch) {
    const int64_t first = tile * RowsOfTile(s), rows = std::min(RowsOfTile(s), s.rows - first);
    const void* x = static_cast<const char*>(args.in[0]) + first * s.n * 2;
    float* const wide = reinterpret_cast<float*>(scratch);
    s.widen(&x, wide, rows * s.n, 0);
    s.compute({wide, wide, rows, s.n});
    const void* const result = wide;
    s.narrow(&result, static_cast<char*>(args.out[0]) + first * s.n * 2, rows * s.n, 0);
    return absl::OkStatus();
  });
}

absl::Status RunDoubleSoftmax(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SoftmaxState*>(state);
  const double* const x = static_cast<const double*>(args.in[0]);
  double* const y = static_cast<double*>(args.out[0]);
  args.workers->ParallelFor(s.rows, GrainFor(s.n * 16), [&](int64_t begin, int64_t end) {
    s.compute_doubles({x + begin * s.n, y + begin * s.n, end - begin, s.n});
  });
  return absl::OkStatus();
}

absl::Status PrepareSoftmaxAs(Prepare& p, bool log) {
  const Shape& logits = p.input_shape(0);
  if (logits.rank() < 1) return p.Invalid("the logits must have at least rank 1, not 0");
  p.set_output_shape(0, logits);
  p.AllowInPlace(0, 0);
  if (logits.num_elements() == 0) return absl::OkStatus();
  auto s = std::make_shared<SoftmaxState>();
  s->n = logits.dim(logits.rank() - 1);
  s->rows = logits.num_elements() / s->n;
  s->log = log;
  s->type = p.input_type(0);
  using Compute = void (*)(const SoftmaxRows&);
  s->compute = log ? SelectIsa<Compute>(&sse2::LogSoftmax, &avx2::LogSoftmax, &avx512::LogSoftmax)
                   : SelectIsa<Compute>(&sse2::Softmax, &avx2::Softmax, &avx512::Softmax);
  if (s->type == DataType::kFloat) {
    p.set_run(&RunFloatSoftmax, s);
    return absl::OkStatus();
  }
  if (s->type == DataType::kDouble) {
    using ComputeDoubles = void (*)(const DoubleSoftmaxRows&);
    s->compute_doubles =
        log ? SelectIsa<ComputeDoubles>(&sse2::DoubleLogSoftmax, &avx2::DoubleLogSoftmax,
                                        &avx512::DoubleLogSoftmax)
            : SelectIsa<ComputeDoubles>(&sse2::DoubleSoftmax, &avx2::DoubleSoftmax,
                                        &avx512::DoubleSoftmax);
    p.set_run(&RunDoubleSoftmax, s);
    return absl::OkStatus();
  }
  p.set_scratch_bytes(TileScratchBytes(p.workers(), TilesOf(*s), SlotBytes(*s)));
  s->widen = FindCastLoop(s->type, DataType::kFloat);
  s->narrow = FindCastLoop(DataType::kFloat, s->type);
  p.set_run(&RunShortSoftmax, s);
  return absl::OkStatus();
}

absl::Status PrepareSoftmax(Prepare& p) { return PrepareSoftmaxAs(p, false); }
absl::Status PrepareLogSoftmax(Prepare& p) { return PrepareSoftmaxAs(p, true); }

const CpuKernelSpec kSoftmaxKernels[] = {
    {"Softmax", {{"T", kFloatTypes}}, &PrepareSoftmax},
    {"LogSoftmax", {{"T", kFloatTypes}}, &PrepareLogSoftmax},
};

}  // namespace

absl::Span<const CpuKernelSpec> SoftmaxKernels() { return kSoftmaxKernels; }

}  // namespace tenon::cpu
