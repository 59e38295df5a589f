// FractionalMaxPool and FractionalAvgPool: poolings over cells of varying size, and their
// gradients.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/nn/pool/fractional_cells.h"
#include "plugin/cpu/nn/pool/fractional_pool_loops.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status PrepareFractionalPool(Prepare& p, bool max) {
  const Shape& input = p.input_shape(0);
  if (input.rank() != 4)
    return p.Invalid(absl::StrCat("the value must have rank 4, not ", input.ToString()));
  auto s = std::make_shared<FractionalPool>();
  s->max = max;
  s->type = p.input_type(0);
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, p.AttrOf("pooling_ratio"));
  TENON_ASSIGN_OR_RETURN(const std::vector<float> ratios, attr.AsFloatList());
  if (ratios.size() != 4)
    return p.Invalid(absl::StrCat("pooling_ratio must have 4 values, not ", ratios.size()));
  int64_t out[4];
  for (int i = 0; i < 4; ++i) {
    if (!(ratios[i] >= 1))
      return p.Invalid(absl::StrCat("pooling_ratio must be at least 1, not ", ratios[i]));
    constexpr int64_t kMost = int64_t{1} << 30;
    if (input.dim(i) > kMost)
      return p.Invalid(absl::StrCat("dimension ", i, " of ", input.dim(i), " is too large"));
    out[i] = static_cast<int64_t>(std::floor(static_cast<float>(input.dim(i)) / ratios[i]));
    if (i % 3 != 0 && out[i] < 1) {
      return p.Invalid(absl::StrCat("pooling_ratio ", ratios[i], " leaves nothing of the ",
                                    input.dim(i), " values of dimension ", i));
    }
  }
  if (ratios[0] != 1 || ratios[3] != 1)
    return p.Unimplemented("fractional pooling over batch or channels is not built");
  s->cells = {input.dim(0), input.dim(1), input.dim(2), input.dim(3), out[1], out[2]};
  TENON_ASSIGN_OR_RETURN(s->pseudo_random, p.AttrBool("pseudo_random"));
  TENON_ASSIGN_OR_RETURN(s->cells.overlapping, p.AttrBool("overlapping"));
  TENON_ASSIGN_OR_RETURN(s->deterministic, p.AttrBool("deterministic"));
  TENON_ASSIGN_OR_RETURN(const int64_t seed, p.AttrInt("seed"));
  TENON_ASSIGN_OR_RETURN(const int64_t seed2, p.AttrInt("seed2"));
  if (!s->deterministic && (seed != 0 || seed2 != 0))
    return p.Invalid("seed and seed2 must be 0 if 'deterministic' is false");
  TENON_ASSIGN_OR_RETURN(s->generator, GeneratorOf(p));
  p.set_output_shape(0, Shape({input.dim(0), out[1], out[2], input.dim(3)}));
  p.set_output_shape(1, Shape({out[1] + 1}));
  p.set_output_shape(2, Shape({out[2] + 1}));
  p.set_run(&RunFractionalPool, std::move(s));
  return absl::OkStatus();
}

// --- Gradients.

absl::Status PrepareFractionalGrad(Prepare& p, const Shape& input, bool max) {
  const int first = max ? 2 : 1;
  const Shape& gradient = p.input_shape(first);
  if (input.rank() != 4 || gradient.rank() != 4) {
    return p.Invalid(absl::StrCat("input and gradient must have rank 4, not ", input.ToString(),
                                  " and ", gradient.ToString()));
  }
  if (gradient.dim(0) != input.dim(0) || gradient.dim(3) != input.dim(3)) {
    return p.Invalid(absl::StrCat("batch and channels of the gradient ", gradient.ToString(),
                                  " must be those of the input ", input.ToString()));
  }
  if (max) TENON_RETURN_IF_ERROR(CheckInputShape(p, 1, gradient));
  for (int i : {1, 2})
    TENON_RETURN_IF_ERROR(CheckInputShape(p, first + i, Shape({gradient.dim(i) + 1})));
  auto s = std::make_shared<FractionalGrad>();
  s->max = max;
  s->type = p.output_type(0);
  s->gradient_input = first;
  s->cells = {input.dim(0), input.dim(1),    input.dim(2),
              input.dim(3), gradient.dim(1), gradient.dim(2)};
  TENON_ASSIGN_OR_RETURN(s->cells.overlapping, p.AttrBool("overlapping"));
  p.set_output_shape(0, input);
  if (input.num_elements() == 0) return absl::OkStatus();
  p.set_scratch_bytes(TileScratchBytes(p.workers(), s->cells.batch * s->cells.channels,
                                       s->cells.in_places() * sizeof(double)));
  p.set_run(&RunFractionalGrad, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareFractionalMaxPool(Prepare& p) { return PrepareFractionalPool(p, true); }
absl::Status PrepareFractionalAvgPool(Prepare& p) { return PrepareFractionalPool(p, false); }
absl::Status PrepareMaxGrad(Prepare& p) { return PrepareFractionalGrad(p, p.input_shape(0), true); }
absl::Status PrepareAvgGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  TENON_ASSIGN_OR_RETURN(const Shape input, CheckedShape(p, dims));
  return PrepareFractionalGrad(p, input, false);
}

constexpr uint64_t kTypes =
    TypeBits(DataType::kFloat, DataType::kDouble, DataType::kInt32, DataType::kInt64);

const CpuKernelSpec kFractionalPoolKernels[] = {
    {"FractionalMaxPool", {{"T", kTypes}}, &PrepareFractionalMaxPool, 0, true},
    {"FractionalAvgPool", {{"T", kTypes}}, &PrepareFractionalAvgPool, 0, true},
    {"FractionalMaxPoolGrad", {{"T", kTypes}}, &PrepareMaxGrad},
    {"FractionalAvgPoolGrad", {{"T", kTypes}}, &PrepareAvgGrad, 0b1},
};

}  // namespace

absl::Span<const CpuKernelSpec> FractionalPoolKernels() { return kFractionalPoolKernels; }

}  // namespace tenon::cpu
