#include "plugin/host/c_api/kernels/plugin_kernel.h"

#include <algorithm>
#include <atomic>
#include <deque>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/float_mode.h"
#include "plugin/device/pending_calls.h"
#include "plugin/host/c_api/kernels/kernel_context.h"
#include "plugin/host/c_api/kernels/kernel_watch.h"
#include "plugin/pjrt/opaque_memory.h"

namespace tenon {
namespace {

// Marks the tensors of the arguments that the kernel declared as host memory; an argument may be a
// list of tensors. INVALID_ARGUMENT lists the names that are no argument of the op.
absl::Status MarkDeclared(const KernelDef& kernel, const KernelNode& node, MemoryTypes* memory) {
  std::vector<std::string_view> unknown;
  for (const std::string& name : kernel.host_memory_args) {
    bool found = false;
    for (size_t i = 0; i < node.op->inputs.size(); ++i) {
      if (node.op->inputs[i].name != name) continue;
      TENON_ASSIGN_OR_RETURN(const auto range,
                             InputRange(*node.op, *node.attrs, static_cast<int>(i)));
      for (int k = range.first; k < range.second; ++k) memory->input_on_host[k] = true;
      found = true;
    }
    for (size_t i = 0; i < node.op->outputs.size(); ++i) {
      if (node.op->outputs[i].name != name) continue;
      TENON_ASSIGN_OR_RETURN(const auto range,
                             OutputRange(*node.op, *node.attrs, static_cast<int>(i)));
      for (int k = range.first; k < range.second; ++k) memory->output_on_host[k] = true;
      found = true;
    }
    if (!found) unknown.push_back(name);
  }
  if (unknown.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("HostMemory args '", absl::StrJoin(unknown, "', '"),
                   "' not found in OpDef: ", node.op->name, " (node '", node.name, "')"));
}

// Marks the tensors that an attribute of the node lists by index. Indices out of range are ignored,
// as in TensorFlow.
void MarkListed(const AttrSet& attrs, std::string_view attr,
                absl::InlinedVector<bool, 8>* on_host) {
  const AttrValue* value = attrs.Find(attr);
  if (value == nullptr || value->kind() != AttrKind::kList) return;
  const absl::StatusOr<std::vector<int64_t>> list = value->AsIntList();
  if (!list.ok()) return;
  for (const int64_t i : *list) {
    if (i >= 0 && i < static_cast<int64_t>(on_host->size())) (*on_host)[i] = true;
  }
}

// Whatever the kernel declares: a device's memory cannot hold such elements.
bool AlwaysOnHost(DataType type) {
  return BaseType(type) == DataType::kString || BaseType(type) == DataType::kResource;
}

// Adds node, op, kernel and plug-in to an error, as far as the message does not name them.
absl::Status WithNode(const absl::Status& status, const KernelInfo& info) {
  const std::string& plugin = info.def->plugin;
  const bool node_told = absl::StrContains(status.message(), "[[{{node ");
  const bool plugin_told = plugin.empty() || absl::StrContains(status.message(), plugin);
  if (status.ok() || (node_told && plugin_told)) return status;
  return Annotate(status, "",
                  absl::StrCat(node_told ? "" : absl::StrCat("\n\t [[{{node ", info.name, "}}]]"),
                               " (op ", info.node.op->name, ", kernel ", info.def->class_name,
                               plugin_told ? "" : absl::StrCat(" of plug-in ", plugin), ")"));
}

// As in TensorFlow: who calls a graph may try again after UNAVAILABLE, which stands for a network
// that fails. So a kernel's own UNAVAILABLE becomes INTERNAL.
absl::Status NotUnavailable(const absl::Status& status, const KernelInfo& info) {
  if (!absl::IsUnavailable(status)) return status;
  return absl::InternalError(absl::StrCat(
      status.message(), "\nExecuting non-communication op <", info.name,
      "> originally returned UnavailableError, and was replaced by InternalError to avoid invoking "
      "TF network error handling logic."));
}

constexpr char kComputeAsync[] = "compute_async_func";

// Keeps a context that a plug-in may still use, and the kernel's facts to which the context refers,
// for the rest of the process. Leaks by intent: nobody learns when the plug-in is done.
void KeepForever(ContextPtr context, std::shared_ptr<const KernelInfo> info) {
  static auto* const mutex = new absl::Mutex;
  static auto* const kept =
      new std::vector<std::pair<ContextPtr, std::shared_ptr<const KernelInfo>>>;
  context->abandoned = true;
  absl::MutexLock lock(mutex);
  kept->emplace_back(std::move(context), std::move(info));
}

// Keeps the contexts of calls that strict mode has watched to their end, the last kMost of them. A
// plug-in that still uses one is reported; without the list, it would use another call's.
void KeepEnded(ContextPtr context, std::shared_ptr<const KernelInfo> info) {
  constexpr size_t kMost = 10'000;
  static auto* const mutex = new absl::Mutex;
  static auto* const kept =
      new std::deque<std::pair<std::shared_ptr<const KernelInfo>, ContextPtr>>;
  context->abandoned = true;
  context->ended = true;
  absl::MutexLock lock(mutex);
  kept->emplace_back(std::move(info), std::move(context));
  if (kept->size() > kMost) kept->pop_front();
}

class PluginKernelImpl final : public PluginKernel {
 public:
  explicit PluginKernelImpl(KernelInfo info)
      : shared_info_(std::make_shared<KernelInfo>(std::move(info))),
        info_(*shared_info_),
        opaque_(info_.device != nullptr && !info_.device->has_streams()),
        caller_(info_.def->fns.compute_async == nullptr
                    ? nullptr
                    : std::make_shared<const ExpectedCaller>(
                          ExpectedCaller{info_.def->plugin, kComputeAsync, info_.name})) {
    // A copy of the types: an abandoned context may outlive the graph.
    shared_info_->types = *info_.node.types;
    shared_info_->node.types = &shared_info_->types;
  }
  ~PluginKernelImpl() override;

