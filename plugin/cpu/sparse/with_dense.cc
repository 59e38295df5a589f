// Sparse tensors meeting dense ones: SparseToDense, SparseTensorDenseAdd, SparseDenseCwise*.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/cpu/selection/points.h"
#include "plugin/cpu/sparse/coordinates.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct ToDenseState {
  Scatter scatter;
  int64_t elements = 0;
  bool one_value = false;  // for all entries
  bool validate = true;
};

// Each point must stand behind the one before it.
absl::Status CheckOrder(const Points& points, const void* indices) {
  int64_t last = -1;
  for (int64_t i = 0; i < points.count; ++i) {
    const int64_t at = points.PieceOf(indices, i);
    if (at < 0) return points.Outside(indices, i);
    if (at <= last) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices[", i, "] is ", at == last ? "repeated" : "out of order"));
    }
    last = at;
  }
  return absl::OkStatus();
}

absl::Status RunToDense(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ToDenseState*>(state);
  const Points& points = s.scatter.points;
  if (s.validate) TENON_RETURN_IF_ERROR(CheckOrder(points, args.in[0]));
  s.scatter.copy.Repeat(args.in[3], 0, args.out[0], 0, s.elements);
  if (!s.one_value) return s.scatter.Run(args.in[0], args.in[2], args.out[0]);
  for (int64_t i = 0; i < points.count; ++i) {
    const int64_t at = points.PieceOf(args.in[0], i);
    if (at < 0) return points.Outside(args.in[0], i);
    s.scatter.copy(args.in[2], 0, args.out[0], at);
  }
  return absl::OkStatus();
}

// Indices may lack their last dimension, of 1, and be a scalar.
absl::StatusOr<Shape> IndexMatrix(const Prepare& p, const Shape& indices) {
  if (indices.rank() > 2) return p.Invalid("'sparse_indices' must have at most 2 dimensions");
  return Shape({indices.rank() > 0 ? indices.dim(0) : 1, indices.rank() > 1 ? indices.dim(1) : 1});
}

absl::Status PrepareToDense(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Shape indices, IndexMatrix(p, p.input_shape(0)));
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(1));
  if (!(p.input_shape(1) == Shape({indices.dim(1)}))) {
    return p.Invalid(absl::StrCat("'output_shape' must be a vector of ", indices.dim(1),
                                  " elements, as many as an index has"));
  }
  const Shape& values = p.input_shape(2);
  if (values.rank() != 0 && !(values == Shape({indices.dim(0)}))) {
    return p.Invalid(absl::StrCat("'sparse_values' must be a scalar or a vector of ",
                                  indices.dim(0), " elements"));
  }
  if (p.input_shape(3).rank() != 0) return p.Invalid("'default_value' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  TENON_ASSIGN_OR_RETURN(Points points, DescribePoints(p, indices, p.input_type(0), out, nullptr));
  auto s = std::make_shared<ToDenseState>(
      ToDenseState{Scatter(std::move(points), p.input_type(2)), out.num_elements()});
  s->one_value = values.rank() == 0;
  TENON_ASSIGN_OR_RETURN(s->validate, p.AttrBool("validate_indices"));
  if (s->one_value && out.rank() == 0 && !s->validate) {
    // One place, however many entries: no memory stands behind their number.
    s->scatter.points.count = std::min<int64_t>(s->scatter.points.count, 1);
  }
  p.set_output_shape(0, out);
  p.set_run(&RunToDense, std::move(s));
  return absl::OkStatus();
}

struct DenseAddState {
  Scatter scatter;
  Shape shape;  // of the dense operand, which the sparse one's must equal
  bool index64 = false;
};

absl::Status RunDenseAdd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const DenseAddState*>(state);
  for (int d = 0; d < s.shape.rank(); ++d) {
    const int64_t dim = LoadIndex(args.in[2], s.index64, d);
    if (dim != s.shape.dim(d)) {
      return absl::InvalidArgumentError(absl::StrCat("dimension ", d, " of the sparse operand is ",
                                                     dim, ", of the dense one ", s.shape.dim(d)));
    }
  }
  if (args.out[0] != args.in[3])
    s.scatter.copy(args.in[3], 0, args.out[0], 0, s.shape.num_elements());
  return s.scatter.Run(args.in[0], args.in[1], args.out[0]);
}

absl::Status PrepareDenseAdd(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const SparseSizes sizes, ReadSparse(p, 0, 1, 2));
  const Shape& dense = p.input_shape(3);
  const DataType type = p.input_type(3);
  if (sizes.rank != dense.rank()) {
    return p.Invalid(absl::StrCat("the sparse operand has ", sizes.rank,
                                  " dimensions, the dense one ", dense.rank()));
  }
  if (sizes.rank < 1) return p.Invalid("the operands must have at least one dimension");
  TENON_ASSIGN_OR_RETURN(Points points,
                         DescribePoints(p, p.input_shape(0), p.input_type(0), dense, nullptr));
  auto s = std::make_shared<DenseAddState>(
      DenseAddState{Scatter(std::move(points), type), dense, p.input_type(2) == DataType::kInt64});
  if (!s->scatter.CombineBy(ElementOp::kAdd, type))
    return p.Unimplemented("no CPU kernel for this type");
  p.set_output_shape(0, dense);
  p.AllowInPlace(0, 3);
  p.set_run(&RunDenseAdd, std::move(s));
  return absl::OkStatus();
}

