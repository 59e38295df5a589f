// Runs a step in float: half-precision inputs are widened into scratch before the step, its results
// are narrowed behind it.
#include "plugin/cpu/nn/recurrent/float_step.h"

#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

FloatStep::FloatStep(const Prepare& p) {
  for (int i = 0; i < p.num_inputs(); ++i)
    inputs_.push_back(MakeOperand(p.input_type(i), p.input_shape(i).num_elements()));
  for (int i = 0; i < p.num_outputs(); ++i)
    outputs_.push_back(MakeOperand(p.output_type(i), p.outputs()[i].shape.num_elements()));
}

FloatStep::Operand FloatStep::MakeOperand(DataType type, int64_t elements) {
  if (!HasType(kHalfTypes, type)) return {type, elements, -1};
  const Operand operand{type, elements, static_cast<int64_t>(bytes_)};
  // Scratch holds the copies one after the other, then what the step itself needs.
  bytes_ += AlignedBytes(elements * sizeof(float));
  converts_ = true;
  return operand;
}

absl::Status FloatStep::Run(const StepArgs& args,
                            absl::FunctionRef<absl::Status(const StepArgs& floats)> body) const {
  // float: the inputs and outputs serve as they are.
  if (!converts_) return body(args);
  char* const scratch = static_cast<char*>(args.scratch);
  absl::InlinedVector<void*, 20> in, out;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Operand& operand = inputs_[i];
    in.push_back(operand.offset < 0 ? args.in[i] : scratch + operand.offset);
    if (operand.offset < 0) continue;
    auto* const floats = reinterpret_cast<float*>(scratch + operand.offset);
    VisitFloat(operand.type, [&](auto element) {
      for (int64_t k = 0; k < operand.elements; ++k)
        floats[k] = element.template As<float>(args.in[i], k);
    });
  }
  for (size_t i = 0; i < outputs_.size(); ++i)
    out.push_back(outputs_[i].offset < 0 ? args.out[i] : scratch + outputs_[i].offset);
  StepArgs floats = args;
  floats.in = in.data();
  floats.out = out.data();
  floats.scratch = scratch + bytes_;
  TENON_RETURN_IF_ERROR(body(floats));
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Operand& operand = outputs_[i];
    if (operand.offset < 0) continue;
    const auto* const from = reinterpret_cast<const float*>(scratch + operand.offset);
    VisitFloat(operand.type, [&](auto element) {
      for (int64_t k = 0; k < operand.elements; ++k) element.Put(args.out[i], k, from[k]);
    });
  }
  return absl::OkStatus();
}

}  // namespace tenon::cpu
