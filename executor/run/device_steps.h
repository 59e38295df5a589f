// Steps on devices with their own memory and streams: kernels that came through the C ABI, copies,
// waits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "executor/run/plan.h"
#include "executor/run/slow_steps.h"
#include "plugin/device/device.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"

namespace tenon {

// `waiting` is to start what follows after all that `other` has queued now. Done before a step
// queues its own work.
struct StreamWait {
  StreamHandle waiting;
  StreamHandle other;
};

// A plug-in's kernel: queued on the device's compute stream, or run in place for a kernel that the
// plug-in brought for the CPU.
class PluginStep : public SlowStep {
 public:
  struct Input {
    StepInput from;        // storage -1: a constant
    Tensor constant;       // in the memory that the kernel wants
    bool on_host = false;  // where the kernel wants it
  };
  // `outputs` are slots.
  PluginStep(PluginKernel* kernel, Device* device, std::vector<Input> inputs,
             absl::Span<const int32_t> outputs, std::vector<std::optional<Shape>> promised,
             std::string plugin);

  // Only while planning: where input i lies in the end, and whether this step is its last reader.
  void Place(size_t i, const Storage& storage, bool last_use);
  // The kernel that is computed next, if nothing comes between.
  void Precede(const PluginStep* next) { next_ = next; }
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override;
  StreamOf Queues() const override;

 protected:
  // The call's arguments.
  absl::Status Gather(Frame& frame, Frame::PluginCall& call) const;
  static void LetGo(const Frame::PluginCall& call);
  void FindOutputs(Frame& frame, Frame::PluginCall& call) const;
  absl::Status TakeOutputs(Frame& frame) const;

  PluginKernel* kernel_;

 private:
  // What a call asks of an input or output, in as few bytes as will do: the memory that calls touch
  // is most of what they cost.
  static constexpr int8_t kAnyRank = -1;
  struct Source {
    int32_t index = 0;  // of the slot or feed
    DataType dtype = DataType::kInvalid;
    Where where = Where::kNone;
    int8_t rank = kAnyRank;
    bool on_host = false;
    bool last_use = false;  // the kernel may have the buffer
  };
  struct Target {
    int32_t slot;
    int8_t rank;  // promised
  };
  void Prefetch() const;
  const Tensor* Find(Frame& frame, const Source& source, size_t i) const;
  absl::Status MakeInput(Frame& frame, Frame::PluginCall& call, size_t i) const;
  bool KeepsPromise(size_t i, const Shape& shape) const;

  const PluginStep* next_ = nullptr;
  absl::InlinedVector<Source, 3> sources_;
  absl::InlinedVector<Target, 2> targets_;
  Device* device_;
  std::vector<Input> inputs_;
  std::vector<std::optional<Shape>> promised_;
  std::string plugin_;
};

// A plug-in's asynchronous kernel: begins a call, which goes on while later steps run.
class AsyncStep final : public PluginStep {
 public:
  // `number`: of the plan's asynchronous calls. The others are those of PluginStep.
  template <typename... Args>
  explicit AsyncStep(int32_t number, Args&&... args)
      : PluginStep(std::forward<Args>(args)...), number_(number) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  // Waits for the call; then its outputs are there.
  absl::Status End(Frame& frame, ContextPtr call) const;

 private:
  int32_t number_;
};

// Waits for an asynchronous call, if it has begun and was not waited for before.
class AwaitStep : public SlowStep {
 public:
  explicit AwaitStep(int32_t number) : number_(number) {}
  absl::Status Run(Frame& frame, const StepArgs&) const override { return frame.EndCall(number_); }
  std::string Describe() const override { return "wait for the kernel"; }
  bool IsNode() const override { return false; }

 private:
  int32_t number_;
};

// Queues a copy. The target is a slot (device memory, or host memory of a size that only the run
// knows) or planned host memory.
class CopyStep : public SlowStep {
 public:
  enum class Direction { kToDevice, kToHost, kBetween };
  CopyStep(Direction direction, Device* device, Device* target, std::vector<StreamWait> waits,
           StepInput from, StepInput to, int32_t slot, int32_t event)
      : direction_(direction),
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

 private:
  absl::StatusOr<Tensor> Target(Frame& frame, const Tensor& from) const;
  absl::StatusOr<Tensor> HostTarget(const Frame& frame, const Tensor& from) const;
  absl::Status Queue(StreamHandle stream, const Tensor& from, const Tensor& to) const;  // on which

  Direction direction_;
  Device* device_;  // whose stream copies
  Device* target_;  // between devices: where the copy is made
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

// Blocks the host until a copy has ended; does nothing when it was waited for before. `plugin` and
// `node` (whose input is copied) are who is named when it does not.
class WaitStep : public SlowStep {
 public:
  WaitStep(int32_t event, std::string_view plugin, std::string_view node)
      : event_(event), plugin_(plugin), node_(node) {}
  absl::Status Run(Frame& frame, const StepArgs& args) const override;
  std::string Describe() const override { return "wait for the copy"; }
  bool IsNode() const override { return false; }

 private:
  int32_t event_;
  std::string plugin_, node_;
};

}  // namespace tenon
