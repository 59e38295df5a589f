#include "executor/plan/steps/operands.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon {

absl::StatusOr<int32_t> Operands::Get(NodeId n, int i, Device* device) {
  int32_t id = steps_.graph().ValueOf(in_.graph.data_inputs(n)[i]);
  const bool wants_variable = IsRef(in_.graph.kind(n).types.inputs[i]);
  const bool is_variable = steps_.value(id).reference;
  if (is_variable && !wants_variable) {
    TENON_ASSIGN_OR_RETURN(id, ReadVariable(n, id));
  } else if (wants_variable && !is_variable) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " must be a variable, but its value is fed"));
  }
  return copies_.OnDevice(n, id, device);
}

// One step for each reader: as in TensorFlow, a reader sees the value at its own time, and a node
// in between may assign another one.
absl::StatusOr<int32_t> Operands::ReadVariable(NodeId reader, int32_t id) {
  const PlanValue variable = steps_.value(id);
  PlanValue read;
  read.output = variable.output;
  read.alive = liveness_.Both(reader, variable.alive, steps_.graph().node_alive[reader]);
  read.dtype = BaseType(in_.graph.output_type(read.output));
  read.storage = steps_.NewSlot();
  Device* const device = in_.devices[read.output.node];
  if (!device->is_host() && IsMemcpyable(read.dtype)) copies_.ComputedOn(device, read);
  TENON_ASSIGN_OR_RETURN(const int32_t handle, steps_.ReadStorage(id));
  auto step = std::make_unique<ReadVariableStep>(steps_.SlotOf(read.storage), read.device);
  steps_.AddSlowStep(reader, std::move(step), read.alive, {handle}, {read.storage});
  return steps_.AddValue(std::move(read));
}

}  // namespace tenon
