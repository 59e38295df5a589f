#include "plugin/kernels/elsewhere.h"

#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tenon {
namespace {

struct Kernel {
  Elsewhere how = Elsewhere::kNever;
  std::vector<std::string_view> host_args;
};

const Kernel& KernelOf(std::string_view op) {
  static const auto* const kernels = new absl::flat_hash_map<std::string_view, Kernel>{
      {"AssignVariableOp", {Elsewhere::kInPlace, {"resource"}}},
      {"DestroyResourceOp", {Elsewhere::kOnHost, {"resource"}}},
      {"DestroyTemporaryVariable", {Elsewhere::kInPlace, {}}},
      {"DisableCopyOnRead", {Elsewhere::kOnHost, {"resource"}}},
      {"IsVariableInitialized", {Elsewhere::kOnHost, {"is_initialized"}}},
      {"ReadVariableOp", {Elsewhere::kInPlace, {"resource"}}},
      {"TemporaryVariable", {Elsewhere::kOnHost, {}}},
      {"VarHandleOp", {Elsewhere::kOnHost, {"resource"}}},
      {"VarIsInitializedOp", {Elsewhere::kOnHost, {"is_initialized", "resource"}}},
      {"Variable", {Elsewhere::kOnHost, {}}},
      {"VariableShape", {Elsewhere::kOnHost, {"input", "output"}}},
      {"VariableV2", {Elsewhere::kOnHost, {}}},
      {"_ReadVariablesOp", {Elsewhere::kInPlace, {"resources"}}},
  };
  static const Kernel none;
  const auto found = kernels->find(op);
  return found == kernels->end() ? none : found->second;
}

}  // namespace

Elsewhere ServesElsewhere(std::string_view op) { return KernelOf(op).how; }

absl::Span<const std::string_view> HostArgsElsewhere(std::string_view op) {
  return KernelOf(op).host_args;
}

Device* DeviceOf(const RunState& state) {
  const auto* elsewhere = dynamic_cast<const RunStateElsewhere*>(&state);
  return elsewhere == nullptr ? nullptr : elsewhere->device();
}

}  // namespace tenon
