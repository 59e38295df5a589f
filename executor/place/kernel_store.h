// Which kernel serves which node of an executable.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/ir/graph.h"
#include "plugin/device/device.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

// Kernels of the executable's nodes: found once, plug-in kernels created once. Thread-safe.
class KernelStore {
 public:
  explicit KernelStore(const KernelRegistry& registry) : registry_(registry) {}

  const KernelRegistry& registry() const { return registry_; }

  // What plug-ins' kernels are told; before the first Create. `describe` is called once, if a
  // plug-in's kernel is made at all.
  using DescribeFn = std::function<KernelSurroundings()>;
  void DescribeWith(DescribeFn describe) { describe_ = std::move(describe); }

  // The kernel for node n on a device. UNIMPLEMENTED without one.
  absl::StatusOr<const KernelDef*> Find(const Graph& graph, NodeId n, const Device& device);
  absl::StatusOr<PluginKernel*> Create(const Graph& graph, NodeId n, Device* device);
  // The kernels of plug-ins that have computed something so far, in the order of their nodes.
  std::vector<std::pair<NodeId, const KernelDef*>> Computed();

 private:
  const KernelRegistry& registry_;
  DescribeFn describe_;
  absl::Mutex mutex_;
  std::shared_ptr<const KernelSurroundings> surroundings_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::pair<const NodeKind*, const Device*>, std::shared_ptr<const KernelDef>>
      found_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<NodeId, std::unique_ptr<PluginKernel>> created_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
