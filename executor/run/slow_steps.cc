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
#include "plugin/kernels/kernel.h"
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

KernelStep::KernelStep(Node node, std::vector<StepInput> inputs,
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
  for (size_t i = 0; i < inputs_.size(); ++i)
    decides_.push_back(constants_[i] == nullptr && NeedsValue(*node_.spec, i));
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
  std::vector<Prepare::Input> inputs(inputs_.size());
  std::vector<Tensor> values(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    inputs[i].shape = frame.ShapeOf(inputs_[i]);
    inputs[i].value = constants_[i];
    if (!decides_[i]) continue;
    values[i] = frame.View(inputs_[i]);
    inputs[i].value = &values[i];
  }
  Prepare p(node_.name, *node_.op, *node_.attrs, *node_.types, std::move(inputs), session_,
            *args.workers);
  TENON_RETURN_IF_ERROR(PrepareKernel(*node_.spec, p));
  return std::make_shared<const PreparedKernel>(PreparedKernel::From(p));
}

absl::StatusOr<const PreparedKernel*> KernelStep::Find(Frame& frame, const StepArgs& args) const {
  if (fixed_ != nullptr) return fixed_.get();
  LastPreparation& last = frame.last_preparation(number_);
  PreparationKey key = KeyOf(frame, args);
  if (last.prepared != nullptr && last.key.bytes() == key.bytes()) {
    frame.CountReuse();
  } else {
    TENON_ASSIGN_OR_RETURN(last.prepared,
                           cache_.Get(
                               key, [&] { return PrepareFor(frame, args); }, counts_));
    last.key = std::move(key);
  }
  return last.prepared.get();
}

absl::Status KernelStep::Run(Frame& frame, const StepArgs& args) const {
  TENON_ASSIGN_OR_RETURN(const PreparedKernel* const prepared, Find(frame, args));
  auto input = [&](int i, InputUse use) -> absl::StatusOr<Tensor> {
    if (use == InputUse::kView) return frame.View(inputs_[i]);
    if (use == InputUse::kTake && may_take_[i]) return frame.TakeSlot(inputs_[i]);
    return frame.Keep(inputs_[i]);
  };
  absl::InlinedVector<Tensor, 2> outputs(outputs_.size());
  TENON_RETURN_IF_ERROR(
      ComputeInto(absl::MakeSpan(outputs), *prepared, args.in, input, *args.workers, device_));
  for (size_t i = 0; i < outputs.size(); ++i) {
    // Steps behind this one were planned for the promised shape: a fault of a built-in kernel must
    // not become a wrong read.
    if (promised_[i].has_value() && outputs[i].shape() != *promised_[i]) {
      return absl::InternalError(absl::StrCat("output ", i, " has shape ",
                                              outputs[i].shape().ToString(),
                                              " where the plan says ", promised_[i]->ToString()));
    }
    if (outputs_[i] >= 0) frame.SetSlot(outputs_[i], std::move(outputs[i]));
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
