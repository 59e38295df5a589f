#include "plugin/host/c_api/kernels/kernel_watch.h"

#include <vector>

#include "graph/c_api/callback_scope.h"
#include "plugin/host/c_api/kernels/kernel_context.h"
#include "plugin/host/strict/device_watch.h"

namespace tenon {
namespace {

// Handles and variants always do.
bool LiesOnHost(const Tensor& tensor, bool declared) {
  return declared || !IsMemcpyable(tensor.dtype());
}

}  // namespace

void WatchKernel(const KernelInfo& info, const ComputeArgs& args) {
  if (info.device == nullptr) return;
  const char* callback =
      info.def->fns.compute_async == nullptr ? "compute_func" : "compute_async_func";
  const CallbackScope scope(info.def->plugin.c_str(), callback, info.name.c_str());
  std::vector<const void*> used;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const Tensor& input = *args.inputs[i].tensor;
    if (!LiesOnHost(input, info.memory.input_on_host[i])) used.push_back(input.data());
  }
  for (size_t i = 0; i < args.outputs.size(); ++i) {
    const Tensor& output = *args.outputs[i];
    if (!output.initialized() || output.bytes() == 0) continue;
    const bool on_host = LiesOnHost(output, info.memory.output_on_host[i]);
    if (!on_host) used.push_back(output.data());
    WatchOutput(info.device, static_cast<int>(i), output.data(), on_host);
  }
  WatchQueued(info.device, info.device->compute_stream(), used);
}

}  // namespace tenon
