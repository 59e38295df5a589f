// Sparse tensors under another order or shape: SparseReorder, SparseReshape, SparseConcat,
// SparseSplit.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/coordinates.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

void CopyEntry(const void* from, int rank, int64_t i, void* to, int64_t j) {
  const absl::Span<const int64_t> entry = EntryAt(from, rank, i);
  std::copy(entry.begin(), entry.end(), static_cast<int64_t*>(to) + j * rank);
}

struct ReorderState {
  SparseSizes sizes;
  ElementCopy copy;
};

absl::Status RunReorder(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ReorderState*>(state);
  int64_t* const order = static_cast<int64_t*>(args.scratch);
  SortEntries(args.in[0], s.sizes, order);
  for (int64_t k = 0; k < s.sizes.count; ++k) {
    CopyEntry(args.in[0], s.sizes.rank, order[k], args.out[0], k);
    s.copy(args.in[1], order[k], args.out[1], k);
  }
  return absl::OkStatus();
}

absl::Status PrepareReorder(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const SparseSizes sizes, ReadSparse(p, 0, 1, 2));
  p.set_output_shape(0, p.input_shape(0));
  p.set_output_shape(1, p.input_shape(1));
  p.set_scratch_bytes(sizes.count * sizeof(int64_t));
  p.set_run(&RunReorder,
            std::make_shared<ReorderState>(ReorderState{sizes, ElementCopy(p.input_type(1))}));
  return absl::OkStatus();
}

struct ReshapeState {
  SparseSizes sizes;
  Shape from, to;
};

absl::Status RunReshape(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ReshapeState*>(state);
  TENON_RETURN_IF_ERROR(CheckInside(args.in[0], s.sizes, s.from.dims()));
  int64_t* out = static_cast<int64_t*>(args.out[0]);
  for (int64_t i = 0; i < s.sizes.count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(args.in[0], s.sizes.rank, i);
    int64_t place = 0;
    for (int d = 0; d < s.from.rank(); ++d) place = place * s.from.dim(d) + entry[d];
    for (int d = s.to.rank() - 1; d >= 0; --d) {
      out[d] = place % s.to.dim(d);
      place /= s.to.dim(d);
    }
    out += s.to.rank();
  }
  return absl::OkStatus();
}

// The new shape, in which one dimension may be -1.
absl::StatusOr<Shape> ReadNewShape(const Prepare& p, const Shape& from) {
  TENON_ASSIGN_OR_RETURN(Dims dims, p.InputInts(2));
  const auto free = std::find(dims.begin(), dims.end(), -1);
  if (free != dims.end()) {
    *free = 1;
    TENON_ASSIGN_OR_RETURN(const Shape rest, CheckedShape(p, dims));
    if (rest.num_elements() == 0)
      return p.Invalid("a dimension of -1 cannot be found beside one of 0");
    // Rounded down: if the division leaves a rest, the comparison below refuses the shape.
    *free = from.num_elements() / rest.num_elements();
  }
  TENON_ASSIGN_OR_RETURN(Shape to, CheckedShape(p, dims));
  if (to.num_elements() != from.num_elements()) {
    return p.Invalid(absl::StrCat("shape ", from.ToString(), " cannot become ", to.ToString()));
  }
  return to;
}

absl::Status PrepareReshape(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const SparseSizes sizes, ReadCoordinates(p, 0));
  TENON_ASSIGN_OR_RETURN(const Dims from_dims, p.InputInts(1));
  if (p.input_shape(1).rank() != 1 || p.input_shape(2).rank() != 1)
    return p.Invalid("both shapes must be vectors");
  TENON_ASSIGN_OR_RETURN(const Shape from, CheckedShape(p, from_dims));
  if (from.rank() != sizes.rank) {
    return p.Invalid(absl::StrCat("the shape must have ", sizes.rank,
                                  " elements, as many as there are columns of indices"));
  }
  TENON_ASSIGN_OR_RETURN(const Shape to, ReadNewShape(p, from));
  const Shape rank({to.rank()});
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, {sizes.count, to.rank()}));
  p.set_output_shape(0, out);
  p.set_output_shape(1, rank);
  p.set_output_value(1, Tensor::Of<int64_t>(DataType::kInt64, to.dims(), rank));
  if (from == to) {
    p.Alias(0, 0);
  } else {
    p.set_run(&RunReshape, std::make_shared<ReshapeState>(ReshapeState{sizes, from, to}));
  }
  return absl::OkStatus();
}

