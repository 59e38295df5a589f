// The estimated times of steps.
#pragma once

#include "executor/plan/base/step_graph.h"
#include "graph/ir/graph.h"

namespace tenon {

// The microseconds that step k takes on one thread of a present machine, by the cost rule of its op
// and the bytes of its arguments. A guess for a kernel of a plug-in, and where a shape is not known
// before the run. Not of what runs in a branch or a loop that the step runs.
double StepCostUs(const Graph& nodes, const StepGraph& graph, int32_t k);

}  // namespace tenon
