// One op's rule for its gradient as a row of a table (graph/gradients/<family>.cc).
// Private to graph/gradients/.
#pragma once

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "graph/gradients/gradients.h"

namespace tenon::gradients {

class Between;
class GradientScope;
class GraphBuilder;
class LoopFrames;

// Adds the gradients of the inputs of the scope's node, by GradientScope::Set. An input for which
// it sets nothing has none. Errors go to GradientScope::Fail or arise from nodes that cannot be
// added. Rules keep no state and may run on several threads, each with a scope of its own.
using GradientFn = void (*)(GradientScope&);

// `fn` is null for an op that passes no gradient on, whatever flows into it: TensorFlow's
// "not differentiable". That is not the same as an op without a row, at which AddGradients fails.
struct GradientRow {
  const char* op;
  GradientFn fn;
};

// The row of an op; null if the op has none. Rows live as long as the process.
const GradientRow* FindGradientRow(std::string_view op);

// The rule for the loop frames.loops()[loop]. `incoming` has the gradient that flows into each node
// of its `exits`, in their order. The result has the gradient of the input of each node of its
// `enters`, in their order. `between` are the nodes through which gradients flow. Adds nodes to the
// loop in the graph, which count its iterations and save what the gradient needs
// (GraphBuilder::added_forward). Errors go to the builder.
std::vector<Gradient> FrameGradient(GraphBuilder& b, const LoopFrames& frames, int loop,
                                    absl::Span<const Gradient> incoming, const Between& between);

}  // namespace tenon::gradients
