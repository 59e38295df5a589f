// A part of a sparse tensor, SparseSlice, with its gradient; SparseFillEmptyRows with its
// gradient, and the same of ragged tensors.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/coordinates.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct SliceState {
  SparseSizes sizes;
  ElementCopy copy;
};

// `size` coordinates from `start` on, which may be negative. Unsigned differences do not overflow.
bool InSlice(absl::Span<const int64_t> entry, absl::Span<const int64_t> start,
             absl::Span<const int64_t> size) {
  for (size_t d = 0; d < entry.size(); ++d) {
    const uint64_t at = static_cast<uint64_t>(entry[d]) - static_cast<uint64_t>(start[d]);
    if (entry[d] < start[d] || at >= static_cast<uint64_t>(size[d])) return false;
  }
  return true;
}

// What is left of `dim` coordinates.
int64_t SlicedDim(int64_t dim, int64_t start, int64_t size) {
  if (start >= dim) return 0;
  int64_t left = 0;
  return __builtin_sub_overflow(dim, start, &left) ? size : std::min(size, left);
}

absl::Status RunSlice(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SliceState*>(state);
  const int rank = s.sizes.rank;
  const absl::Span<const int64_t> shape = ShapeAt(args.in[2], rank),
                                  start = ShapeAt(args.in[3], rank),
                                  size = ShapeAt(args.in[4], rank);
  for (int d = 0; d < rank; ++d) {
    if (shape[d] < 0 || size[d] < 0) {
      return absl::InvalidArgumentError(absl::StrCat("dimension ", d, " has the size ", shape[d],
                                                     " and its slice ", size[d],
                                                     ", neither of which may be negative"));
    }
    static_cast<int64_t*>(args.out[2])[d] = SlicedDim(shape[d], start[d], size[d]);
  }
  int64_t count = 0;
  for (int64_t i = 0; i < s.sizes.count; ++i)
    count += InSlice(EntryAt(args.in[0], rank, i), start, size);
  TENON_ASSIGN_OR_RETURN(void* indices, args.run_state->AllocateOutput(0, Shape({count, rank})));
  TENON_ASSIGN_OR_RETURN(void* values, args.run_state->AllocateOutput(1, Shape({count})));
  int64_t* out = static_cast<int64_t*>(indices);
  for (int64_t i = 0, k = 0; i < s.sizes.count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(args.in[0], rank, i);
    if (!InSlice(entry, start, size)) continue;
    for (int d = 0; d < rank; ++d) *out++ = entry[d] - start[d];
    s.copy(args.in[1], i, values, k++);
  }
  return absl::OkStatus();
}

absl::Status PrepareSlice(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const SparseSizes sizes, ReadSparse(p, 0, 1, 2));
  const Shape rank({sizes.rank});
  if (!(p.input_shape(3) == rank) || !(p.input_shape(4) == rank))
    return p.Invalid(absl::StrCat("'start' and 'size' must have ", sizes.rank, " elements each"));
  p.set_dynamic_output(0);
  p.set_dynamic_output(1);
  p.set_output_shape(2, rank);
  p.set_run(&RunSlice,
            std::make_shared<SliceState>(SliceState{sizes, ElementCopy(p.input_type(1))}));
  return absl::OkStatus();
}

struct SliceGradState {
  SparseSizes whole, slice;
  ElementCopy copy;
};

// Entries of the slice come in the order of those of the whole.
absl::Status RunSliceGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SliceGradState*>(state);
  const int rank = s.whole.rank;
  const absl::Span<const int64_t> start = ShapeAt(args.in[2], rank);
  s.copy.Zero(args.out[0], 0, s.whole.count);
  int64_t k = 0;
  for (int64_t i = 0; i < s.whole.count && k < s.slice.count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(args.in[1], rank, i),
                                    part = EntryAt(args.in[3], rank, k);
    bool same = true;
    for (int d = 0; d < rank; ++d) {
      same = same && static_cast<uint64_t>(entry[d]) - static_cast<uint64_t>(start[d]) ==
                         static_cast<uint64_t>(part[d]);
    }
    // A merge: both lists are walked once, which needs the common order.
    if (same) s.copy(args.in[0], k++, args.out[0], i);
  }
  if (k == s.slice.count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "output_indices[", k, "] with 'input_start' added is no entry of 'input_indices'",
      k == 0 ? "" : absl::StrCat(" behind that of output_indices[", k - 1, "]")));
}