// The dense operand is broadcast to the sparse one: its elements at the entries' places are
// gathered, then combined with the entries' values.
struct CwiseState {
  SparseSizes sizes;
  Shape dense;
  ElementCopy copy;
  ElementStep combine;
  bool divides_integers = false;
};

// The dense operand's strides in elements, by dimension of the sparse one; 0 where it repeats.
absl::StatusOr<Dims> BroadcastStrides(const CwiseState& s, absl::Span<const int64_t> shape) {
  const Dims dense = DenseStrides(s.dense, 1);
  const int missing = s.sizes.rank - s.dense.rank();
  Dims strides(s.sizes.rank, 0);
  for (int d = 0; d < s.dense.rank(); ++d) {
    if (s.dense.dim(d) == 1) continue;
    if (s.dense.dim(d) != shape[missing + d]) {
      return absl::InvalidArgumentError(absl::StrCat("the dense operand, ", s.dense.ToString(),
                                                     ", does not broadcast to the sparse one, ",
                                                     Shape(shape).ToString()));
    }
    strides[missing + d] = dense[d];
  }
  return strides;
}

absl::Status CheckDivisors(const ElementCopy& copy, const char* divisors, int64_t count) {
  static constexpr char kZero[8] = {};
  for (int64_t i = 0; i < count; ++i) {
    if (std::equal(kZero, kZero + copy.bytes(), divisors + i * copy.bytes()))
      return absl::InvalidArgumentError(absl::StrCat("entry ", i, " is divided by zero"));
  }
  return absl::OkStatus();
}

absl::Status RunCwise(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CwiseState*>(state);
  const absl::Span<const int64_t> shape = ShapeAt(args.in[2], s.sizes.rank);
  TENON_ASSIGN_OR_RETURN(const Dims strides, BroadcastStrides(s, shape));
  for (int64_t i = 0; i < s.sizes.count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(args.in[0], s.sizes.rank, i);
    if (!Inside(entry, shape)) return OutsideError(i, entry, shape);
    int64_t at = 0;
    for (int d = 0; d < s.sizes.rank; ++d) at += entry[d] * strides[d];
    s.copy(args.in[3], at, args.scratch, i);
  }
  if (s.divides_integers) {
    TENON_RETURN_IF_ERROR(
        CheckDivisors(s.copy, static_cast<const char*>(args.scratch), s.sizes.count));
  }
  const void* in[] = {args.in[1], args.scratch};
  RunElementStep(s.combine, in, args.out[0], args.workers);
  return absl::OkStatus();
}

absl::Status PrepareCwise(Prepare& p, ElementOp op) {
  CwiseState s{{}, p.input_shape(3), ElementCopy(p.input_type(1)), {}};
  TENON_ASSIGN_OR_RETURN(s.sizes, ReadSparse(p, 0, 1, 2));
  if (s.sizes.rank < 1) return p.Invalid("the sparse operand must have at least one dimension");
  if (s.dense.rank() > s.sizes.rank)
    return p.Invalid("the dense operand has more dimensions than the sparse one");
  const DataType type = p.input_type(1);
  s.divides_integers = op == ElementOp::kDiv && HasType(kIntTypes, type);
  if (!MakeElementStep(op, type, p.input_shape(1), p.input_shape(1), &s.combine))
    return p.Unimplemented("no CPU kernel for this type");
  p.set_scratch_bytes(s.sizes.count * s.copy.bytes());
  p.set_output_shape(0, p.input_shape(1));
  p.set_run(&RunCwise, std::make_shared<CwiseState>(std::move(s)));
  return absl::OkStatus();
}
absl::Status PrepareCwiseAdd(Prepare& p) { return PrepareCwise(p, ElementOp::kAdd); }
absl::Status PrepareCwiseMul(Prepare& p) { return PrepareCwise(p, ElementOp::kMul); }
absl::Status PrepareCwiseDiv(Prepare& p) { return PrepareCwise(p, ElementOp::kDiv); }

}  // namespace

absl::Span<const CpuKernelSpec> SparseWithDenseKernels() {
  static const CpuKernelSpec specs[] = {
      {"SparseToDense", {{"T", kCopyTypes}}, PrepareToDense, 0b10},
      {"SparseTensorDenseAdd", {{"T", kNumberTypes}}, PrepareDenseAdd},
      {"SparseDenseCwiseAdd", {{"T", kNumberTypes}}, PrepareCwiseAdd},
      {"SparseDenseCwiseMul", {{"T", kNumberTypes}}, PrepareCwiseMul},
      {"SparseDenseCwiseDiv", {{"T", kNumberTypes}}, PrepareCwiseDiv},
  };
  return specs;
}

}  // namespace tenon::cpu
