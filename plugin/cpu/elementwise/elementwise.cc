// The elementwise ops: a table from op to loop, and the few ops that need a look at their operands.
#include <algorithm>
#include <complex>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/base/node_note.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/cpu/elementwise/select_shapes.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Row {
  const char* name;
  ElementOp op;
  int operands;
};

// Op, its loop, its number of operands. Ops of other shapes or attributes have a Prepare function
// of their own below.
constexpr Row kRows[] = {
    {"Abs", ElementOp::kAbs, 1},
    {"Neg", ElementOp::kNeg, 1},
    {"Square", ElementOp::kSquare, 1},
    {"Sign", ElementOp::kSign, 1},
    {"Relu", ElementOp::kRelu, 1},
    {"Relu6", ElementOp::kRelu6, 1},
    {"Sqrt", ElementOp::kSqrt, 1},
    {"Rsqrt", ElementOp::kRsqrt, 1},
    {"Reciprocal", ElementOp::kReciprocal, 1},
    {"Inv", ElementOp::kReciprocal, 1},
    {"Floor", ElementOp::kFloor, 1},
    {"Ceil", ElementOp::kCeil, 1},
    {"Rint", ElementOp::kRint, 1},
    {"Exp", ElementOp::kExp, 1},
    {"Expm1", ElementOp::kExpm1, 1},
    {"Log", ElementOp::kLog, 1},
    {"Log1p", ElementOp::kLog1p, 1},
    {"Sin", ElementOp::kSin, 1},
    {"Cos", ElementOp::kCos, 1},
    {"Tan", ElementOp::kTan, 1},
    {"Asin", ElementOp::kAsin, 1},
    {"Acos", ElementOp::kAcos, 1},
    {"Atan", ElementOp::kAtan, 1},
    {"Sinh", ElementOp::kSinh, 1},
    {"Cosh", ElementOp::kCosh, 1},
    {"Tanh", ElementOp::kTanh, 1},
    {"Asinh", ElementOp::kAsinh, 1},
    {"Acosh", ElementOp::kAcosh, 1},
    {"Atanh", ElementOp::kAtanh, 1},
    {"Erf", ElementOp::kErf, 1},
    {"Erfc", ElementOp::kErfc, 1},
    {"Lgamma", ElementOp::kLgamma, 1},
    {"BesselI0", ElementOp::kBesselI0, 1},
    {"BesselI0e", ElementOp::kBesselI0e, 1},
    {"BesselI1", ElementOp::kBesselI1, 1},
    {"BesselI1e", ElementOp::kBesselI1e, 1},
    {"BesselJ0", ElementOp::kBesselJ0, 1},
    {"BesselJ1", ElementOp::kBesselJ1, 1},
    {"BesselK0", ElementOp::kBesselK0, 1},
    {"BesselK0e", ElementOp::kBesselK0e, 1},
    {"BesselK1", ElementOp::kBesselK1, 1},
    {"BesselK1e", ElementOp::kBesselK1e, 1},
    {"BesselY0", ElementOp::kBesselY0, 1},
    {"BesselY1", ElementOp::kBesselY1, 1},
    {"Digamma", ElementOp::kDigamma, 1},
    {"Ndtri", ElementOp::kNdtri, 1},
    {"Erfinv", ElementOp::kErfinv, 1},
    {"Dawsn", ElementOp::kDawsn, 1},
    {"Expint", ElementOp::kExpint, 1},
    {"FresnelCos", ElementOp::kFresnelCos, 1},
    {"FresnelSin", ElementOp::kFresnelSin, 1},
    {"Spence", ElementOp::kSpence, 1},
    {"Sigmoid", ElementOp::kSigmoid, 1},
    {"Elu", ElementOp::kElu, 1},
    {"Selu", ElementOp::kSelu, 1},
    {"Softsign", ElementOp::kSoftsign, 1},
    {"IsNan", ElementOp::kIsNan, 1},
    {"IsInf", ElementOp::kIsInf, 1},
    {"IsFinite", ElementOp::kIsFinite, 1},
    {"LogicalNot", ElementOp::kLogicalNot, 1},
    {"Invert", ElementOp::kInvert, 1},
    {"PopulationCount", ElementOp::kPopulationCount, 1},
    {"Add", ElementOp::kAdd, 2},
    {"AddV2", ElementOp::kAdd, 2},
    {"Sub", ElementOp::kSub, 2},
    {"Mul", ElementOp::kMul, 2},
    {"Div", ElementOp::kDiv, 2},
    {"RealDiv", ElementOp::kDiv, 2},
    {"Maximum", ElementOp::kMaximum, 2},
    {"Minimum", ElementOp::kMinimum, 2},
    {"SquaredDifference", ElementOp::kSquaredDifference, 2},
    {"DivNoNan", ElementOp::kDivNoNan, 2},
    {"MulNoNan", ElementOp::kMulNoNan, 2},
    {"Pow", ElementOp::kPow, 2},
    {"Atan2", ElementOp::kAtan2, 2},
    {"FloorDiv", ElementOp::kFloorDiv, 2},
    {"FloorMod", ElementOp::kFloorMod, 2},
    {"TruncateDiv", ElementOp::kTruncateDiv, 2},
    {"TruncateMod", ElementOp::kTruncateMod, 2},
    {"Mod", ElementOp::kTruncateMod, 2},
    {"Xdivy", ElementOp::kXdivy, 2},
    {"Xlogy", ElementOp::kXlogy, 2},
    {"Xlog1py", ElementOp::kXlog1py, 2},
    {"Igamma", ElementOp::kIgamma, 2},
    {"IgammaGradA", ElementOp::kIgammaGradA, 2},
    {"RandomGammaGrad", ElementOp::kRandomGammaGrad, 2},
    {"Igammac", ElementOp::kIgammac, 2},
    {"Polygamma", ElementOp::kPolygamma, 2},
    {"Zeta", ElementOp::kZeta, 2},
    {"NextAfter", ElementOp::kNextAfter, 2},
    {"LogicalAnd", ElementOp::kLogicalAnd, 2},
    {"LogicalOr", ElementOp::kLogicalOr, 2},
    {"BitwiseAnd", ElementOp::kBitwiseAnd, 2},
    {"BitwiseOr", ElementOp::kBitwiseOr, 2},
    {"BitwiseXor", ElementOp::kBitwiseXor, 2},
    {"LeftShift", ElementOp::kLeftShift, 2},
    {"RightShift", ElementOp::kRightShift, 2},
    {"Equal", ElementOp::kEqual, 2},
    {"NotEqual", ElementOp::kNotEqual, 2},
    {"Less", ElementOp::kLess, 2},
    {"LessEqual", ElementOp::kLessEqual, 2},
    {"Greater", ElementOp::kGreater, 2},
    {"GreaterEqual", ElementOp::kGreaterEqual, 2},
    {"ReluGrad", ElementOp::kReluGrad, 2},
    {"Relu6Grad", ElementOp::kRelu6Grad, 2},
    {"EluGrad", ElementOp::kEluGrad, 2},
    {"SeluGrad", ElementOp::kSeluGrad, 2},
    {"SoftplusGrad", ElementOp::kSoftplusGrad, 2},
    {"SoftsignGrad", ElementOp::kSoftsignGrad, 2},
    {"TanhGrad", ElementOp::kTanhGrad, 2},
    {"SigmoidGrad", ElementOp::kSigmoidGrad, 2},
    {"SqrtGrad", ElementOp::kSqrtGrad, 2},
    {"RsqrtGrad", ElementOp::kRsqrtGrad, 2},
    {"ReciprocalGrad", ElementOp::kReciprocalGrad, 2},
    {"InvGrad", ElementOp::kReciprocalGrad, 2},
    {"SelectV2", ElementOp::kSelect, 3},
};

