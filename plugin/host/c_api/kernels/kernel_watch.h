// The checks of --abi-check=strict around a call of a plug-in's kernel.
#pragma once

#include <memory>
#include <vector>

#include "graph/c_api/tensor_guards.h"

namespace tenon {

struct ComputeArgs;  // plugin/host/c_api/kernels/plugin_kernel.h
struct KernelInfo;   // plugin/host/c_api/kernels/kernel_context.h

// The watch of one call: made before the call, ended after it.
class KernelWatch {
 public:
  // Null unless strict mode is on. Notes what the inputs hold, and reports as a violation each
  // input with contents that have changed since they were frozen (see End). `info`, and `args` with
  // its inputs and outputs, must outlive the watch.
  static std::unique_ptr<KernelWatch> Begin(const KernelInfo& info, const ComputeArgs& args) {
    if (AbiWatch::Active() == nullptr) [[likely]]
      return nullptr;
    return Make(info, args);
  }
  KernelWatch(const KernelInfo& info, const ComputeArgs& args);
  // Checks the call at its end, and reports violations of these rules:
  //   * each output of a device's kernel lies in the memory (device or host) that the registration
  //     states, or on the host if only the host can hold its type;
  //   * the kernel wrote nothing around its inputs and outputs;
  //   * the kernel wrote nothing to inputs that it did not forward.
  // All leave out empty tensors. The last two also leave out inputs of types that only the host can
  // hold, and device memory without a watch. Notes that queued work uses the inputs and outputs in
  // device memory. Freezes the outputs: later changes are violations too.
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
