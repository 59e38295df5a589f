// The functions of next_pluggable_device/c_api.h that any kernel may use: its device, objects of
// the plug-in that the session keeps by name, and variables one by one.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/plugin_hold.h"
#include "graph/c_api/without_memory.h"
#include "plugin/device/device_copy.h"
#include "plugin/host/c_api/kernels/variable_access.h"
#include "tensorflow/c/experimental/next_pluggable_device/c_api.h"

// A variable of a call. The lock, if it has one, is shared with the other infos of the variable,
// and ends with the last of them or with the call.
struct TF_VariableInfo {
  TF_OpKernelContext* context = nullptr;
  int input = 0;
  tenon::ObjectRef<tenon::Variable> variable;
  TF_VariableInputLockHolder* holder = nullptr;
  uint64_t taken = 0;  // the holder's count then: a later one means that the lock has ended
};

namespace tenon {
namespace {

using DeleteFn = void (*)(void*);

// An object of a plug-in, which the session keeps and destroys by the plug-in's function. Holds the
// plug-in's code until then.
class PluginResource : public Resource {
 public:
  static constexpr std::string_view kKind = "object of a plug-in";
  PluginResource(std::string_view name, std::string_view plugin, void* object, DeleteFn destroy)
      : Resource(name), hold_(plugin), object_(object), destroy_(destroy) {}
  ~PluginResource() override {
    if (destroy_ == nullptr) return;
    WarnOf(CallPlugin(hold_.plugin().c_str(), "delete_func of a resource", {},
                      [&] { destroy_(object_); }));
  }
  std::string_view kind() const override { return kKind; }
  void* object() const { return object_; }

 private:
  const PluginHold hold_;
  void* const object_;
  const DeleteFn destroy_;
};

// Takes the object over: where there is no memory to hold it, destroys it.
ObjectRef<PluginResource> Hold(std::string_view name, std::string_view plugin, void* object,
                               DeleteFn destroy) {
  try {
    return ObjectRef<PluginResource>::Make(name, plugin, object, destroy);
  } catch (const std::bad_alloc&) {
    if (destroy != nullptr) destroy(object);
    throw;
  }
}

// The session's resources. A kernel on which the host gave up may run when the session is gone.
absl::StatusOr<ResourceManager*> Resources(const TF_OpKernelContext* ctx) {
  const auto& surroundings = ctx->kernel->node.surroundings;
  if (!ctx->abandoned && surroundings != nullptr && surroundings->resources != nullptr)
    return surroundings->resources;
  return absl::FailedPreconditionError("the session no longer waits for this kernel");
}

// The object is made first: if the name is taken or the session is gone, its end calls `destroy`,
// since the plug-in has given the object away.
absl::Status CreateResource(TF_OpKernelContext* ctx, std::string_view container,
                            std::string_view name, void* object, DeleteFn destroy) {
  const auto made = Hold(name, ctx->kernel->def->plugin, object, destroy);
  TENON_ASSIGN_OR_RETURN(ResourceManager * resources, Resources(ctx));
  const auto found = resources->LookupOrCreate<PluginResource>(
      container, name, [&made] { return ObjectRef<PluginResource>(made); });
  if (found.get() == made.get()) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("Resource ", container, "/", name, " is there already"));
}

// Calls `create` without the manager's lock, since the plug-in may ask for another object there. Of
// two objects that are made at once the first stays, and the other is destroyed.
absl::StatusOr<void*> LookupOrCreateResource(TF_OpKernelContext* ctx, std::string_view container,
                                             std::string_view name, void* (*create)(void*),
                                             void* arg, DeleteFn destroy) {
  TENON_ASSIGN_OR_RETURN(ResourceManager * resources, Resources(ctx));
  const auto none = [] { return ObjectRef<PluginResource>(); };
  if (const auto found = resources->LookupOrCreate<PluginResource>(container, name, none))
    return found->object();
  if (create == nullptr) return absl::InvalidArgumentError("create_func is NULL");
  const auto made = Hold(name, ctx->kernel->def->plugin, create(arg), destroy);
  return resources
      ->LookupOrCreate<PluginResource>(container, name,
                                       [&made] { return ObjectRef<PluginResource>(made); })
      ->object();
}

// Whether the info has a use of a lock that has not ended.
bool IsLocked(const TF_VariableInfo& info) ABSL_EXCLUSIVE_LOCKS_REQUIRED(info.context->mutex) {
  return info.holder != nullptr && info.holder->out && info.holder->taken == info.taken;
}

// Gives the info a use of the lock that the call has on the variable. Returns false if the call has
// none.
bool ShareLock(TF_VariableInfo& info) {
  absl::MutexLock lock(&info.context->mutex);
  if (IsLocked(info)) return true;
  TF_VariableInputLockHolder* const holder = HolderOf(info.context, info.variable.get());
  if (holder == nullptr) return false;
  ++holder->uses;
  info.holder = holder;
  info.taken = holder->taken;
  return true;
}

// Locks in the order of addresses, so that no two kernels wait for each other. The context keeps
// the locks, so that they end with the call even if the plug-in forgets them.
absl::Status LockInfos(absl::Span<TF_VariableInfo* const> infos) {
  std::vector<TF_VariableInfo*> sorted;
  for (TF_VariableInfo* info : infos) {
    if (info == nullptr) return absl::InvalidArgumentError("TF_VariableInfo is NULL.");
    sorted.push_back(info);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->variable.get() < b->variable.get(); });
  for (TF_VariableInfo* info : sorted) {
    if (ShareLock(*info)) continue;
    TENON_RETURN_IF_ERROR(info->variable->Hold(/*alone=*/true));
    absl::Cleanup let_go = [info] { info->variable->LetGo(); };  // without memory for the rest
    info->holder = TakeHolder(info->context);
    absl::MutexLock lock(&info->context->mutex);
    info->holder->variables.push_back(info->variable);
    info->taken = info->holder->taken;
    std::move(let_go).Cancel();
  }
  return absl::OkStatus();
}

