// Tensors that stay in the session under a name, which a later run brings back.
#include <map>

#include "absl/synchronization/mutex.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Thread-safe.
class SessionTensors : public Resource {
 public:
  static constexpr std::string_view kKind = "session tensors";
  std::string_view kind() const override { return kKind; }
  using Resource::Resource;

  std::string Keep(std::string_view node, Tensor value) {
    absl::MutexLock lock(&mutex_);
    // The number makes it unique in the session; a handle that was deleted never stands for another
    // tensor.
    std::string handle = absl::StrCat(node, ";", next_++);
    tensors_.emplace(handle, std::move(value));
    return handle;
  }
  absl::StatusOr<Tensor> Get(std::string_view handle) {
    absl::MutexLock lock(&mutex_);
    const auto found = tensors_.find(handle);
    if (found == tensors_.end()) return Missing(handle);
    return found->second;
  }
  absl::Status Delete(std::string_view handle) {
    absl::MutexLock lock(&mutex_);
    const auto found = tensors_.find(handle);
    if (found == tensors_.end()) return Missing(handle);
    tensors_.erase(found);
    return absl::OkStatus();
  }

 private:
  static absl::Status Missing(std::string_view handle) {
    return absl::InvalidArgumentError(
        absl::StrCat("the session has no tensor with the handle '", handle, "'"));
  }

  absl::Mutex mutex_;
  std::map<std::string, Tensor, std::less<>> tensors_ ABSL_GUARDED_BY(mutex_);
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct TensorsState : NodeFacts {
  explicit TensorsState(const Prepare& p)
      : NodeFacts(p), tensors(p.session().resources().LookupOrCreate<SessionTensors>("", "", [] {
          return ObjectRef<SessionTensors>::Make("");
        })) {}
  ObjectRef<SessionTensors> tensors;
};

absl::StatusOr<std::string> HandleInput(const StepArgs& args) {
  const Tensor handle = args.run_state->Input(0);
  if (handle.shape().rank() == 0) return std::string(handle.StringAt(0));
  return absl::InvalidArgumentError(
      absl::StrCat("'handle' must be a scalar, its shape is ", handle.shape().ToString()));
}

absl::Status RunKeep(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TensorsState*>(state);
  TENON_ASSIGN_OR_RETURN(Tensor value, args.run_state->TakeInput(0));
  TENON_ASSIGN_OR_RETURN(Tensor handle, Tensor::Allocate(DataType::kString, Shape()));
  handle.SetString(0, s.tensors->Keep(s.name, std::move(value)));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status RunGet(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TensorsState*>(state);
  TENON_ASSIGN_OR_RETURN(const std::string handle, HandleInput(args));
  TENON_ASSIGN_OR_RETURN(Tensor value, s.tensors->Get(handle));
  if (value.dtype() != s.outputs[0]) {
    return absl::InvalidArgumentError(absl::StrCat("tensor '", handle, "' is ",
                                                   DataTypeName(value.dtype()), ", not ",
                                                   DataTypeName(s.outputs[0])));
  }
  args.run_state->SetOutput(0, std::move(value));
  return absl::OkStatus();
}

absl::Status RunDelete(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const std::string handle, HandleInput(args));
  return static_cast<const TensorsState*>(state)->tensors->Delete(handle);
}

}  // namespace

absl::Span<const CpuKernelSpec> SessionTensorKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("GetSessionHandle", PrepareWhole<&RunKeep, TensorsState>),
      WholeTensorKernel("GetSessionTensor", PrepareWhole<&RunGet, TensorsState>),
      WholeTensorKernel("DeleteSessionTensor", PrepareWhole<&RunDelete, TensorsState>),
  };
  return specs;
}

}  // namespace tenon::cpu
