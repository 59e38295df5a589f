// Branches and loops of the first kind, assertions, printing.
#include "graph/ops/families.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"Abort", "", "", "error_msg: string = ''; exit_without_error: bool = false", nullptr},
    {"Assert", "condition: bool; data: T", "", "T: list(type); summarize: int = 3", nullptr,
     kStateful},
    {"ControlTrigger", "", "", "", nullptr},
    {"Enter", "data: T", "output: T",
     "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
     EnterShape},
    {"Exit", "data: T", "output: T", "T: type", UnchangedShape},
    {"LoopCond", "input: bool", "output: bool", "", ScalarShape},
    {"Merge", "inputs: N * T", "output: T; value_index: int32", "T: type; N: int", MergeShape},
    {"NextIteration", "data: T", "output: T", "T: type", UnchangedShape},
    {"NoOp", "", "", "", nullptr},
    {"Print", "input: T; data: U", "output: T",
     "T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; summarize: int = 3",
     UnchangedShape, kStateful},
    {"PrintV2", "input: string", "", "output_stream: string = 'stderr'; end: string = '\\n'",
     nullptr, kStateful},
    {"RefEnter", "data: Ref(T)", "output: Ref(T)",
     "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
     EnterShape},
    {"RefExit", "data: Ref(T)", "output: Ref(T)", "T: type", UnchangedShape},
    {"RefMerge", "inputs: Ref(N * T)", "output: Ref(T); value_index: int32", "T: type; N: int",
     MergeShape},
    {"RefNextIteration", "data: Ref(T)", "output: Ref(T)", "T: type", UnchangedShape},
    {"RefSelect", "index: int32; inputs: Ref(N * T)", "output: Ref(T)", "T: type; N: int", nullptr},
    {"RefSwitch", "data: Ref(T); pred: bool", "output_false: Ref(T); output_true: Ref(T)",
     "T: type", SwitchShape, kUninitializedInput},
    {"Switch", "data: T; pred: bool", "output_false: T; output_true: T", "T: type", SwitchShape},
    {"_SwitchN", "data: T; output_index: int32", "outputs: num_outs * T", "num_outs: int; T: type",
     SwitchShape},
    {"ToBool", "input: T", "output: bool", "T: type", ScalarShape},
};

}  // namespace

absl::Span<const OpSpec> ControlFlow() { return kOps; }

}  // namespace tenon::ops
