#include "plugin/host/c_api/kernels/kernel_watch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/c_api/callback_scope.h"
#include "plugin/host/c_api/kernels/kernel_context.h"
#include "plugin/host/strict/device_watch.h"

namespace tenon {
namespace {

// Whether the tensor lies on the host. Strings, resources and variants always do.
bool LiesOnHost(const KernelInfo& info, const Tensor& tensor, bool declared) {
  return info.device == nullptr || declared || !IsMemcpyable(tensor.dtype());
}

const char* CallbackOf(const KernelInfo& info) {
  return info.def->fns.compute_async == nullptr ? "compute_func" : "compute_async_func";
}

// The input in words, with the name that the graph has for it: "input 0 ('a:1')".
std::string InputName(const KernelInfo& info, size_t i) {
  const std::vector<std::string>& names = info.node.input_names;
  return absl::StrCat("input ", i, i < names.size() ? absl::StrCat(" ('", names[i], "')") : "");
}

TensorUser UserOf(const KernelInfo& info, std::string tensor) {
  return {info.def->plugin, CallbackOf(info), info.name, std::move(tensor)};
}

}  // namespace

KernelWatch::KernelWatch(const KernelInfo& info, const ComputeArgs& args)
    : info_(info),
      args_(args),
      far_(info.device == nullptr ? nullptr : FarMemoryOf(info.device)),
      inputs_(args.inputs.size()) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor& tensor = *args.inputs[i].tensor;
    const bool on_host = LiesOnHost(info, tensor, info.memory.input_on_host[i]);
    if (!on_host) used_.push_back(tensor.data());
    if (!tensor.initialized() || tensor.bytes() == 0 || !IsMemcpyable(tensor.dtype())) continue;
    if (!on_host && far_ == nullptr) continue;
    FarMemory* const memory = on_host ? nullptr : far_;
    // A change from before this call is the doing of the tensor's last user.
    TensorGuards::Get().CheckFrozen(memory, tensor.data());
    inputs_[i] = {tensor.data(), memory, BytesOf(memory, tensor.data(), tensor.bytes())};
  }
}

std::unique_ptr<KernelWatch> KernelWatch::Make(const KernelInfo& info, const ComputeArgs& args) {
  return std::make_unique<KernelWatch>(info, args);
}

// Checks within a scope of the callback, so that violations name it, though the call is over.
void KernelWatch::End() {
  const CallbackScope scope(info_.def->plugin.c_str(), CallbackOf(info_), info_.name.c_str());
  for (size_t i = 0; i < inputs_.size(); ++i) EndInput(i);
  for (size_t i = 0; i < args_.outputs.size(); ++i) EndOutput(i);
  if (info_.device != nullptr) WatchQueued(info_.device, StreamOfCall(*info_.device, args_), used_);
}

void KernelWatch::EndInput(size_t i) {
  const Input& input = inputs_[i];
  if (input.data == nullptr) return;
  TensorGuards& guards = TensorGuards::Get();
  // A forwarded input is an output: the kernel may write to it.
  const bool forwarded =
      std::any_of(args_.outputs.begin(), args_.outputs.end(),
                  [&](const Tensor* output) { return output->data() == input.data; });
  if (!forwarded && !input.before.empty()) {
    const std::vector<char> now = BytesOf(input.memory, input.data, input.before.size());
    if (const std::string change = ChangeOf(input.before, now); !change.empty()) {
      AbiWatch::Active()->Report(
          "input_written",
          absl::StrCat(InputName(info_, i), " has ", input.before.size(), " bytes; ", change,
                       ", and only TF_ForwardInputOrAllocateOutput lets a kernel write to one"));
      guards.AcceptChange(input.memory, input.data);
    }
  }
  guards.Check(input.memory, input.data, UserOf(info_, InputName(info_, i)));
}

void KernelWatch::EndOutput(size_t i) {
  const Tensor& output = *args_.outputs[i];
  if (!output.initialized() || output.bytes() == 0) return;
  const bool on_host = LiesOnHost(info_, output, info_.memory.output_on_host[i]);
  if (info_.device != nullptr) {
    if (!on_host) used_.push_back(output.data());
    WatchOutput(info_.device, static_cast<int>(i), output.data(), on_host);
  }
  FarMemory* const memory = on_host ? nullptr : far_;
  TensorGuards& guards = TensorGuards::Get();
  guards.Check(memory, output.data(), UserOf(info_, absl::StrCat("output ", i)));
  guards.Freeze(memory, output.data());
}

}  // namespace tenon
