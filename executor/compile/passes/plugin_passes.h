// The optimization passes of plug-ins for one graph.
#pragma once

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/device/device.h"

namespace tenon {

// The passes of each plug-in that has a node of the placed graph on one of its device types, in the
// order in which the plug-ins registered them. No passes if PipelineOptions::use_plugins is false.
// `kernels` must outlive this object. Not thread-safe. While it lives, the plug-ins cannot be
// unloaded.
class PluginPasses {
 public:
  PluginPasses(const Graph& graph, const OptimizerItem& item, const KernelOracle& kernels,
               const PipelineOptions& options);

  absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers() const {
    return optimizers_;
  }
  std::vector<FinalPass*> passes() const;  // valid as long as this object
  // Adds to `options` the built-in passes that these plug-ins switch off.
  void AddSwitchedOff(PipelineOptions& options) const;

 private:
  std::vector<std::shared_ptr<const PluginOptimizer>> optimizers_;
  std::vector<std::unique_ptr<FinalPass>> passes_;
};

// Adds to `options` the built-in passes that plug-ins of these devices switch off: for a graph that
// is not placed yet, since its nodes may come to any of the devices. Does nothing without
// use_plugins.
void AddSwitchedOff(absl::Span<Device* const> devices, PipelineOptions& options);

}  // namespace tenon
