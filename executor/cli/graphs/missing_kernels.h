// Nodes that no device can run: no fault of the graph, but of those who fetch them.
#pragma once

#include "absl/types/span.h"
#include "graph/io/io.h"
#include "plugin/device/device.h"

namespace tenon::cli {

// Adds a defect for each node of the graph and its functions whose op is known and has no kernel
// for its types. Nodes whose types depend on the caller of their function are left out.
void AddMissingKernels(absl::Span<Device* const> devices, Imported& imported);

}  // namespace tenon::cli
