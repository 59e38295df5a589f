#include "plugin/host/loading/plugin_ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/plugin_hold.h"
#include "graph/op_defs/op_registry.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/host/devices/next_pluggable_platform.h"
#include "plugin/host/devices/stream_executor.h"
#include "plugin/host/loading/profiler.h"

namespace tenon {
namespace {

// Registrations come without a handle, so the thread tells to which ledger they belong:
// constructors and entry points run on the thread that loads.
thread_local LoadScope* current = nullptr;

}  // namespace

PluginLedger* LoadScope::Current() { return current == nullptr ? nullptr : current->ledger_; }

bool LoadScope::IsOf(std::string_view plugin) {
  const LoadScope* scope = current;
  while (scope != nullptr && scope->ledger_->path != plugin) scope = scope->outer_;
  return scope != nullptr;
}

LoadScope::LoadScope(PluginLedger& ledger) : ledger_(&ledger), outer_(current) { current = this; }

LoadScope::~LoadScope() { current = outer_; }

absl::Status Publish(PluginLedger& ledger, const PublishOptions& options) {
  // Ops first: a kernel for an op that is not there would be found by no node.
  const Registrations staged = std::move(ledger.staged);
  ledger.staged = Registrations();
  for (const OpDef& op : staged.ops) {
    TENON_RETURN_IF_ERROR(OpRegistry::Global().Register(op));
    ledger.info.ops.push_back(op.name);
  }
  for (const auto& kernel : staged.kernels) {
    // A copy: the library keeps the registration as the plug-in made it, for a load with others.
    auto published = std::make_shared<KernelDef>(*kernel);
    published->plugin_priority = options.priority;
    published->own_devices_only = options.device_types.contains(kernel->device_type);
    if (published->own_devices_only && !options.serve_as.empty())
      published->device_type = options.serve_as;
    KernelRegistry::Global().Register(std::move(published));
    ++ledger.info.kernels;
  }
  return absl::OkStatus();
}

std::string_view UserOf(const PluginLedger& ledger) {
  const std::string& path = ledger.path;
  if (ledger.busy) return "its load is";
  if (KernelRegistry::Global().InUse(path)) return "its kernels are";
  if (PluginOptimizersInUse(path)) return "its graph pass is";
  if (ledger.profiler != nullptr && ledger.profiler.use_count() > 1) return "its profiler is";
  if (PluginHold::Any(path)) return "its devices or tensors of its own are";
  return "";
}

bool DropAll(PluginLedger& ledger) {
  PluginInfo was = std::exchange(ledger.info, {});
  // A pass or a kernel may have found a user since UserOf answered.
  bool in_use = false;
  if (was.pass) in_use |= RemovePluginOptimizers(ledger.path);
  if (was.kernels > 0) in_use |= KernelRegistry::Global().RemovePlugin(ledger.path);
  for (const std::string& op : was.ops) OpRegistry::Global().Remove(op);
  ledger.staged = Registrations();
  // The reverse of the order in which they were made.
  while (!ledger.devices.empty()) ledger.devices.pop_back();
  ledger.devices_created = false;
  ledger.profiler.reset();
  ledger.next.reset();
  // Tensors that have host memory of the plug-in give it back when they go.
  in_use |= ledger.platform.use_count() > 1;
  ledger.platform.reset();
  ledger.pjrt.reset();
  ledger.info.path = ledger.path;
  ledger.info.entry_points = std::move(was.entry_points);
  ledger.info.warnings = std::move(was.warnings);
  return in_use;
}

void RegisterKernel(std::shared_ptr<KernelDef> kernel) {
  PluginLedger* const ledger = LoadScope::Current();
  if (ledger == nullptr) return KernelRegistry::Global().Register(std::move(kernel));
  kernel->plugin = ledger->path;  // which attributes it to the ledger in the registry
  ledger->staged.kernels.push_back(std::move(kernel));
}

// A name that is taken is refused at once, so that the plug-in's own status says it. Another load
// may still take the name before this one is published.
absl::Status RegisterOp(OpDef op) {
  PluginLedger* const ledger = LoadScope::Current();
  if (ledger == nullptr) return OpRegistry::Global().Register(std::move(op));
  std::vector<OpDef>& staged = ledger->staged.ops;
  if (std::any_of(staged.begin(), staged.end(),
                  [&](const OpDef& o) { return o.name == op.name; }) ||
      OpRegistry::Global().Find(op.name) != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat("Op with name ", op.name));
  }
  staged.push_back(std::move(op));
  return absl::OkStatus();
}

void NoteRefused(std::string_view what, const absl::Status& why) {
  PluginLedger* const ledger = LoadScope::Current();
  if (ledger == nullptr) return;
  ledger->staged.refused.push_back(absl::StrCat(
      what, " was not registered: ", absl::StatusCodeToString(why.code()), ": ", why.message()));
}

}  // namespace tenon
