// The optimizers of plug-ins for the devices that a graph is on, as passes, and the built-in passes
// that these plug-ins switch off.

#include "executor/compile/passes/plugin_passes.h"

#include <iterator>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace tenon {
namespace {

void Append(std::vector<std::pair<std::string, std::string>> off, PipelineOptions& options) {
  options.plugin_disabled.insert(options.plugin_disabled.end(),
                                 std::make_move_iterator(off.begin()),
                                 std::make_move_iterator(off.end()));
}

}  // namespace

PluginPasses::PluginPasses(const Graph& graph, const OptimizerItem& item,
                           const KernelOracle& kernels, const PipelineOptions& options) {
  if (!options.use_plugins) return;
  optimizers_ = PluginOptimizersFor(graph);
  const std::vector<std::string> names = NamesOfPasses(optimizers_);
  for (size_t i = 0; i < optimizers_.size(); ++i)
    passes_.push_back(MakePluginPass(names[i], optimizers_[i], item, &kernels));
}

std::vector<FinalPass*> PluginPasses::passes() const {
  std::vector<FinalPass*> passes;
  for (const auto& pass : passes_) passes.push_back(pass.get());
  return passes;
}

void PluginPasses::AddSwitchedOff(PipelineOptions& options) const {
  Append(PassesSwitchedOff(optimizers_), options);
}

void AddSwitchedOff(absl::Span<Device* const> devices, PipelineOptions& options) {
  if (!options.use_plugins) return;
  absl::flat_hash_set<std::string_view> types;
  for (const Device* device : devices) types.insert(device->type());
  Append(PassesSwitchedOff(PluginOptimizersFor(types)), options);
}

}  // namespace tenon
