// The kernels that serve the nodes of an executable.
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

// Finds the kernel of a node once, and keeps one kernel of a plug-in for each node. Owns the
// kernels that it creates. The registry and the devices must outlive the store. All calls must pass
// the same graph, or graphs that share its storage, with the same ids for nodes with kernels of
// plug-ins; that storage must outlive the store. Thread-safe, but for DescribeWith.
class KernelStore {
 public:
  explicit KernelStore(const KernelRegistry& registry) : registry_(registry) {}

  const KernelRegistry& registry() const { return registry_; }

  // Sets the function that describes the session to the kernels of plug-ins. Must be called before
  // the first Create. The first Create that makes a kernel calls `describe` once, under the store's
  // lock: `describe` must not use the store.
  using DescribeFn = std::function<KernelSurroundings()>;
  void DescribeWith(DescribeFn describe) { describe_ = std::move(describe); }

  // The kernel that serves node n on this device. UNIMPLEMENTED if the device's type has none; the
  // error of the node's types, or of contradicting registrations. The caller adds the node with its
  // place (NodeError); the texts of the registry name the node all the same. The pointer is valid
  // as long as this store.
  absl::StatusOr<const KernelDef*> Find(const Graph& graph, NodeId n, const Device& device);
  // The plug-in's kernel object for node n, created on the first call. A later call returns the
  // same object, even if it names another device that has a kernel. Runs the plug-in's create_func
  // without a lock; of two first calls at a time both run it, and one of the two kernels is
  // destroyed. Errors are those of Find and of PluginKernel::Create; after an error the next call
  // tries again. The pointer is valid as long as this store.
  absl::StatusOr<PluginKernel*> Create(const Graph& graph, NodeId n, Device* device);
  // The created kernels that have computed at least once, in the order of their node ids.
  std::vector<std::pair<NodeId, const KernelDef*>> Computed();

 private:
  absl::StatusOr<std::shared_ptr<const KernelDef>> FindShared(const Graph& graph, NodeId n,
                                                              const Device& device);
  // The session as kernels see it; made on the first call.
  std::shared_ptr<const KernelSurroundings> Surroundings();
  // What a kernel for node n is told. It points into the graph's storage.
  KernelNode Describe(const Graph& graph, NodeId n, const Device& device);
  PluginKernel* Created(NodeId n);  // null if there is none yet

  const KernelRegistry& registry_;
  DescribeFn describe_;
  absl::Mutex mutex_;
  std::shared_ptr<const KernelSurroundings> surroundings_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::pair<const NodeKind*, const Device*>, std::shared_ptr<const KernelDef>>
      found_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<NodeId, std::unique_ptr<PluginKernel>> created_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
