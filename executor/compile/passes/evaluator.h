// What constant folding and the other passes ask of the executor: values and kernels.
#pragma once

#include "executor/place/kernel_store.h"
#include "executor/place/placer.h"
#include "grappler_lite/pipeline/pass.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

// Runs CPU kernels on constants, with FTZ and DAZ as in a run, on the calling thread, whose memory
// can be bounded. Stateful kernels are UNIMPLEMENTED. Not thread-safe.
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

// Answers from the kernel registry. Device strings are full or partial; of a type that has no
// device there is no kernel. Not thread-safe.
class RegistryOracle : public KernelOracle {
 public:
  RegistryOracle(std::vector<Device*> devices, const KernelRegistry& kernels)
      : devices_(std::move(devices)), kernels_(kernels) {}
  bool HasKernel(std::string_view device, std::string_view op, const AttrSet& attrs) const override;
  bool InputOnHost(const Graph& graph, NodeId n, int input) const override;
  bool OutputOnHost(const Graph& graph, NodeId n, int port) const override;

 private:
  MemoryTypes MemoryOf(const Graph& graph, NodeId n) const;
  // Those that a device string speaks of.
  const std::vector<const Device*>& DevicesOf(std::string_view device) const;
  std::vector<Device*> devices_;
  const KernelRegistry& kernels_;
  mutable absl::flat_hash_map<std::string, std::vector<const Device*>> devices_of_;
};

// Which inputs and outputs of a node on `device` lie in host memory. Empty: none.
MemoryTypes MemoryTypesOn(const Device& device, const Graph& graph, NodeId n,
                          const KernelRegistry& kernels);

// The state that kernels keep over the runs of a session. Thread-safe.
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
