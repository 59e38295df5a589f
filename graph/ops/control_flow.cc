// Branches and loops of the first kind, assertions, printing.
#include "graph/ops/families.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"Abort", "", "", "error_msg: string = ''; exit_without_error: bool = false", nullptr},
    {"Assert", "condition: bool; data: T", "", "T: list(type); summarize: int = 3", nullptr,
     kStateful},
    {"ControlTrigger", "", "", "", nullptr},
    {"Enter", "data: T", "output: T",
     "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
     nullptr},
    {"Exit", "data: T", "output: T", "T: type", nullptr},
    {"LoopCond", "input: bool", "output: bool", "", nullptr},
    {"Merge", "inputs: N * T", "output: T; value_index: int32", "T: type; N: int", nullptr},
    {"NextIteration", "data: T", "output: T", "T: type", nullptr},
    {"NoOp", "", "", "", nullptr},
    {"Print", "input: T; data: U", "output: T",
     "T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; summarize: int = 3",
     nullptr, kStateful},
    {"PrintV2", "input: string", "", "output_stream: string = 'stderr'; end: string = '\\n'",
     nullptr, kStateful},
    {"RefEnter", "data: Ref(T)", "output: Ref(T)",
     "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
     nullptr},
    {"RefExit", "data: Ref(T)", "output: Ref(T)", "T: type", nullptr},
    {"RefMerge", "inputs: Ref(N * T)", "output: Ref(T); value_index: int32", "T: type; N: int",
     nullptr},
    {"RefNextIteration", "data: Ref(T)", "output: Ref(T)", "T: type", nullptr},
    {"RefSelect", "index: int32; inputs: Ref(N * T)", "output: Ref(T)", "T: type; N: int", nullptr},
    {"RefSwitch", "data: Ref(T); pred: bool", "output_false: Ref(T); output_true: Ref(T)",
     "T: type", nullptr, kUninitializedInput},
    {"Switch", "data: T; pred: bool", "output_false: T; output_true: T", "T: type", nullptr},
    {"_SwitchN", "data: T; output_index: int32", "outputs: num_outs * T", "num_outs: int; T: type",
     nullptr},
    {"ToBool", "input: T", "output: bool", "T: type", nullptr},
};

}  // namespace

absl::Span<const OpSpec> ControlFlow() { return kOps; }

}  // namespace tenon::ops
