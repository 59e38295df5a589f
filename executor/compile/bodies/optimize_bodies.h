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
  // The device string that a calling node asked for before it was placed, by the node's name; no
  // entry: it asked for none. Nodes of the called function without a device string inherit it.
  const absl::flat_hash_map<std::string, std::string>& caller_devices;
};

// Optimizes the body of each function that the graph calls directly or through other functions,
// each body once: inlines its calls, places it, and runs the passes, those of plug-ins too. Then,
// if a body changed, runs model_pruning over the graph, which removes functions that nothing calls
// any more; not if options.passes is a list without model_pruning. A body stays as it is in these
// cases:
// * nodes that ask for different devices call it, a call is marked for XLA or is remote, or a body
//   that stays for one of these reasons calls it;
// * only bodies that stay as they are, for whatever reason, call it;
// * the graph or a called function differentiates any function: then every body stays;
// * its serialized form exceeds 64 MiB;
// * FunctionGraph::Make refuses it (it takes attributes or lists, for example), it is malformed, or
//   it cannot be placed: a run that needs the function says why;
// * a pass added a function to it, and the graph has a different function of that name;
// * there are placement rules and several devices, since the rules match names that a body's nodes
//   get only when they are inlined.
// Functions that passes have added to a changed body become functions of the graph. If the graph
// does not verify with the new bodies, all bodies go back to what they were, and all rows have
// `failed` set. `input`: the input of the graph's own passes; its `kernels` must not be null.
// Returns a row for each pass that changed something, failed or ran out of budget, in the order in
// which they ran; none for the passes of a body that could not be placed or whose new functions
// clash. Ids of the graph's nodes stay. Errors are those of RunPipeline; after an error `graph`
// must be dropped.
absl::StatusOr<std::vector<PassReport>> OptimizeBodies(Graph& graph, const PipelineInput& input,
                                                       const BodySurroundings& surroundings,
                                                       PipelineOptions options);

}  // namespace tenon
