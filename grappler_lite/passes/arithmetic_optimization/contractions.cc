// Factors of what a contraction reads, moved into its constant weights.
#include <cmath>

#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// `weights` times `factor`, a single number; nullopt where a product is too large or too small to
// keep its precision, or the factor is of no ordinary size.
template <typename T>
std::optional<Tensor> Scaled(const Tensor& weights, const Tensor& factor) {
  constexpr T kLargest = 1 << 30;
  const T by = ElementAt<T>(factor, 0);
  if (!(std::abs(by) <= kLargest && std::abs(by) >= 1 / kLargest)) return std::nullopt;
  absl::StatusOr<Tensor> scaled = Tensor::Allocate(weights.dtype(), weights.shape());
  if (!scaled.ok()) return std::nullopt;
  for (int64_t i = 0; i < weights.num_elements(); ++i) {
    const T w = ElementAt<T>(weights, i);
    if (w != 0 && !std::isnormal(w * by)) return std::nullopt;
    scaled->flat<T>()[i] = w * by;
  }
  return *std::move(scaled);
}

// f(x * c, w) is f(x, w * c) for a number c and constants w that nobody else reads.
bool FoldMultiplyIntoWeights(Sweep& s, NodeId n) {
  constexpr int64_t kMostElements = int64_t{1} << 24;
  const Graph& g = s.graph();
  const NodeId mul = OwnProducer(s, n, 0, {"Mul"});
  const Output weights = g.data_inputs(n)[1];
  if (mul == kNoNode || !s.OnlyUse(weights)) return false;
  for (int i : {0, 1}) {
    const Output x = g.data_inputs(mul)[i];
    const std::optional<Tensor> factor = s.ConstOf(g.data_inputs(mul)[1 - i], 1);
    if (!factor || factor->num_elements() != 1 || !KeepsShape(s, x, *factor)) continue;
    const std::optional<Tensor> w = s.ConstOf(weights, kMostElements);
    if (!w) return false;
    std::optional<Tensor> scaled;
    if (w->dtype() == DataType::kFloat) scaled = Scaled<float>(*w, *factor);
    if (w->dtype() == DataType::kDouble) scaled = Scaled<double>(*w, *factor);
    if (!scaled || !s.HasConstKernel(n, w->dtype()) || !s.Allow()) return false;
    const Output new_weights = s.AddConst(n, "scaled", *scaled);
    s.SetInput(n, 0, x);
    s.SetInput(n, 1, new_weights);
    return true;
  }
  return false;
}

constexpr Rewrite kContractionsRewrites[] = {
    {"fold_multiply_into_weights", Exactness::kToleranced, FoldMultiplyIntoWeights,
     "Conv2D Conv3D DepthwiseConv2dNative MatMul"},
};

}  // namespace

std::span<const Rewrite> Contractions() { return kContractionsRewrites; }

}  // namespace tenon::arithmetic
