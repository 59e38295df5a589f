// What --abi-check=strict looks at around a call of a plug-in's kernel.
#pragma once

#include <memory>
#include <vector>

#include "graph/c_api/tensor_guards.h"

namespace tenon {

struct ComputeArgs;  // plugin/host/c_api/kernels/plugin_kernel.h
struct KernelInfo;   // plugin/host/c_api/kernels/kernel_context.h

// One call, from before it to its end.
class KernelWatch {
 public:
  // Null while nobody watches. `info` and `args` outlive the watch.
  static std::unique_ptr<KernelWatch> Begin(const KernelInfo& info, const ComputeArgs& args) {
    if (AbiWatch::Active() == nullptr) [[likely]]
      return nullptr;
    return Make(info, args);
  }
  KernelWatch(const KernelInfo& info, const ComputeArgs& args);
  // Outputs lie in the memory that the kernel was registered with, and what was queued uses the
  // inputs and outputs that are the device's. Nothing was written around tensors, nor to inputs
  // that were not forwarded. From now on outputs do not change by themselves.
  void End();

 private:
  static std::unique_ptr<KernelWatch> Make(const KernelInfo& info, const ComputeArgs& args);
  struct Input {
    const void* data = nullptr;  // null: nothing to compare
    FarMemory* memory = nullptr;
    std::vector<char> before;
  };
  void EndInput(size_t i);
  void EndOutput(size_t i);

  const KernelInfo& info_;
  const ComputeArgs& args_;
  FarMemory* const far_;  // of the kernel's device
  std::vector<Input> inputs_;
  std::vector<const void*> used_;  // of the device's memory
};

}  // namespace tenon
