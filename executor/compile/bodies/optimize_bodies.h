// Optimizes the functions that a graph still calls after its passes have run: branches, loop bodies
// and calls that were not inlined.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/place/placer.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "plugin/device/device.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

// The session's devices, kernels and options. Owns nothing: all of it must outlive the call of
// OptimizeBodies.
struct BodySurroundings {
  absl::Span<Device* const> devices;
  const KernelRegistry& registry;
  const PlacerOptions& placer;
  // The device string of each calling node, by the node's name. The called function inherits it.
  const absl::flat_hash_map<std::string, std::string>& caller_devices;
};

// Runs the passes, those of plug-ins too, once over the body of each function that the graph calls
// directly or through other functions. Then removes the functions that nothing calls any more. A
// body stays as it is in these cases:
// * it is called for several devices, for XLA or remotely;
// * the graph differentiates functions;
// * its serialized form exceeds 64 MiB;
// * it is malformed, or cannot be placed: a run that needs the function says why;
// * there are placement rules and several devices, since the rules match names that a body's nodes
//   get only when they are inlined.
// If the graph does not verify with the new bodies, all of them go back to what they were, and the
// rows say so. `input`: the input of the graph's own passes. Returns a row for each pass that
// changed something, failed or ran out of budget. Ids of the graph's nodes stay. Errors are those
// of RunPipeline.
absl::StatusOr<std::vector<PassReport>> OptimizeBodies(Graph& graph, const PipelineInput& input,
                                                       const BodySurroundings& surroundings,
                                                       PipelineOptions options);

}  // namespace tenon
