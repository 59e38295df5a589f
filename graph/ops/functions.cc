// Calls, branches and loops over functions.
#include "graph/ops/families.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

// The gradients of a function's arguments, which are the first inputs, are shaped as these.
absl::Status GradientOfCallShape(InferenceContext& c) {
  const int outputs = c.num_outputs();
  if (c.num_inputs() < outputs)
    return Invalid("len(inputs) < len(outputs): ", c.num_inputs(), " < ", outputs);
  for (int i = 0; i < outputs; ++i) c.set_output(i, c.input(i));
  return absl::OkStatus();
}

constexpr OpSpec kFunctionsOps[] = {
    {"_ArrayToList", "input: N * T", "output: out_types", "T: type; N: int; out_types: list(type)",
     nullptr},
    {"Case", "branch_index: int32; input: Tin", "output: Tout",
     "Tin: list(type) >= 0; Tout: list(type) >= 0; branches: list(func) >= 1; "
     "output_shapes: list(shape) = []",
     OutputShapesShape, kStateful, OpFacts{.calls = CallKind::kCase}},
    {"DeviceIndex", "", "index: int32", "device_names: list(string)", ScalarShape, kStateful},
    {"EagerPyFunc", "input: Tin", "output: Tout",
     "token: string; is_async: bool = false; Tin: list(type) >= 0; Tout: list(type) >= 0", nullptr,
     kStateful},
    {"FakeParam", "", "output: dtype", "dtype: type; shape: shape", ExplicitShape},
    {"For", "start: int32; limit: int32; delta: int32; input: T", "output: T",
     "T: list(type) >= 0; body: func", nullptr, kPure, OpFacts{.calls = CallKind::kFor}},
    {"If", "cond: Tcond; input: Tin", "output: Tout",
     "Tcond: type; Tin: list(type) >= 0; Tout: list(type) >= 0; then_branch: func; "
     "else_branch: func; output_shapes: list(shape) = []",
     OutputShapesShape, kStateful, OpFacts{.calls = CallKind::kIf}},
    {"_If", "cond: Tcond; input: Tin", "output: Tout",
     "Tcond: type; Tin: list(type); Tout: list(type); then_branch: func; else_branch: func",
     nullptr, kStateful, OpFacts{.calls = CallKind::kIf}},
    {"_ListToArray", "input: Tin", "output: N * T", "Tin: list(type); T: type; N: int", nullptr},
    {"PartitionedCall", "args: Tin", "output: Tout",
     "Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; config: string = ''; "
     "config_proto: string = ''; executor_type: string = ''",
     nullptr, kPure, OpFacts{.calls = CallKind::kFunction}},
    {"PyFunc", "input: Tin", "output: Tout",
     "token: string; Tin: list(type) >= 0; Tout: list(type) >= 0", nullptr, kStateful},
    {"PyFuncStateless", "input: Tin", "output: Tout",
     "token: string; Tin: list(type) >= 0; Tout: list(type) >= 0", nullptr},
    {"RemoteCall", "target: string; args: Tin", "output: Tout",
     "Tin: list(type); Tout: list(type); f: func", nullptr, kStateful,
     OpFacts{.calls = CallKind::kRemote}},
    {"StatefulPartitionedCall", "args: Tin", "output: Tout",
     "Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; config: string = ''; "
     "config_proto: string = ''; executor_type: string = ''",
     nullptr, kStateful, OpFacts{.calls = CallKind::kFunction}},
    {"StatelessCase", "branch_index: int32; input: Tin", "output: Tout",
     "Tin: list(type) >= 0; Tout: list(type) >= 0; branches: list(func) >= 1; "
     "output_shapes: list(shape) = []",
     OutputShapesShape, kPure, OpFacts{.calls = CallKind::kCase}},
    {"StatelessIf", "cond: Tcond; input: Tin", "output: Tout",
     "Tcond: type; Tin: list(type) >= 0; Tout: list(type) >= 0; then_branch: func; "
     "else_branch: func; output_shapes: list(shape) = []",
     OutputShapesShape, kPure, OpFacts{.calls = CallKind::kIf}},
    {"StatelessWhile", "input: T", "output: T",
     "T: list(type) >= 0; cond: func; body: func; output_shapes: list(shape) = []; "
     "parallel_iterations: int = 10",
     OutputShapesShape, kPure, OpFacts{.calls = CallKind::kWhile}},
    {"SymbolicGradient", "input: Tin", "output: Tout", "Tin: list(type); Tout: list(type); f: func",
     GradientOfCallShape, kPure, OpFacts{.calls = CallKind::kGradient}},
    {"While", "input: T", "output: T",
     "T: list(type) >= 0; cond: func; body: func; output_shapes: list(shape) = []; "
     "parallel_iterations: int = 10",
     OutputShapesShape, kStateful, OpFacts{.calls = CallKind::kWhile}},
    {"_While", "input: T", "output: T", "T: list(type) >= 0; cond: func; body: func", nullptr,
     kStateful, OpFacts{.calls = CallKind::kWhile}},
};

}  // namespace

absl::Span<const OpSpec> Functions() { return kFunctionsOps; }

}  // namespace tenon::ops
