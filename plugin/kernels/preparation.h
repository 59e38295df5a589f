// The outcome of a kernel's preparation, as the executor reads it. What a kernel sees while it
// prepares a step is in kernel.h.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {

// A kernel sets it through class Prepare, which one thread uses. Afterwards it is not changed, and
// any thread may read it. The op and the types, which it does not own, must outlive it.
class Preparation {
 public:
  struct Input {
    Shape shape;
    const Tensor* value = nullptr;  // null: not known to the kernel. Not owned
    bool dropped = false;           // run does not read it (Prepare::DropInput)
  };
  struct PreparedOutput {
    Shape shape;
    bool dynamic = false;                  // run makes the output (Prepare::set_dynamic_output)
    bool promised = false;                 // a dynamic output's shape is known
    absl::InlinedVector<int, 2> in_place;  // inputs in whose memory the output may lie
    std::optional<int> alias;              // the input whose elements the output has
    std::optional<Tensor> value;           // what the output is in every run
  };

  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<PreparedOutput>& outputs() const { return outputs_; }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  DataType output_type(int i) const { return types_->outputs[i]; }
  // Whether what was prepared may depend on an input's value, and not on shapes and types alone.
  bool asked_for_values() const { return asked_for_values_; }
  size_t scratch_bytes() const { return run() == nullptr ? 0 : scratch_bytes_; }
  // The run function; null if there is nothing to run. That is so if none was set. It is also so if
  // the op is stateless, has outputs, all of them are empty and none is dynamic, and the shape of
  // an output or of an empty input is so large apart from its dimension of 0 that loops over the
  // shape would take long.
  RunFn run() const;
  const std::shared_ptr<const void>& state() const { return state_; }

 protected:
  Preparation(const OpDef& op, const NodeTypes& types, std::vector<Input> inputs)
      : op_(&op), types_(&types), inputs_(std::move(inputs)), outputs_(types.outputs.size()) {}

  const OpDef* op_;
  const NodeTypes* types_;
  std::vector<Input> inputs_;
  mutable bool asked_for_values_ = false;
  std::vector<PreparedOutput> outputs_;
  size_t scratch_bytes_ = 0;
  RunFn run_ = nullptr;
  std::shared_ptr<const void> state_;
};

}  // namespace tenon
