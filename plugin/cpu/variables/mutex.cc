// Mutexes of the graph: MutexLock's output holds the mutex until it is consumed or nobody has it.
#include "absl/synchronization/mutex.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_limits.h"

namespace tenon::cpu {
namespace {

// Thread-safe. Not bound to threads: who releases it need not have taken it.
class GraphMutex : public Resource {
 public:
  static constexpr std::string_view kKind = "mutex";
  std::string_view kind() const override { return kKind; }
  using Resource::Resource;

  absl::Status Take() {
    absl::MutexLock lock(&mutex_);
    const auto is_free = [&] { return !taken_; };
    TENON_ASSIGN_OR_RETURN(const bool free,
                           AwaitOtherRun(mutex_, absl::Condition(&is_free), "Lock"));
    if (!free) {
      return absl::DeadlineExceededError(
          absl::StrCat("mutex '", name(), "' has been taken for as long as the run may wait"));
    }
    taken_ = true;
    return absl::OkStatus();
  }
  void Release() {
    absl::MutexLock lock(&mutex_);
    taken_ = false;
  }

 private:
  absl::Mutex mutex_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
};

class HeldMutex : public Object {
 public:
  static constexpr std::string_view kKind = "mutex lock";
  std::string_view kind() const override { return kKind; }
  explicit HeldMutex(ObjectRef<GraphMutex> mutex) : mutex_(std::move(mutex)) {}
  ~HeldMutex() override { Release(); }

  // False if it was released before.
  // Atomic, as ConsumeMutexLock and the end of the last reference may come from different threads.
  bool Release() {
    if (released_.exchange(true)) return false;
    mutex_->Release();
    return true;
  }

 private:
  const ObjectRef<GraphMutex> mutex_;
  std::atomic<bool> released_{false};
};

absl::Status PrepareMutex(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(ObjectRef<GraphMutex> mutex,
                         SharedResource<GraphMutex>(p, [](std::string_view name) {
                           return ObjectRef<GraphMutex>::Make(name);
                         }));
  return SetHandle(p, ObjectRef<Object>::Adopt(mutex.release()));
}

absl::Status RunLock(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(GraphMutex * mutex, InputAs<GraphMutex>(args, 0));
  TENON_RETURN_IF_ERROR(mutex->Take());
  auto held = ObjectRef<HeldMutex>::Make(ObjectRef<GraphMutex>::Share(mutex));
  TENON_ASSIGN_OR_RETURN(
      Tensor handle, HandleTensor(DataType::kVariant, ObjectRef<Object>::Adopt(held.release())));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status RunConsume(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(HeldMutex * held, InputAs<HeldMutex>(args, 0));
  if (held->Release()) return absl::OkStatus();
  return absl::InvalidArgumentError("the lock was consumed before");
}

}  // namespace

absl::Span<const CpuKernelSpec> MutexKernels() {
  static const CpuKernelSpec specs[] = {
      {"MutexV2", {}, PrepareMutex, 0, true},
      WholeTensorKernel("MutexLock", PrepareWhole<&RunLock>),
      WholeTensorKernel("ConsumeMutexLock", PrepareWhole<&RunConsume>),
  };
  return specs;
}

}  // namespace tenon::cpu