// Gives the variable new memory of its value's type and shape, with undefined contents.
absl::Status AllocateAnew(TF_OpKernelContext* ctx, const TF_VariableInfo* info) {
  if (info == nullptr) return absl::InvalidArgumentError("TF_VariableInfo is NULL.");
  TENON_ASSIGN_OR_RETURN(const VariableHold hold, VariableHold::Take(ctx, info->variable.get()));
  const Tensor old = info->variable->PeekHeld();
  if (!old.initialized()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "variable '", info->variable->name(), "' has no value yet that would tell its shape"));
  }
  Device* const memory = MemoryOf(ctx, old.dtype());
  TENON_ASSIGN_OR_RETURN(Tensor made, AllocateLike(old, memory));
  info->variable->AssignHeld(std::move(made), memory);
  return absl::OkStatus();
}

absl::StatusOr<TF_Tensor*> TensorOf(const TF_VariableInfo* info) {
  if (info == nullptr) return absl::InvalidArgumentError("TF_VariableInfo is NULL.");
  TF_OpKernelContext* const ctx = info->context;
  TENON_ASSIGN_OR_RETURN(const VariableHold hold, VariableHold::Take(ctx, info->variable.get()));
  Device* const memory = MemoryOf(ctx, info->variable->PeekHeld().dtype());
  TENON_ASSIGN_OR_RETURN(Tensor value, HeldValue(ctx, info->input, info->variable.get(), memory));
  return NewTensorHandle(std::move(value));
}

std::string_view Container(const char* name) {
  return name == nullptr || *name == '\0' ? std::string_view("localhost") : std::string_view(name);
}

}  // namespace
}  // namespace tenon

using tenon::StatusToC;

extern "C" {

TF_Device* TF_GetDevice(TF_OpKernelContext* ctx) {
  return reinterpret_cast<TF_Device*>(tenon::InCall(ctx, __func__)->kernel->device);
}

void TF_CreatePluginResource(TF_OpKernelContext* ctx, const char* container_name,
                             const char* plugin_resource_name, void* plugin_resource,
                             void (*delete_func)(void*), TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  StatusToC(tenon::CreateResource(ctx, tenon::Container(container_name),
                                  absl::NullSafeStringView(plugin_resource_name), plugin_resource,
                                  delete_func),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_LookupOrCreatePluginResource(TF_OpKernelContext* ctx, const char* container_name,
                                     const char* plugin_resource_name,
                                     void** result_plugin_resource, void* (*create_func)(void*),
                                     void* create_func_args, void (*delete_func)(void*),
                                     TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  const absl::StatusOr<void*> object = tenon::LookupOrCreateResource(
      ctx, tenon::Container(container_name), absl::NullSafeStringView(plugin_resource_name),
      create_func, create_func_args, delete_func);
  if (result_plugin_resource != nullptr) *result_plugin_resource = object.ok() ? *object : nullptr;
  StatusToC(object.status(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_VariableInfo* TF_CreateVariableInfoFromContext(TF_OpKernelContext* ctx, int index,
                                                  TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  const absl::StatusOr<tenon::Variable*> variable = tenon::VariableInput(ctx, index);
  StatusToC(variable.status(), status);
  if (!variable.ok()) return nullptr;
  return new TF_VariableInfo{ctx, index, tenon::ObjectRef<tenon::Variable>::Share(*variable)};
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_LockVariableInfos(TF_VariableInfo** vars, int num_vars, TF_Status* status) try {
  if (!tenon::api::IsArray("vars", vars, std::max(num_vars, 0), status)) return;
  StatusToC(tenon::LockInfos(absl::MakeConstSpan(vars, static_cast<size_t>(std::max(num_vars, 0)))),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_AllocateTempForVariableInfo(TF_OpKernelContext* ctx, TF_VariableInfo* var_info,
                                    TF_Status* status) try {
  ctx = tenon::InCall(ctx, __func__);
  StatusToC(tenon::AllocateAnew(ctx, var_info), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_Tensor* TF_GetTensorFromVariableInfo(TF_VariableInfo* var_info, TF_Status* status) try {
  const absl::StatusOr<TF_Tensor*> tensor = tenon::TensorOf(var_info);
  StatusToC(tensor.status(), status);
  return tensor.ok() ? *tensor : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_DeleteVariableInfo(TF_VariableInfo* var_info) {
  if (var_info == nullptr) return;
  if (var_info->holder != nullptr) {
    absl::MutexLock lock(&var_info->context->mutex);
    if (tenon::IsLocked(*var_info)) var_info->holder->Release();
  }
  delete var_info;
}

}  // extern "C"
