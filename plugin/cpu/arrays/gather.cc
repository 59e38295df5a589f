// Rows chosen by index: Gather, GatherNd, ScatterNd, TensorScatter*, OneHot.
#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/elementwise/broadcast.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::cpu {
namespace {

// One piece of `bytes` bytes, or its strings.
void MovePiece(const char* from, char* to, int64_t bytes, bool strings) {
  if (strings) {
    for (int64_t i = 0; i < bytes; i += static_cast<int64_t>(sizeof(TF_TString))) {
      const auto* s = reinterpret_cast<const TF_TString*>(from + i);
      TF_TString_Copy(reinterpret_cast<TF_TString*>(to + i), TF_TString_GetDataPointer(s),
                      TF_TString_GetSize(s));
    }
    return;
  }
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

// Params are [batch, outer, lines, piece], indices [batch, count], the result [batch, outer, count,
// piece].
struct GatherState {
  int64_t batch = 1, outer = 1, lines = 0, count = 0, piece_bytes = 0;
  bool index64 = false, strings = false;
};

absl::Status CheckIndices(const void* indices, bool is64, int64_t n, int64_t limit) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = LoadIndex(indices, is64, i);
    if (at < 0 || at >= limit) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices[", i, "] = ", at, " is not in [0, ", limit, ")"));
    }
  }
  return absl::OkStatus();
}

