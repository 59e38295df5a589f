// A KernelStep finds the kernel that it has prepared by the shapes of its inputs and the values
// that the kernel needs.

#include "executor/run/slow_steps.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "executor/run/plan.h"
#include "executor/run/prepared_kernel.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/named_handle.h"
#include "plugin/kernels/variable.h"

namespace tenon {

absl::Status RunSlowStep(const void* state, const StepArgs& args) {
  const SlowStep& step = *static_cast<const SlowStep*>(state);
  Frame& frame = static_cast<Frame&>(*args.run_state);
  if (step.guard != 0 && !frame.alive(step.guard)) return absl::OkStatus();
  return step.Run(frame, args);
}

bool IsService(const Step& step) {
  return step.fn == RunSlowStep && !static_cast<const SlowStep*>(step.state)->IsNode();
}

KernelStep::KernelStep(const CpuNode& node, std::vector<StepInput> inputs,
                       std::vector<const Tensor*> constants, std::vector<int32_t> outputs,
                       std::vector<std::optional<Shape>> promised, SessionState& session,
                       LatePreparations& counts)
    : node_(node),
      inputs_(std::move(inputs)),
      constants_(std::move(constants)),
      outputs_(std::move(outputs)),
      promised_(std::move(promised)),
      session_(session),
      counts_(counts),
      may_take_(inputs_.size(), false) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    decides_.push_back(constants_[i] == nullptr && NeedsValue(*node_.spec, i));
    values_decide_ |= decides_.back();
    if (!inputs_[i].shape.has_value()) late_.push_back(inputs_[i]);
  }
}

void KernelStep::set_prepared(PreparedKernel kernel) {
  fixed_ = std::make_shared<const PreparedKernel>(std::move(kernel));
}

PreparationKey KernelStep::KeyOf(const Frame& frame, const StepArgs& args) const {
  PreparationKey key;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Shape& shape = frame.ShapeOf(inputs_[i]);
    key.AddShape(shape);
    if (!decides_[i]) continue;
    if (IsMemcpyable(inputs_[i].dtype)) {
      key.AddElements(inputs_[i].dtype, shape, args.in[i]);
    } else {
      key.AddValue(frame.View(inputs_[i]));
    }
  }
  return key;
}

absl::StatusOr<KernelStep::Prepared> KernelStep::PrepareFor(const Frame& frame,
                                                            const StepArgs& args) const {
  std::vector<Preparation::Input> inputs(inputs_.size());
  std::vector<Tensor> values(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    inputs[i].shape = frame.ShapeOf(inputs_[i]);
    inputs[i].value = constants_[i];
    if (!decides_[i]) continue;
    values[i] = frame.View(inputs_[i]);
    inputs[i].value = &values[i];
  }
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Preparation> p,
                         PrepareKernel(node_, std::move(inputs), session_, *args.workers));
  return std::make_shared<const PreparedKernel>(PreparedKernel::From(*p));
}

// Shapes are compared where they lie: a key of their bytes would cost as much as a small kernel.
bool KernelStep::IsFor(const Frame& frame, const LastPreparation& last) const {
  for (size_t i = 0; i < late_.size(); ++i) {
    if (frame.ShapeOf(late_[i]) != last.shapes[i]) return false;
  }
  return true;
}

absl::StatusOr<const PreparedKernel*> KernelStep::Find(Frame& frame, const StepArgs& args) const {
  if (fixed_ != nullptr) return fixed_.get();
  LastPreparation& last = frame.last_preparation(number_);
  if (!values_decide_ && last.prepared != nullptr && IsFor(frame, last)) {
    frame.CountReuse();
    return last.prepared.get();
  }
  PreparationKey key = KeyOf(frame, args);
  if (values_decide_ && last.prepared != nullptr && last.key.bytes() == key.bytes()) {
    frame.CountReuse();
    return last.prepared.get();
  }
  TENON_ASSIGN_OR_RETURN(Prepared prepared,
                         cache_.Get(
                             key, [&] { return PrepareFor(frame, args); }, counts_));
  if (values_decide_) {
    last.key = std::move(key);
  } else {
    last.shapes.clear();
    for (const StepInput& input : late_) last.shapes.push_back(frame.ShapeOf(input));
  }
  last.prepared = std::move(prepared);
  return last.prepared.get();
}

