// One op's rule for its gradient as a row of a table (graph/gradients/<family>.cc).
// Private to graph/gradients/.
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace tenon::gradients {

class GradientScope;

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

// The row of an op; null if it has none.
const GradientRow* FindGradientRow(std::string_view op);

}  // namespace tenon::gradients
