// Values sent to places of a tensor: ScatterNd, TensorScatter*, ScatterNdNonAliasingAdd and
// Inplace*.
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/selection/points.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct ScatterState {
  Scatter scatter;
  int64_t elements = 0;  // of the result
};

// The sum of bools is their disjunction.
ElementOp AddOf(DataType type) {
  return type == DataType::kBool ? ElementOp::kLogicalOr : ElementOp::kAdd;
}

absl::Status RunScatterNd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ScatterState*>(state);
  s.scatter.copy.Zero(args.out[0], 0, s.elements);
  return s.scatter.Run(args.in[0], args.in[1], args.out[0]);
}

absl::Status PrepareScatterNd(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(2));
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  const DataType type = p.input_type(1);
  Shape updates;
  TENON_ASSIGN_OR_RETURN(Points points,
                         DescribePoints(p, p.input_shape(0), p.input_type(0), out, &updates));
  TENON_RETURN_IF_ERROR(ReadBadIndicesPolicy(p, &points));
  TENON_RETURN_IF_ERROR(CheckPointUpdates(p.input_shape(0), p.input_shape(1), out));
  if (!(updates == p.input_shape(1)))
    return p.Invalid(absl::StrCat("the updates must have shape ", updates.ToString()));
  auto s = std::make_shared<ScatterState>(
      ScatterState{Scatter(std::move(points), type), out.num_elements()});
  s->scatter.joins = type == DataType::kString;
  if (!s->scatter.joins && !s->scatter.CombineBy(AddOf(type), type))
    return p.Unimplemented("no CPU kernel for this type");
  p.set_output_shape(0, out);
  p.set_run(&RunScatterNd, std::move(s));
  return absl::OkStatus();
}

// Input 0 with the values of input 2 at the points of input 1.
absl::Status RunTensorScatter(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ScatterState*>(state);
  if (args.out[0] != args.in[0]) s.scatter.copy(args.in[0], 0, args.out[0], 0, s.elements);
  return s.scatter.Run(args.in[1], args.in[2], args.out[0]);
}

// Without an op values replace what is there.
absl::Status SetTensorScatter(Prepare& p, Points points, std::optional<ElementOp> op) {
  const DataType type = p.input_type(0);
  auto s = std::make_shared<ScatterState>(
      ScatterState{Scatter(std::move(points), type), p.input_shape(0).num_elements()});
  if (op.has_value() && !s->scatter.CombineBy(*op, type))
    return p.Unimplemented("no CPU kernel for this type");
  p.set_output_shape(0, p.input_shape(0));
  p.AllowInPlace(0, 0);
  p.set_run(&RunTensorScatter, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareTensorScatter(Prepare& p, std::optional<ElementOp> op) {
  Shape updates;
  TENON_ASSIGN_OR_RETURN(Points points, DescribePoints(p, p.input_shape(1), p.input_type(1),
                                                       p.input_shape(0), &updates));
  TENON_RETURN_IF_ERROR(ReadBadIndicesPolicy(p, &points));
  TENON_RETURN_IF_ERROR(CheckPointUpdates(p.input_shape(1), p.input_shape(2), p.input_shape(0)));
  if (!(updates == p.input_shape(2)))
    return p.Invalid(absl::StrCat("the updates must have shape ", updates.ToString()));
  return SetTensorScatter(p, std::move(points), op);
}
absl::Status PrepareScatterUpdate(Prepare& p) { return PrepareTensorScatter(p, std::nullopt); }
absl::Status PrepareScatterAdd(Prepare& p) {
  return PrepareTensorScatter(p, AddOf(p.input_type(0)));
}
absl::Status PrepareScatterSub(Prepare& p) { return PrepareTensorScatter(p, ElementOp::kSub); }
absl::Status PrepareScatterMax(Prepare& p) { return PrepareTensorScatter(p, ElementOp::kAtLeast); }
absl::Status PrepareScatterMin(Prepare& p) { return PrepareTensorScatter(p, ElementOp::kAtMost); }

// Rows, whose numbers count on beyond both ends.
absl::Status PrepareInplace(Prepare& p, std::optional<ElementOp> op) {
  if (op.has_value() && !HasType(kNumberTypes, p.input_type(0)))
    return p.Invalid("only numbers can be added or subtracted");
  const Shape& x = p.input_shape(0);
  const Shape& rows = p.input_shape(1);
  if (x.rank() < 1 || rows.rank() != 1)
    return p.Invalid("'i' must be a vector, 'x' have at least one dimension");
  Shape values = x;
  values.set_dim(0, rows.dim(0));
  if (!(p.input_shape(2) == values))
    return p.Invalid(absl::StrCat("'v' must have shape ", values.ToString()));
  Points points;
  points.size = {x.dim(0)};
  points.count = x.num_elements() == 0 ? 0 : rows.dim(0);
  points.piece = DimProduct(x, 1, x.rank());
  points.index_type = p.input_type(1);
  points.wrap = true;
  return SetTensorScatter(p, std::move(points), op);
}
absl::Status PrepareInplaceUpdate(Prepare& p) { return PrepareInplace(p, std::nullopt); }
absl::Status PrepareInplaceAdd(Prepare& p) { return PrepareInplace(p, ElementOp::kAdd); }
absl::Status PrepareInplaceSub(Prepare& p) { return PrepareInplace(p, ElementOp::kSub); }

}  // namespace

absl::Span<const CpuKernelSpec> ScatterKernels() {
  static const CpuKernelSpec specs[] = {
      {"ScatterNd", {{"T", kEveryType}}, PrepareScatterNd, 0b100},
      {"ScatterNdNonAliasingAdd", {{"T", kEveryType}}, PrepareScatterAdd},
      {"TensorScatterUpdate", {{"T", kCopyTypes}}, PrepareScatterUpdate},
      {"TensorScatterAdd", {{"T", kNumberTypes}}, PrepareScatterAdd},
      {"TensorScatterSub", {{"T", kNumberTypes}}, PrepareScatterSub},
      {"TensorScatterMax", {{"T", kRealTypes}}, PrepareScatterMax},
      {"TensorScatterMin", {{"T", kRealTypes}}, PrepareScatterMin},
      {"InplaceUpdate", {{"T", kCopyTypes}}, PrepareInplaceUpdate},
      {"InplaceAdd", {}, PrepareInplaceAdd},
      {"InplaceSub", {}, PrepareInplaceSub},
  };
  return specs;
}

}  // namespace tenon::cpu
