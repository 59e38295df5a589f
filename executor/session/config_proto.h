// Writes the options of a session as TensorFlow's ConfigProto, for kernels of plug-ins that ask for
// it.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "executor/compile/session_options.h"
#include "plugin/device/device.h"

namespace tenon {

// Returns the serialized message: the number of devices of each type; options.threads, which must
// be the number itself and not 0, as threads within an op, and 1 thread between ops;
// options.placer.soft_placement; and of the passes the iterations (if 1 or 2),
// PipelineOptions::min_graph_nodes, and whether opt_level 0 switches them off. Never fails.
std::string ConfigProto(const SessionOptions& options, absl::Span<Device* const> devices);

}  // namespace tenon
