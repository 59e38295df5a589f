// Small graphs and planted passes for tests of the pipeline, without kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grappler_lite/pipeline/pipeline.h"

namespace tenon::testing {

// A graph of float placeholders a, b and of "name = Op(x, y)" lines over them, each with T float.
Graph GraphOf(std::vector<std::string> lines);

// Knows no kernel: folding constants leaves every node alone.
class NoKernels : public NodeEvaluator, public KernelOracle {
 public:
  absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph&, NodeId, absl::Span<const Tensor>,
                                               size_t) override {
    return absl::UnimplementedError("no kernels");
  }
  bool HasKernel(std::string_view, std::string_view, const AttrSet&) const override { return true; }
};

// Runs the pipeline for these fetches.
absl::StatusOr<PipelineReport> Optimize(Graph& graph, const std::vector<std::string>& fetches,
                                        const PipelineOptions& options,
                                        std::vector<FinalPass*> final_passes = {});

// A pass that is wrong on purpose: "break.swap" makes each Sub(x, y) one of (y, x), "break.negate"
// each Neg an Identity.
PassEntry BreakingPass();

// One round of this pass alone, which may be "break".
PipelineOptions Only(std::string_view pass);

}  // namespace tenon::testing
