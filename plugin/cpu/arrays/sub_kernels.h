// Kernels made of other kernels, the parts. The preparation of the step prepares each part by its
// op's name. A run executes the parts in order and keeps their results in the step's scratch
// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// A tensor between the parts: an input of the step, or a buffer in the step's scratch memory. A
// caller may give it another shape of as many elements. `value` must then get that shape too, or
// become null.
struct SubTensor {
  // The number of an input of the step; scratch buffers have the numbers behind. -1: none, for an
  // input that the part reads only in its preparation, as `value`.
  int buffer = 0;
  DataType type = DataType::kInvalid;
  Shape shape;
  const Tensor* value = nullptr;  // the value if preparation knows it, else null; not owned
};

// Builds a step, in one thread, while the step is prepared. No part may give strings, resources or
// variants: scratch memory holds plain elements.
class SubKernels {
 public:
  explicit SubKernels(Prepare& p);

  // Returns input i of the step.
  SubTensor Input(int i) const;
  // Adds a part: the first CPU kernel of `op` that takes T = `type`; constraints on other type
  // attributes are not checked. The op must have one output, of type `type`, and the output's shape
  // must not depend on the data. `attrs` are pairs of name and AttrValue bytes, sorted by name.
  // If the kernel reads T, `attrs` must have T. For other attributes the op's defaults count. An
  // input that the kernel needs as a value must have SubTensor::value, which is read during the
  // call only. An input of the step that the kernel drops (Prepare::DropInput) the step drops too:
  // no other part may read it. Returns the part's output: a scratch buffer, or, if the kernel makes
  // the output an alias, that input under another shape. UNIMPLEMENTED if there is no such kernel;
  // INTERNAL if the kernel's preparation sets the output's value; else the errors of that
  // preparation.
  absl::StatusOr<SubTensor> Call(std::string_view op,
                                 std::vector<std::pair<std::string, std::string>> attrs,
                                 DataType type, std::vector<SubTensor> inputs);
  // Adds a part that calls `run` with `state` on `inputs`. Returns the part's output, a new tensor.
  // `run` gets no scratch memory and no RunState.
  SubTensor Run(RunFn run, std::shared_ptr<const void> state, std::vector<SubTensor> inputs,
                DataType type, const Shape& shape);
  // Adds a part that copies `in` into a new tensor of shape `shape`. Returns the new tensor.
  SubTensor Copy(const SubTensor& in, const Shape& shape, StridedCopy copy);
  // Makes results[i] the step's output i. A result that is an input of the step becomes an alias of
  // that input. No two of the other results may have one SubTensor::buffer. Sets the run function
  // unless all results are aliases. A part is left out if its output is no result and no part that
  // is kept reads it; a part that dropped the input does not read it. The step drops each of its
  // inputs that only left-out parts read. Call once, at the end.
  void Finish(absl::Span<const SubTensor> results);

 private:
  struct Part {
    RunFn run = nullptr;
    std::shared_ptr<const void> state;
    std::vector<int> inputs;
    int output = 0;
    int64_t scratch_offset = 0;
  };
  struct State {
    std::vector<Part> parts;
    std::vector<int64_t> buffers;  // offsets of the scratch buffers; -1 - i: output i
    int inputs = 0;
  };
  static absl::Status RunParts(const void* state, const StepArgs& args);
  int NewBuffer(int64_t bytes);
  void DropUnread(absl::Span<const SubTensor> results);

  Prepare& p_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  int64_t scratch_ = 0;
  int64_t part_scratch_ = 0;
};

}  // namespace tenon::cpu
