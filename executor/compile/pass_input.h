// What the passes over a whole graph are given by the stages that run them.
#pragma once

#include "executor/compile/passes/evaluator.h"
#include "executor/compile/stages.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

// Lends what PipelineInput points to; lives as long as the passes run.
struct PassSurroundings {
  explicit PassSurroundings(const CompileContext& context)
      : evaluator(context.kernels.registry()),
        oracle({context.devices.begin(), context.devices.end()}, context.kernels.registry()) {}

  // `request` outlives the input.
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