// Inputs: the coordinates of all parts, their values, their shapes.
struct ConcatState {
  std::vector<int64_t> start;  // the first entry of each part among those of all, and the end
  int rank = 0;
  int axis = 0;
  ElementCopy copy;

  int parts() const { return static_cast<int>(start.size()) - 1; }
  SparseSizes sizes() const { return {start.back(), rank}; }
};

// The shape of the whole.
absl::Status JoinShapes(const ConcatState& s, const StepArgs& args, int64_t* whole) {
  for (int k = 0; k < s.parts(); ++k) {
    const absl::Span<const int64_t> part = ShapeAt(args.in[2 * s.parts() + k], s.rank);
    for (int d = 0; d < s.rank; ++d) {
      if (part[d] < 0)
        return absl::InvalidArgumentError(absl::StrCat("dimension ", d, " of the shape of part ", k,
                                                       " must not be negative: ", part[d]));
      if (k == 0) {
        whole[d] = part[d];
      } else if (d == s.axis) {
        if (__builtin_add_overflow(whole[d], part[d], &whole[d]))
          return absl::InvalidArgumentError("the whole is too large");
      } else if (part[d] != whole[d]) {
        return absl::InvalidArgumentError(absl::StrCat("dimension ", d, " of part ", k, " is ",
                                                       part[d], ", that of part 0 ", whole[d]));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RunConcat(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ConcatState*>(state);
  TENON_RETURN_IF_ERROR(JoinShapes(s, args, static_cast<int64_t*>(args.out[2])));
  int64_t* const all = static_cast<int64_t*>(args.scratch);
  int64_t* const order = all + s.start.back() * s.rank;
  uint64_t offset = 0;  // unsigned: coordinates may be anything
  for (int k = 0; k < s.parts(); ++k) {
    for (int64_t i = s.start[k]; i < s.start[k + 1]; ++i) {
      CopyEntry(args.in[k], s.rank, i - s.start[k], all, i);
      int64_t& moved = all[i * s.rank + s.axis];
      moved = static_cast<int64_t>(static_cast<uint64_t>(moved) + offset);
    }
    offset += static_cast<uint64_t>(ShapeAt(args.in[2 * s.parts() + k], s.rank)[s.axis]);
  }
  SortEntries(all, s.sizes(), order);
  for (int64_t i = 0; i < s.start.back(); ++i) {
    CopyEntry(all, s.rank, order[i], args.out[0], i);
    // The part in which entry order[i] lies: the last that starts at or before it. Empty parts
    // start where the next one does and are passed over.
    const auto part = std::upper_bound(s.start.begin(), s.start.end(), order[i]) - 1;
    s.copy(args.in[s.parts() + (part - s.start.begin())], order[i] - *part, args.out[1], i);
  }
  return absl::OkStatus();
}

absl::Status PrepareConcat(Prepare& p) {
  const int parts = p.num_inputs() / 3;
  auto s = std::make_shared<ConcatState>(ConcatState{{0}, 0, 0, ElementCopy(p.output_type(1))});
  for (int k = 0; k < parts; ++k) {
    TENON_ASSIGN_OR_RETURN(const SparseSizes part, ReadSparse(p, k, parts + k, 2 * parts + k));
    if (k > 0 && part.rank != s->rank)
      return p.Invalid(absl::StrCat("part ", k, " has rank ", part.rank, ", part 0 ", s->rank));
    s->rank = part.rank;
    s->start.push_back(s->start.back() + part.count);
  }
  TENON_ASSIGN_OR_RETURN(const int64_t axis, p.AttrInt("concat_dim"));
  TENON_ASSIGN_OR_RETURN(s->axis, NormalizeAxis(p, axis, s->rank));
  const int64_t count = s->start.back();
  p.set_output_shape(0, Shape({count, s->rank}));
  p.set_output_shape(1, Shape({count}));
  p.set_output_shape(2, Shape({s->rank}));
  p.set_scratch_bytes(count * (s->rank + 1) * sizeof(int64_t));
  p.set_run(&RunConcat, std::move(s));
  return absl::OkStatus();
}

// Outputs: the coordinates of all parts, their values, their shapes. The first `larger` parts have
// one more line of the axis than the others.
struct SplitState {
  SparseSizes sizes;
  int parts = 0;
  ElementCopy copy;
};

struct Lines {
  int64_t least = 0, larger = 0;

  int64_t count(int64_t part) const { return least + (part < larger); }
  int64_t first(int64_t part) const { return part * least + std::min(part, larger); }
  int64_t part_of(int64_t line) const {
    // As if all parts were larger. If that leads behind them, `line - larger` counts as if each of
    // the larger ones had only `least` lines. `least` is at least 1, since the axis is as long as
    // there are parts.
    const int64_t part = line / (least + 1);
    return part < larger ? part : (line - larger) / least;
  }
};

absl::Status RunSplit(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SplitState*>(state);
  const int rank = s.sizes.rank;
  const absl::Span<const int64_t> shape = ShapeAt(args.in[3], rank);
  int64_t axis = *static_cast<const int64_t*>(args.in[0]);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank || shape[axis] < s.parts) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a sparse tensor of rank ", rank, " cannot be split into ", s.parts, " along dimension ",
        axis, axis < 0 || axis >= rank ? "" : absl::StrCat(", of ", shape[axis])));
  }
  TENON_RETURN_IF_ERROR(CheckInside(args.in[1], s.sizes, shape));
  const Lines lines{shape[axis] / s.parts, shape[axis] % s.parts};
  const auto part_of = [&](int64_t i) { return lines.part_of(EntryAt(args.in[1], rank, i)[axis]); };
  std::vector<int64_t> counts(s.parts, 0);
  for (int64_t i = 0; i < s.sizes.count; ++i) ++counts[part_of(i)];
  std::vector<void*> indices(s.parts), values(s.parts);
  for (int k = 0; k < s.parts; ++k) {
    TENON_ASSIGN_OR_RETURN(indices[k], args.run_state->AllocateOutput(k, Shape({counts[k], rank})));
    TENON_ASSIGN_OR_RETURN(values[k],
                           args.run_state->AllocateOutput(s.parts + k, Shape({counts[k]})));
    int64_t* const out_shape = static_cast<int64_t*>(args.out[2 * s.parts + k]);
    std::copy(shape.begin(), shape.end(), out_shape);
    out_shape[axis] = lines.count(k);
  }
  std::fill(counts.begin(), counts.end(), 0);
  for (int64_t i = 0; i < s.sizes.count; ++i) {
    const int64_t k = part_of(i), at = counts[k]++;
    CopyEntry(args.in[1], rank, i, indices[k], at);
    static_cast<int64_t*>(indices[k])[at * rank + axis] -= lines.first(k);
    s.copy(args.in[2], i, values[k], at);
  }
  return absl::OkStatus();
}

absl::Status PrepareSplit(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const SparseSizes sizes, ReadSparse(p, 1, 2, 3));
  TENON_RETURN_IF_ERROR(CheckScalars(p, 0, 1));
  const int parts = p.num_outputs() / 3;
  if (parts < 1) return p.Invalid("'num_split' must be positive");
  for (int k = 0; k < parts; ++k) {
    p.set_dynamic_output(k);
    p.set_dynamic_output(parts + k);
    p.set_output_shape(2 * parts + k, Shape({sizes.rank}));
  }
  p.set_run(&RunSplit,
            std::make_shared<SplitState>(SplitState{sizes, parts, ElementCopy(p.input_type(2))}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SparseLayoutKernels() {
  static const CpuKernelSpec specs[] = {
      {"SparseReorder", {{"T", kEveryType}}, PrepareReorder, 0, false, false, true},
      {"SparseReshape", {}, PrepareReshape, 0b110},
      {"SparseConcat", {{"T", kEveryType}}, PrepareConcat, 0, false, false, true},
      {"SparseSplit", {{"T", kEveryType}}, PrepareSplit, 0, false, false, true},
  };
  return specs;
}

}  // namespace tenon::cpu
