// The definitions of TF_OpKernelConstruction and TF_OpKernelContext, which plug-ins see as opaque
// types, and what all functions on them share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "graph/c_api/tensor_handles.h"
#include "plugin/device/compute_streams.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"
#include "plugin/kernels/variable.h"
#include "tensorflow/c/kernels.h"

namespace tenon {

class KernelWatch;  // plugin/host/c_api/kernels/kernel_watch.h

// The part of a plug-in's kernel that its contexts use. Constant once the kernel is constructed. A
// context that a plug-in may still use keeps it alive when the kernel is gone.
struct KernelInfo {
  // Members that every call reads come first.
  std::shared_ptr<const KernelDef> def;
  Device* device = nullptr;  // null: the host, also when the executor passed its CPU device
  int device_id = 0;         // the ordinal of `device`, also when that is gone
  std::string name;          // of the node; NUL-terminated for plug-ins and signal handlers
  NodeTypes types;           // what node.types points to
  MemoryTypes memory;
  // The ports [first, second) of each argument in node.op->inputs.
  absl::InlinedVector<std::pair<int, int>, 4> input_ranges;
  KernelNode node;  // its attributes are gone with the graph, which a context may outlive
};

// The ports of the op's input argument `name`. INVALID_ARGUMENT if there is no such argument.
absl::StatusOr<std::pair<int, int>> RangeOf(const KernelInfo& kernel, std::string_view name);

// The node's value of an attribute, else the op's default; nullopt if there is neither.
std::optional<AttrValue> FindAttr(const KernelNode& node, std::string_view name);

// The stream of a call, and memory for it, on a device with streams.
inline StreamHandle StreamOfCall(Device& device, const ComputeArgs& args) {
  return args.stream == 0 ? device.compute_stream() : args.streams->compute_stream_at(args.stream);
}
inline absl::StatusOr<BufferRef> AllocateForCall(Device& device, const ComputeArgs& args,
                                                 size_t bytes) {
  return args.stream == 0 ? device.Allocate(bytes) : args.streams->AllocateOn(args.stream, bytes);
}

// The mutex for the end of a kernel's work on other threads. The thread that reports the end holds
// it, and the host waits with it. All contexts share one mutex, since a thread may still hold it
// when the context is gone.
absl::Mutex& EndsOfWork();

// The arguments of a call that has ended: no inputs and no outputs. Also those of a call whose
// deferred work the host gave up. An asynchronous call on which the host gave up keeps its own.
extern const ComputeArgs kAbandonedArgs;

// What stands for a null context: a call that has ended, of a kernel without a node.
TF_OpKernelContext* NoCall();

// Returns `construction`; for null one of a kernel without a node, which ends with the thread.
TF_OpKernelConstruction* InConstruction(TF_OpKernelConstruction* construction);

// In strict mode reports a violation: the plug-in calls `function` with the context of a call that
// has ended. Else does nothing.
void TellOfEndedCall(const TF_OpKernelContext& context, const char* function);

}  // namespace tenon

// One call of create_func. Lives as long as the call.
struct TF_OpKernelConstruction {
  const tenon::KernelInfo* kernel = nullptr;
  absl::Status status;  // the first failure
};

// The variables that a kernel has locked. The context owns the holder and uses it again once it is
// released, in this call or a later one.
struct TF_VariableInputLockHolder {
  // The caller of either function holds the context's mutex. Release takes one use back, and calls
  // LetGo after the last. LetGo releases the locks, however many uses are left, and makes the
  // holder free to be given out again.
  void Release() {
    if (--uses <= 0) LetGo();
  }
  void LetGo() {
    for (const auto& variable : variables) variable->LetGo();
    variables.clear();
    out = false;
    uses = 0;
  }
  TF_OpKernelContext* context = nullptr;
  absl::InlinedVector<tenon::ObjectRef<tenon::Variable>, 4> variables;
  bool out = false;    // the plug-in has the holder
  int uses = 0;        // by the plug-in: several TF_VariableInfo of a variable share its lock
  uint64_t taken = 0;  // how often the holder was given out again: tells an old use from a new one
};

// One call of a kernel. Contexts are used again, and never freed while a plug-in may still call
// back. The plug-in may use a context from several threads.
struct TF_OpKernelContext {
  const tenon::KernelInfo* kernel = nullptr;
  const tenon::ComputeArgs* args = nullptr;
  tenon::HandleLoans loans;

  // For an asynchronous kernel: its own references to inputs and outputs, which stay valid when the
  // host stops waiting.
  std::vector<tenon::Tensor> own_tensors;
  std::vector<tenon::ComputeArgs::Input> own_inputs;
  std::vector<tenon::Tensor> own_outputs;
  std::vector<tenon::Tensor*> own_output_pointers;
  tenon::ComputeArgs own_args;

  std::atomic<bool> failed{false};
  std::atomic<bool> abandoned{false};  // the host gave up the call, or `ended`
  std::atomic<bool> ended{false};      // strict mode only: the call is over, its use is a violation
  std::atomic<bool> locked{false};     // one of lock_holders was given out in this call
  std::atomic<int64_t> deferred{0};    // pieces of work that go on after compute_func
  absl::Mutex mutex;
  absl::Status status ABSL_GUARDED_BY(mutex);  // the first failure
  std::vector<std::unique_ptr<TF_VariableInputLockHolder>> lock_holders ABSL_GUARDED_BY(mutex);
  // For an asynchronous kernel.
  bool done = false;                          // guarded by EndsOfWork()
  bool thrown = false;                        // the call threw an exception: no callback will come
  absl::Time deadline;                        // for `done` and for the deferred work
  std::shared_ptr<tenon::KernelWatch> watch;  // null unless strict mode is on

  // Notes an error of the call; the first one stays. Any thread may call this.
  void Fail(absl::Status failure) {
    absl::MutexLock lock(&mutex);
    if (status.ok()) status = std::move(failure);
    failed = !status.ok();
  }
  // Releases the locks, which end with the call. Returns whether the plug-in still had a holder,
  // with locks or without.
  bool Unlock() {
    locked = false;
    absl::MutexLock lock(&mutex);
    bool had_some = false;
    for (const auto& holder : lock_holders) {
      had_some |= holder->out;
      if (holder->out) holder->LetGo();
    }
    return had_some;
  }
  int num_inputs() const { return static_cast<int>(args->inputs.size()); }
  int num_outputs() const { return static_cast<int>(args->outputs.size()); }
  // Whether the kernel has set output i. When a call begins, no output is set.
  bool output_set(int i) const { return args->outputs[i]->dtype() != tenon::DataType::kInvalid; }
};

namespace tenon {

// Returns FAILED_PRECONDITION for a call that is `abandoned`: its device may be gone. Without
// strict mode a call that has ended as usual gives OK.
inline absl::Status CheckDeviceIsThere(const TF_OpKernelContext& context) {
  if (!context.abandoned) [[likely]]
    return absl::OkStatus();
  return absl::FailedPreconditionError("the host no longer waits for this call");
}

// Returns `context`, NoCall() for null. Every C function with a context calls this before it
// answers from the context, to report in strict mode a context whose call has ended. Only the fast
// paths of TF_GetInput and of the functions that allocate an output do not: a context whose call
// has ended never takes them.
inline TF_OpKernelContext* InCall(TF_OpKernelContext* context, const char* function) {
  if (context == nullptr) [[unlikely]]
    return NoCall();
  if (context->ended.load(std::memory_order_relaxed)) [[unlikely]]
    TellOfEndedCall(*context, function);
  return context;
}

}  // namespace tenon