const Row* FindRow(std::string_view name) {
  static const auto* rows = [] {
    auto* map = new absl::flat_hash_map<std::string_view, const Row*>;
    for (const Row& row : kRows) map->emplace(row.name, &row);
    return map;
  }();
  auto it = rows->find(name);
  return it == rows->end() ? nullptr : it->second;
}

// Loops cannot fail, so operands that are errors are looked for before they run.
template <typename T>
absl::Status RefuseZero(const void* second, int64_t n) {
  const T* b = static_cast<const T*>(second);
  if (std::find(b, b + n, T{0}) == b + n) return absl::OkStatus();
  return absl::InvalidArgumentError("Integer division by zero");
}
// For ops of which TensorFlow does not expect the error.
template <typename T>
absl::Status RefuseZeroOddly(const void* second, int64_t n) {
  return NoteAnswer(RefuseZero<T>(second, n), absl::StatusCode::kInternal,
                    "Unexpected error in binary operator (only integer div and mod should have "
                    "errors)");
}
template <typename T>
absl::Status RefuseNegative(const void* second, int64_t n) {
  const T* b = static_cast<const T*>(second);
  const T* bad = std::find_if(b, b + n, [](T e) { return e < 0; });
  if (bad == b + n) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("integers cannot be raised to the negative power ", static_cast<int64_t>(*bad)));
}

