// Recognizes softmax over the last dimension that is written out.
#include "grappler_lite/passes/remapping/expression.h"
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {

// exp(x) / sum(exp(x)) without the maximum taken off is left alone: it is infinite or NaN for large
// x, where Softmax is not.
bool RecognizeSoftmax(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  Expression e(s, n, Sharing::kYes);
  const std::span<const Output> ratio = e.OperandsOf({n, 0}, "RealDiv");
  const std::optional<Output> power = e.ArgumentOf(ratio[0], "Exp");
  if (!power || e.LastAxisArgumentOf(ratio[1], "Sum") != ratio[0]) return false;
  const std::span<const Output> difference = e.OperandsOf(*power, "Sub");
  if (difference.empty()) return false;
  const Output x = difference[0];
  if (e.LastAxisArgumentOf(difference[1], "Max") != x || !e.IsClosed()) return false;
  const NewAttrs attrs = {{"T", attr::Type(g.output_type({n, 0}))}};
  if (!s.HasKernel(n, "Softmax", attrs) || !s.Allow()) return false;
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  g.BecomeOp(n, "Softmax", attrs);
  g.SetInputs(n, {&x, 1}, controls);
  return true;
}

}  // namespace tenon