absl::Status RunGather(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const GatherState*>(state);
  TENON_RETURN_IF_ERROR(CheckIndices(args.in[1], s.index64, s.batch * s.count, s.lines));
  const char* params = static_cast<const char*>(args.in[0]);
  char* out = static_cast<char*>(args.out[0]);
  const int64_t rows = s.batch * s.outer * s.count;
  args.workers->ParallelFor(rows, GrainFor(s.piece_bytes + 8), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t group = r / s.count;  // of [batch, outer]
      const int64_t at = LoadIndex(args.in[1], s.index64, group / s.outer * s.count + r % s.count);
      MovePiece(params + (group * s.lines + at) * s.piece_bytes, out + r * s.piece_bytes,
                s.piece_bytes, s.strings);
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
  p.set_output_shape(0, checked);
  auto s = std::make_shared<GatherState>();
  s->batch = DimProduct(params, 0, batch_dims);
  s->outer = DimProduct(params, batch_dims, axis);
  s->lines = params.dim(axis);
  s->count = DimProduct(indices, batch_dims, indices.rank());
  s->strings = p.input_type(0) == DataType::kString;
  s->piece_bytes = DimProduct(params, axis + 1, params.rank()) *
                   static_cast<int64_t>(DataTypeSize(p.input_type(0)));
  s->index64 = p.input_type(1) == DataType::kInt64;
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

// Points are rows of `depth` coordinates; a piece is what a point stands for.
struct PointState {
  Dims size;  // of the indexed dimensions
  int64_t points = 0;
  int64_t piece_bytes = 0, piece_elements = 0;
  int64_t total_bytes = 0;
  DataType index_type = DataType::kInt32;
  bool strings = false;
  ElementStep combine;  // for scatters other than updates; loop null: overwrite
};

// The offset in pieces of point i, or -1.
int64_t PointOffset(const PointState& s, const void* indices, int64_t i) {
  const int64_t depth = static_cast<int64_t>(s.size.size());
  int64_t offset = 0;
  for (int64_t d = 0; d < depth; ++d) {
    const int64_t at = LoadIndex(indices, s.index_type, i * depth + d);
    if (at < 0 || at >= s.size[d]) return -1;
    offset = offset * s.size[d] + at;
  }
  return offset;
}

absl::Status BadPoint(const PointState& s, const void* indices, int64_t i) {
  const int64_t depth = static_cast<int64_t>(s.size.size());
  std::vector<int64_t> point;
  for (int64_t d = 0; d < depth; ++d)
    point.push_back(LoadIndex(indices, s.index_type, i * depth + d));
  return absl::InvalidArgumentError(absl::StrCat("indices[", i, "] = [", absl::StrJoin(point, ", "),
                                                 "] does not index into [",
                                                 absl::StrJoin(s.size, ","), "]"));
}

absl::Status RunGatherNd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const PointState*>(state);
  for (int64_t i = 0; i < s.points; ++i) {
    const int64_t at = PointOffset(s, args.in[1], i);
    if (at < 0) return BadPoint(s, args.in[1], i);
    MovePiece(static_cast<const char*>(args.in[0]) + at * s.piece_bytes,
              static_cast<char*>(args.out[0]) + i * s.piece_bytes, s.piece_bytes, s.strings);
  }
  return absl::OkStatus();
}

// Reads the shapes of `indices` into points of `target`; the shape that updates must have is
// indices' but the last, then the rest.
absl::StatusOr<Shape> DescribePoints(const Prepare& p, const Shape& indices, const Shape& target,
                                     DataType type, PointState* s) {
  if (indices.rank() < 1) return p.Invalid("the indices must have at least one dimension");
  const int depth = static_cast<int>(indices.dim(indices.rank() - 1));
  if (depth > target.rank())
    return p.Invalid(
        absl::StrCat("points of ", depth, " coordinates in ", target.rank(), " dimensions"));
  for (int d = 0; d < depth; ++d) s->size.push_back(target.dim(d));
  s->points = DimProduct(indices, 0, indices.rank() - 1);
  s->piece_elements = DimProduct(target, depth, target.rank());
  s->piece_bytes = s->piece_elements * static_cast<int64_t>(DataTypeSize(type));
  s->total_bytes = target.num_elements() * static_cast<int64_t>(DataTypeSize(type));
  s->strings = type == DataType::kString;
  Dims dims(indices.dims().begin(), indices.dims().end() - 1);
  for (int d = depth; d < target.rank(); ++d) dims.push_back(target.dim(d));
  return CheckedShape(p, dims);
}

absl::Status PrepareGatherNd(Prepare& p) {
  auto s = std::make_shared<PointState>();
  TENON_ASSIGN_OR_RETURN(const Shape out, DescribePoints(p, p.input_shape(1), p.input_shape(0),
                                                         p.input_type(0), s.get()));
  if (s->points > 0 && p.input_shape(0).num_elements() == 0 && out.num_elements() > 0)
    return p.Invalid("the params are empty");
  s->index_type = p.input_type(1);
  p.set_output_shape(0, out);
  p.set_run(&RunGatherNd, std::move(s));
  return absl::OkStatus();
}

// Points outside are errors; repeated points are applied in order.
absl::Status Scatter(const PointState& s, const void* indices, const char* updates, char* out) {
  Workers alone(1);
  for (int64_t i = 0; i < s.points; ++i) {
    const int64_t at = PointOffset(s, indices, i);
    if (at < 0) return BadPoint(s, indices, i);
    char* to = out + at * s.piece_bytes;
    const char* from = updates + i * s.piece_bytes;
    if (s.combine.loop == nullptr) {
      MovePiece(from, to, s.piece_bytes, s.strings);
      continue;
    }
    const void* in[] = {to, from};
    RunElementStep(s.combine, in, to, &alone);
  }
  return absl::OkStatus();
}

bool SetCombine(ElementOp op, DataType type, PointState* s) {
  if (!ChooseLoop(op, type, type, &s->combine)) return false;
  const Shape piece({s->piece_elements});
  const Shape both[] = {piece, piece};
  s->combine.plan = *BroadcastPlan::Make(both);
  s->combine.operands = 2;
  s->combine.n = s->piece_elements;
  s->combine.grain = s->piece_elements;
  s->combine.in_size.fill(static_cast<int64_t>(DataTypeSize(type)));
  s->combine.out_size = static_cast<int64_t>(DataTypeSize(type));
  return true;
}

absl::Status RunScatterNd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const PointState*>(state);
  if (!s.strings) std::memset(args.out[0], 0, s.total_bytes);
  return Scatter(s, args.in[0], static_cast<const char*>(args.in[1]),
                 static_cast<char*>(args.out[0]));
}

absl::Status PrepareScatterNd(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(2));
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  auto s = std::make_shared<PointState>();
  const DataType type = p.input_type(1);
  TENON_ASSIGN_OR_RETURN(const Shape updates,
                         DescribePoints(p, p.input_shape(0), out, type, s.get()));
  if (!(updates == p.input_shape(1)))
    return p.Invalid(absl::StrCat("the updates must have shape ", updates.ToString()));
  s->index_type = p.input_type(0);
  if (!s->strings && type != DataType::kBool && !SetCombine(ElementOp::kAdd, type, s.get())) {
    return p.Unimplemented("no CPU kernel for this type");
  }
  p.set_output_shape(0, out);
  p.set_run(&RunScatterNd, std::move(s));
  return absl::OkStatus();
}

