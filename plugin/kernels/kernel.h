// The interface of a CPU kernel: one function prepares a step for given shapes, another function
// runs the step.
//
// The executor calls prepare for each set of input shapes, and perhaps again for a set that it had
// before. Prepare checks everything that shapes and attributes decide, computes output shapes,
// makes oneDNN primitives, packs constant weights, and sets a run function with an immutable state.
// Run gets pointers and computes; several threads may call run at once with different pointers. A
// kernel does nothing special for unknown shapes: the executor prepares when the shapes are known,
// and caches the result by shapes.
// What is prepared has a header of its own (preparation.h), and so have what runs (run_fn.h), what
// outlives a run (session_state.h) and the row of a kernel in its table (kernel_spec.h): they do
// not need this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/preparation.h"
#include "plugin/kernels/run_fn.h"
#include "plugin/kernels/session_state.h"

namespace tenon {

class Workers;  // plugin/cpu/base/workers.h

// One preparation: the executor sets the inputs, the kernel sets the outputs. One thread uses it.
class Prepare : public Preparation {
 public:
  // --- The node.
  // Nodes without state that have the same op, attributes and shapes may share a preparation: only
  // the kernel of a stateful op may keep the name.
  std::string_view node_name() const { return node_name_; }
  const OpDef& op() const { return *op_; }
  const AttrSet& attrs() const { return *attrs_; }
  // The value of an attribute, else the default of the OpDef. Views live as long as the node's
  // attributes and the OpDef. INVALID_ARGUMENT if there is neither; else the errors of AttrValue,
  // with the attribute's name.
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
  // The value of input i, or null if it is not known yet. It is known for the kernel's
  // `value_inputs`, and for constants of the graph (weights to pack). The data may be unaligned. A
  // value that is no constant of the graph goes when the preparation returns: the state must copy
  // what run needs.
  const Tensor* input_value(int i) const {
    asked_for_values_ = true;
    return inputs_[i].value;
  }
  // The value of input i (int8, int16, int32 or int64) as integers. INVALID_ARGUMENT if the input
  // is no scalar or vector of these types; INTERNAL if its value is not known.
  absl::StatusOr<Dims> InputInts(int i) const;
  // States that run does not read input i, since its value is packed into the state. The executor
  // may then free the original.
  void DropInput(int i) { inputs_[i].dropped = true; }

  // --- Outputs.
  void set_output_shape(int i, Shape shape) { outputs_[i].shape = std::move(shape); }
  // States that output i's shape depends on the data: run must call RunState::AllocateOutput or
  // SetOutput. An output that run leaves out is an INTERNAL error of the step.
  void set_dynamic_output(int i) { outputs_[i].dynamic = true; }
  // The same with a promise: run makes the output with exactly this shape, so that later steps can
  // be prepared for it.
  void set_dynamic_output(int i, Shape promised) {
    outputs_[i].dynamic = outputs_[i].promised = true;
    outputs_[i].shape = std::move(promised);
  }
  // Allows output `out` to lie in the memory of input `in`. Both must have the same number of
  // bytes, and run must read each element before it writes the element.
  void AllowInPlace(int out, int in) { outputs_[out].in_place.push_back(in); }
  // States that output `out` has the elements of input `in` under another shape. If all outputs are
  // aliases or have values (set_output_value), no run function is needed. The output's shape must
  // be set, too.
  void Alias(int out, int in) { outputs_[out].alias = in; }
  // States that output `out` has this value in every run. The output's shape must be set, too.
  void set_output_value(int out, Tensor value) { outputs_[out].value = std::move(value); }

  void set_scratch_bytes(size_t bytes) { scratch_bytes_ = bytes; }
  // Sets the run function. `state` is passed to each call of `fn`, and lives as long as the step.
  void set_run(RunFn fn, std::shared_ptr<const void> state = nullptr) {
    run_ = fn;
    state_ = std::move(state);
  }

  SessionState& session() const { return *session_; }
  Workers& workers() const { return *workers_; }

  // Errors INVALID_ARGUMENT and UNIMPLEMENTED with the message, followed by the op's name, types
  // and input shapes.
  absl::Status Invalid(std::string_view message) const;
  absl::Status Unimplemented(std::string_view message) const;

  // --- For the executor, and for a kernel that prepares another. All references must outlive this
  // object, and `op` and `types` the preparation.
  Prepare(std::string_view node_name, const OpDef& op, const AttrSet& attrs, const NodeTypes& types,
          std::vector<Input> inputs, SessionState& session, Workers& workers);

 private:
  std::string_view node_name_;
  const AttrSet* attrs_;
  SessionState* session_;
  Workers* workers_;
};

}  // namespace tenon
