// Recognizes normalization over the last dimension that is written out.
#include "grappler_lite/passes/remapping/expression.h"
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

struct LayerNorm {
  Output x, scale, offset;
  double epsilon = 0;
};

class LayerNormMatcher {
 public:
  LayerNormMatcher(const Sweep& sweep, NodeId root)
      : s_(sweep), root_(root), e_(sweep, root, Sharing::kYes) {}

  // `product` + `rest`, the root's operands. Scale and offset apply after the mean is taken off, or
  // are folded into a factor and a summand of x.
  std::optional<LayerNorm> Match(Output product, Output rest) {
    if (e_.OperandsOf({root_, 0}, s_.graph().op_name(root_)).empty()) return std::nullopt;
    if (!MatchFolded(product, rest) && !MatchPlain(product, rest)) return std::nullopt;
    // Nodes that others read too would have to stay, and their work would be done twice.
    return e_.IsClosed() ? std::optional<LayerNorm>(norm_) : std::nullopt;
  }

 private:
  // Whether f(a, b) or f(b, a) of the operands of `o`, if it is an `op`.
  template <typename F>
  bool Either(Output o, std::string_view op, F f) {
    const std::span<const Output> in = e_.OperandsOf(o, op);
    return in.size() == 2 && (f(in[0], in[1]) || f(in[1], in[0]));
  }

  // x * m + (offset - mean * m), where m = scale / sqrt(variance + epsilon).
  bool MatchFolded(Output product, Output rest) {
    return Either(product, "Mul", [&](Output x, Output m) {
      if (!Either(m, "Mul", [&](Output root, Output scale) {
            norm_.scale = scale;
            return IsInverseDeviation(root);
          }))
        return false;
      return norm_.x == x && IsShift(rest, m);
    });
  }

  bool IsShift(Output o, Output m) {
    const auto is_mean_times_m = [&](Output a, Output b) { return a == mean_ && b == m; };
    const std::span<const Output> difference = e_.OperandsOf(o, "Sub");
    if (!difference.empty()) {
      norm_.offset = difference[0];
      return Either(difference[1], "Mul", is_mean_times_m);
    }
    return Either(o, "AddV2", [&](Output a, Output b) {
      norm_.offset = b;
      return Either(a, "Mul", [&](Output negative, Output factor) {
        return factor == m && e_.ArgumentOf(negative, "Neg") == mean_;
      });
    });
  }

  // (x - mean) / sqrt(variance + epsilon) * scale + offset.
  bool MatchPlain(Output product, Output rest) {
    norm_.offset = rest;
    return Either(product, "Mul", [&](Output a, Output b) {
      norm_.scale = b;
      if (Either(a, "Mul",
                 [&](Output c, Output f) { return IsInverseDeviation(f) && IsCentered(c); }))
        return true;
      const std::span<const Output> ratio = e_.OperandsOf(a, "RealDiv");
      if (!ratio.empty()) return IsDeviation(ratio[1]) && IsCentered(ratio[0]);
      return Either(b, "Mul", [&](Output f, Output scale) {
        norm_.scale = scale;
        return IsInverseDeviation(f) && IsCentered(a);
      });
    });
  }

  bool IsCentered(Output o) {
    const std::span<const Output> in = e_.OperandsOf(o, "Sub");
    return !in.empty() && in[0] == norm_.x && in[1] == mean_;
  }

  bool IsInverseDeviation(Output o) {
    if (const auto inside = e_.ArgumentOf(o, "Rsqrt")) return IsShiftedVariance(*inside);
    const auto deviation = e_.ArgumentOf(o, "Reciprocal");
    return deviation && IsDeviation(*deviation);
  }
  bool IsDeviation(Output o) {
    const auto inside = e_.ArgumentOf(o, "Sqrt");
    return inside && IsShiftedVariance(*inside);
  }

  bool IsShiftedVariance(Output o) {
    const std::optional<Sum> sum = e_.SumAt(o);
    if (!sum || sum->terms.size() != 1 || !(sum->constant >= 0)) return false;
    norm_.epsilon = sum->constant;
    const std::optional<Output> squares = e_.LastAxisArgumentOf(sum->terms[0], "Mean");
    if (!squares) return false;
    if (const auto difference = e_.ArgumentOf(*squares, "Square")) {
      const std::span<const Output> in = e_.OperandsOf(*difference, "Sub");
      return !in.empty() && SetMean(in[0], in[1]);
    }
    return Either(*squares, "SquaredDifference", [&](Output x, Output m) { return SetMean(x, m); });
  }

  bool SetMean(Output x, Output mean) {
    norm_.x = x;
    mean_ = mean;
    return e_.LastAxisArgumentOf(mean, "Mean") == x;
  }

  const Sweep& s_;
  const NodeId root_;
  Expression e_;
  LayerNorm norm_;
  Output mean_;
};

// Whether `o` holds one value for each of the last dimension's `channels` of a tensor of rank
// `rank`.
bool IsChannelParameter(const Sweep& s, Output o, int64_t channels, int rank) {
  const PartialShape& shape = s.shape(o);
  return IsChannelVector(shape, channels, true) && shape.rank() <= rank &&
         (shape.rank() == 1 || s.ConstOf(o).has_value());
}

absl::StatusOr<Output> Flat(Sweep& s, Output o) {
  if (s.shape(o).rank() == 1) return o;
  return FlatConst(s.graph(), o, *s.ConstOf(o));
}

}  // namespace

bool RecognizeLayerNorm(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (s.context().target.is_tensorflow()) return false;
  const std::span<const Output> in = g.data_inputs(n);
  std::optional<LayerNorm> norm = LayerNormMatcher(s, n).Match(in[0], in[1]);
  // A new matcher: the failed one has noted nodes of the other order as inside.
  if (!norm) norm = LayerNormMatcher(s, n).Match(in[1], in[0]);
  if (!norm) return false;
  const PartialShape x = s.shape(norm->x);
  const NewAttrs attrs = {{"T", attr::Type(g.output_type({n, 0}))},
                          {"epsilon", attr::Float(static_cast<float>(norm->epsilon))}};
  if (!s.HasKernel(n, "_TenonLayerNorm", attrs)) return false;
  for (const Output& o : {norm->scale, norm->offset}) {
    if (!IsChannelParameter(s, o, x.dim(-1), x.rank())) return false;
  }
  if (!s.Allow()) return false;
  const absl::StatusOr<Output> scale = Flat(s, norm->scale), offset = Flat(s, norm->offset);
  if (!scale.ok() || !offset.ok()) return false;
  const Output inputs[] = {norm->x, *scale, *offset};
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  g.BecomeOp(n, "_TenonLayerNorm", attrs);
  g.SetInputs(n, inputs, controls);
  return true;
}

}  // namespace tenon