absl::Status RunTensorScatter(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const PointState*>(state);
  if (args.out[0] != args.in[0]) {
    MovePiece(static_cast<const char*>(args.in[0]), static_cast<char*>(args.out[0]), s.total_bytes,
              s.strings);
  }
  return Scatter(s, args.in[1], static_cast<const char*>(args.in[2]),
                 static_cast<char*>(args.out[0]));
}

absl::Status SetTensorScatter(Prepare& p, std::optional<ElementOp> op) {
  auto s = std::make_shared<PointState>();
  const DataType type = p.input_type(0);
  TENON_ASSIGN_OR_RETURN(const Shape updates,
                         DescribePoints(p, p.input_shape(1), p.input_shape(0), type, s.get()));
  if (!(updates == p.input_shape(2)))
    return p.Invalid(absl::StrCat("the updates must have shape ", updates.ToString()));
  s->index_type = p.input_type(1);
  if (op.has_value() && !SetCombine(*op, type, s.get()))
    return p.Unimplemented("no CPU kernel for this type");
  p.set_output_shape(0, p.input_shape(0));
  p.set_run(&RunTensorScatter, std::move(s));
  return absl::OkStatus();
}
absl::Status PrepareScatterUpdate(Prepare& p) { return SetTensorScatter(p, std::nullopt); }
absl::Status PrepareScatterAdd(Prepare& p) { return SetTensorScatter(p, ElementOp::kAdd); }
absl::Status PrepareScatterSub(Prepare& p) { return SetTensorScatter(p, ElementOp::kSub); }
absl::Status PrepareScatterMax(Prepare& p) { return SetTensorScatter(p, ElementOp::kMaximum); }
absl::Status PrepareScatterMin(Prepare& p) { return SetTensorScatter(p, ElementOp::kMinimum); }

// The result is [outer, depth, inner] for indices [outer, inner].
struct OneHotState {
  int64_t outer = 1, depth = 0, inner = 1, bytes = 0;
  DataType index_type;
  bool strings = false;
};

absl::Status RunOneHot(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const OneHotState*>(state);
  const char* on = static_cast<const char*>(args.in[2]);
  const char* off = static_cast<const char*>(args.in[3]);
  char* out = static_cast<char*>(args.out[0]);
  args.workers->ParallelFor(
      s.outer, GrainFor(s.depth * s.inner * s.bytes), [&](int64_t begin, int64_t end) {
        const int64_t block = s.depth * s.inner;
        for (int64_t o = begin; o < end; ++o) {
          for (int64_t i = 0; i < block; ++i)
            MovePiece(off, out + (o * block + i) * s.bytes, s.bytes, s.strings);
          for (int64_t j = 0; j < s.inner; ++j) {
            const int64_t at = LoadIndex(args.in[0], s.index_type, o * s.inner + j);
            if (at < 0 || at >= s.depth) continue;
            MovePiece(on, out + (o * block + at * s.inner + j) * s.bytes, s.bytes, s.strings);
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
  auto s = std::make_shared<OneHotState>();
  s->outer = DimProduct(indices, 0, axis);
  s->inner = DimProduct(indices, axis, indices.rank());
  s->depth = depth;
  s->bytes = static_cast<int64_t>(DataTypeSize(p.output_type(0)));
  s->index_type = p.input_type(0);
  s->strings = p.output_type(0) == DataType::kString;
  p.set_run(&RunOneHot, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> GatherKernels() {
  static const CpuKernelSpec specs[] = {
      {"Gather", {}, PrepareGather},
      {"GatherV2", {}, PrepareGatherV2, 0b100},
      {"GatherNd", {}, PrepareGatherNd},
      {"ScatterNd", {}, PrepareScatterNd, 0b100},
      {"TensorScatterUpdate", {}, PrepareScatterUpdate},
      {"TensorScatterAdd", {}, PrepareScatterAdd},
      {"TensorScatterSub", {}, PrepareScatterSub},
      {"TensorScatterMax", {}, PrepareScatterMax},
      {"TensorScatterMin", {}, PrepareScatterMin},
      {"OneHot", {}, PrepareOneHot, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
