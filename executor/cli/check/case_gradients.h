// Adds the gradients that a case of a self-checking graph asks for.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/check/check_case.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// Changes `graph`, which must be GraphOfCase of this case, and the case, which must have a
// GradientTask: adds the gradients of the loss, and makes them what is fetched. Wants then count
// these fetches; a gradient that need not exist becomes one of the zeros. The fetches are empty if
// there is no gradient, as is right.
//
// NOT_FOUND or UNIMPLEMENTED: an op has no gradient. INVALID_ARGUMENT: a name is no output of the
// graph. FAILED_PRECONDITION: there is no gradient where one is right. Other errors are those of
// GraphShapes::Infer and AddGradients.
absl::Status AddCaseGradients(Graph& graph, CheckCase& c);

// Whether each element is 0 or -0. False for strings and objects.
bool IsAllZeros(const Tensor& tensor);

}  // namespace tenon::cli