absl::Status PrepareSliceGrad(Prepare& p) {
  SliceGradState s{{}, {}, ElementCopy(p.input_type(0))};
  TENON_ASSIGN_OR_RETURN(s.whole, ReadCoordinates(p, 1));
  TENON_ASSIGN_OR_RETURN(s.slice, ReadCoordinates(p, 3));
  if (s.whole.rank != s.slice.rank || !(p.input_shape(2) == Shape({s.whole.rank})) ||
      !(p.input_shape(0) == Shape({s.slice.count}))) {
    return p.Invalid(
        "the gradient must have one element per entry of the slice, both index "
        "matrices as many columns as 'input_start' has elements");
  }
  p.set_output_shape(0, Shape({s.whole.count}));
  p.set_run(&RunSliceGrad, std::make_shared<SliceGradState>(s));
  return absl::OkStatus();
}

struct FillRowsState {
  SparseSizes sizes;
  int64_t rows = 0;
  ElementCopy copy;
  bool ragged = false;  // coordinates are numbers of rows alone, a vector
};

// Entries per row, at least one, summed up to where each row starts in the result.
struct FilledRows {
  int64_t* start;  // of each row, and the end of the last
  bool* empty;
};

absl::Status FindRows(const FillRowsState& s, const void* indices, FilledRows found) {
  std::fill(found.start, found.start + s.rows + 1, 0);
  for (int64_t i = 0; i < s.sizes.count; ++i) {
    const int64_t row = EntryAt(indices, s.sizes.rank, i)[0];
    if (row < 0 || row >= s.rows) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices[", i, ",0] = ", row, " is not in [0, ", s.rows, ")"));
    }
    ++found.start[row + 1];
  }
  for (int64_t r = 0; r < s.rows; ++r) {
    found.empty[r] = found.start[r + 1] == 0;
    // An empty row gets one entry, the default value's.
    found.start[r + 1] = found.start[r] + std::max<int64_t>(found.start[r + 1], 1);
  }
  return absl::OkStatus();
}

absl::Status RunFillRows(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FillRowsState*>(state);
  const int rank = s.sizes.rank;
  const FilledRows found{static_cast<int64_t*>(args.scratch), static_cast<bool*>(args.out[2])};
  TENON_RETURN_IF_ERROR(FindRows(s, args.in[0], found));
  const int64_t count = found.start[s.rows];
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(
                                         0, s.ragged ? Shape({count}) : Shape({count, rank})));
  TENON_ASSIGN_OR_RETURN(void* values, args.run_state->AllocateOutput(1, Shape({count})));
  int64_t* const indices = static_cast<int64_t*>(data);
  for (int64_t r = 0; r < s.rows; ++r) {
    if (!found.empty[r]) continue;
    int64_t* const entry = indices + found.start[r] * rank;
    entry[0] = r;
    std::fill(entry + 1, entry + rank, 0);
    s.copy(args.in[3], 0, values, found.start[r]);
  }
  for (int64_t i = 0; i < s.sizes.count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(args.in[0], rank, i);
    // Entries of a row keep their order, so the result is sorted by rows even if the input is not.
    const int64_t at = found.start[entry[0]]++;
    std::copy(entry.begin(), entry.end(), indices + at * rank);
    s.copy(args.in[1], i, values, at);
    static_cast<int64_t*>(args.out[3])[i] = at;
  }
  return absl::OkStatus();
}

