// The optimization passes of plug-ins for one graph.
#pragma once

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/device/device.h"

namespace tenon {

// One pass for each optimizer that a plug-in has registered for a device type on which a node of
// the graph is placed, in order of registration. None if PipelineOptions::use_plugins is false. Not
// thread-safe. While this object lives, the plug-ins cannot be unloaded.
class PluginPasses {
 public:
  // Reads `graph`, which is placed, and `options` during the call only. `kernels` and
  // `item.evaluator` must outlive this object.
  PluginPasses(const Graph& graph, const OptimizerItem& item, const KernelOracle& kernels,
               const PipelineOptions& options);

  absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers() const {
    return optimizers_;
  }
  std::vector<FinalPass*> passes() const;  // by optimizer; valid as long as this object
  // Adds the built-in passes that these optimizers switch off to options.plugin_disabled.
  void AddSwitchedOff(PipelineOptions& options) const;

 private:
  std::vector<std::shared_ptr<const PluginOptimizer>> optimizers_;
  std::vector<std::unique_ptr<FinalPass>> passes_;
};

// Adds the built-in passes that optimizers for the types of these devices switch off to
// options.plugin_disabled: for a graph that is not placed yet, since its nodes may come to any of
// the devices. Does nothing if options.use_plugins is false.
void AddSwitchedOff(absl::Span<Device* const> devices, PipelineOptions& options);

}  // namespace tenon
