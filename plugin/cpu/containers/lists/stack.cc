// Stacks of tensors, which version 1's loops keep for their gradients.
#include <vector>

#include "absl/synchronization/mutex.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Made by each run of its op and gone with its last handle. Thread-safe.
class Stack : public Resource {
 public:
  static constexpr std::string_view kKind = "stack";
  std::string_view kind() const override { return kKind; }

  Stack(std::string_view name, DataType type, int64_t max_size)
      : Resource(name), type_(type), max_size_(max_size) {}

  absl::Status Push(Tensor value) {
    absl::MutexLock lock(&mutex_);
    if (value.dtype() != type_) return WrongType(value.dtype());
    if (max_size_ >= 0 && static_cast<int64_t>(values_.size()) >= max_size_) {
      return absl::InvalidArgumentError(
          absl::StrCat("the stack is full: it may have ", max_size_, " elements"));
    }
    values_.push_back(std::move(value));
    return absl::OkStatus();
  }
  absl::StatusOr<Tensor> Pop(DataType type) {
    absl::MutexLock lock(&mutex_);
    if (type != type_) return WrongType(type);
    if (values_.empty()) return absl::InvalidArgumentError("the stack is empty");
    Tensor top = std::move(values_.back());
    values_.pop_back();
    return top;
  }
  void Close() {
    absl::MutexLock lock(&mutex_);
    values_.clear();
  }

 private:
  absl::Status WrongType(DataType type) const {
    return absl::InvalidArgumentError(absl::StrCat("the stack holds ", DataTypeName(type_),
                                                   " elements, not ", DataTypeName(type)));
  }

  const DataType type_;
  const int64_t max_size_;  // negative: any number
  absl::Mutex mutex_;
  std::vector<Tensor> values_ ABSL_GUARDED_BY(mutex_);
};

struct MakeStack : NodeFacts {
  explicit MakeStack(const Prepare& p) : NodeFacts(p) {}
  DataType type = DataType::kInvalid;
};

absl::Status RunMakeStack(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MakeStack*>(state);
  int64_t max_size = -1;
  if (!s.inputs.empty()) {
    TENON_ASSIGN_OR_RETURN(max_size, IntInput(args, 0));
  }
  TENON_ASSIGN_OR_RETURN(
      Tensor handle, HandleTensor(DataType::kResource,
                                  ObjectRef<Object>::Adopt(new Stack(s.name, s.type, max_size))));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status PrepareMakeStack(Prepare& p) {
  auto s = std::make_shared<MakeStack>(p);
  TENON_ASSIGN_OR_RETURN(s->type, p.AttrType("elem_type"));
  p.set_dynamic_output(0);
  p.set_run(&RunMakeStack, std::move(s));
  return absl::OkStatus();
}

// The element goes on as well.
absl::Status RunPush(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Stack * stack, InputAs<Stack>(args, 0));
  TENON_ASSIGN_OR_RETURN(Tensor value, args.run_state->TakeInput(1));
  args.run_state->SetOutput(0, value);
  return stack->Push(std::move(value));
}

absl::Status RunPop(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(Stack * stack, InputAs<Stack>(args, 0));
  TENON_ASSIGN_OR_RETURN(Tensor value, stack->Pop(s.outputs[0]));
  args.run_state->SetOutput(0, std::move(value));
  return absl::OkStatus();
}

absl::Status RunCloseStack(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Stack * stack, InputAs<Stack>(args, 0));
  stack->Close();
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> StackKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("StackV2", PrepareMakeStack),
      WholeTensorKernel("StackPushV2", PrepareWhole<&RunPush>),
      WholeTensorKernel("StackPopV2", PrepareWhole<&RunPop>),
      WholeTensorKernel("StackCloseV2", PrepareWhole<&RunCloseStack>),
      WholeTensorKernel("Stack", PrepareMakeStack),
      WholeTensorKernel("StackPush", PrepareWhole<&RunPush>),
      WholeTensorKernel("StackPop", PrepareWhole<&RunPop>),
      WholeTensorKernel("StackClose", PrepareWhole<&RunCloseStack>),
  };
  return specs;
}

}  // namespace tenon::cpu