  absl::Status Construct();
  absl::Status Compute(const ComputeArgs& args, ContextPtr& context) override;
  bool is_async() const override { return info_.def->fns.compute_async != nullptr; }
  ContextPtr Begin(const ComputeArgs& args) override;
  absl::Status End(ContextPtr call, std::span<Tensor* const> outputs) override;
  void Prefetch() const override {
    __builtin_prefetch(&info_);
    __builtin_prefetch(&info_.types);
    __builtin_prefetch(&info_.memory);
    __builtin_prefetch(kernel_);
  }
  const MemoryTypes& memory() const override { return info_.memory; }
  bool has_computed() const override { return has_computed_.load(std::memory_order_relaxed); }
  const KernelDef& def() const override { return *info_.def; }

 private:
  // Written once only: runs on other threads read the same line of memory, and a write would take
  // it from them.
  void NoteComputed() {
    if (!has_computed()) has_computed_.store(true, std::memory_order_relaxed);
  }
  void Open(TF_OpKernelContext& context) const;
  absl::Status ComputeSync(const ComputeArgs& args, ContextPtr& shared);
  void EndWatch(KernelWatch& watch, ContextPtr& context) const;
  [[gnu::noinline]] absl::Status ComputeAsync(const ComputeArgs& args) {
    return End(Begin(args), args.outputs);
  }
  ContextPtr IdleContext();
  static void Own(const ComputeArgs& args, TF_OpKernelContext& context);
  absl::Status Await(TF_OpKernelContext& context) const;
  absl::Status Result(TF_OpKernelContext& context) const;
  absl::Status CheckBuffersSet(const TF_OpKernelContext& context) const;
  absl::Status Failure(TF_OpKernelContext& context, int missing_output) const;
  absl::Status WaitForDeferredWork(const ComputeArgs& args, ContextPtr& shared) const;
  void EndLocks(TF_OpKernelContext& context) const {
    if (context.locked.load(std::memory_order_relaxed)) [[unlikely]]
      ReleaseLocks(context);
  }
  void ReleaseLocks(TF_OpKernelContext& context) const;
  absl::Status TimedOut(TF_OpKernelContext& context, const char* what, double timeout_s) const;

