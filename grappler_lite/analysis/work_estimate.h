// What computing a node costs, before it is computed: the same on every machine.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// In units of one multiplication or addition within a product of matrices; an element that is read
// or made counts for several, as kernels that are no products take time. Rough: right within an
// order of magnitude, for ops whose work is more than their elements alone say too. `elements`:
// of what comes out, where that is known, else 0.
int64_t EstimateWork(const Graph& graph, NodeId n, absl::Span<const Tensor> inputs,
                     int64_t elements);

}  // namespace tenon
