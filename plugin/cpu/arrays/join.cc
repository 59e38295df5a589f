// Joining tensors and taking them apart: Concat, Pack, Split, Unpack.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Lines of a tensor's axis from `begin` on, of `total`: one side of a copy.
struct Band {
  int64_t total, begin, line_bytes;
};

// Copies between a dense tensor and a band of another one.
CopyPiece BandCopy(DataType type, int in, int out, const Band& band, bool to_band,
                   const Shape& dense, int axis) {
  CopyPiece piece{in, out, 0, 0, StridedCopy(type)};
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  const Dims own = DenseStrides(dense, bytes);
  Shape whole = dense;
  whole.set_dim(axis, band.total);
  const Dims other = DenseStrides(whole, bytes);
  (to_band ? piece.to_offset : piece.from_offset) = band.begin * band.line_bytes;
  piece.copy = to_band ? BlockCopy(type, dense, own, other) : BlockCopy(type, dense, other, own);
  return piece;
}

Band MakeBand(const Shape& whole, int axis, int64_t begin, DataType type) {
  const int64_t inner =
      DimProduct(whole, axis + 1, whole.rank()) * static_cast<int64_t>(DataTypeSize(type));
  return {whole.dim(axis), begin, inner};
}

// Inputs [first, first + count) along `axis`: the result's shape and the copies, or what does not
// fit.
struct Joined {
  Shape shape;
  std::vector<CopyPiece> pieces;
};
absl::StatusOr<Joined> Join(absl::Span<const Shape> shapes, int first, int64_t axis,
                            DataType type) {
  const int rank = shapes[0].rank();
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is outside of [", -rank, ", ", rank, ")"));
  }
  const int a = static_cast<int>(axis < 0 ? axis + rank : axis);
  int64_t total = 0;
  for (const Shape& s : shapes) {
    bool fits = s.rank() == rank;
    for (int d = 0; fits && d < rank; ++d) fits = d == a || s.dim(d) == shapes[0].dim(d);
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat("shapes ", shapes[0].ToString(), " and ",
                                                     s.ToString(),
                                                     " must agree in all dimensions but ", a));
    }
    if (__builtin_add_overflow(total, s.dim(a), &total))
      return absl::InvalidArgumentError("the result is too long");
  }
  Joined joined;
  Dims dims(shapes[0].dims().begin(), shapes[0].dims().end());
  dims[a] = total;
  TENON_ASSIGN_OR_RETURN(joined.shape, Shape::Make(dims));
  int64_t begin = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Band band = MakeBand(joined.shape, a, begin, type);
    joined.pieces.push_back(
        BandCopy(type, first + static_cast<int>(i), 0, band, true, shapes[i], a));
    begin += shapes[i].dim(a);
  }
  return joined;
}

// The axis is known only when the step runs.
struct LateConcat {
  std::vector<Shape> shapes;
  int first, axis_input;
  bool axis64;
  DataType type;
};
absl::Status RunLateConcat(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const LateConcat*>(state);
  TENON_ASSIGN_OR_RETURN(
      Joined joined,
      Join(s.shapes, s.first, LoadIndex(args.in[s.axis_input], s.axis64, 0), s.type));
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, joined.shape));
  CopyState copies;
  copies.pieces = std::move(joined.pieces);
  RunCopies(copies, args.in, &out, args.workers);
  return absl::OkStatus();
}

absl::Status PrepareConcatAt(Prepare& p, int first, int axis_input) {
  const int count = p.num_inputs() - 1;
  std::vector<Shape> shapes;
  for (int i = 0; i < count; ++i) shapes.push_back(p.input_shape(first + i));
  const Shape& axis_shape = p.input_shape(axis_input);
  if (axis_shape.rank() > 1 || axis_shape.num_elements() != 1)
    return p.Invalid(
        absl::StrCat("the axis must be a scalar, not of shape ", axis_shape.ToString()));
  if (p.input_value(axis_input) == nullptr) {
    auto late = std::make_shared<LateConcat>(
        LateConcat{std::move(shapes), first, axis_input,
                   p.input_type(axis_input) == DataType::kInt64, p.output_type(0)});
    p.set_dynamic_output(0);
    p.set_run(&RunLateConcat, std::move(late));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Dims axis, p.InputInts(axis_input));
  absl::StatusOr<Joined> joined = Join(shapes, first, axis[0], p.output_type(0));
  if (!joined.ok()) return p.Invalid(joined.status().message());
  p.set_output_shape(0, joined->shape);
  if (count == 1) {
    p.Alias(0, first);
    return absl::OkStatus();
  }
  SetCopies(p, std::move(joined->pieces));
  return absl::OkStatus();
}

