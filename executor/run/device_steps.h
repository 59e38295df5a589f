// Steps on devices with their own memory and streams: kernels that came through the C ABI, copies,
// waits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "executor/run/plan.h"
#include "executor/run/slow_steps.h"
#include "plugin/device/compute_streams.h"
#include "plugin/device/device.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"

namespace tenon {

// A wait that a step queues before its own work: stream `waiting` starts what is queued on it later
// only after the work that is queued on `other` now; or, with `event`, after the step on `other`
// that records this event of the frame. The host does not block.
struct StreamWait {
  StreamHandle waiting;
  StreamHandle other;
  int32_t event = -1;
  Device* other_device = nullptr;  // whose stream `other` is
};

// Calls a plug-in's kernel on tensors. A kernel for a device queues its work on a compute stream of
// the device; a kernel that the plug-in brought for the CPU computes in the call. Host tensors
// reach the kernel aligned (aligned.h). The kernel may forward the buffer of an input that nobody
// else shares, if this step is the input's last reader or the tensor was made for this call.
//
// Errors are those of PluginKernel::Compute and, for waits, events and copies, those of the device;
// RESOURCE_EXHAUSTED without memory for a copy; INTERNAL with the payload of BrokenPromise if an
// output has not the promised shape.
class PluginStep : public SlowStep {
 public:
  struct Input {
    StepInput from;                // storage -1: the input is `constant`
    Tensor constant;               // in the memory that the kernel wants
    bool on_host = false;          // the kernel wants the input in host memory, not in the device's
    bool of_other_stream = false;  // it lies in memory of another compute stream
  };
  // `kernel` and `device` must outlive the step. `outputs` are slots. `promised`: by output, the
  // shape that the plan relies on; nullopt: none. `plugin`: its path, for errors.
  PluginStep(PluginKernel* kernel, Device* device, std::vector<Input> inputs,
             absl::Span<const int32_t> outputs, std::vector<std::optional<Shape>> promised,
             std::string plugin);

  // Only while planning, for inputs with a storage: `storage` is the final place of input i.
  // `last_use`: the place is a slot, and this step is its last reader.
  void Place(size_t i, const Storage& storage, bool last_use);
  // Only while planning: the kernel works on compute stream `number` of the device (0 if this is
  // not called), and `waits` are queued before its work.
  void WorkOn(int number, std::vector<StreamWait> waits);
  // Only while planning, for a step that runs once in each run: the step records this event of the
  // frame behind its work.
  void Record(int32_t event) { event_ = event; }
  // Only while planning: `next` is the step behind this one. Its memory is fetched into the cache
  // when this step begins, unless this is an AsyncStep. Not owned; must live as long as this step.
  void Precede(const PluginStep* next) { next_ = next; }
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override;
  StreamOf Queues() const override;
  const std::vector<StreamWait>& waits() const { return waits_; }
  int32_t event() const { return event_; }  // -1: none

 protected:
  // Fills call.args with the inputs, the emptied output slots and the facts of the run. After an
  // error, call.args has the inputs that were gathered.
  absl::Status Gather(Frame& frame, Frame::PluginCall& call) const;
  // Clears the input tensors that the kernel could take. To be called after Gather and the call.
  static void LetGo(const Frame::PluginCall& call);
  void FindOutputs(Frame& frame, Frame::PluginCall& call) const;
  // Checks the promised shapes and updates the pointer table, after the kernel has filled the
  // slots.
  absl::Status TakeOutputs(Frame& frame) const;

  // Queues the waits that stand before the step's work.
  absl::Status WaitForOthers(Frame& frame) const;
  StreamHandle stream() const;

  PluginKernel* kernel_;
  Device* device_;

 private:
  // What a call needs to know of an input or output, in as few bytes as will do: a call costs
  // little more than the memory that it touches.
  static constexpr uint8_t kAnyRank = 255;
  static_assert(kMaxRank < kAnyRank);
  struct Source {
    int32_t index = 0;  // of the slot or feed
    DataType dtype = DataType::kInvalid;
    // kSlot, kFeed, or kConst for a constant of this step. Others: MakeInput makes the tensor.
    Where where = Where::kNone;
    uint8_t rank = kAnyRank;  // of the shape that the plan knows
    bool on_host = false;
    bool last_use = false;  // the kernel may have the buffer
  };
  static_assert(sizeof(Source) == 12);
  struct Target {
    int32_t slot;
    uint8_t rank;  // of the promised shape
  };
  void Prefetch() const;
  // Input i, if a tensor exists just as the kernel wants it; else null.
  const Tensor* Find(Frame& frame, const Source& source, size_t i) const;
  // Makes input i as a tensor in call.made[i].
  absl::Status MakeInput(Frame& frame, Frame::PluginCall& call, size_t i) const;
  bool KeepsPromise(size_t i, const Shape& shape) const;
  absl::Status RecordEvent(Frame& frame) const;
  // Copies outputs that lie in an input of another stream. On the first stream, whose values may
  // outlive the run: that memory may be used again, in the order of its own stream, once the run is
  // over.
  absl::Status LeaveOtherStreams(const Frame::PluginCall& call) const;