// Steps behind this one were planned for the promised shape: a fault of a built-in kernel must not
// become a wrong read.
absl::Status KernelStep::CheckPromise(size_t i, const Shape& shape) const {
  if (!promised_[i].has_value() || shape == *promised_[i]) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("output ", i, " has shape ", shape.ToString(),
                                          " where the plan says ", promised_[i]->ToString()));
}

absl::Status KernelStep::MakeOutput(Frame& frame, const PreparedKernel& kernel, size_t i) const {
  const Preparation::PreparedOutput& o = kernel.outputs[i];
  const DataType dtype = kernel.output_types[i];
  Tensor& output = *frame.SlotToFill(outputs_[i]);
  for (const int in : o.in_place) {
    const StepInput& input = inputs_[static_cast<size_t>(in)];
    if (!may_take_[static_cast<size_t>(in)] || !IsMemcpyable(input.dtype)) continue;
    const Tensor& t = frame.SlotOf(input);
    if (!t.initialized() || !t.buffer()->owned() || !t.buffer()->unique()) continue;
    output = Tensor(dtype, o.shape, frame.TakeSlot(input).buffer());
    return absl::OkStatus();
  }
  return output.Become(dtype, o.shape);
}

absl::Status KernelStep::RunPlain(Frame& frame, const PreparedKernel& kernel,
                                  const StepArgs& args) const {
  absl::InlinedVector<void*, 4> out(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    TENON_RETURN_IF_ERROR(CheckPromise(i, kernel.outputs[i].shape));
    TENON_RETURN_IF_ERROR(MakeOutput(frame, kernel, i));
    out[i] = frame.slot(outputs_[i]).data();
    frame.SlotFilled(outputs_[i]);
  }
  return kernel.run(kernel.state.get(), {args.in, out.data(), nullptr, args.workers, &frame});
}

absl::Status KernelStep::RunOther(Frame& frame, const PreparedKernel& kernel,
                                  const StepArgs& args) const {
  auto input = [&](int i, InputUse use) -> absl::StatusOr<Tensor> {
    if (use == InputUse::kView) return frame.View(inputs_[i]);
    if (use == InputUse::kTake && may_take_[i]) return frame.TakeSlot(inputs_[i]);
    return frame.Keep(inputs_[i]);
  };
  absl::InlinedVector<Tensor, 2> outputs(outputs_.size());
  TENON_RETURN_IF_ERROR(
      ComputeInto(absl::MakeSpan(outputs), kernel, args.in, input, *args.workers, device_));
  for (size_t i = 0; i < outputs.size(); ++i) {
    TENON_RETURN_IF_ERROR(CheckPromise(i, outputs[i].shape()));
    if (outputs_[i] >= 0) frame.SetSlot(outputs_[i], std::move(outputs[i]));
  }
  return absl::OkStatus();
}

absl::Status KernelStep::Run(Frame& frame, const StepArgs& args) const {
  TENON_ASSIGN_OR_RETURN(const PreparedKernel* const prepared, Find(frame, args));
  const bool plain = prepared->is_plain && !node_.spec->whole_tensors;
  TENON_RETURN_IF_ERROR(plain ? RunPlain(frame, *prepared, args)
                              : RunOther(frame, *prepared, args));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (may_take_[i]) frame.ReleaseView(inputs_[i]);
  }
  return absl::OkStatus();
}

absl::Status ReadVariableStep::Run(Frame& frame, const StepArgs& args) const {
  Object* object = *static_cast<Object* const*>(args.in[0]);
  if (auto* handle = dynamic_cast<NamedHandle*>(object)) {
    frame.SetSlot(slot_, handle->AsStrings());
    return absl::OkStatus();
  }
  auto* variable = ObjectAs<Variable>(object);
  if (variable == nullptr)
    return absl::InvalidArgumentError("what it reads by reference is no variable");
  TENON_ASSIGN_OR_RETURN(Tensor value, variable->Get(device_));
  if (!value.initialized()) return variable->NoValue(absl::StatusCode::kFailedPrecondition);
  frame.SetSlot(slot_, std::move(value));
  return absl::OkStatus();
}

}  // namespace tenon
