// From a node to a prepared elementwise step, with short cuts for scalars.
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// A step with its check of the second operand.
struct CheckedStep : ElementStep {
  absl::Status (*check)(const void* second, int64_t n) = nullptr;
  int64_t second_elements = 0;
};

absl::Status RunGeneral(const void* state, const StepArgs& args) {
  RunElementStep(*static_cast<const ElementStep*>(state), args.in, args.out[0], args.workers);
  return absl::OkStatus();
}

// All operands lie alike and the work is too small to share: one call.
absl::Status RunSmall(const void* state, const StepArgs& args) {
  const auto& step = *static_cast<const ElementStep*>(state);
  step.loop(args.in, args.out[0], step.n, step.param);
  return absl::OkStatus();
}

absl::Status RunChecked(const void* state, const StepArgs& args) {
  // By way of ElementStep, as ChooseRun stored the pointer: the state of every run function here is
  // one.
  const auto& step = *static_cast<const CheckedStep*>(static_cast<const ElementStep*>(state));
  TENON_RETURN_IF_ERROR(step.check(args.in[1], step.second_elements));
  RunElementStep(step, args.in, args.out[0], args.workers);
  return absl::OkStatus();
}

// The commonest scalar arithmetic without a call: a step costs what its dispatch costs.
template <typename T, T (*kOp)(T, T)>
absl::Status RunScalar(const void*, const StepArgs& args) {
  *static_cast<T*>(args.out[0]) =
      kOp(*static_cast<const T*>(args.in[0]), *static_cast<const T*>(args.in[1]));
  return absl::OkStatus();
}
template <typename T>
T AddScalar(T a, T b) {
  return a + b;
}
template <typename T>
T SubScalar(T a, T b) {
  return a - b;
}
template <typename T>
T MulScalar(T a, T b) {
  return a * b;
}

template <typename T>
RunFn FindScalar(ElementOp op) {
  switch (op) {
    case ElementOp::kAdd:
      return &RunScalar<T, AddScalar<T>>;
    case ElementOp::kSub:
      return &RunScalar<T, SubScalar<T>>;
    case ElementOp::kMul:
      return &RunScalar<T, MulScalar<T>>;
    default:
      return nullptr;
  }
}

RunFn FindScalarRun(ElementOp op, DataType t) {
  if (t == DataType::kFloat) return FindScalar<float>(op);
  if (t == DataType::kDouble) return FindScalar<double>(op);
  // Unsigned, since sums of signed integers that overflow are undefined in C++.
  if (t == DataType::kInt32) return FindScalar<uint32_t>(op);
  if (t == DataType::kInt64) return FindScalar<uint64_t>(op);
  return nullptr;
}

void ChooseRun(Prepare& p, ElementOp op, std::shared_ptr<CheckedStep> step) {
  RunFn run = &RunGeneral;
  if (step->n > 0 && step->check != nullptr) {
    run = &RunChecked;
  } else if (step->plan.flat && !step->converts && step->n <= step->grain) {
    run = &RunSmall;
    RunFn scalar = step->n == 1 ? FindScalarRun(op, p.input_type(0)) : nullptr;
    if (scalar != nullptr) {
      p.set_run(scalar);
      return;
    }
  }
  p.set_run(run, std::shared_ptr<const void>(step, static_cast<const ElementStep*>(step.get())));
}

}  // namespace

absl::Status PrepareElementwise(Prepare& p, const ElementSpec& spec,
                                absl::Span<const Shape> shapes) {
  std::optional<BroadcastPlan> plan = BroadcastPlan::Make(shapes);
  if (!plan.has_value()) {
    return p.Invalid(
        absl::StrCat("Incompatible shapes: ",
                     absl::StrJoin(shapes, " vs. ", [](std::string* out, const Shape& s) {
                       absl::StrAppend(out, s.ToString());
                     })));
  }
  const int operands = static_cast<int>(shapes.size());
  auto step = std::make_shared<CheckedStep>();
  // The last operand: the first one of a selection is the condition.
  const DataType type = p.input_type(operands - 1);
  if (!ChooseLoop(spec.op, type, p.output_type(0), step.get()))
    return p.Unimplemented("no CPU kernel for these types");
  step->plan = *std::move(plan);
  if (operands == 2 && !step->converts) step->rows_loop = FindElementRowsLoop(spec.op, type);
  step->param = spec.param;
  step->operands = operands;
  step->n = step->plan.shape.num_elements();
  step->out_size = static_cast<int64_t>(DataTypeSize(p.output_type(0)));
  int64_t bytes = step->out_size;
  for (int k = 0; k < operands; ++k) {
    step->in_size[k] = static_cast<int64_t>(DataTypeSize(p.input_type(k)));
    bytes += step->in_size[k];
    // In place only where the operand is not repeated: a repeated element would be overwritten
    // before its last use.
    if (shapes[k] == step->plan.shape && p.input_type(k) == p.output_type(0)) p.AllowInPlace(0, k);
  }
  step->grain = GrainFor(bytes);
  step->check = spec.check;
  if (operands > 1) step->second_elements = shapes[1].num_elements();
  p.set_output_shape(0, step->plan.shape);
  ChooseRun(p, spec.op, std::move(step));
  return absl::OkStatus();
}

