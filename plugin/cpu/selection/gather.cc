// Rows chosen by index: Gather, GatherNd, OneHot.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/selection/points.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Params are [batch, outer, lines, piece], indices [batch, count], the result [batch, outer, count,
// piece].
struct GatherState {
  ElementCopy copy;
  int64_t batch = 1, outer = 1, lines = 0, count = 0, piece = 0;
  DataType index_type = DataType::kInt32;
};

absl::Status CheckIndices(const void* indices, DataType type, int64_t n, int64_t limit) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = LoadIndex(indices, type, i);
    if (at < 0 || at >= limit) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices[", i, "] = ", at, " is not in [0, ", limit, ")"));
    }
  }
  return absl::OkStatus();
}

absl::Status RunGather(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const GatherState*>(state);
  // As in TensorFlow, nothing looks at the indices of a result without elements.
  if (s.outer == 0 || s.piece == 0) return absl::OkStatus();
  // All indices are checked first: the loop over threads has no errors.
  TENON_RETURN_IF_ERROR(CheckIndices(args.in[1], s.index_type, s.batch * s.count, s.lines));
  const int64_t rows = s.batch * s.outer * s.count;
  const int64_t grain = GrainFor(s.piece * s.copy.bytes() + 8);
  args.workers->ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t group = r / s.count;  // of [batch, outer]
      const int64_t at =
          LoadIndex(args.in[1], s.index_type, group / s.outer * s.count + r % s.count);
      s.copy(args.in[0], (group * s.lines + at) * s.piece, args.out[0], r * s.piece, s.piece);
    }
  });
  return absl::OkStatus();
}

