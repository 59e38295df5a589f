// Branches and loops of the first kind, assertions, printing.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

absl::Status LoopCondShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(c.input(0), 0));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

constexpr OpSpec kControlFlowOps[] = {
    {"Abort", "", "", "error_msg: string = ''; exit_without_error: bool = false", nullptr},
    // Stateful, but nothing lasts: a run that fails may be made again.
    {"Assert", "condition: bool; data: T", "", "T: list(type); summarize: int = 3", nullptr,
     kStateful, OpFacts{.repeatable = true}},
    {"ControlTrigger", "", "", "", nullptr, kPure, OpFacts{.in_plan = true}},
    {"Enter", "data: T", "output: T",
     "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
     EnterShape, kPure,
     OpFacts{.in_plan = true,
             .renames = true,
             .flow = FlowRole::kEnter,
             .passes_memory = true,
             .precision = Precision::kClear,
             .cost = {CostRule::kMove}}},
    {"Exit", "data: T", "output: T", "T: type", UnchangedShape, kPure,
     OpFacts{.in_plan = true,
             .flow = FlowRole::kExit,
             .passes_memory = true,
             .precision = Precision::kClear,
             .cost = {CostRule::kMove}}},
    {"LoopCond", "input: bool", "output: bool", "", LoopCondShape, kPure,
     OpFacts{.in_plan = true,
             .renames = true,
             .flow = FlowRole::kLoopCond,
             .passes_memory = true,
             .cost = {CostRule::kMove}}},
    {"Merge", "inputs: N * T", "output: T; value_index: int32", "T: type; N: int", MergeShape,
     kPure,
     OpFacts{.in_plan = true,
             .flow = FlowRole::kMerge,
             .passes_memory = true,
             .precision = Precision::kClear,
             .cost = {CostRule::kMove}}},
    {"NextIteration", "data: T", "output: T", "T: type", UnchangedShape, kPure,
     OpFacts{.in_plan = true,
             .renames = true,
             .flow = FlowRole::kNextIteration,
             .passes_memory = true,
             .precision = Precision::kClear,
             .cost = {CostRule::kMove}}},
    {"NoOp", "", "", "", nullptr, kPure,
     OpFacts{.mover = true, .in_plan = true, .safe = Safe::kAlways, .cost = {CostRule::kMove}}},
    {"Print", "input: T; data: U", "output: T",
     "T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; summarize: int = 3",
     UnchangedShape, kStateful},
    {"PrintV2", "input: string", "", "output_stream: string = 'stderr'; end: string = '\\n'",
     RankRule<"0 ->">, kStateful},
    {"RefEnter", "data: Ref(T)", "output: Ref(T)",
     "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
     EnterShape, kPure,
     OpFacts{.in_plan = true, .renames = true, .flow = FlowRole::kEnter, .passes_memory = true}},
    {"RefExit", "data: Ref(T)", "output: Ref(T)", "T: type", UnchangedShape, kPure,
     OpFacts{.in_plan = true, .flow = FlowRole::kExit, .passes_memory = true}},
    {"RefMerge", "inputs: Ref(N * T)", "output: Ref(T); value_index: int32", "T: type; N: int",
     MergeShape, kPure, OpFacts{.in_plan = true, .flow = FlowRole::kMerge, .passes_memory = true}},
    {"RefNextIteration", "data: Ref(T)", "output: Ref(T)", "T: type", UnchangedShape, kPure,
     OpFacts{.in_plan = true,
             .renames = true,
             .flow = FlowRole::kNextIteration,
             .passes_memory = true}},
    {"RefSelect", "index: int32; inputs: Ref(N * T)", "output: Ref(T)", "T: type; N: int",
     RankRule<"0 ->">, kPure, OpFacts{.passes_memory = true}},
    {"RefSwitch", "data: Ref(T); pred: bool", "output_false: Ref(T); output_true: Ref(T)",
     "T: type", SwitchShape, kUninitializedInput,
     OpFacts{.in_plan = true, .flow = FlowRole::kSwitch, .passes_memory = true}},
    {"Switch", "data: T; pred: bool", "output_false: T; output_true: T", "T: type", SwitchShape,
     kPure,
     OpFacts{.in_plan = true,
             .flow = FlowRole::kSwitch,
             .passes_memory = true,
             .precision = Precision::kClear,
             .cost = {CostRule::kMove}}},
    {"_SwitchN", "data: T; output_index: int32", "outputs: num_outs * T", "num_outs: int; T: type",
     SwitchShape, kPure,
     OpFacts{.in_plan = true, .flow = FlowRole::kSwitch, .passes_memory = true}},
    {"ToBool", "input: T", "output: bool", "T: type", ScalarShape},
};

}  // namespace

absl::Span<const OpSpec> ControlFlow() { return kControlFlowOps; }

}  // namespace tenon::ops
