#include "plugin/cpu/variables/writable.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/tensor_guards.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"

namespace tenon::cpu {

absl::Status MakeWritable(Tensor& tensor) {
  if (tensor.buffer()->unique()) {
    MayBeWritten(tensor);
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(tensor, tensor.Copy());
  return absl::OkStatus();
}

bool CanCombine(ElementOp op, DataType type) {
  ElementStep step;
  return ChooseLoop(op, type, type, &step);
}

absl::Status CombineInto(ElementOp op, const Tensor& value, const Tensor& target,
                         Workers* workers) {
  const DataType type = target.dtype();
  const Shape flat({target.num_elements()});
  const Shape both[] = {flat, flat};
  ElementStep step;
  if (!ChooseLoop(op, type, type, &step)) {
    return absl::UnimplementedError(
        absl::StrCat("no CPU kernel combines ", DataTypeName(type), " values"));
  }
  step.plan = *BroadcastPlan::Make(both);
  step.operands = 2;
  step.n = target.num_elements();
  const auto bytes = static_cast<int64_t>(DataTypeSize(type));
  step.grain = GrainFor(bytes);
  step.in_size.fill(bytes);
  step.out_size = bytes;
  const void* in[] = {target.data(), value.data()};
  RunElementStep(step, in, target.data(), workers);
  return absl::OkStatus();
}

}  // namespace tenon::cpu
