// The passes of plug-ins for one placed graph.
#pragma once

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/device/device.h"

namespace tenon {

// Those of the plug-ins for whose device types nodes of the graph are placed, in the order in which
// they were loaded; none if the options say so. `kernels` must outlive it.
class PluginPasses {
 public:
  PluginPasses(const Graph& graph, const OptimizerItem& item, const KernelOracle& kernels,
               const PipelineOptions& options);

  absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers() const {
    return optimizers_;
  }
  std::vector<FinalPass*> passes() const;  // live as long as this
  // Adds the built-in passes that are not to run on such a graph.
  void AddSwitchedOff(PipelineOptions& options) const;

 private:
  std::vector<std::shared_ptr<const PluginOptimizer>> optimizers_;
  std::vector<std::unique_ptr<FinalPass>> passes_;
};

// The same for nodes that are not placed yet, and may come to be on any of the devices.
void AddSwitchedOff(absl::Span<Device* const> devices, PipelineOptions& options);

}  // namespace tenon
