// Finds nodes that no device can run. The graph is valid; a run that needs such a node fails,
// unless a pass replaces the node.
#pragma once

#include "absl/types/span.h"
#include "graph/io/io.h"
#include "plugin/device/device.h"

namespace tenon::cli {

// Adds a defect (kKernel) for each node of the graph and its functions that has a known op and no
// kernel for its types on any of `devices`. Left out are Placeholders, ops that the plan carries
// out itself (OpFacts::in_plan), nodes that call functions, such as branches and loops, and nodes
// of functions with an attribute that each call sets. Left out are also nodes of the graph with
// defects in their types. Defects that are there already stay.
void AddMissingKernels(absl::Span<Device* const> devices, Imported& imported);

}  // namespace tenon::cli
