// Slices of variables that are replaced: StridedSliceAssign and its form for resources.
#include "plugin/cpu/arrays/slice_ranges.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/variables/writable.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/variable.h"

namespace tenon::cpu {
namespace {

struct AssignSliceState {
  SliceMasks masks;
  bool by_reference;
};

Dims IntsOf(const Tensor& list) {
  Dims ints;
  for (int64_t i = 0; i < list.num_elements(); ++i) ints.push_back(list.IntAt(i));
  return ints;
}

absl::Status AssignSlice(const AssignSliceState& s, const StepArgs& args, Tensor& held) {
  const Tensor value = args.run_state->Input(4);
  if (held.dtype() != value.dtype()) {
    return absl::InvalidArgumentError(absl::StrCat("the variable holds ",
                                                   DataTypeName(held.dtype()), ", the value is ",
                                                   DataTypeName(value.dtype())));
  }
  // The slice is resolved in the run, not before: a variable's shape may change between runs.
  // Errors come before MakeWritable, so that they copy nothing.
  Dims lists[3];
  for (int i = 0; i < 3; ++i) {
    const Tensor list = args.run_state->Input(1 + i);
    if (list.shape().rank() != 1)
      return absl::InvalidArgumentError("'begin', 'end' and 'strides' must be vectors");
    lists[i] = IntsOf(list);
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges,
                         ResolveSlice(s.masks, lists[0], lists[1], lists[2], held.shape()));
  const SliceBlock block = FindBlock(ranges, held.shape(), held.dtype());
  if (block.shape.num_elements() == 0) return absl::OkStatus();
  const std::optional<Shape> from = BroadcastSource(value.shape(), block.shape);
  if (!from.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("a value of shape ", value.shape().ToString(),
                                                   " does not broadcast to the slice's shape ",
                                                   block.shape.ToString()));
  }
  TENON_RETURN_IF_ERROR(MakeWritable(held));
  CopyIntoBlock(held.dtype(), block, ranges, *from)
      .Run(value.data(), static_cast<char*>(held.data()) + block.offset, args.workers);
  return absl::OkStatus();
}

absl::Status RunAssignSlice(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AssignSliceState*>(state);
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  return variable->Update([&](Tensor& held) {
    if (held.initialized()) return AssignSlice(s, args, held);
    // TensorFlow's codes: a reference without a value fails a precondition, a resource is not
    // found.
    return variable->NoValue(s.by_reference ? absl::StatusCode::kFailedPrecondition
                                            : absl::StatusCode::kNotFound);
  });
}

absl::Status PrepareAssignSlice(Prepare& p) {
  auto s = std::make_shared<AssignSliceState>();
  TENON_ASSIGN_OR_RETURN(s->masks, ReadSliceMasks(p));
  s->by_reference = p.num_outputs() == 1;
  if (s->by_reference) {
    p.set_output_shape(0, Shape());
    p.Alias(0, 0);
  }
  p.set_run(&RunAssignSlice, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> AssignSliceKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("StridedSliceAssign", "T", kCopyTypes, PrepareAssignSlice),
      WholeTensorKernel("ResourceStridedSliceAssign", "T", kCopyTypes, PrepareAssignSlice),
  };
  return specs;
}

}  // namespace tenon::cpu
