// Adds the gradients that a case of a self-checking graph asks for.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/check/check_case.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// Adds the gradients of the loss to `graph`, which must be GraphOfCase of case `c`. The case must
// have a GradientTask. c.fetches become the gradients that exist, in the order of
// GradientTask::wrt, and the indices in c.wants become indices into them. A gradient that exists
// though GradientTask::exists is false for it is added to c.zeros. c.fetches are empty if no
// gradient exists and none need exist.
//
// NOT_FOUND or UNIMPLEMENTED: an op has no gradient. INVALID_ARGUMENT: a name is no output of the
// graph. FAILED_PRECONDITION: no gradient exists though GradientTask::exists is true for it. Other
// errors are those of GraphShapes::Infer and AddDenseGradients. After an error, `graph` and `c` may
// be changed in part.
absl::Status AddCaseGradients(Graph& graph, CheckCase& c);

// Whether each element is 0 or -0. False for strings and objects.
bool IsAllZeros(const Tensor& tensor);

}  // namespace tenon::cli