absl::Status PrepareConcat(Prepare& p) { return PrepareConcatAt(p, 1, 0); }
absl::Status PrepareConcatV2(Prepare& p) { return PrepareConcatAt(p, 0, p.num_inputs() - 1); }

absl::Status PreparePack(Prepare& p) {
  const Shape& one = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t axis_attr, p.AttrInt("axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, axis_attr, one.rank() + 1));
  Dims dims(one.dims().begin(), one.dims().end());
  dims.insert(dims.begin() + axis, 1);
  TENON_ASSIGN_OR_RETURN(const Shape expanded, CheckedShape(p, dims));
  std::vector<Shape> shapes;
  for (int i = 0; i < p.num_inputs(); ++i) {
    if (!(p.input_shape(i) == one)) return p.Invalid("all inputs must have equal shapes");
    shapes.push_back(expanded);
  }
  absl::StatusOr<Joined> joined = Join(shapes, 0, axis, p.output_type(0));
  if (!joined.ok()) return p.Invalid(joined.status().message());
  p.set_output_shape(0, joined->shape);
  SetCopies(p, std::move(joined->pieces));
  return absl::OkStatus();
}

// As Pack, of inputs that have the first dimension already; the output's shape is an attribute.
absl::Status PrepareParallelConcat(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, p.AttrShape("shape"));
  std::vector<Shape> shapes;
  for (int i = 0; i < p.num_inputs(); ++i) {
    shapes.push_back(p.input_shape(i));
    if (shapes[i].rank() < 1 || shapes[i].dim(0) != 1) {
      return p.Invalid(absl::StrCat("the first dimension of input ", i, " must be 1, its shape is ",
                                    shapes[i].ToString()));
    }
  }
  if (shapes.empty()) return p.Invalid("there must be at least one input");
  absl::StatusOr<Joined> joined = Join(shapes, 0, 0, p.output_type(0));
  if (!joined.ok()) return p.Invalid(joined.status().message());
  if (!asked.CompatibleWith(joined->shape)) {
    return p.Invalid(absl::StrCat("attribute 'shape' is ", asked.ToString(), ", the inputs make ",
                                  joined->shape.ToString()));
  }
  p.set_output_shape(0, joined->shape);
  SetCopies(p, std::move(joined->pieces));
  return absl::OkStatus();
}

// What TensorFlow runs in a ParallelConcat's place: row `loc` of the value, counted from either
// end, becomes the update.
absl::Status PrepareParallelConcatUpdate(Prepare& p) {
  const Shape &whole = p.input_shape(0), &row = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const int64_t loc, p.AttrInt("loc"));
  Shape wanted = whole;
  if (whole.rank() > 0) wanted.set_dim(0, 1);
  if (whole.rank() > 0 && loc >= whole.dim(0))
    return p.Invalid(
        absl::StrCat("attribute 'loc' is ", loc, ", there are ", whole.dim(0), " rows"));
  if (whole.rank() < 1 || whole.dim(0) < 1 || !(row == wanted)) {
    return p.Invalid(absl::StrCat("the update must have the value's shape with a first dimension ",
                                  "of 1, the shapes are ", row.ToString(), " and ",
                                  whole.ToString()));
  }
  const DataType type = p.output_type(0);
  const int64_t n = whole.dim(0);
  std::vector<CopyPiece> pieces;
  pieces.push_back(WholePiece(type, whole.num_elements(), 0));
  pieces.push_back(BandCopy(type, 1, 0, MakeBand(whole, 0, (loc % n + n) % n, type), true, row, 0));
  p.set_output_shape(0, whole);
  p.AllowInPlace(0, 0);
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}

// Cuts input `in` along `axis` into outputs of these sizes; their shapes lose the axis if `drop`.
absl::Status Cut(Prepare& p, int in, int axis, const Dims& sizes, bool drop) {
  const Shape& whole = p.input_shape(in);
  std::vector<CopyPiece> pieces;
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Shape part = whole;
    part.set_dim(axis, sizes[i]);
    const Band band = MakeBand(whole, axis, begin, p.input_type(in));
    pieces.push_back(BandCopy(p.input_type(in), in, static_cast<int>(i), band, false, part, axis));
    begin += sizes[i];
    Shape out;
    for (int d = 0; d < part.rank(); ++d) {
      if (d != axis || !drop) out.push_back(part.dim(d));
    }
    p.set_output_shape(static_cast<int>(i), out);
  }
  if (sizes.size() == 1) {
    p.Alias(0, in);
    return absl::OkStatus();
  }
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}