absl::Status SetGather(Prepare& p, int axis, int batch_dims) {
  const Shape& params = p.input_shape(0);
  const Shape& indices = p.input_shape(1);
  Shape out;
  for (int d = 0; d < axis; ++d) out.push_back(params.dim(d));
  for (int d = batch_dims; d < indices.rank(); ++d) out.push_back(indices.dim(d));
  for (int d = axis + 1; d < params.rank(); ++d) out.push_back(params.dim(d));
  TENON_ASSIGN_OR_RETURN(const Shape checked, CheckedShape(p, out.dims()));
  TENON_RETURN_IF_ERROR(CheckIndexRange(p, p.input_type(1), params.dim(axis)));
  p.set_output_shape(0, checked);
  auto s = std::make_shared<GatherState>(GatherState{ElementCopy(p.input_type(0))});
  s->batch = DimProduct(params, 0, batch_dims);
  s->outer = DimProduct(params, batch_dims, axis);
  s->lines = params.dim(axis);
  s->count = DimProduct(indices, batch_dims, indices.rank());
  s->piece = DimProduct(params, axis + 1, params.rank());
  s->index_type = p.input_type(1);
  p.set_run(&RunGather, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareGather(Prepare& p) {
  if (p.input_shape(0).rank() < 1) return p.Invalid("the params must have at least one dimension");
  return SetGather(p, 0, 0);
}

absl::Status PrepareGatherV2(Prepare& p) {
  const Shape& params = p.input_shape(0);
  const Shape& indices = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const int64_t axis_value, InputInt(p, 2));
  TENON_ASSIGN_OR_RETURN(int64_t batch_dims, p.AttrInt("batch_dims"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, axis_value, params.rank()));
  if (batch_dims < 0) batch_dims += indices.rank();
  if (batch_dims < 0 || batch_dims > indices.rank() || batch_dims > axis) {
    return p.Invalid(absl::StrCat("batch_dims ", batch_dims, " is above the axis ", axis,
                                  " or the rank of the indices"));
  }
  for (int d = 0; d < batch_dims; ++d) {
    if (params.dim(d) != indices.dim(d))
      return p.Invalid(absl::StrCat("batch dimension ", d, " differs"));
  }
  return SetGather(p, axis, static_cast<int>(batch_dims));
}

struct GatherNdState {
  Points points;
  ElementCopy copy;
};

absl::Status RunGatherNd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const GatherNdState*>(state);
  const int64_t piece = s.points.piece;
  for (int64_t i = 0; i < s.points.count; ++i) {
    const int64_t at = s.points.PieceOf(args.in[1], i);
    if (at >= 0) {
      s.copy(args.in[0], at * piece, args.out[0], i * piece, piece);
    } else if (s.points.skip) {
      s.copy.Zero(args.out[0], i * piece, piece);
    } else {
      return s.points.Outside(args.in[1], i);
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareGatherNd(Prepare& p) {
  Shape out;
  TENON_ASSIGN_OR_RETURN(
      Points points, DescribePoints(p, p.input_shape(1), p.input_type(1), p.input_shape(0), &out));
  TENON_RETURN_IF_ERROR(ReadBadIndicesPolicy(p, &points));
  TENON_RETURN_IF_ERROR(CheckPointsExist(p.input_shape(1), p.input_shape(0)));
  TENON_RETURN_IF_ERROR(CheckIndexRange(p, p.input_type(1), p.input_shape(0).num_elements()));
  p.set_output_shape(0, out);
  p.set_run(&RunGatherNd, std::make_shared<GatherNdState>(
                              GatherNdState{std::move(points), ElementCopy(p.input_type(0))}));
  return absl::OkStatus();
}

// The result is [outer, depth, inner] for indices [outer, inner].
struct OneHotState {
  ElementCopy copy;
  DataType index_type;
  int64_t outer = 1, depth = 0, inner = 1;
};

absl::Status RunOneHot(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const OneHotState*>(state);
  const int64_t block = s.depth * s.inner;
  args.workers->ParallelFor(
      s.outer, GrainFor(block * s.copy.bytes()), [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) {
          s.copy.Repeat(args.in[3], 0, args.out[0], o * block, block);
          for (int64_t j = 0; j < s.inner; ++j) {
            const int64_t at = LoadIndex(args.in[0], s.index_type, o * s.inner + j);
            if (at < 0 || at >= s.depth) continue;
            s.copy(args.in[2], 0, args.out[0], o * block + at * s.inner + j);
          }
        }
      });
  return absl::OkStatus();
}

absl::Status PrepareOneHot(Prepare& p) {
  const Shape& indices = p.input_shape(0);
  if (p.input_shape(1).rank() != 0 || p.input_shape(2).rank() != 0 ||
      p.input_shape(3).rank() != 0) {
    return p.Invalid("'depth', 'on_value' and 'off_value' must be scalars");
  }
  TENON_ASSIGN_OR_RETURN(const int64_t depth, InputInt(p, 1));
  if (depth < 0) return p.Invalid(absl::StrCat("the depth must not be negative: ", depth));
  TENON_ASSIGN_OR_RETURN(const int64_t axis_attr, p.AttrInt("axis"));
  if (axis_attr < -1 || axis_attr > indices.rank())
    return p.Invalid(absl::StrCat("axis ", axis_attr, " is out of range"));
  const int axis = axis_attr == -1 ? indices.rank() : static_cast<int>(axis_attr);
  Dims dims(indices.dims().begin(), indices.dims().end());
  dims.insert(dims.begin() + axis, depth);
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  p.set_output_shape(0, out);
  auto s =
      std::make_shared<OneHotState>(OneHotState{ElementCopy(p.output_type(0)), p.input_type(0)});
  s->outer = DimProduct(indices, 0, axis);
  s->inner = DimProduct(indices, axis, indices.rank());
  s->depth = depth;
  p.set_run(&RunOneHot, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> GatherKernels() {
  static const CpuKernelSpec specs[] = {
      {"Gather", {{"Tparams", kEveryType}}, PrepareGather, 0, false, false, true},
      {"GatherV2", {{"Tparams", kEveryType}}, PrepareGatherV2, 0b100, false, false, true},
      {"GatherNd", {{"Tparams", kEveryType}}, PrepareGatherNd, 0, false, false, true},
      {"OneHot", {{"T", kEveryType}}, PrepareOneHot, 0b10, false, false, true},
  };
  return specs;
}

}  // namespace tenon::cpu
