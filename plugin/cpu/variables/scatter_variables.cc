// Parts of variables: rows and points that are read, replaced or combined with new values.
#include <cstring>
#include <optional>
#include <string>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/selection/points.h"
#include "plugin/cpu/variables/writable.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/variable.h"

namespace tenon::cpu {
namespace {

// What is done to the places: without an op values replace what is there.
struct ScatterState : NodeFacts {
  explicit ScatterState(const Prepare& p) : NodeFacts(p) {}
  std::optional<ElementOp> op;
  bool points = false;  // indices are rows of coordinates, not numbers of rows
  bool skip = false;    // of coordinates outside
  // A variable by reference, which the node passes on.
  bool by_reference() const { return !outputs.empty(); }
};

absl::Status CheckValue(const Variable& variable, const Tensor& held, DataType type,
                        bool by_reference = false) {
  if (!held.initialized()) {
    // TensorFlow's codes, as in assign_slice.cc.
    return variable.NoValue(by_reference ? absl::StatusCode::kFailedPrecondition
                                         : absl::StatusCode::kNotFound);
  }
  if (held.dtype() == type) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("variable '", variable.name(), "' holds ",
                                                 DataTypeName(held.dtype()), " where ",
                                                 DataTypeName(type), " is wanted"));
}

// Rows of the target, whatever the shape of the indices.
absl::StatusOr<Points> RowsOf(const Shape& target, const Tensor& indices, bool scalar_is_row) {
  if (target.rank() < 1 && !scalar_is_row)
    return absl::InvalidArgumentError("the variable must have at least one dimension");
  Points rows;
  rows.size = {target.rank() < 1 ? 1 : target.dim(0)};
  rows.count = indices.num_elements();
  rows.piece = DimProduct(target, 1, target.rank());
  rows.index_type = indices.dtype();
  return rows;
}

Shape UpdatesOfRows(const Shape& target, const Shape& indices) {
  Shape updates = indices;
  for (int d = 1; d < target.rank(); ++d) updates.push_back(target.dim(d));
  return updates;
}

// A scalar stands for all values.
absl::StatusOr<Tensor> Repeated(const Tensor& scalar, const Shape& shape) {
  TENON_ASSIGN_OR_RETURN(Tensor all, Tensor::Allocate(scalar.dtype(), shape));
  ElementCopy(scalar.dtype()).Repeat(scalar.data(), 0, all.data(), 0, all.num_elements());
  return all;
}

// By its bytes. The zeros of a type that is no integer have either sign, in the last byte of the
// number or of each half of a complex one.
bool HoldsZero(const Tensor& t) {
  const size_t size = DataTypeSize(t.dtype());
  const size_t part = IsComplex(t.dtype()) ? size / 2 : size;
  const int sign = HasType(kIntTypes, t.dtype()) ? 0xff : 0x7f;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const char* const bytes = t.flat<char>() + i * size;
    bool zero = true;
    for (size_t b = 0; b < size; ++b)
      zero &= (bytes[b] & (b % part + 1 == part ? sign : 0xff)) == 0;
    if (zero) return true;
  }
  return false;
}

absl::Status ScatterInto(const ScatterState& s, const Tensor& indices, Tensor updates,
                         Tensor& held) {
  const DataType type = held.dtype();
  Shape wanted = UpdatesOfRows(held.shape(), indices.shape());
  absl::StatusOr<Points> points =
      s.points ? DescribePoints(indices.shape(), indices.dtype(), held.shape(), &wanted)
               : RowsOf(held.shape(), indices, !s.by_reference() && updates.shape().rank() == 0);
  TENON_RETURN_IF_ERROR(points.status());
  if (s.points)
    TENON_RETURN_IF_ERROR(CheckPointUpdates(indices.shape(), updates.shape(), held.shape()));
  points->skip = s.skip;
  if (!s.points && updates.shape().rank() == 0) {
    TENON_ASSIGN_OR_RETURN(updates, Repeated(updates, wanted));
  } else if (!(updates.shape() == wanted)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the updates have shape ", updates.shape().ToString(), " where ",
                     wanted.ToString(), " is right for indices ", indices.shape().ToString(),
                     " of a variable ", held.shape().ToString()));
  }
  // TensorFlow lets a variable by reference become infinite.
  const bool whole = HasType(kIntTypes, type);
  if (s.op == ElementOp::kDiv && (whole || !s.by_reference()) && HoldsZero(updates))
    return absl::InvalidArgumentError("updates must not contain 0");
  // Nothing changes if one of the places is not there.
  for (int64_t i = 0; i < points->count && !points->skip; ++i) {
    if (points->PieceOf(indices.data(), i) < 0) return points->Outside(indices.data(), i);
  }
  TENON_RETURN_IF_ERROR(MakeWritable(held));
  Scatter scatter(*std::move(points), type);
  if (s.op.has_value() && !scatter.CombineBy(*s.op, type)) {
    return absl::UnimplementedError(
        absl::StrCat("no CPU kernel combines ", DataTypeName(type), " values"));
  }
  return scatter.Run(indices.data(), updates.data(), held.data());
}

