// Softmax and LogSoftmax over the last dimension.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/attention/softmax_rows.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

struct SoftmaxState {
  int64_t rows, n;
  bool log;
  DataType type;
  void (*compute)(const SoftmaxRows&);
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

// One row in double precision.
template <typename Element>
void ComputeRow(const SoftmaxState& s, const void* in, void* out, int64_t at, Element element) {
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
  // The maximum is taken off first, so that no exponential overflows.
  for (int64_t i = 0; i < s.n; ++i) max = std::max(max, element.template As<double>(in, at + i));
  for (int64_t i = 0; i < s.n; ++i) sum += std::exp(element.template As<double>(in, at + i) - max);
  const double log_sum = std::log(sum);
  for (int64_t i = 0; i < s.n; ++i) {
    const double x = element.template As<double>(in, at + i) - max;
    element.Put(out, at + i, s.log ? x - log_sum : std::exp(x) / sum);
  }
}

absl::Status RunAnySoftmax(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SoftmaxState*>(state);
  args.workers->ParallelFor(s.rows, GrainFor(s.n * 64), [&](int64_t begin, int64_t end) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t r = begin; r < end; ++r)
        ComputeRow(s, args.in[0], args.out[0], r * s.n, element);
    });
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
  p.set_run(s->type == DataType::kFloat ? &RunFloatSoftmax : &RunAnySoftmax, s);
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
