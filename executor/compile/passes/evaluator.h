// The executor's services for optimization passes: the values of constant nodes, and the existence
// of kernels.
#pragma once

#include "executor/place/kernel_store.h"
#include "executor/place/placer.h"
#include "grappler_lite/pipeline/pass.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

// Runs CPU kernels on constant inputs, on the calling thread, with denormals flushed to zero (FTZ
// and DAZ) as in a run. The results are in host memory; kernels get no state of a session. Errors
// are those of NodeEvaluator::Evaluate, without the node's name; UNIMPLEMENTED for stateful ops and
// kernels, too. `kernels` must outlive this object. Not thread-safe.
class CpuEvaluator : public NodeEvaluator {
 public:
  explicit CpuEvaluator(const KernelRegistry& kernels) : kernels_(kernels) {}

  absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph, NodeId n,
                                               absl::Span<const Tensor> inputs,
                                               size_t max_bytes) override;

 private:
  const KernelRegistry& kernels_;
  Workers worker_{1};
};

// Answers from the kernel registry, for `devices`. Device strings may be full or partial; an empty
// type means the CPU. HasKernel is true if any device that fits the string has a kernel, or if the
// plan does without one; false for a dtype that the op does not allow. For a string that no device
// fits, HasKernel is true for Const alone. InputOnHost and OutputOnHost answer for the first device
// that fits the node's device string; false if there is none, or if it has no kernel. `kernels` and
// the devices must outlive this object. Not thread-safe, const functions included: they fill a
// cache.
class RegistryOracle : public KernelOracle {
 public:
  RegistryOracle(std::vector<Device*> devices, const KernelRegistry& kernels)
      : devices_(std::move(devices)), kernels_(kernels) {}
  bool HasKernel(std::string_view device, std::string_view op, const AttrSet& attrs) const override;
  bool InputOnHost(const Graph& graph, NodeId n, int input) const override;
  bool OutputOnHost(const Graph& graph, NodeId n, int port) const override;

 private:
  MemoryTypes MemoryOf(const Graph& graph, NodeId n) const;
  // The devices that fit a device string.
  const std::vector<const Device*>& DevicesOf(std::string_view device) const;
  std::vector<Device*> devices_;
  const KernelRegistry& kernels_;
  mutable absl::flat_hash_map<std::string, std::vector<const Device*>> devices_of_;
};

// The inputs and outputs of node n that lie in host memory if the node runs on `device`. Both lists
// are empty if `device` has no kernel for the node, or if the kernel's declarations do not fit it.
MemoryTypes MemoryTypesOn(const Device& device, const Graph& graph, NodeId n,
                          const KernelRegistry& kernels);

// The state that kernels keep from run to run of a session. Shares the ownership of states and
// keeps them as long as it lives. For one node name, and for one pair of constant and key, every
// caller gets the same object. GetNodeState calls `make` under a lock: `make` must not call this
// object. GetPacked calls `make` without the lock, perhaps on several threads at once; every caller
// then gets the result that was made first. Thread-safe.
class KernelStates : public SessionState {
 public:
  explicit KernelStates(uint64_t seed = 0, FileAccess files = FileAccess())
      : seed_(seed), files_(std::move(files)) {}
  uint64_t seed() const override { return seed_; }
  FileAccess files() const override { return files_; }
  std::shared_ptr<NodeState> GetNodeState(
      std::string_view node_name, const std::function<std::shared_ptr<NodeState>()>& make) override;
  std::shared_ptr<const void> GetPacked(
      const void* constant, std::string_view key,
      const std::function<std::shared_ptr<const void>()>& make) override;

 private:
  const uint64_t seed_;
  const FileAccess files_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<NodeState>> nodes_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::pair<const void*, std::string>, std::shared_ptr<const void>> packed_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