absl::Status RunScatter(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ScatterState*>(state);
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  const Tensor indices = args.run_state->Input(1), updates = args.run_state->Input(2);
  return variable->Update([&](Tensor& held) -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckValue(*variable, held, updates.dtype(), s.by_reference()));
    return ScatterInto(s, indices, updates, held);
  });
}

absl::Status SetScatter(Prepare& p, std::optional<ElementOp> op, bool points) {
  auto s = std::make_shared<ScatterState>(p);
  const DataType type = p.input_type(2);
  s->op = op;
  s->points = points;
  // The sum of bools is their disjunction.
  if (op == ElementOp::kAdd && type == DataType::kBool) s->op = ElementOp::kLogicalOr;
  if (s->op.has_value() && !CanCombine(*s->op, type))
    return p.Unimplemented("no CPU kernel for this type");
  if (points) {
    Points policy;
    TENON_RETURN_IF_ERROR(ReadBadIndicesPolicy(p, &policy));
    s->skip = policy.skip;
  }
  if (p.num_outputs() == 1) {
    p.set_output_shape(0, Shape());
    p.Alias(0, 0);
  }
  p.set_run(&RunScatter, std::move(s));
  return absl::OkStatus();
}
template <ElementOp kOp>
absl::Status PrepareRows(Prepare& p) {
  return SetScatter(p, kOp, false);
}
template <ElementOp kOp>
absl::Status PreparePoints(Prepare& p) {
  return SetScatter(p, kOp, true);
}
absl::Status PrepareRowUpdate(Prepare& p) { return SetScatter(p, std::nullopt, false); }
absl::Status PreparePointUpdate(Prepare& p) { return SetScatter(p, std::nullopt, true); }

struct GatherState : NodeFacts {
  explicit GatherState(const Prepare& p) : NodeFacts(p) {}
  int64_t batch_dims = 0;
};

// The variable is [batch, lines, piece], indices are [batch, count], the result is [batch, count,
// piece].
absl::Status RunGather(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const GatherState*>(state);
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  // The value of this moment: other runs that write to the variable meanwhile do not change it.
  TENON_ASSIGN_OR_RETURN(const Tensor value, variable->Get());
  const Tensor indices = args.run_state->Input(1);
  TENON_RETURN_IF_ERROR(CheckValue(*variable, value, s.outputs[0]));
  const Shape &shape = value.shape(), &places = indices.shape();
  const int64_t batch_dims = s.batch_dims < 0 ? s.batch_dims + places.rank() : s.batch_dims;
  bool fits = batch_dims >= 0 && batch_dims <= places.rank() && batch_dims < shape.rank();
  const int b = static_cast<int>(batch_dims);
  for (int d = 0; fits && d < b; ++d) fits = shape.dim(d) == places.dim(d);
  if (!fits) {
    return absl::InvalidArgumentError(
        absl::StrCat("rows of ", shape.ToString(), " cannot be chosen by indices ",
                     places.ToString(), " with batch_dims ", s.batch_dims));
  }
  Dims out(places.dims().begin(), places.dims().end());
  for (int d = b + 1; d < shape.rank(); ++d) out.push_back(shape.dim(d));
  TENON_ASSIGN_OR_RETURN(const Shape out_shape, Shape::Make(out));
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, out_shape));
  const int64_t lines = shape.dim(b), piece = DimProduct(shape, b + 1, shape.rank());
  const int64_t per_batch = DimProduct(places, b, places.rank());
  TENON_RETURN_IF_ERROR(CheckIndexRange(indices.dtype(), lines));
  const ElementCopy copy(value.dtype());
  for (int64_t i = 0, n = indices.num_elements(); i < n; ++i) {
    const int64_t at = LoadIndex(indices.data(), indices.dtype(), i);
    if (at < 0 || at >= lines) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices[", i, "] = ", at, " is not in [0, ", lines, ")"));
    }
    copy(value.data(), (i / per_batch * lines + at) * piece, data, i * piece, piece);
  }
  return absl::OkStatus();
}