absl::Status PrepareElementwise(Prepare& p, const ElementSpec& spec, int operands) {
  absl::InlinedVector<Shape, kMaxOperands> shapes;
  for (int k = 0; k < operands; ++k) shapes.push_back(p.input_shape(k));
  return PrepareElementwise(p, spec, shapes);
}

namespace {

ElementLoop FindStep(DataType from, DataType to) {
  ElementLoop loop = FindCastLoop(from, to);
  return loop != nullptr ? loop : FindSpecialCast(from, to);
}

// One loop, or up to three through the hubs of both types.
bool ChooseCast(DataType from, DataType to, ElementStep* step) {
  step->loop = FindStep(from, to);
  if (step->loop != nullptr) return true;
  const DataType from_hub = CastHub(from), to_hub = CastHub(to);
  step->converts = true;
  if (from_hub != from) step->widen[0] = FindStep(from, from_hub);
  if (to_hub != to) step->narrow = FindStep(to_hub, to);
  step->loop = FindCastLoop(from_hub, to_hub);
  return step->loop != nullptr && (from_hub == from || step->widen[0] != nullptr) &&
         (to_hub == to || step->narrow != nullptr);
}

// Truncation is a first step, which leaves nothing to round. As in TensorFlow, numbers only lose
// bits on the way to float from double, to half, and to bfloat16 from float.
bool ChooseTruncatingCast(DataType from, DataType to, ElementStep* step) {
  const ElementLoop truncation = FindTruncation(from, to);
  if (truncation == nullptr) return ChooseCast(from, to, step);
  const bool wide = from == DataType::kDouble || from == DataType::kComplex128;
  step->converts = true;
  step->widen[0] = truncation;
  step->loop = FindCastLoop(wide ? DataType::kDouble : DataType::kFloat, DataType::kFloat);
  if (to != DataType::kFloat) step->narrow = FindStep(DataType::kFloat, to);
  return true;
}

// Where TensorFlow's truncation is not one: garbage, or the end of its process.
bool TruncationUndefined(DataType from, DataType to) {
  if (!IsFloating(from) && !IsComplex(from)) return false;
  const bool float8 = DataTypeSize(to) == 1 && CastHub(to) == DataType::kDouble;
  return float8 || (to == DataType::kComplex64 && DataTypeSize(from) > 4);
}

}  // namespace

absl::Status PrepareCast(Prepare& p) {
  const DataType from = p.input_type(0);
  const DataType to = p.output_type(0);
  p.set_output_shape(0, p.input_shape(0));
  if (from == to) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const bool truncate, p.AttrBool("Truncate"));
  if (truncate && TruncationUndefined(from, to)) {
    return p.Unimplemented(absl::StrCat("Truncate is not defined from ", DataTypeName(from), " to ",
                                        DataTypeName(to)));
  }
  auto step = std::make_shared<ElementStep>();
  if (!(truncate ? ChooseTruncatingCast : ChooseCast)(from, to, step.get())) {
    return p.Unimplemented(
        absl::StrCat("no CPU kernel that casts ", DataTypeName(from), " to ", DataTypeName(to)));
  }
  const Shape all[] = {p.input_shape(0)};
  step->plan = *BroadcastPlan::Make(all);
  step->n = step->plan.shape.num_elements();
  step->in_size[0] = static_cast<int64_t>(DataTypeSize(from));
  step->out_size = static_cast<int64_t>(DataTypeSize(to));
  step->grain = GrainFor(step->in_size[0] + step->out_size);
  p.set_run(step->converts || step->n > step->grain ? &RunGeneral : &RunSmall, step);
  return absl::OkStatus();
}

}  // namespace tenon::cpu
