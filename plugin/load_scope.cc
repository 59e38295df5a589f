#include "plugin/load_scope.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/op_registry.h"

namespace tenon {
namespace {

thread_local LoadScope* current = nullptr;

}  // namespace

LoadScope* LoadScope::Current() { return current; }

LoadScope::LoadScope(std::string plugin) : plugin_(std::move(plugin)), outer_(current) {
  current = this;
}

LoadScope::~LoadScope() { current = outer_; }

absl::Status LoadScope::Publish(std::string_view device_type) {
  for (size_t i = 0; i < ops_.size(); ++i) {
    const absl::Status status = OpRegistry::Global().Register(std::move(ops_[i]));
    if (status.ok()) continue;
    for (size_t done = 0; done < i; ++done) OpRegistry::Global().Remove(op_names_[done]);
    return status;
  }
  ops_.clear();
  for (std::shared_ptr<KernelDef>& kernel : kernels_) {
    kernel->own_devices_only = kernel->device_type == device_type;
    KernelRegistry::Global().Register(std::move(kernel));
  }
  kernels_.clear();
  return absl::OkStatus();
}

void RegisterKernel(std::shared_ptr<KernelDef> kernel) {
  if (current == nullptr) return KernelRegistry::Global().Register(std::move(kernel));
  kernel->plugin = current->plugin_;
  current->kernels_.push_back(std::move(kernel));
  ++current->num_kernels_;
}

absl::Status RegisterOp(OpDef op) {
  if (current == nullptr) return OpRegistry::Global().Register(std::move(op));
  std::vector<std::string>& names = current->op_names_;
  if (std::find(names.begin(), names.end(), op.name) != names.end() ||
      OpRegistry::Global().Find(op.name) != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat("Op with name ", op.name));
  }
  names.push_back(op.name);
  current->ops_.push_back(std::move(op));
  return absl::OkStatus();
}

}  // namespace tenon