  const PluginStep* next_ = nullptr;
  absl::InlinedVector<Source, 3> sources_;
  absl::InlinedVector<Target, 2> targets_;
  ComputeStreams* streams_;  // of device_; null: it has one
  int32_t event_ = -1;
  uint8_t stream_ = 0;  // of streams_
  bool leaves_other_streams_ = false;
  std::vector<StreamWait> waits_;
  std::vector<Input> inputs_;
  std::vector<std::optional<Shape>> promised_;
  std::string plugin_;
};

// Begins a call of a plug-in's asynchronous kernel. The call goes on while later steps run; the
// frame keeps it until an AwaitStep, or the end of the run, ends it.
class AsyncStep final : public PluginStep {
 public:
  // `number`: of the plan's asynchronous calls. The other arguments are those of PluginStep.
  template <typename... Args>
  explicit AsyncStep(int32_t number, Args&&... args)
      : PluginStep(std::forward<Args>(args)...), number_(number) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  Device* MayQueueOn() const override { return Queues().device; }
  // Waits for the call and fills its output slots. For Frame::EndCall. Errors are those of
  // PluginKernel::End and of promised shapes.
  absl::Status End(Frame& frame, ContextPtr call) const;

 private:
  int32_t number_;
};

// Waits for an asynchronous call, if it has begun and was not waited for before. Errors are those
// of the call, and belong to the call's node (Frame::EndCall).
class AwaitStep : public SlowStep {
 public:
  explicit AwaitStep(int32_t number) : number_(number) {}
  absl::Status Run(Frame& frame, const StepArgs&) const override { return frame.EndCall(number_); }
  std::string Describe() const override { return "wait for the kernel"; }
  bool IsNode() const override { return false; }

 private:
  int32_t number_;
};

// Queues a copy and records an event behind it. Waits for the copy only as far as the device's copy
// does (device.h); but if no step has waited for the copy of an earlier pass, waits for that one
// first. The target is planned host memory or a slot: device memory, or host memory of a size that
// only the run knows or that the ABI watch guards. A copy of no bytes queues the step's waits alone
// and records no event. Source and target must stay in place until the event is complete. Errors
// are those of the device, which name the plug-in and the callback; those of allocating the target;
// INTERNAL if there is no value to copy.
class CopyStep : public SlowStep {
 public:
  enum class Direction {
    kToDevice,  // from host memory to `device`
    kToHost,    // from `device` to host memory
    kBetween    // from `device` to `target`
  };
  // A stream of `device` copies, after `waits`. `target`: read only if the direction is kBetween.
  // `to`: the planned host memory, if `slot` is -1. `event`: the frame's event for this copy.
  // `orders_itself`: only where the direction is kToDevice; the target is memory of
  // Device::AllocateForArrival, so that `waits` need not order its earlier uses. The devices must
  // outlive the step.
  CopyStep(Direction direction, Device* device, Device* target, std::vector<StreamWait> waits,
           StepInput from, StepInput to, int32_t slot, int32_t event, bool orders_itself = false)
      : direction_(direction),
        orders_itself_(orders_itself),
        device_(device),
        target_(target),
        waits_(std::move(waits)),
        from_(std::move(from)),
        to_(std::move(to)),
        slot_(slot),
        event_(event) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override;
  bool IsNode() const override { return false; }
  StreamOf Queues() const override;
  const std::vector<StreamWait>& waits() const { return waits_; }
  int32_t event() const { return event_; }

 private:
  // The tensor to copy to: planned memory, or a new one.
  absl::StatusOr<Tensor> Target(Frame& frame, const Tensor& from) const;
  absl::StatusOr<Tensor> HostTarget(const Frame& frame, const Tensor& from) const;
  absl::Status WaitForTarget(StreamHandle stream) const;
  absl::Status Queue(StreamHandle stream, const Tensor& from, const Tensor& to) const;

  Direction direction_;
  bool orders_itself_;
  Device* device_;
  Device* target_;
  std::vector<StreamWait> waits_;
  StepInput from_, to_;
  int32_t slot_;   // -1: `to` is planned memory
  int32_t event_;  // recorded after the copy
};

// Puts a constant that lies in a device's memory into a slot.
class ConstantStep : public SlowStep {
 public:
  ConstantStep(Tensor value, int32_t slot) : value_(std::move(value)), slot_(slot) {}
  absl::Status Run(Frame& frame, const StepArgs&) const override {
    frame.SetSlot(slot_, value_);
    return absl::OkStatus();
  }
  std::string Describe() const override { return "constant"; }
  bool IsNode() const override { return false; }

 private:
  Tensor value_;
  int32_t slot_;
};

// Blocks the host until the event of a copy is complete, and gives the event back; after an error
// Frame::End gives it back. Does nothing if the copy had no bytes or was waited for before. Errors
// are those of Device::BlockUntilComplete (RunContext has the time limit), and CANCELLED or
// DEADLINE_EXCEEDED if the run is to end (RunLimits). While the step waits, the command's watchdog
// names `plugin` and `node`, the node that reads the copy.
class WaitStep : public SlowStep {
 public:
  WaitStep(int32_t event, std::string_view plugin, std::string_view node)
      : event_(event), plugin_(plugin), node_(node) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override { return "wait for the copy"; }
  bool IsNode() const override { return false; }
  bool Waits() const override { return true; }
  int32_t event() const { return event_; }

 private:
  int32_t event_;
  std::string plugin_, node_;
};

}  // namespace tenon
