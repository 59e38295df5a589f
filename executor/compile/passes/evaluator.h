// The executor's services for optimization passes: the values of constant nodes, and the existence
// of kernels.
#pragma once

#include "executor/place/kernel_store.h"
#include "executor/place/placer.h"
#include "grappler_lite/pipeline/pass.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

// Runs built-in CPU kernels on constant inputs, on the calling thread, with denormals flushed to
// zero (FTZ and DAZ) as in a run. The results are in host memory; kernels get no state of a
// session. A kernel, with its outputs, may take 64 MiB more than `max_bytes`. Errors are those of
// NodeEvaluator::Evaluate, and in addition the error of the node's types; UNIMPLEMENTED also for
// stateful ops and kernels, and for kernels of plug-ins. `kernels` must outlive this object. Not
// thread-safe.
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
// type means the CPU. `kernels` and the devices must outlive this object. Not thread-safe, const
// functions included: they fill a cache.
//
// HasKernel asks in this order:
// * false if an attribute names a dtype that the op does not allow (lists of dtypes are not looked
//   at);
// * if no device fits the string, or the string is malformed: true for Const alone;
// * true if the plan does without a kernel for the op, or any device that fits has a kernel.
// InputOnHost and OutputOnHost answer for the first device that fits the node's device string;
// false if there is none, if it has no kernel, or if the node has no such input or output.
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

// The inputs and outputs of node n that a kernel of a plug-in's device keeps in host memory. Not
// for the CPU: plain tensors get false there, although they lie in host memory. Both lists are
// empty if `device` has no kernel for the node, or if the kernel's declarations do not fit it.
MemoryTypes MemoryTypesOn(const Device& device, const Graph& graph, NodeId n,
                          const KernelRegistry& kernels);

}  // namespace tenon
