// How a CPU kernel is written: one function that prepares a step for given shapes, and one that
// runs it.
//
// Prepare is called once per shape signature. It checks everything that shapes and attributes
// decide, computes output shapes, makes oneDNN primitives, packs constant weights, and leaves a run
// function with an immutable state. Run gets pointers and does the arithmetic; it may be called
// from several threads at once with different pointers. Unknown shapes need nothing from a kernel:
// the executor then prepares when the shapes are there and caches per shape.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/file_access.h"
#include "plugin/kernels/resource.h"

namespace tenon {

class Workers;  // plugin/cpu/base/workers.h

// What a run function may ask for beyond its pointers: outputs whose shape only the data tells, and
// whole tensors.
class RunState {
 public:
  virtual ~RunState() = default;
  // Output i gets this shape; returns its memory (kTensorAlignment). RESOURCE_EXHAUSTED when there
  // is none.
  virtual absl::StatusOr<void*> AllocateOutput(int i, const Shape& shape) = 0;
  // Output i is this tensor.
  virtual void SetOutput(int i, Tensor value) = 0;
  // Input i as a tensor, which must not outlive the run function: its memory may be planned.
  virtual Tensor Input(int i) = 0;
  // Input i as a tensor of its own. Where this is the value's last reader it is handed over: its
  // buffer is unique then, and the kernel may write to it. At most once for each input, and not
  // read otherwise afterwards. RESOURCE_EXHAUSTED when it had to be copied and memory is short.
  virtual absl::StatusOr<Tensor> TakeInput(int i) = 0;
};

struct StepArgs {
  void* const* in;   // data of each input; of a string input an array of TF_TString
  void* const* out;  // data of each output with a static shape (strings: initialized, empty); null
                     // for dynamic outputs
  void* scratch;     // as many bytes as prepare asked for, kTensorAlignment
  Workers* workers;  // never null; one worker means: compute in the calling thread
  RunState* run_state;  // non-null when prepare declared dynamic outputs; whole tensors are there
                        // for kernels whose spec says so
};

// Returns OK or an error without the node's name (the executor adds node and op).
using RunFn = absl::Status (*)(const void* state, const StepArgs& args);

// State that one node keeps over the runs of a session: a random generator, a counter.
class NodeState {
 public:
  virtual ~NodeState() = default;
};

// The surroundings of a kernel preparation that outlive the plan; owned by the session,
// thread-safe.
class SessionState {
 public:
  virtual ~SessionState() = default;
  // For generators whose own seeds are both 0; 0: take one from the system.
  virtual uint64_t seed() const { return 0; }
  // What kernels may read and write.
  virtual FileAccess files() const { return FileAccess(); }
  // The node's state, made by `make` at first use.
  virtual std::shared_ptr<NodeState> GetNodeState(
      std::string_view node_name, const std::function<std::shared_ptr<NodeState>()>& make) = 0;
  // Variables, tables, queues: what lives as long as the session and has a name.
  ResourceManager& resources() { return resources_; }
  // A value derived from a constant (packed weights), shared by all plans: keyed by the constant's
  // data and `key`.
  virtual std::shared_ptr<const void> GetPacked(
      const void* constant, std::string_view key,
      const std::function<std::shared_ptr<const void>()>& make) = 0;

 private:
  ResourceManager resources_;
};

// One preparation. Filled by the executor with the inputs, by the kernel with the outputs. Used on
// one thread.
class Prepare {
 public:
  // --- The node.
  std::string_view node_name() const { return node_name_; }
  const OpDef& op() const { return *op_; }
  const AttrSet& attrs() const { return *attrs_; }
  // Attribute values, OpDef defaults applied; INVALID_ARGUMENT names the attribute.
  absl::StatusOr<int64_t> AttrInt(std::string_view name) const;
  absl::StatusOr<bool> AttrBool(std::string_view name) const;
  absl::StatusOr<float> AttrFloat(std::string_view name) const;
  absl::StatusOr<std::string_view> AttrString(std::string_view name) const;
  absl::StatusOr<DataType> AttrType(std::string_view name) const;
  absl::StatusOr<PartialShape> AttrShape(std::string_view name) const;
  absl::StatusOr<std::vector<int64_t>> AttrIntList(std::string_view name) const;
  absl::StatusOr<std::vector<std::string_view>> AttrStringList(std::string_view name) const;
  absl::StatusOr<AttrValue> AttrOf(std::string_view name) const;

  // --- Inputs.
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const Shape& input_shape(int i) const { return inputs_[i].shape; }
  DataType input_type(int i) const { return types_->inputs[i]; }
  // The value of input i where it is known now: always for the kernel's `value_inputs`, else when
  // it is a constant of the graph (weights to pack). Null otherwise. The data may be unaligned.
  const Tensor* input_value(int i) const {
    asked_for_values_ = true;
    return inputs_[i].value;
  }
  // A value input (int16, int32 or int64) as integers. INVALID_ARGUMENT if it is no scalar or
  // vector of integers.
  absl::StatusOr<Dims> InputInts(int i) const;
  // The run will not read input i: its value is packed into the state. Lets the executor drop the
  // original.
  void DropInput(int i) { inputs_[i].dropped = true; }

