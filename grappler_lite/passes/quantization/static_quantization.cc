// Products and convolutions of what the graph itself rounds to 8 bits, by FakeQuant ops,
// QuantizeAndDequantize or Dequantize: they become products of bytes. Weights are constants by now,
// since constant_folding has rounded them: what they were rounded to is seen in their values.
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grappler_lite/passes/quantization/quantized_ops.h"
#include "grappler_lite/passes/quantization/value_grids.h"
#include "grappler_lite/passes/quantization/weighted_ops.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {
namespace {

template <typename Quantize>
bool QuantizeRounded(Sweep& s, NodeId n, const Quantize& quantize) {
  if (!IsFloatProduct(s.graph(), n)) return false;
  const std::optional<GridValue> input = FindGrid(s, s.graph().data_inputs(n)[0]);
  return Applied(
      s, n,
      input ? quantize(*input, s.context().Argument(kMinWeights))
            : Obstacle("its input is not rounded to 8 bits by a constant range that holds 0"));
}

bool QuantizeRoundedProduct(Sweep& s, NodeId n) {
  return QuantizeRounded(s, n, [&](const GridValue& input, int64_t min_weights) {
    return QuantizeProduct(s, n, input, min_weights);
  });
}

bool QuantizeRoundedConv(Sweep& s, NodeId n) {
  return QuantizeRounded(s, n, [&](const GridValue& input, int64_t min_weights) {
    return QuantizeConv(s, n, input, min_weights);
  });
}

// Rounding that the graph writes out in single ops becomes one: products and convolutions are not
// all that reads it.
bool FuseRounding(Sweep& s, NodeId n) {
  const std::optional<GridValue> value = FindComputedGrid(s, {n, 0});
  constexpr int kSteps = 255;  // of FakeQuant's 8 bits
  if (!value || s.graph().output_type(value->from) != DataType::kFloat) return false;
  const ValueGrid& grid = value->grid;
  if (grid.most - grid.least != kSteps) return false;
  NewAttrs attrs = {{"min", attr::Float(static_cast<float>(grid.least) * grid.step)},
                    {"max", attr::Float(static_cast<float>(grid.most) * grid.step)},
                    {"num_bits", attr::Int(8)},
                    {"narrow_range", attr::Bool(false)}};
  constexpr std::string_view kOp = "FakeQuantWithMinMaxArgs";
  if (!s.HasKernel(n, kOp, attrs) || !s.Allow()) return false;
  s.Become(n, kOp, {{value->from}}, std::move(attrs));
  return true;
}

constexpr Rewrite kStaticRewrites[] = {
    {"fuse_rounding", Exactness::kLowPrecision, FuseRounding, "Mul RealDiv"},
    {"quantize_product", Exactness::kLowPrecision, QuantizeRoundedProduct,
     "MatMul _FusedMatMul BatchMatMulV2 BatchMatMulV3 _TenonProjections"},
    {"quantize_convolution", Exactness::kLowPrecision, QuantizeRoundedConv, "Conv2D _FusedConv2D"},
};

class StaticQuantization : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return InfosOf(kStaticRewrites); }
  std::vector<PassOption> options() const override { return {kMinWeights}; }
  absl::StatusOr<bool> Run(PassContext& context) override {
    if (context.target.is_tensorflow()) {
      return absl::FailedPreconditionError(
          absl::StrCat("TensorFlow has no products of bytes with floats around them: what is "
                       "written for the target ",
                       context.target.name(), " stays float; tenon is the target for it"));
    }
    return Sweep(context, InferShapes(context)).Run(kStaticRewrites);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeStaticQuantization() { return std::make_unique<StaticQuantization>(); }

}  // namespace tenon
