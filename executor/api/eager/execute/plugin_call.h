// Executes an op with a kernel of a plug-in, on one of its devices or on the host.
// Private to executor/api/eager/execute/.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/eager/call_node.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/context.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"

namespace tenon::eager {

// One kernel object of the plug-in serves all executions, also those of several threads at once. On
// a device, Run queues the work on the device's compute stream and returns before the work is done.
// Later work on outputs in the device's memory must be queued on the same stream, or wait for the
// stream. Outputs in host memory are there when Run returns. The inputs need not outlive Run.
class PluginCall final : public Callable {
 public:
  // `kernel` must be a plug-in's. A null `device` is the host. The context must outlive the
  // PluginCall. Errors are those of PluginKernel::Create.
  static absl::StatusOr<std::shared_ptr<Callable>> Make(Context& context, CallNode node,
                                                        std::shared_ptr<const KernelDef> kernel,
                                                        Device* device);

  // Errors are those of BringInput and of PluginKernel::Compute.
  absl::Status Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) override;
  Device* output_memory(size_t i) const override {
    return LiesOnHost(node_.types.outputs[i], kernel_->memory().output_on_host[i]) ? nullptr
                                                                                   : device();
  }

 private:
  PluginCall(Context& context, CallNode node, Device* device)
      : Callable(node.types.outputs, device), context_(context), node_(std::move(node)) {}
  // An idle context for a call of the kernel, or a new one.
  ContextPtr TakeContext();

  Context& context_;
  const CallNode node_;
  std::unique_ptr<PluginKernel> kernel_;  // refers to node_
  absl::Mutex mutex_;
  std::vector<ContextPtr> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
