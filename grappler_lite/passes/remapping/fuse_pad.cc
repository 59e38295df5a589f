// Pad before a convolution becomes the convolution's padding, which saves a copy of the image:
// EXPLICIT; or SAME, if it is the same, of a depthwise one, whose fused form has no EXPLICIT.

#include <algorithm>
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

// Whether padding SAME pads images so.
bool IsSame(const Sweep& s, NodeId n, Output images, const Shape& filter,
            const std::vector<int64_t>& paddings) {
  const auto per_dim = [&](std::string_view name) {
    const AttrValue* attr = s.graph().attr(n, name);
    return attr == nullptr ? std::vector<int64_t>()
                           : attr->AsIntList().value_or(std::vector<int64_t>());
  };
  const std::vector<int64_t> strides = per_dim("strides"), dilations = per_dim("dilations");
  const PartialShape& shape = s.shape(images);
  if (shape.rank() != 4 || strides.size() != 4 || dilations.size() != 4) return false;
  const int rows = IsNhwc(s.graph(), n) ? 1 : 2;
  for (int d = rows; d < rows + 2; ++d) {
    const int64_t in = shape.dim(d), stride = strides[d];
    if (in < 1 || stride < 1) return false;
    const int64_t extent = (filter.dim(d - rows) - 1) * dilations[d] + 1;
    const int64_t total = std::max<int64_t>(0, (in - 1) / stride * stride + extent - in);
    if (paddings[2 * d] != total / 2 || paddings[2 * d + 1] != total - total / 2) return false;
  }
  return true;
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
  if (!paddings || !AllFinite(*filter)) return false;
  const bool depthwise = g.op_name(n) != "Conv2D";
  if (depthwise && !IsSame(s, n, g.data_inputs(padded.node)[0], filter->shape(), *paddings))
    return false;
  if (!s.Allow()) return false;
  NewAttrs attrs = AllAttrs(g, n);
  PutAttr(attrs, "padding", attr::String(depthwise ? "SAME" : "EXPLICIT"));
  if (!depthwise) PutAttr(attrs, "explicit_paddings", attr::IntList(*paddings));
  const std::vector<Output> controls = MergedControls(g, padded.node, n);
  const Output inputs[] = {g.data_inputs(padded.node)[0], g.data_inputs(n)[1]};
  g.SetKind(n, depthwise ? "DepthwiseConv2dNative" : "Conv2D", std::move(attrs));
  g.SetInputs(n, inputs, controls);
  return true;
}

}  // namespace tenon
