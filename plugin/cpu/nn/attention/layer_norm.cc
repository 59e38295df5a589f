// _TenonLayerNorm: normalization over the last dimension.
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/attention/attention_rows.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum LayerNormInput { kLayerX, kLayerScale, kLayerOffset };

struct LayerNorm {
  int64_t rows, n;
  float epsilon;
  void (*normalize)(const LayerNormRows&);
};

absl::Status RunLayerNorm(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const LayerNorm*>(state);
  const auto in = [&](int i) { return static_cast<const float*>(args.in[i]); };
  float* const y = static_cast<float*>(args.out[0]);
  args.workers->ParallelFor(s.rows, GrainFor(s.n * 8), [&](int64_t begin, int64_t end) {
    s.normalize({in(kLayerX) + begin * s.n, y + begin * s.n, end - begin, s.n, in(kLayerScale),
                 in(kLayerOffset), s.epsilon});
  });
  return absl::OkStatus();
}

absl::Status PrepareLayerNorm(Prepare& p) {
  const Shape& x = p.input_shape(kLayerX);
  if (x.rank() < 1) return p.Invalid("x must have at least rank 1, not 0");
  auto s = std::make_shared<LayerNorm>();
  s->n = x.dim(x.rank() - 1);
  for (int i : {kLayerScale, kLayerOffset})
    TENON_RETURN_IF_ERROR(CheckInputShape(p, i, Shape({s->n})));
  TENON_ASSIGN_OR_RETURN(s->epsilon, p.AttrFloat("epsilon"));
  p.set_output_shape(0, x);
  // A row is read as a whole, twice, before it is written.
  p.AllowInPlace(0, kLayerX);
  if (x.num_elements() == 0) return absl::OkStatus();
  s->rows = x.num_elements() / s->n;
  s->normalize = SelectIsa<void (*)(const LayerNormRows&)>(
      &sse2::NormalizeLayer, &avx2::NormalizeLayer, &avx512::NormalizeLayer);
  p.set_run(&RunLayerNorm, s);
  return absl::OkStatus();
}

const CpuKernelSpec kLayerNormKernels[] = {
    {"_TenonLayerNorm", {{"T", TypeBit(DataType::kFloat)}}, &PrepareLayerNorm},
};

}  // namespace

absl::Span<const CpuKernelSpec> LayerNormKernels() { return kLayerNormKernels; }

}  // namespace tenon::cpu
