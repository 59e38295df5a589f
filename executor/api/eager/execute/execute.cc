// The way of an op: its attributes and the types of its inputs lead to a callable, which is made at
// the first call.

#include "executor/api/eager/execute/execute.h"

#include "absl/strings/str_cat.h"
#include "executor/api/eager/execute/custom_placement.h"
#include "executor/api/eager/execute/make_callable.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"

namespace tenon::eager {
namespace {

using Outputs = absl::InlinedVector<Tensor, 2>;

absl::Status AwaitInputs(Inputs inputs) {
  for (TFE_TensorHandle* const input : inputs) {
    if (input->pending != nullptr) TENON_RETURN_IF_ERROR(input->Await());
  }
  return absl::OkStatus();
}

// Sets `outputs`, in the calling thread.
absl::Status Compute(const CallContext& call, Callable& callable, Inputs inputs, Outputs& outputs) {
  outputs.resize(callable.output_types().size());
  absl::Status status = WithinMemory([&] {
    const DenormalGuard denormals;
    if (call.cancellation == nullptr) [[likely]]
      return callable.Run(inputs, absl::MakeSpan(outputs), call);
    const RunLimits limits = call.cancellation->limits();
    const LimitsScope scope(&limits);
    try {
      return callable.Run(inputs, absl::MakeSpan(outputs), call);
    } catch (const RunEnded& ended) {
      return ended.status();
    }
  });
  if (!status.ok()) [[unlikely]]
    return AsNoted(status);
  return status;
}

CallContext ContextOfCall(const Context& context, const TFE_Op& op) {
  return {context.only_host() ? TFE_DEVICE_PLACEMENT_SILENT : context.policy(),
          op.cancellation.get()};
}

// The op has no inputs afterwards.
absl::Status ExecuteNow(Context& context, TFE_Op& op, Callable& callable,
                        TFE_TensorHandle** results) {
  Outputs outputs;
  const absl::Status status = Compute(ContextOfCall(context, op), callable, op.inputs, outputs);
  op.ClearInputs();
  TENON_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < outputs.size(); ++i) {
    results[i] =
        TFE_TensorHandle::New(std::move(outputs[i]), callable.output_memory(i), callable.device());
  }
  return absl::OkStatus();
}

// An op in the queue of an executor. Has a reference to each input and result.
class LaterOp final : public QueuedOp {
 public:
  // Takes the inputs of `op`, and makes `results`.
  LaterOp(Context& context, TFE_Op& op, std::shared_ptr<Callable> callable,
          TFE_TensorHandle** results)
      : callable_(std::move(callable)),
        call_(ContextOfCall(context, op)),
        cancellation_(op.cancellation),
        pending_(Pending::New()) {
    inputs_.swap(op.inputs);
    for (TFE_TensorHandle* const input : inputs_) input->ToQueue();
    for (size_t i = 0; i < callable_->output_types().size(); ++i) {
      results[i] =
          TFE_TensorHandle::NewPending(callable_->output_types()[i], callable_->device(), pending_);
      results[i]->RefQueued();
      results_.push_back(results[i]);
    }
  }
  ~LaterOp() override {
    for (TFE_TensorHandle* const input : inputs_) input->UnrefQueued();
    for (TFE_TensorHandle* const result : results_) result->UnrefQueued();
    pending_->Unref();
  }

  absl::Status Run() override {
    absl::Status status = AwaitInputs(inputs_);
    Outputs outputs;
    if (status.ok()) status = Compute(call_, *callable_, inputs_, outputs);
    for (size_t i = 0; i < results_.size() && status.ok(); ++i) {
      results_[i]->tensor = std::move(outputs[i]);
      results_[i]->memory = callable_->output_memory(i);
    }
    pending_->End(status);
    return status;
  }
  void Discard(const absl::Status& why) override { pending_->End(why); }

 private:
  const std::shared_ptr<Callable> callable_;
  const CallContext call_;
  const std::shared_ptr<CancellationManager> cancellation_;  // of call_
  Pending* const pending_;
  absl::InlinedVector<TFE_TensorHandle*, 4> inputs_;
  absl::InlinedVector<TFE_TensorHandle*, 2> results_;
};

absl::Status ExecuteLater(Context& context, TFE_Op& op, std::shared_ptr<Callable> callable,
                          TFE_TensorHandle** results) {
  const size_t count = callable->output_types().size();
  const absl::Status added =
      context.executor()->Add(std::make_unique<LaterOp>(context, op, std::move(callable), results));
  if (added.ok()) return added;
  for (size_t i = 0; i < count; ++i) TFE_DeleteTensorHandle(std::exchange(results[i], nullptr));
  return added;
}

}  // namespace

absl::Status Execute(TFE_Op& op, TFE_TensorHandle** results, int* num_results) {
  Context& context = ContextOf(op);
  const bool now = context.IsSync();
  if (now) TENON_RETURN_IF_ERROR(AwaitInputs(op.inputs));
  if (op.has_custom || !context.custom_devices().empty()) [[unlikely]] {
    TENON_ASSIGN_OR_RETURN(const bool done,
                           ExecuteOnCustomDevice(context, op, results, num_results));
    if (done) return absl::OkStatus();
  }
  const CallKey key = {op.attrs, op.inputs, op.device,
                       context.only_host() ? nullptr : DeviceOfResources(op)};
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Callable> callable, op.entry->callables.Get(key, [&] {
    return WithinMemory([&] { return MakeCallable(context, op); });
  }));
  const size_t outputs = callable->output_types().size();
  if (*num_results < 0 || static_cast<size_t>(*num_results) < outputs) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expecting ", outputs, " outputs, but *num_retvals is ", *num_results));
  }
  TENON_RETURN_IF_ERROR(now ? ExecuteNow(context, op, *callable, results)
                            : ExecuteLater(context, op, std::move(callable), results));
  *num_results = static_cast<int>(outputs);
  return absl::OkStatus();
}

}  // namespace tenon::eager