using Check = absl::Status (*)(const void*, int64_t);

// `odd`: RefuseZeroOddly instead of RefuseZero.
Check FindCheck(ElementOp op, DataType t, bool odd) {
  // Unsigned exponents are never negative.
  if (op == ElementOp::kPow) {
    if (t == DataType::kInt8) return RefuseNegative<int8_t>;
    if (t == DataType::kInt16) return RefuseNegative<int16_t>;
    if (t == DataType::kInt32) return RefuseNegative<int32_t>;
    return t == DataType::kInt64 ? RefuseNegative<int64_t> : nullptr;
  }
  const bool divides = op == ElementOp::kDiv || op == ElementOp::kFloorDiv ||
                       op == ElementOp::kFloorMod || op == ElementOp::kTruncateDiv ||
                       op == ElementOp::kTruncateMod;
  if (!divides || !HasType(kIntTypes, t)) return nullptr;
  // A zero has the same bits with or without a sign.
  switch (DataTypeSize(t)) {
    case 1:
      return odd ? RefuseZeroOddly<uint8_t> : RefuseZero<uint8_t>;
    case 2:
      return odd ? RefuseZeroOddly<uint16_t> : RefuseZero<uint16_t>;
    case 4:
      return odd ? RefuseZeroOddly<uint32_t> : RefuseZero<uint32_t>;
    default:
      return odd ? RefuseZeroOddly<uint64_t> : RefuseZero<uint64_t>;
  }
}

absl::Status PrepareRow(Prepare& p) {
  const Row* row = FindRow(p.op().name);
  if (row == nullptr) return p.Unimplemented("no CPU kernel");
  ElementSpec spec{row->op};
  const std::string_view name = row->name;
  const bool odd = name == "TruncateDiv" || name == "TruncateMod";
  if (row->operands == 2) spec.check = FindCheck(row->op, p.input_type(1), odd);
  return PrepareElementwise(p, spec, row->operands);
}

// Operands that pair up one by one, whatever their dimensions; the result has the first's.
absl::Status PrepareFlat(Prepare& p) {
  const Shape &y = p.input_shape(0), &dy = p.input_shape(1);
  if (y.num_elements() != dy.num_elements()) {
    return p.Invalid(absl::StrCat("both inputs must have as many elements, their shapes are ",
                                  y.ToString(), " and ", dy.ToString()));
  }
  // The second operand is read as if it had the first one's shape: the elements pair up in memory
  // order.
  const Shape shapes[] = {y, y};
  return PrepareElementwise(p, {FindRow(p.op().name)->op}, shapes);
}

absl::Status CheckEqualShapes(const Prepare& p) {
  if (p.input_shape(0) == p.input_shape(1)) return absl::OkStatus();
  return p.Invalid("both inputs must have one shape");
}

absl::Status PrepareEqualShapes(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckEqualShapes(p));
  return PrepareRow(p);
}

// With incompatible_shape_error off, shapes that do not broadcast are simply not equal.
absl::Status PrepareEquality(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const bool strict, p.AttrBool("incompatible_shape_error"));
  const Shape shapes[] = {p.input_shape(0), p.input_shape(1)};
  if (strict || BroadcastPlan::Make(shapes).has_value()) return PrepareRow(p);
  const bool answer = p.op().name == "NotEqual";
  p.set_output_shape(0, Shape());
  p.set_output_value(0, Tensor::CopyOf(DataType::kBool, Shape(), &answer, 1));
  return absl::OkStatus();
}

// TensorFlow 2.21 rounds every integer to 0, and this is where numbers are TensorFlow's.
absl::Status PrepareRound(Prepare& p) {
  if (!HasType(kIndexTypes, p.input_type(0))) return PrepareElementwise(p, {ElementOp::kRint}, 1);
  const Shape& shape = p.input_shape(0);
  p.set_output_shape(0, shape);
  auto bytes = std::make_shared<int64_t>(shape.num_elements() *
                                         static_cast<int64_t>(DataTypeSize(p.input_type(0))));
  p.set_run(
      [](const void* state, const StepArgs& args) {
        std::memset(args.out[0], 0, static_cast<size_t>(*static_cast<const int64_t*>(state)));
        return absl::OkStatus();
      },
      std::move(bytes));
  return absl::OkStatus();
}

