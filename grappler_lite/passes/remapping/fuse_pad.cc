// Pad before a convolution becomes the convolution's EXPLICIT padding, which saves a copy of the
// image.

#include <cmath>

#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

bool AllFinite(const Tensor& t) {
  if (!IsFloating(t.dtype())) return true;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const bool finite = t.dtype() == DataType::kFloat ? std::isfinite(ElementAt<float>(t, i))
                                                      : std::isfinite(NumberAt(t, i).value_or(NAN));
    if (!finite) return false;
  }
  return true;
}

// The paddings of batch, rows, columns and channels that a convolution n may take over: with those
// that put a window outside of the image oneDNN needs longer than with a copy.
std::optional<std::vector<int64_t>> PaddingsFor(const Sweep& s, NodeId n, Output constant,
                                                const Shape& filter) {
  constexpr int kRank = 4;
  const Graph& g = s.graph();
  const std::optional<Tensor> paddings = s.ConstOf(constant, 2 * kRank);
  if (!paddings || paddings->num_elements() != 2 * kRank || !IsInteger(paddings->dtype()) ||
      filter.rank() != kRank)
    return std::nullopt;
  std::vector<int64_t> dilations(kRank, 1), result;
  if (const AttrValue* attr = g.attr(n, "dilations"))
    dilations = attr->AsIntList().value_or(std::vector<int64_t>());
  if (dilations.size() != kRank) return std::nullopt;
  const int rows = IsNhwc(g, n) ? 1 : 2;
  for (int d = 0; d < kRank; ++d) {
    const int64_t before = paddings->IntAt(2 * d), after = paddings->IntAt(2 * d + 1);
    const bool spatial = d == rows || d == rows + 1;
    const int64_t most = spatial ? (filter.dim(d - rows) - 1) * dilations[d] : 0;
    if (before < 0 || after < 0 || before > most || after > most - before) return std::nullopt;
    result.insert(result.end(), {before, after});
  }
  return result;
}

}  // namespace

bool FusePad(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (!IsNhwc(g, n) && !s.context().target.is_tensorflow()) return false;
  if (g.attr(n, "padding")->AsString().value_or("") != "VALID") return false;
  const Output padded = g.data_inputs(n)[0];
  if (g.op_name(padded.node) != "Pad" || s.fed(padded.node) || !OnlyFor(s, padded, n)) return false;
  // Convolutions leave paddings out, which times an infinity or NaN would be NaN.
  const std::optional<Tensor> filter = s.ConstOf(g.data_inputs(n)[1], INT64_MAX);
  if (!filter) return false;
  const std::optional<std::vector<int64_t>> paddings =
      PaddingsFor(s, n, g.data_inputs(padded.node)[1], filter->shape());
  if (!paddings || !AllFinite(*filter) || !s.Allow()) return false;
  NewAttrs attrs = AllAttrs(g, n);
  PutAttr(attrs, "padding", attr::String("EXPLICIT"));
  PutAttr(attrs, "explicit_paddings", attr::IntList(*paddings));
  const std::vector<Output> controls = MergedControls(g, padded.node, n);
  const Output inputs[] = {g.data_inputs(padded.node)[0], g.data_inputs(n)[1]};
  g.SetKind(n, "Conv2D", std::move(attrs));
  g.SetInputs(n, inputs, controls);
  return true;
}

}  // namespace tenon
