// The input of passes over a whole graph.
#pragma once

#include "executor/compile/passes/evaluator.h"
#include "executor/compile/stages.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

// Owns the objects that a PipelineInput points to. Must outlive the passes; the devices and the
// kernel registry of the context must outlive it. Not thread-safe.
struct PassSurroundings {
  explicit PassSurroundings(const CompileContext& context)
      : evaluator(context.kernels.registry()),
        oracle({context.devices.begin(), context.devices.end()}, context.kernels.registry()) {}

  // The input for a graph with this request. The input points to `request` and to this object: both
  // must outlive it.
  PipelineInput InputFor(const Request& request) {
    PipelineInput input;
    input.fetches = request.fetches;
    for (const Output& feed : request.feeds) input.feeds.insert(feed.node);
    input.evaluator = &evaluator;
    input.kernels = &oracle;
    return input;
  }

  CpuEvaluator evaluator;
  RegistryOracle oracle;
};

}  // namespace tenon