  const std::shared_ptr<KernelInfo> shared_info_;
  const KernelInfo& info_;
  const bool opaque_;  // tensors on the device are PJRT buffers
  void* kernel_ = nullptr;
  bool constructed_ = false;
  std::atomic<bool> has_computed_{false};
  // For an asynchronous kernel; null, and empty, for another.
  const std::shared_ptr<const ExpectedCaller> caller_;
  absl::Mutex mutex_;
  std::vector<ContextPtr> idle_contexts_ ABSL_GUARDED_BY(mutex_);
};

absl::Status PluginKernelImpl::Construct() {
  const PluginKernelFns& fns = info_.def->fns;
  TF_OpKernelConstruction construction{&info_, {}};
  absl::Status called = absl::OkStatus();
  if (fns.create != nullptr) {
    const FloatModeGuard float_mode(info_.def->plugin);
    called = CallPlugin(info_.def->plugin.c_str(), "create_func", info_.name.c_str(),
                        [&] { kernel_ = fns.create(&construction); });
  }
  constructed_ = called.ok();  // delete_func is owed also after a reported failure
  return WithNode(called.ok() ? construction.status : called, info_);
}

PluginKernelImpl::~PluginKernelImpl() {
  const PluginKernelFns& fns = info_.def->fns;
  if (constructed_ && fns.destroy != nullptr) {
    WarnOf(WithNode(CallPlugin(info_.def->plugin.c_str(), "delete_func", info_.name.c_str(),
                               [&] { fns.destroy(kernel_); }),
                    info_));
  }
}

// Makes the context one for a call of this kernel. Touches the status only after a failure: most
// calls of a context have none.
void PluginKernelImpl::Open(TF_OpKernelContext& context) const {
  context.kernel = &info_;
  context.deferred.store(0, std::memory_order_relaxed);
  if (context.failed.load(std::memory_order_relaxed)) {
    context.failed = false;
    absl::MutexLock lock(&context.mutex);
    context.status = absl::OkStatus();
  }
}

// Returns the failure that the plug-in reported before, if there is one.
absl::Status PluginKernelImpl::TimedOut(TF_OpKernelContext& context, const char* what,
                                        double timeout_s) const {
  context.Fail(absl::DeadlineExceededError(absl::StrCat(what, " within ", timeout_s, " s")));
  absl::MutexLock lock(&context.mutex);
  return WithNode(NotUnavailable(context.status, info_), info_);
}

// Ends the locks that the plug-in did not release: one that outlived its call would keep all others
// from the variable for good.
void PluginKernelImpl::ReleaseLocks(TF_OpKernelContext& context) const {
  if (!context.Unlock()) return;
  if (AbiWatch* const watch = AbiWatch::Active()) {
    const bool async = info_.def->fns.compute_async != nullptr;
    watch->Report({info_.def->plugin, async ? kComputeAsync : "compute_func", info_.name, "leak",
                   "it never releases a TF_VariableInputLockHolder that it got there"});
  }
  WarnOf(WithNode(
      absl::FailedPreconditionError("the kernel did not release its locks on variables"), info_));
}

// Returns the failure that the plug-in reported, else an error for the first output that it did not
// set.
inline absl::Status PluginKernelImpl::Result(TF_OpKernelContext& context) const {
  int set = 0;
  while (set < context.num_outputs() && context.output_set(set)) ++set;
  if (context.failed || set < context.num_outputs()) return Failure(context, set);
  return opaque_ ? CheckBuffersSet(context) : absl::OkStatus();
}

// On a device whose tensors are PJRT buffers an output is complete only with a buffer.
absl::Status PluginKernelImpl::CheckBuffersSet(const TF_OpKernelContext& context) const {
  for (int i = 0; i < context.num_outputs(); ++i) {
    const Tensor& output = *context.args->outputs[i];
    const pjrt::OpaqueMemory* const memory = pjrt::OpaqueMemory::Of(output);
    if (memory == nullptr || output.bytes() == 0 || *memory->Get()) continue;
    return PluginFault(WithNode(
        absl::InternalError(absl::StrCat("the kernel has set no PJRT buffer for output ", i)),
        info_));
  }
  return absl::OkStatus();
}

absl::Status PluginKernelImpl::Failure(TF_OpKernelContext& context, int missing_output) const {
  if (context.failed) {
    absl::MutexLock lock(&context.mutex);
    return WithNode(NotUnavailable(context.status, info_), info_);
  }
  return WithNode(absl::InternalError(absl::StrCat("Missing ", missing_output,
                                                   "-th output from {{node ", info_.name, "}}")),
                  info_);
}

// Waits for work that the plug-in goes on with after compute_func. On an error `shared` is a new
// context, and the old one is kept, since the plug-in may still use it.
absl::Status PluginKernelImpl::WaitForDeferredWork(const ComputeArgs& args,
                                                   ContextPtr& shared) const {
  TF_OpKernelContext* const context = shared.get();
  const auto none = [context] { return context->deferred.load(std::memory_order_acquire) <= 0; };
  const CallbackScope waiting(info_.def->plugin.c_str(), "the deferred work of compute_func",
                              info_.name);
  absl::MutexLock lock(&EndsOfWork());
  if (EndsOfWork().AwaitWithTimeout(absl::Condition(&none), absl::Seconds(args.timeout_s)))
    return absl::OkStatus();
  absl::Status late = TimedOut(*context, "the kernel's deferred work did not end", args.timeout_s);
  context->args = &kAbandonedArgs;
  context->loans.Settle();
  EndLocks(*context);
  KeepForever(std::exchange(shared, NewContext()), shared_info_);
  return late;
}

inline absl::Status PluginKernelImpl::ComputeSync(const ComputeArgs& args, ContextPtr& shared) {
  TF_OpKernelContext* const context = shared.get();
  Open(*context);
  context->args = &args;
  context->loans.Open();
  const absl::Status called = CallPlugin(info_.def->plugin.c_str(), "compute_func", info_.name,
                                         [&] { info_.def->fns.compute(kernel_, context); });
  if (!called.ok()) context->Fail(called);
  if (context->deferred.load(std::memory_order_acquire) > 0) {
    TENON_RETURN_IF_ERROR(WaitForDeferredWork(args, shared));
  }
  // Loans end before the caller gets the outputs: tensors must not change hands while they are
  // lent.
  context->loans.Settle();
  EndLocks(*context);
  absl::Status result = Result(*context);
  context->args = &kAbandonedArgs;
  return result;
}

absl::Status PluginKernelImpl::Compute(const ComputeArgs& args, ContextPtr& context) {
  if (is_async()) [[unlikely]]
    return ComputeAsync(args);
  NoteComputed();
  const FloatModeGuard float_mode(info_.def->plugin);
  const std::unique_ptr<KernelWatch> watch = KernelWatch::Begin(info_, args);
  absl::Status result = ComputeSync(args, context);
  if (watch != nullptr) [[unlikely]]
    EndWatch(*watch, context);
  return result;
}

// Ends the watch, and keeps the context from further calls, to see whether the plug-in uses it
// later.
[[gnu::noinline]] void PluginKernelImpl::EndWatch(KernelWatch& watch, ContextPtr& context) const {
  watch.End();
  KeepEnded(std::exchange(context, NewContext()), shared_info_);
}

// Several calls may be in flight, so the kernel has as many contexts as there were calls at a time.
ContextPtr PluginKernelImpl::IdleContext() {
  absl::MutexLock lock(&mutex_);
  if (idle_contexts_.empty()) return NewContext();
  ContextPtr idle = std::move(idle_contexts_.back());
  idle_contexts_.pop_back();
  return idle;
}

// Gives the context its own references to inputs and outputs, which stay valid when the host stops
// waiting. An input's last use moves the tensor, so that the kernel may forward its buffer.
void PluginKernelImpl::Own(const ComputeArgs& args, TF_OpKernelContext& context) {
  const size_t num_inputs = args.inputs.size(), num_outputs = args.outputs.size();
  context.own_tensors.resize(num_inputs);
  context.own_inputs.resize(num_inputs);
  for (size_t i = 0; i < num_inputs; ++i) {
    const ComputeArgs::Input& input = args.inputs[i];
    context.own_tensors[i] = input.last_use ? std::move(*input.tensor) : *input.tensor;
    context.own_inputs[i] = {&context.own_tensors[i], input.last_use};
  }
  context.own_outputs.assign(num_outputs, Tensor());
  context.own_output_pointers.resize(num_outputs);
  for (size_t i = 0; i < num_outputs; ++i) context.own_output_pointers[i] = &context.own_outputs[i];
  context.own_args = args;
  context.own_args.inputs = context.own_inputs;
  context.own_args.outputs = context.own_output_pointers;
  context.args = &context.own_args;
}

ContextPtr PluginKernelImpl::Begin(const ComputeArgs& args) {
  NoteComputed();
  const FloatModeGuard float_mode(info_.def->plugin);
  ContextPtr call = IdleContext();
  TF_OpKernelContext* const context = call.get();
  Open(*context);
  Own(args, *context);
  context->watch = KernelWatch::Begin(info_, context->own_args);
  context->deadline = absl::Now() + absl::Seconds(args.timeout_s);
  {
    // The callback of the context's last call may not have let go of the mutex yet.
    absl::MutexLock lock(&EndsOfWork());
    context->done = false;
  }
  auto* const done = static_cast<TF_AsyncOpKernelDoneCallback*>(PendingCall(context, caller_));
  const absl::Status called =
      CallPlugin(info_.def->plugin.c_str(), kComputeAsync, info_.name.c_str(),
                 [&] { info_.def->fns.compute_async(kernel_, context, done); });
  context->thrown = !called.ok();
  if (!called.ok()) context->Fail(called);
  return call;
}

absl::Status PluginKernelImpl::Await(TF_OpKernelContext& context) const {
  const auto finished = [&context] {
    return context.done && context.deferred.load(std::memory_order_acquire) <= 0;
  };
  const CallbackScope waiting(info_.def->plugin.c_str(), "the work of compute_async_func",
                              info_.name.c_str());
  absl::MutexLock lock(&EndsOfWork());
  // After an exception nobody will call back, so there is no time to wait; a callback from before
  // it still counts.
  const absl::Time deadline = context.thrown ? absl::InfinitePast() : context.deadline;
  if (EndsOfWork().AwaitWithDeadline(absl::Condition(&finished), deadline)) return absl::OkStatus();
  return TimedOut(context, "the kernel did not run its done callback", context.own_args.timeout_s);
}

absl::Status PluginKernelImpl::End(ContextPtr call, std::span<Tensor* const> outputs) {
  TF_OpKernelContext* const context = call.get();
  absl::Status waited = Await(*context);
  EndLocks(*context);
  if (!waited.ok()) {
    KeepForever(std::move(call), shared_info_);
    return waited;
  }
  const std::shared_ptr<KernelWatch> watch = std::move(context->watch);
  if (watch != nullptr) watch->End();
  absl::Status result = Result(*context);
  for (size_t i = 0; i < outputs.size(); ++i) *outputs[i] = std::move(context->own_outputs[i]);
  context->own_tensors.clear();
  context->args = &kAbandonedArgs;
  if (watch != nullptr) {
    KeepEnded(std::move(call), shared_info_);
    return result;
  }
  absl::MutexLock lock(&mutex_);
  idle_contexts_.push_back(std::move(call));
  return result;
}

}  // namespace

const ComputeArgs kAbandonedArgs;

void TellOfEndedCall(const TF_OpKernelContext& context, const char* function) {
  AbiWatch* const watch = AbiWatch::Active();
  if (watch == nullptr) return;
  const KernelInfo& info = *context.kernel;
  const bool async = info.def->fns.compute_async != nullptr;
  watch->Report({info.def->plugin, async ? kComputeAsync : "compute_func", info.name,
                 "context_after_end",
                 absl::StrCat(function, " is called with the context of a call that has ended")});
}

absl::Mutex& EndsOfWork() {
  static absl::Mutex mutex(absl::kConstInit);
  return mutex;
}

absl::StatusOr<std::pair<int, int>> RangeOf(const KernelInfo& kernel, std::string_view name) {
  const std::vector<ArgDef>& args = kernel.node.op->inputs;
  const auto arg =
      std::find_if(args.begin(), args.end(), [name](const ArgDef& a) { return a.name == name; });
  if (arg == args.end())
    return absl::InvalidArgumentError(absl::StrCat("Unknown input name: ", name));
  return kernel.input_ranges[arg - args.begin()];
}

void ContextDeleter::operator()(TF_OpKernelContext* context) const { delete context; }

ContextPtr NewContext() {
  ContextPtr context(new TF_OpKernelContext);
  context->args = &kAbandonedArgs;
  return context;
}

absl::StatusOr<MemoryTypes> ResolveMemoryTypes(const KernelDef& kernel, const KernelNode& node) {
  MemoryTypes memory;
  memory.input_on_host.assign(node.types->inputs.size(), false);
  memory.output_on_host.assign(node.types->outputs.size(), false);
  for (size_t i = 0; i < node.types->inputs.size(); ++i)
    memory.input_on_host[i] = AlwaysOnHost(node.types->inputs[i]);
  for (size_t i = 0; i < node.types->outputs.size(); ++i)
    memory.output_on_host[i] = AlwaysOnHost(node.types->outputs[i]);
  TENON_RETURN_IF_ERROR(MarkDeclared(kernel, node, &memory));
  MarkListed(*node.attrs, "_input_hostmem", &memory.input_on_host);
  MarkListed(*node.attrs, "_output_hostmem", &memory.output_on_host);
  return memory;
}

absl::StatusOr<std::unique_ptr<PluginKernel>> PluginKernel::Create(
    std::shared_ptr<const KernelDef> kernel, KernelNode node, Device* device) {
  KernelInfo info;
  info.name = std::string(node.name);
  TENON_ASSIGN_OR_RETURN(info.memory, ResolveMemoryTypes(*kernel, node));
  for (size_t i = 0; i < node.op->inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(info.input_ranges.emplace_back(),
                           InputRange(*node.op, *node.attrs, static_cast<int>(i)));
  }
  if (node.surroundings == nullptr)
    node.surroundings = std::make_shared<const KernelSurroundings>();
  info.def = std::move(kernel);
  info.node = std::move(node);
  info.device = device == nullptr || device->is_host() ? nullptr : device;
  if (info.device != nullptr) info.device_id = info.device->ordinal();
  auto impl = std::make_unique<PluginKernelImpl>(std::move(info));
  TENON_RETURN_IF_ERROR(impl->Construct());
  return impl;
}

}  // namespace tenon
