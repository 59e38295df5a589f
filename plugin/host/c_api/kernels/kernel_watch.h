// What --abi-check=strict looks at when a plug-in's kernel has returned.
#pragma once

namespace tenon {

struct ComputeArgs;  // plugin/host/c_api/kernels/plugin_kernel.h
struct KernelInfo;   // plugin/host/c_api/kernels/kernel_context.h

// Outputs lie in the memory that the kernel was registered with, and what was queued uses the
// inputs and outputs that are the device's.
void WatchKernel(const KernelInfo& info, const ComputeArgs& args);

}  // namespace tenon
