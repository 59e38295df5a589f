// Recognizes softmax over the last dimension that is written out.
#include "grappler_lite/remapping/expression.h"
#include "grappler_lite/remapping/rewrites.h"

namespace tenon {
namespace {

// What `o` is `op`, a reduction, of over the last dimension, which is kept.
std::optional<Output> ReductionArgument(const Sweep& s, Expression& e, Output o,
                                        std::string_view op) {
  const std::span<const Output> in = e.OperandsOf(o, op);
  if (in.empty() || !s.graph().attr(o.node, "keep_dims")->AsBool().value_or(false))
    return std::nullopt;
  return IsLastAxis(s, in[1], s.shape(in[0]).rank()) ? std::optional<Output>(in[0]) : std::nullopt;
}

}  // namespace

bool RecognizeSoftmax(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (g.op_name(n) != "RealDiv") return false;
  Expression e(s, n, Sharing::kYes);
  const std::span<const Output> ratio = e.OperandsOf({n, 0}, "RealDiv");
  const std::optional<Output> power = e.ArgumentOf(ratio[0], "Exp");
  if (!power || ReductionArgument(s, e, ratio[1], "Sum") != ratio[0]) return false;
  const std::span<const Output> difference = e.OperandsOf(*power, "Sub");
  if (difference.empty()) return false;
  const Output x = difference[0];
  if (ReductionArgument(s, e, difference[1], "Max") != x || !e.IsClosed()) return false;
  const std::vector<Graph::NewAttr> attrs = {{"T", attr::Type(g.output_type({n, 0}))}};
  if (!HasKernel(s.context(), n, "Softmax", attrs) || !s.Allow()) return false;
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  g.SetKind(n, "Softmax", attrs);
  g.SetInputs(n, {&x, 1}, controls);
  return true;
}

}  // namespace tenon
