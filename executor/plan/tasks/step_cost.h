// The estimated times of steps.
#pragma once

#include "executor/plan/base/step_graph.h"
#include "graph/ir/graph.h"

namespace tenon {

// The microseconds that step k takes on one thread of a present machine, by the cost rule of its op
// and the bytes of its arguments. Where a shape is not known before the run, a guess of a few
// microseconds. Not of what runs in a branch or a loop that the step runs.
double StepCostUs(const Graph& nodes, const StepGraph& graph, int32_t k);

}  // namespace tenon