absl::Status PrepareGather(Prepare& p) {
  auto s = std::make_shared<GatherState>(p);
  TENON_ASSIGN_OR_RETURN(s->batch_dims, p.AttrInt("batch_dims"));
  p.set_dynamic_output(0);
  p.set_run(&RunGather, std::move(s));
  return absl::OkStatus();
}

absl::Status RunGatherNd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  TENON_ASSIGN_OR_RETURN(const Tensor value, variable->Get());
  const Tensor indices = args.run_state->Input(1);
  TENON_RETURN_IF_ERROR(CheckValue(*variable, value, s.outputs[0]));
  Shape out;
  TENON_ASSIGN_OR_RETURN(const Points points,
                         DescribePoints(indices.shape(), indices.dtype(), value.shape(), &out));
  TENON_RETURN_IF_ERROR(CheckIndexRange(indices.dtype(), value.num_elements()));
  TENON_RETURN_IF_ERROR(CheckPointsExist(indices.shape(), value.shape()));
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, out));
  const ElementCopy copy(value.dtype());
  for (int64_t i = 0; i < points.count; ++i) {
    const int64_t at = points.PieceOf(indices.data(), i);
    if (at < 0) return points.Outside(indices.data(), i);
    copy(value.data(), at * points.piece, data, i * points.piece, points.piece);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> VariablePartKernels() {
  constexpr uint64_t kSums = kNumberTypes | TypeBit(DataType::kBool);
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("ResourceGather", "dtype", kEveryType, PrepareGather),
      WholeTensorKernel("ResourceGatherNd", "dtype", kEveryType, PrepareWhole<&RunGatherNd>),
      WholeTensorKernel("ResourceScatterUpdate", "dtype", kEveryType, PrepareRowUpdate),
      WholeTensorKernel("ResourceScatterAdd", "dtype", kNumberTypes, PrepareRows<ElementOp::kAdd>),
      WholeTensorKernel("ResourceScatterSub", "dtype", kNumberTypes, PrepareRows<ElementOp::kSub>),
      WholeTensorKernel("ResourceScatterMul", "dtype", kNumberTypes, PrepareRows<ElementOp::kMul>),
      WholeTensorKernel("ResourceScatterDiv", "dtype", kNumberTypes, PrepareRows<ElementOp::kDiv>),
      WholeTensorKernel("ResourceScatterMin", "dtype", kRealTypes, PrepareRows<ElementOp::kAtMost>),
      WholeTensorKernel("ResourceScatterMax", "dtype", kRealTypes,
                        PrepareRows<ElementOp::kAtLeast>),
      WholeTensorKernel("ResourceScatterNdUpdate", "T", kCopyTypes, PreparePointUpdate),
      WholeTensorKernel("ResourceScatterNdAdd", "T", kSums, PreparePoints<ElementOp::kAdd>),
      WholeTensorKernel("ResourceScatterNdSub", "T", kSums, PreparePoints<ElementOp::kSub>),
      WholeTensorKernel("ResourceScatterNdMin", "T", kRealTypes, PreparePoints<ElementOp::kAtMost>),
      WholeTensorKernel("ResourceScatterNdMax", "T", kRealTypes,
                        PreparePoints<ElementOp::kAtLeast>),
      WholeTensorKernel("ScatterUpdate", "T", kEveryType, PrepareRowUpdate),
      WholeTensorKernel("ScatterAdd", "T", kNumberTypes, PrepareRows<ElementOp::kAdd>),
      WholeTensorKernel("ScatterSub", "T", kNumberTypes, PrepareRows<ElementOp::kSub>),
      WholeTensorKernel("ScatterMul", "T", kNumberTypes, PrepareRows<ElementOp::kMul>),
      WholeTensorKernel("ScatterDiv", "T", kNumberTypes, PrepareRows<ElementOp::kDiv>),
      WholeTensorKernel("ScatterMin", "T", kRealTypes, PrepareRows<ElementOp::kAtMost>),
      WholeTensorKernel("ScatterMax", "T", kRealTypes, PrepareRows<ElementOp::kAtLeast>),
      WholeTensorKernel("ScatterNdUpdate", "T", kCopyTypes, PreparePointUpdate),
      WholeTensorKernel("ScatterNdAdd", "T", kNumberTypes, PreparePoints<ElementOp::kAdd>),
      WholeTensorKernel("ScatterNdSub", "T", kNumberTypes, PreparePoints<ElementOp::kSub>),
      WholeTensorKernel("ScatterNdMin", "T", kRealTypes, PreparePoints<ElementOp::kAtMost>),
      WholeTensorKernel("ScatterNdMax", "T", kRealTypes, PreparePoints<ElementOp::kAtLeast>),
  };
  return specs;
}

}  // namespace tenon::cpu
