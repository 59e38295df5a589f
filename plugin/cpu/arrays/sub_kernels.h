// Kernels made of other kernels: a step prepares its parts by op name and runs them one after the
// other in its scratch memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// A tensor on its way through the parts: an input of the step, or memory in its scratch.
struct SubTensor {
  int buffer = 0;  // inputs of the step first, then scratch buffers
  DataType type = DataType::kInvalid;
  Shape shape;
  const Tensor* value = nullptr;  // where it is known now
};

// Builds a step. Used on one thread, while the step is prepared.
class SubKernels {
 public:
  explicit SubKernels(Prepare& p);

  SubTensor Input(int i) const;
  // One kernel of `op` with one output of type `out`. `attrs` are name and AttrValue bytes, sorted
  // by name; `type` is what the kernel's type attribute T is. Inputs that the kernel needs as
  // values must have one.
  absl::StatusOr<SubTensor> Call(std::string_view op,
                                 std::vector<std::pair<std::string, std::string>> attrs,
                                 DataType type, std::vector<SubTensor> inputs);
  // What `run` makes of `inputs`, in a new tensor. It gets no scratch memory.
  SubTensor Run(RunFn run, std::shared_ptr<const void> state, std::vector<SubTensor> inputs,
                DataType type, const Shape& shape);
  // A copy into a new tensor.
  SubTensor Copy(const SubTensor& in, const Shape& shape, StridedCopy copy);
  // Makes `results` the step's outputs, each a tensor of its own, and sets the run function.
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

  Prepare& p_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::vector<std::shared_ptr<Tensor>> values_;
  int64_t scratch_ = 0;
  int64_t part_scratch_ = 0;
};

}  // namespace tenon::cpu
