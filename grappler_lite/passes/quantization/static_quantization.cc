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

constexpr Rewrite kStaticRewrites[] = {
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