absl::Status PrepareSplit(Prepare& p) {
  const Shape& in = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const int64_t axis_value, InputInt(p, 0));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, axis_value, in.rank()));
  const int count = p.num_outputs();
  if (in.dim(axis) % count != 0) {
    return p.Invalid(absl::StrCat("dimension ", axis, " of ", in.dim(axis),
                                  " cannot be split into ", count, " equal parts"));
  }
  return Cut(p, 1, axis, Dims(count, in.dim(axis) / count), false);
}

absl::Status PrepareSplitV(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(Dims sizes, p.InputInts(1));
  TENON_ASSIGN_OR_RETURN(const Dims axes, InputIntsOfAnyRank(p, 2));
  if (axes.size() != 1) return p.Invalid("'split_dim' must have one element");
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, axes[0], in.rank()));
  if (static_cast<int>(sizes.size()) != p.num_outputs()) {
    return p.Invalid(absl::StrCat("'size_splits' must have ", p.num_outputs(), " elements"));
  }
  int64_t known = 0;
  int missing = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // One -1 stands for the rest; a second one, or that of a Split into a single part, is an error,
    // as in TensorFlow. Each size is bounded by the dimension, so the sum cannot overflow.
    if (sizes[i] == -1 && missing < 0 && sizes.size() > 1) {
      missing = static_cast<int>(i);
    } else if (sizes[i] < 0 || sizes[i] > in.dim(axis)) {
      return p.Invalid(absl::StrCat("size_splits[", i, "] cannot be ", sizes[i]));
    } else {
      known += sizes[i];
    }
  }
  if (missing >= 0) {
    sizes[missing] = in.dim(axis) - known;
    known = sizes[missing] < 0 ? -1 : in.dim(axis);
  }
  if (known != in.dim(axis)) {
    return p.Invalid(absl::StrCat("the sizes must add up to ", in.dim(axis),
                                  ", the length of dimension ", axis));
  }
  return Cut(p, 0, axis, sizes, false);
}

absl::Status PrepareUnpack(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t axis_attr, p.AttrInt("axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, axis_attr, in.rank()));
  if (in.dim(axis) != p.num_outputs()) {
    return p.Invalid(absl::StrCat("dimension ", axis, " is ", in.dim(axis), " where 'num' says ",
                                  p.num_outputs()));
  }
  if (p.num_outputs() == 0) return absl::OkStatus();
  return Cut(p, 0, axis, Dims(p.num_outputs(), 1), true);
}

// Where each input of a Concat starts, as coordinates.
absl::Status PrepareConcatOffset(Prepare& p) {
  for (int i = 1; i < p.num_inputs(); ++i) {
    if (p.input_shape(i).rank() != 1) {
      return p.Invalid(absl::StrCat("input ", i, " should be a vector, but got shape ",
                                    p.input_shape(i).ToString()));
    }
  }
  TENON_ASSIGN_OR_RETURN(const int64_t axis_value, InputInt(p, 0));
  TENON_ASSIGN_OR_RETURN(const Dims first, p.InputInts(1));
  TENON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(p, axis_value, static_cast<int>(first.size())));
  int64_t offset = 0;
  for (int i = 0; i < p.num_outputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Dims shape, p.InputInts(i + 1));
    if (shape.size() != first.size()) return p.Invalid("the shapes must have equal ranks");
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
      if (d != axis && shape[d] != first[d])
        return p.Invalid(absl::StrCat("the shapes differ in dimension ", d));
    }
    Dims start(shape.size(), 0);
    start[axis] = offset;
    TENON_RETURN_IF_ERROR(SetInts(p, i, start, Shape({static_cast<int64_t>(start.size())})));
    if (__builtin_add_overflow(offset, shape[axis], &offset))
      return p.Invalid("the shapes are too long to be joined");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> JoinKernels() {
  static const CpuKernelSpec specs[] = {
      {"Concat", {{"T", kEveryType}}, PrepareConcat, 0b1, false, false, true},
      {"ConcatV2", {{"T", kEveryType}}, PrepareConcatV2, 0, false, false, true},
      {"ConcatOffset", {}, PrepareConcatOffset, kAllInputs},
      {"Pack", {{"T", kEveryType}}, PreparePack, 0, false, false, true},
      {"ParallelConcat", {{"T", kEveryType}}, PrepareParallelConcat},
      {"_ParallelConcatUpdate", {{"T", kEveryType}}, PrepareParallelConcatUpdate},
      {"Split", {{"T", kEveryType}}, PrepareSplit, 0b1, false, false, true},
      {"SplitV", {{"T", kEveryType}}, PrepareSplitV, 0b110, false, false, true},
      {"Unpack", {{"T", kEveryType}}, PrepareUnpack, 0, false, false, true},
  };
  return specs;
}

}  // namespace tenon::cpu
