// A KernelStep keeps the kernels that it has prepared, by the shapes of its inputs and the values
// that the kernel needs. The list is in the order of use, the latest last, and its first entry
// makes room.

#include "executor/run/slow_steps.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
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

void KernelStep::set_prepared(PreparedKernel kernel) {
  fixed_ = std::make_shared<const PreparedKernel>(std::move(kernel));
}

bool KernelStep::IsValueInput(int i) const {
  // Bit 31 stands for input 31 and all inputs behind it.
  return (node_.spec->value_inputs >> std::min(i, 31) & 1) != 0;
}

std::string KernelStep::Signature(const Frame& frame, const StepArgs& args) const {
  std::string key;
  key.reserve(4 * sizeof(int64_t) * inputs_.size());  // a rank and three dimensions each
  auto append = [&key](const void* data, size_t bytes) {
    key.append(static_cast<const char*>(data), bytes);
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Shape& shape = frame.ShapeOf(inputs_[i]);
    const int64_t rank = shape.rank();
    append(&rank, sizeof(rank));
    append(shape.dims().data(), shape.dims().size() * sizeof(int64_t));
    if (!IsValueInput(static_cast<int>(i)) || constants_[i] != nullptr) continue;
    const size_t count = static_cast<size_t>(shape.num_elements());
    if (IsMemcpyable(inputs_[i].dtype)) {
      append(args.in[i], count * DataTypeSize(inputs_[i].dtype));
      continue;
    }
    const Tensor view = frame.View(inputs_[i]);
    // Each string's length goes first: {"ab", "c"} and {"a", "bc"} must differ.
    for (size_t k = 0; k < count && BaseType(inputs_[i].dtype) == DataType::kString; ++k) {
      absl::StrAppend(&key, view.StringAt(static_cast<int64_t>(k)).size(), ":",
                      view.StringAt(static_cast<int64_t>(k)));
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
    if (inputs[i].value != nullptr || !IsValueInput(static_cast<int>(i))) continue;
    values[i] = frame.View(inputs_[i]);
    inputs[i].value = &values[i];
  }
  Prepare p(node_.name, *node_.op, *node_.attrs, *node_.types, std::move(inputs), session_,
            *args.workers);
  TENON_RETURN_IF_ERROR(PrepareKernel(*node_.spec, p));
  return std::make_shared<const PreparedKernel>(PreparedKernel::From(p));
}

std::shared_ptr<KernelStep::Entry> KernelStep::EntryOf(std::string key) const {
  auto found = std::find_if(cache_.begin(), cache_.end(),
                            [&](const auto& entry) { return entry->key == key; });
  if (found != cache_.end()) {
    std::rotate(found, found + 1, cache_.end());
  } else {
    if (cache_.size() == kMaxPrepared) cache_.erase(cache_.begin());
    cache_.push_back(std::make_shared<Entry>(std::move(key)));
  }
  return cache_.back();
}

KernelStep::Prepared KernelStep::Reuse(const Entry& entry) const {
  if (entry.prepared != nullptr) counts_.reused.fetch_add(1, std::memory_order_relaxed);
  return entry.prepared;
}

// Preparing may take as long as many runs: weights are packed, primitives generated. So it is done
// under the entry's lock and not under the step's.
absl::StatusOr<KernelStep::Prepared> KernelStep::Find(const Frame& frame,
                                                      const StepArgs& args) const {
  if (fixed_ != nullptr) return fixed_;
  std::string key = Signature(frame, args);
  std::shared_ptr<Entry> entry;
  {
    absl::MutexLock lock(&mutex_);
    entry = EntryOf(std::move(key));
    if (Prepared known = Reuse(*entry)) return known;
  }
  // Other threads with this key wait here, and then find what the first one has made.
  absl::MutexLock making(&entry->making);
  {
    absl::MutexLock lock(&mutex_);
    if (Prepared known = Reuse(*entry)) return known;
  }
  TENON_ASSIGN_OR_RETURN(Prepared prepared, PrepareFor(frame, args));
  counts_.made.fetch_add(1, std::memory_order_relaxed);
  absl::MutexLock lock(&mutex_);
  entry->prepared = prepared;
  return prepared;
}

absl::Status KernelStep::Run(Frame& frame, const StepArgs& args) const {
  TENON_ASSIGN_OR_RETURN(const Prepared prepared, Find(frame, args));
  auto input = [&](int i, InputUse use) -> absl::StatusOr<Tensor> {
    if (use == InputUse::kView) return frame.View(inputs_[i]);
    if (use == InputUse::kTake && may_take_[i]) return frame.TakeSlot(inputs_[i]);
    return frame.Keep(inputs_[i]);
  };
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                         ComputeOutputs(*prepared, args.in, input, *args.workers, device_));
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
