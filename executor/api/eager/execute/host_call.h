// Executes an op with a built-in kernel. Private to executor/api/eager/execute/.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "executor/api/eager/call_node.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/context.h"
#include "executor/run/preparation_cache.h"
#include "graph/tensor/tensor.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"
#include "plugin/kernels/kernel_registry.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::eager {

// The kernel runs on the calling thread and on the threads of the context. The kernel is prepared
// once for each list of input shapes and of values that decide shapes, and a kernel of whole
// tensors once for all inputs, as long as the preparation is kept (PreparationCache). If the op is
// on a plug-in's device and has OtherDevices::kInPlace, the kernel only passes tensors on, which
// stay in the memory of that device; the inputs and outputs of all other ops are in host memory.
class HostCall final : public Callable {
 public:
  // `kernel` must be a built-in one. A null `device` is the host. The context must outlive the
  // HostCall. Errors are those of ResolveMemoryTypes.
  static absl::StatusOr<std::shared_ptr<Callable>> Make(Context& context, CallNode node,
                                                        std::shared_ptr<const KernelDef> kernel,
                                                        Device* device);

  // Errors are those of BringInput, PrepareKernel and ComputeInto.
  absl::Status Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) override;
  Device* output_memory(size_t i) const override {
    const bool on_host =
        memory_ == nullptr || LiesOnHost(node_.types.outputs[i], types_.output_on_host[i]);
    return on_host ? nullptr : memory_;
  }

 private:
  using Prepared = PreparationCache::Prepared;
  using Values = absl::InlinedVector<const Tensor*, 4>;
  HostCall(Context& context, CallNode node, std::shared_ptr<const KernelDef> kernel,
           Device* device);

  // The values of the inputs where the kernel wants them; `copies` holds those that had to move.
  absl::StatusOr<Values> Gather(Inputs inputs, const CallContext& call,
                                std::vector<Tensor>& copies) const;
  absl::StatusOr<Prepared> Find(const Values& values);
  absl::StatusOr<Prepared> PrepareFor(const Values& values);

  Context& context_;
  const CallNode node_;
  const std::shared_ptr<const KernelDef> kernel_;
  const CpuKernelSpec& spec_;
  Device* memory_ = nullptr;  // of the device, for inputs and outputs in it; null: all on the host
  MemoryTypes types_;         // empty if memory_ is null
  PreparationCache cache_;
};

}  // namespace tenon::eager