  // --- Outputs.
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  DataType output_type(int i) const { return types_->outputs[i]; }
  void set_output_shape(int i, Shape shape) { outputs_[i].shape = std::move(shape); }
  // Only the data tells output i's shape: run calls RunState::AllocateOutput or SetOutput.
  void set_dynamic_output(int i) { outputs_[i].dynamic = true; }
  // The same for an output whose shape is known to whoever reads it; run must keep the promise.
  void set_dynamic_output(int i, Shape promised) {
    outputs_[i].dynamic = outputs_[i].promised = true;
    outputs_[i].shape = std::move(promised);
  }
  // Output `out` may be computed in input `in`'s memory (same bytes; each element read before it is
  // written, or elementwise).
  void AllowInPlace(int out, int in) { outputs_[out].in_place.push_back(in); }
  // Output `out` is input `in` under another shape: no run function is needed if all outputs are
  // aliases.
  void Alias(int out, int in) { outputs_[out].alias = in; }
  // Output `out` is this value, known now.
  void set_output_value(int out, Tensor value) { outputs_[out].value = std::move(value); }

  void set_scratch_bytes(size_t bytes) { scratch_bytes_ = bytes; }
  // `state` is kept alive and passed to each run.
  void set_run(RunFn fn, std::shared_ptr<const void> state = nullptr) {
    run_ = fn;
    state_ = std::move(state);
  }

  SessionState& session() const { return *session_; }
  Workers& workers() const { return *workers_; }

  // INVALID_ARGUMENT and UNIMPLEMENTED with the op's name, dtypes and input shapes after the
  // message.
  absl::Status Invalid(std::string_view message) const;
  absl::Status Unimplemented(std::string_view message) const;

  struct Input {
    Shape shape;
    const Tensor* value = nullptr;
    bool dropped = false;
  };
  struct PreparedOutput {
    Shape shape;
    bool dynamic = false;
    bool promised = false;  // a dynamic output's shape is known
    absl::InlinedVector<int, 2> in_place;
    std::optional<int> alias;
    std::optional<Tensor> value;
  };

  // --- Set by the executor, read back by it.
  Prepare(std::string_view node_name, const OpDef& op, const AttrSet& attrs, const NodeTypes& types,
          std::vector<Input> inputs, SessionState& session, Workers& workers);
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<PreparedOutput>& outputs() const { return outputs_; }
  // Whether what was prepared may depend on an input's value, and not on shapes and types alone.
  bool asked_for_values() const { return asked_for_values_; }
  size_t scratch_bytes() const { return run() == nullptr ? 0 : scratch_bytes_; }
  // Null if there is nothing to run: none was set, or all outputs are empty and their shapes or
  // those of empty inputs so large but for a dimension of 0 that loops over them would take long.
  RunFn run() const;
  const std::shared_ptr<const void>& state() const { return state_; }

 private:
  std::string_view node_name_;
  const OpDef* op_;
  const AttrSet* attrs_;
  const NodeTypes* types_;
  std::vector<Input> inputs_;
  mutable bool asked_for_values_ = false;
  std::vector<PreparedOutput> outputs_;
  size_t scratch_bytes_ = 0;
  RunFn run_ = nullptr;
  std::shared_ptr<const void> state_;
  SessionState* session_;
  Workers* workers_;
};

using PrepareFn = absl::Status (*)(Prepare& p);

// One attribute and the types it may have, as DataType bits.
struct TypeConstraint {
  std::string_view attr;
  uint64_t types;  // 1 << DataType value
};
constexpr uint64_t TypeBit(DataType t) { return uint64_t{1} << static_cast<int>(t); }
template <typename... T>
constexpr uint64_t TypeBits(T... t) {
  return (TypeBit(t) | ...);
}

// One row of a family's kernel table (plugin/cpu/<family>.cc).
struct CpuKernelSpec {
  const char* op;
  absl::InlinedVector<TypeConstraint, 2> constraints;
  PrepareFn prepare;
  uint32_t value_inputs = 0;   // bit i: prepare needs the value of input i (shape, axis, paddings
                               // …). Bit 31: of all from input 31 on
  bool stateful = false;       // output depends on more than the inputs: never folded, never merged
  bool whole_tensors = false;  // works on tensors that it gets from the RunState: prepared once,
                               // whatever the shapes. Prepare may only ask for input_value of
                               // constants, and for no input_shape
  bool copies_objects = false;  // takes resources and variants too: copies them as ElementCopy does
};
inline constexpr uint32_t kAllInputs = ~uint32_t{0};

// The tables of all folders, gathered by plugin/cpu/all_kernels.cc.
absl::Span<const absl::Span<const CpuKernelSpec>> CpuKernels();

}  // namespace tenon