// The bound is -log(epsilon) - 2.
absl::Status PrepareSoftplus(Prepare& p) {
  // In float and double the term that the bound drops is below the last place.
  float bound = 1e30f;
  if (p.input_type(0) == DataType::kHalf) bound = 4.93f;
  if (p.input_type(0) == DataType::kBfloat16) bound = 2.85f;
  return PrepareElementwise(p, {ElementOp::kSoftplus, bound}, 1);
}

absl::Status PrepareLeakyRelu(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const float alpha, p.AttrFloat("alpha"));
  return PrepareElementwise(p, {ElementOp::kLeakyRelu, alpha}, 1);
}

absl::Status PrepareLeakyReluGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const float alpha, p.AttrFloat("alpha"));
  TENON_RETURN_IF_ERROR(CheckEqualShapes(p));
  return PrepareElementwise(p, {ElementOp::kLeakyReluGrad, alpha}, 2);
}

absl::Status PrepareApproximateEqual(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const float tolerance, p.AttrFloat("tolerance"));
  if (!(p.input_shape(0) == p.input_shape(1))) return p.Invalid("the shapes must be equal");
  return PrepareElementwise(p, {ElementOp::kApproximateEqual, tolerance}, 2);
}

absl::Status PrepareSelect(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const auto shapes, SelectShapes(p));
  return PrepareElementwise(p, {ElementOp::kSelect}, shapes);
}

absl::Status PrepareClip(Prepare& p) {
  const Shape& x = p.input_shape(0);
  for (int k = 1; k < 3; ++k) {
    if (p.input_shape(k).rank() != 0 && !(p.input_shape(k) == x)) {
      return p.Invalid("the bounds must be scalars or have the tensor's shape");
    }
  }
  return PrepareElementwise(p, {ElementOp::kClip}, 3);
}

// No broadcasting but of scalars.
absl::Status PrepareBetainc(Prepare& p) {
  Shape shape;
  for (int k = 0; k < 3; ++k) {
    const Shape& own = p.input_shape(k);
    if (own.rank() == 0) continue;
    if (shape.rank() != 0 && !(own == shape))
      return p.Invalid("all inputs that are no scalars must have equal shapes");
    shape = own;
  }
  return PrepareElementwise(p, {ElementOp::kBetainc}, 3);
}

struct AddNState {
  ElementStep step;
  int inputs = 0;
};