absl::Status SetFillRows(Prepare& p, const SparseSizes& sizes, int64_t rows, bool ragged) {
  if (p.input_shape(3).rank() != 0) return p.Invalid("'default_value' must be a scalar");
  if (rows < 0) return p.Invalid(absl::StrCat("the number of rows is negative: ", rows));
  const absl::StatusOr<Shape> indicator = Shape::Make({rows});
  size_t scratch = 0;
  if (!indicator.ok() ||
      __builtin_mul_overflow(static_cast<size_t>(rows) + 1, sizeof(int64_t), &scratch))
    return absl::ResourceExhaustedError(absl::StrCat("there is no memory for ", rows, " rows"));
  p.set_dynamic_output(0);
  p.set_dynamic_output(1);
  p.set_output_shape(2, *indicator);
  p.set_output_shape(3, Shape({sizes.count}));
  p.set_scratch_bytes(scratch);
  p.set_run(&RunFillRows, std::make_shared<FillRowsState>(
                              FillRowsState{sizes, rows, ElementCopy(p.input_type(1)), ragged}));
  return absl::OkStatus();
}

absl::Status PrepareFillRows(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const SparseSizes sizes, ReadSparse(p, 0, 1, 2));
  TENON_ASSIGN_OR_RETURN(const Dims shape, p.InputInts(2));
  if (sizes.rank < 1) return p.Invalid("the sparse tensor must have at least one dimension");
  return SetFillRows(p, sizes, shape[0], /*ragged=*/false);
}

absl::Status PrepareRaggedFillRows(Prepare& p) {
  const Shape &rows = p.input_shape(0), &values = p.input_shape(1);
  if (rows.rank() != 1 || !(rows == values)) {
    return p.Invalid(absl::StrCat("'value_rowids' and 'values' must be vectors of one length, not ",
                                  rows.ToString(), " and ", values.ToString()));
  }
  if (p.input_shape(2).rank() != 0) return p.Invalid("'nrows' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const int64_t count, InputInt(p, 2));
  return SetFillRows(p, {rows.dim(0), 1}, count, /*ragged=*/true);
}

struct FillRowsGradState {
  int64_t count = 0, filled = 0;
  DataType type;
};

// Gradients of entries go back to them, those of what was filled in to the default value.
absl::Status RunFillRowsGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FillRowsGradState*>(state);
  const auto* from = static_cast<const int64_t*>(args.in[0]);
  bool* const taken = static_cast<bool*>(args.scratch);
  std::fill(taken, taken + s.filled, false);
  const ElementCopy copy(s.type);
  for (int64_t i = 0; i < s.count; ++i) {
    if (from[i] < 0 || from[i] >= s.filled) {
      return absl::InvalidArgumentError(
          absl::StrCat("reverse_index_map[", i, "] = ", from[i], " is not in [0, ", s.filled, ")"));
    }
    copy(args.in[1], from[i], args.out[0], i);
    taken[from[i]] = true;
  }
  VisitElement(s.type, [&](auto element) {
    using A = typename decltype(element)::Wide;
    A sum{};
    for (int64_t i = 0; i < s.filled; ++i) {
      if (!taken[i]) sum += element.template As<A>(args.in[1], i);
    }
    element.Put(args.out[1], 0, sum);
  });
  return absl::OkStatus();
}

absl::Status PrepareFillRowsGrad(Prepare& p) {
  if (p.input_shape(0).rank() != 1 || p.input_shape(1).rank() != 1)
    return p.Invalid("both inputs must be vectors");
  auto s = std::make_shared<FillRowsGradState>();
  s->count = p.input_shape(0).dim(0);
  s->filled = p.input_shape(1).dim(0);
  s->type = p.input_type(1);
  p.set_output_shape(0, Shape({s->count}));
  p.set_output_shape(1, Shape());
  p.set_scratch_bytes(s->filled);
  p.set_run(&RunFillRowsGrad, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SparseSliceKernels() {
  static const CpuKernelSpec specs[] = {
      {"SparseSlice", {{"T", kEveryType}}, PrepareSlice, 0, false, false, true},
      {"SparseSliceGrad", {{"T", kNumberTypes}}, PrepareSliceGrad},
      {"SparseFillEmptyRows", {{"T", kEveryType}}, PrepareFillRows, 0b100, false, false, true},
      {"SparseFillEmptyRowsGrad", {{"T", kNumberTypes}}, PrepareFillRowsGrad},
      {"RaggedFillEmptyRows", {{"T", kCopyTypes}}, PrepareRaggedFillRows, 0b100},
      {"RaggedFillEmptyRowsGrad", {{"T", kNumberTypes}}, PrepareFillRowsGrad},
  };
  return specs;
}

}  // namespace tenon::cpu
