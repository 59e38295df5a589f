#include "plugin/host/loading/load_scope.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/op_registry.h"

namespace tenon {
namespace {

thread_local LoadScope* current = nullptr;

}  // namespace

LoadScope* LoadScope::Current() { return current; }

bool LoadScope::IsOf(const std::string& plugin) {
  const LoadScope* scope = current;
  while (scope != nullptr && scope->plugin_ != plugin) scope = scope->outer_;
  return scope != nullptr;
}

LoadScope::LoadScope(std::string plugin) : plugin_(std::move(plugin)), outer_(current) {
  current = this;
}

LoadScope::~LoadScope() { current = outer_; }

Registrations CopyOf(const Registrations& registrations) {
  Registrations copy;
  for (const auto& kernel : registrations.kernels)
    copy.kernels.push_back(std::make_shared<KernelDef>(*kernel));
  copy.ops = registrations.ops;
  copy.refused = registrations.refused;
  return copy;
}

void LoadScope::Add(Registrations registrations) {
  num_kernels_ += static_cast<int>(registrations.kernels.size());
  for (std::shared_ptr<KernelDef>& kernel : registrations.kernels)
    staged_.kernels.push_back(std::move(kernel));
  for (OpDef& op : registrations.ops) {
    op_names_.push_back(op.name);
    staged_.ops.push_back(std::move(op));
  }
  for (std::string& refused : registrations.refused) staged_.refused.push_back(std::move(refused));
}

absl::Status LoadScope::Publish(const PublishOptions& options) {
  for (size_t i = 0; i < staged_.ops.size(); ++i) {
    const absl::Status status = OpRegistry::Global().Register(std::move(staged_.ops[i]));
    if (status.ok()) continue;
    for (size_t done = 0; done < i; ++done) OpRegistry::Global().Remove(op_names_[done]);
    return status;
  }
  for (std::shared_ptr<KernelDef>& kernel : staged_.kernels) {
    kernel->plugin_priority = options.priority;
    kernel->own_devices_only = kernel->device_type == options.device_type;
    if (kernel->own_devices_only && !options.serve_as.empty())
      kernel->device_type = options.serve_as;
    KernelRegistry::Global().Register(std::move(kernel));
  }
  staged_ = Registrations();
  return absl::OkStatus();
}

void RegisterKernel(std::shared_ptr<KernelDef> kernel) {
  if (current == nullptr) return KernelRegistry::Global().Register(std::move(kernel));
  kernel->plugin = current->plugin_;
  current->staged_.kernels.push_back(std::move(kernel));
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
  current->staged_.ops.push_back(std::move(op));
  return absl::OkStatus();
}

void NoteRefused(std::string_view what, const absl::Status& why) {
  if (current == nullptr) return;
  current->staged_.refused.push_back(absl::StrCat(
      what, " was not registered: ", absl::StatusCodeToString(why.code()), ": ", why.message()));
}

}  // namespace tenon
