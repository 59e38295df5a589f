// The functions that a graph still calls when its passes have run: branches, loops, and what is not
// to be inlined.
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

// What bodies are optimized for.
struct BodySurroundings {
  absl::Span<Device* const> devices;
  const KernelRegistry& registry;
  const PlacerOptions& placer;
  // By name of the nodes that call: the devices that they ask for. What they call inherits them.
  const absl::flat_hash_map<std::string, std::string>& caller_devices;
};

// Runs the passes, plug-ins' too, over the bodies of the functions that nodes of the graph call,
// and that those call, each once. A body stays as it is if it is called for several devices, for
// XLA, or differentiated. What nothing calls any more then goes. `input`: of the graph. A row for
// each pass that changed something or failed. Node ids stay. Errors as of RunPipeline.
absl::StatusOr<std::vector<PassReport>> OptimizeBodies(Graph& graph, const PipelineInput& input,
                                                       const BodySurroundings& surroundings,
                                                       PipelineOptions options);

}  // namespace tenon