// Block by block, so that the running sum stays in the cache. In TensorFlow's order, which rounding
// shows: the first 2 to 9 inputs, then the sum of each 8 more.
absl::Status RunAddN(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AddNState*>(state);
  constexpr int kGroup = 8;
  const int first = (s.inputs - 2) % kGroup + 2;
  // The work is split already: an inner loop of the pool would only find the pool taken.
  Workers alone(1);
  args.workers->ParallelFor(s.step.n, s.step.grain, [&](int64_t begin, int64_t end) {
    // At most 32 KB of the widest type.
    constexpr int64_t kBlock = 2048;
    alignas(kTensorAlignment) char group[kBlock * sizeof(std::complex<double>)];
    for (int64_t i = begin; i < end; i += kBlock) {
      ElementStep block = s.step;
      block.n = std::min(kBlock, end - i);
      const auto input = [&](int k) {
        return static_cast<const char*>(args.in[k]) + i * s.step.out_size;
      };
      const auto add = [&](const void* a, const void* b, void* sum) {
        const void* operands[2] = {a, b};
        RunElementStep(block, operands, sum, &alone);
      };
      char* const out = static_cast<char*>(args.out[0]) + i * s.step.out_size;
      add(input(0), input(1), out);
      for (int k = 2; k < first; ++k) add(out, input(k), out);
      for (int begin_of = first; begin_of < s.inputs; begin_of += kGroup) {
        add(input(begin_of), input(begin_of + 1), group);
        for (int k = 2; k < kGroup; ++k) add(group, input(begin_of + k), group);
        add(out, group, out);
      }
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareAddN(Prepare& p) {
  const Shape& shape = p.input_shape(0);
  p.set_output_shape(0, shape);
  for (int k = 1; k < p.num_inputs(); ++k) {
    if (!(p.input_shape(k) == shape)) return p.Invalid("all inputs must have equal shapes");
  }
  if (p.num_inputs() == 1) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  auto state = std::make_shared<AddNState>();
  ElementStep& step = state->step;
  const DataType type = p.output_type(0);
  if (!MakeElementStep(ElementOp::kAdd, type, shape, shape, &step))
    return p.Unimplemented("no CPU kernel for this type");
  step.grain = GrainFor(step.out_size * (p.num_inputs() + 1));
  state->inputs = p.num_inputs();
  // In each block input 0 is read first.
  p.AllowInPlace(0, 0);
  p.set_run(&RunAddN, std::move(state));
  return absl::OkStatus();
}

PrepareFn PrepareOf(const Row& row) {
  switch (row.op) {
    case ElementOp::kEqual:
    case ElementOp::kNotEqual:
      return &PrepareEquality;
    // TensorFlow's kernels of these pair elements up without a look at the dimensions.
    case ElementOp::kTanhGrad:
    case ElementOp::kSigmoidGrad:
    case ElementOp::kSqrtGrad:
    case ElementOp::kRsqrtGrad:
    case ElementOp::kReciprocalGrad:
      return &PrepareFlat;
    case ElementOp::kReluGrad:
    case ElementOp::kRelu6Grad:
    case ElementOp::kEluGrad:
    case ElementOp::kSeluGrad:
    case ElementOp::kSoftplusGrad:
    case ElementOp::kSoftsignGrad:
      return &PrepareEqualShapes;
    default:
      return &PrepareRow;
  }
}

// Every type for which there is a loop.
// The kernel table follows from the loops, so that the two cannot disagree.
uint64_t TypesOf(ElementOp op) {
  uint64_t types = 0;
  for (int i = 1; i <= static_cast<int>(DataType::kUint4); ++i) {
    ElementStep step;
    const DataType t = static_cast<DataType>(i);
    if (ChooseLoop(op, t, t, &step)) types |= TypeBit(t);
  }
  return types;
}

std::vector<CpuKernelSpec> MakeSpecs() {
  std::vector<CpuKernelSpec> specs;
  for (const Row& row : kRows) {
    CpuKernelSpec spec{row.name, {{"T", TypesOf(row.op)}}, PrepareOf(row)};
    const bool logical = row.op == ElementOp::kLogicalAnd || row.op == ElementOp::kLogicalOr ||
                         row.op == ElementOp::kLogicalNot;
    // These ops have no attribute T.
    if (logical) spec.constraints.clear();
    specs.push_back(spec);
  }
  specs.push_back({"Round", {{"T", TypesOf(ElementOp::kRint) | kIndexTypes}}, PrepareRound});
  specs.push_back({"Softplus", {{"T", kFloatTypes}}, PrepareSoftplus});
  specs.push_back({"LeakyRelu", {{"T", kFloatTypes}}, PrepareLeakyRelu});
  specs.push_back({"LeakyReluGrad", {{"T", kFloatTypes}}, PrepareLeakyReluGrad});
  specs.push_back({"ApproximateEqual",
                   {{"T", TypesOf(ElementOp::kApproximateEqual)}},
                   PrepareApproximateEqual});
  specs.push_back({"Select", {{"T", TypesOf(ElementOp::kSelect)}}, PrepareSelect});
  specs.push_back({"ClipByValue", {{"T", TypesOf(ElementOp::kClip)}}, PrepareClip});
  specs.push_back({"Betainc", {{"T", TypesOf(ElementOp::kBetainc)}}, PrepareBetainc});
  specs.push_back({"AddN", {{"T", kNumberTypes}}, PrepareAddN});
  // TensorFlow writes it as other ops before it runs, and does not look at its attribute `shape`.
  specs.push_back({"AccumulateNV2", {{"T", kNumberTypes}}, PrepareAddN});
  specs.push_back({"Cast", {}, PrepareCast});
  specs.push_back({"_HostCast", {}, PrepareCast});
  return specs;
}

}  // namespace

absl::Span<const CpuKernelSpec> ElementwiseKernels() {
  static const auto* specs = new std::vector<CpuKernelSpec>(MakeSpecs());
  return *specs;
}

}  // namespace tenon::cpu
