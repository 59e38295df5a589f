#include "grappler_lite/remapping/rewrites.h"

namespace tenon {

bool FusePad(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  const bool last = IsNhwc(g, n);
  if (!last && s.context().target == Target::kTenon) return false;
  if (g.attr(n, "padding")->AsString().value_or("") != "VALID") return false;
  const Output padded = g.data_inputs(n)[0];
  if (g.op_name(padded.node) != "Pad" || s.fed(padded.node) || !OnlyFor(s, padded, n)) return false;
  const std::optional<Tensor> paddings = s.ConstOf(g.data_inputs(padded.node)[1], 8);
  if (!paddings || paddings->num_elements() != 8 || !IsInteger(paddings->dtype())) return false;
  std::vector<int64_t> explicit_paddings;
  for (int i = 0; i < 8; ++i) explicit_paddings.push_back(paddings->IntAt(i));
  for (int i : {0, last ? 3 : 1}) {  // batch and channels
    if (explicit_paddings[2 * i] != 0 || explicit_paddings[2 * i + 1] != 0) return false;
  }
  if (!s.Allow()) return false;
  NewAttrs attrs = AllAttrs(g, n);
  PutAttr(attrs, "padding", attr::String("EXPLICIT"));
  PutAttr(attrs, "explicit_paddings", attr::IntList(explicit_paddings));
  const std::vector<Output> controls = MergedControls(g, padded.node, n);
  const Output inputs[] = {g.data_inputs(padded.node)[0], g.data_inputs(n)[1]};
  g.SetKind(n, "Conv2D", std::move(attrs));
  g.SetInputs(n, inputs, controls);
  return true;
}

}  // namespace tenon
