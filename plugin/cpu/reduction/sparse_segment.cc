// Sums of gathered rows: SparseSegmentSum, -Mean and -SqrtN, and their gradients.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// --- One row of the result.

// out[j] = scale * sum of weight[r] * data[r][j] over the rows r.
struct RowSum {
  const void* data;
  int64_t columns;
  const int64_t* rows;
  int64_t count;
  const double* weight;  // by row of the data; null: all 1
  double scale;
  void* out;
  int64_t out_row;
};
using RowSumFn = void (*)(const RowSum& s);

// Integers wrap and have no weights; floats are rounded once.
template <typename Element>
struct SumOf {
  using Type = double;
};
template <typename T>
struct SumOf<PlainElement<T>> {
  using Type = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
};

template <typename Element>
void SumRows(const RowSum& s) {
  using Sum = typename SumOf<Element>::Type;
  // 2 KB of sums, which stay in the first cache while rows from anywhere are added.
  constexpr int64_t kBlock = 256;
  const Element element;
  for (int64_t begin = 0; begin < s.columns; begin += kBlock) {
    const int64_t width = std::min(kBlock, s.columns - begin);
    Sum sum[kBlock];
    std::fill_n(sum, width, Sum{0});
    for (int64_t i = 0; i < s.count; ++i) {
      const Sum weight = s.weight == nullptr ? Sum{1} : static_cast<Sum>(s.weight[s.rows[i]]);
      const int64_t from = s.rows[i] * s.columns + begin;
      for (int64_t j = 0; j < width; ++j)
        sum[j] += weight * element.template As<Sum>(s.data, from + j);
    }
    const Sum scale = static_cast<Sum>(s.scale);
    const int64_t to = s.out_row * s.columns + begin;
    for (int64_t j = 0; j < width; ++j) element.Put(s.out, to + j, sum[j] * scale);
  }
}

RowSumFn FindRowSum(DataType t) {
  RowSumFn found = nullptr;
  VisitElement(t, [&](auto element) { found = &SumRows<decltype(element)>; });
  return found;
}

// --- What the forward ops and the gradients share.

enum class Norm : uint8_t { kNone, kMean, kSqrtN };

double ScaleFor(Norm norm, int64_t count) {
  if (norm == Norm::kNone || count <= 1) return 1;
  const double n = static_cast<double>(count);
  return 1 / (norm == Norm::kMean ? n : std::sqrt(n));
}

struct SparseState {
  int64_t data_rows = 0, columns = 0;
  int64_t count = 0;      // of indices
  int64_t out_rows = -1;  // -1: the data tell
  Norm norm = Norm::kNone;
  DataType type, index_type, id_type;
  Shape row_shape;
  RowSumFn sum = nullptr;

  int64_t grain() const {
    const int64_t row_bytes = columns * static_cast<int64_t>(DataTypeSize(type));
    return GrainFor(row_bytes * (1 + count / std::max<int64_t>(out_rows, 1)));
  }
};

absl::Status CheckRange(std::string_view what, int64_t i, int64_t value, int64_t end) {
  if (value >= 0 && value < end) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, "[", i, "] = ", value, " is outside of [0, ", end, ")"));
}

// --- Forward: segment s is the sum of the rows whose segment id is s. Scratch: the rows.

absl::Status ReadForward(const SparseState& s, const StepArgs& args, int64_t end_id,
                         int64_t* rows) {
  for (int64_t i = 0, last = 0; i < s.count; ++i) {
    rows[i] = LoadIndex(args.in[1], s.index_type, i);
    TENON_RETURN_IF_ERROR(CheckRange("indices", i, rows[i], s.data_rows));
    const int64_t id = LoadIndex(args.in[2], s.id_type, i);
    TENON_RETURN_IF_ERROR(CheckRange("segment_ids", i, id, end_id));
    if (id < last) {
      return absl::InvalidArgumentError(absl::StrCat("segment ids must not fall: segment_ids[", i,
                                                     "] = ", id, " comes after ", last));
    }
    last = id;
  }
  return absl::OkStatus();
}

// The first place at or after `from` whose segment id is not below `id`.
int64_t SegmentStart(const SparseState& s, const void* ids, int64_t id) {
  int64_t low = 0, high = s.count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (LoadIndex(ids, s.id_type, middle) < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void SumSegments(const SparseState& s, const StepArgs& args, const int64_t* rows, int64_t segments,
                 void* out) {
  if (s.columns == 0) return;  // however many segments the ids name
  const void* ids = args.in[2];
  args.workers->ParallelFor(segments, s.grain(), [&](int64_t first, int64_t last) {
    // Ids do not fall, so a range finds its first segment by bisection and needs no table of
    // starts.
    int64_t begin = SegmentStart(s, ids, first);
    for (int64_t segment = first; segment < last; ++segment) {
      int64_t end = begin;
      while (end < s.count && LoadIndex(ids, s.id_type, end) == segment) ++end;
      s.sum({args.in[0], s.columns, rows + begin, end - begin, nullptr,
             ScaleFor(s.norm, end - begin), out, segment});
      begin = end;
    }
  });
}

absl::Status RunForward(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SparseState*>(state);
  int64_t* rows = static_cast<int64_t*>(args.scratch);
  if (s.out_rows >= 0) {
    TENON_RETURN_IF_ERROR(ReadForward(s, args, s.out_rows, rows));
    SumSegments(s, args, rows, s.out_rows, args.out[0]);
    return absl::OkStatus();
  }
  // An end of INT64_MAX lets the last id plus 1 stay within int64. Shape::Make refuses what memory
  // cannot hold.
  TENON_RETURN_IF_ERROR(ReadForward(s, args, INT64_MAX, rows));
  const int64_t segments = s.count == 0 ? 0 : LoadIndex(args.in[2], s.id_type, s.count - 1) + 1;
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(Stacked(segments, s.row_shape)));
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, shape));
  SumSegments(s, args, rows, segments, out);
  return absl::OkStatus();
}

// --- Gradient: row r is the sum of the gradients of the segments that row r went into. Scratch:
// places sorted by index, segments in that order, starts of equal indices, a weight per segment.

struct GradScratch {
  int64_t* order;
  int64_t* segments;
  int64_t* starts;
  double* weights;

  static int64_t Elements(const SparseState& s) { return 3 * s.count + 1 + s.data_rows; }
  GradScratch(const SparseState& s, void* scratch)
      : order(static_cast<int64_t*>(scratch)),
        segments(order + s.count),
        starts(segments + s.count),
        weights(reinterpret_cast<double*>(starts + s.count + 1)) {}
};

absl::Status ReadGrad(const SparseState& s, const StepArgs& args, int64_t end_index,
                      const GradScratch& scratch) {
  std::fill_n(scratch.weights, s.data_rows, 0.0);
  for (int64_t i = 0; i < s.count; ++i) {
    const int64_t index = LoadIndex(args.in[1], s.index_type, i);
    TENON_RETURN_IF_ERROR(CheckRange("indices", i, index, end_index));
    const int64_t id = LoadIndex(args.in[2], s.id_type, i);
    TENON_RETURN_IF_ERROR(CheckRange("segment_ids", i, id, s.data_rows));
    // The weights first count the rows of each segment.
    scratch.weights[id] += 1;
    scratch.order[i] = i;
  }
  for (int64_t r = 0; r < s.data_rows; ++r)
    scratch.weights[r] = ScaleFor(s.norm, static_cast<int64_t>(scratch.weights[r]));
  return absl::OkStatus();
}

// Fills in order, segments and starts; returns the number of different indices.
int64_t GroupByIndex(const SparseState& s, const StepArgs& args, const GradScratch& scratch) {
  const auto index = [&](int64_t i) { return LoadIndex(args.in[1], s.index_type, i); };
  std::sort(scratch.order, scratch.order + s.count, [&](int64_t a, int64_t b) {
    // Equal indices stay in the order of the input: rounding, and thereby the result, does not
    // depend on the sort.
    return index(a) != index(b) ? index(a) < index(b) : a < b;
  });
  int64_t groups = 0;
  for (int64_t i = 0; i < s.count; ++i) {
    if (i == 0 || index(scratch.order[i]) != index(scratch.order[i - 1]))
      scratch.starts[groups++] = i;
    scratch.segments[i] = LoadIndex(args.in[2], s.id_type, scratch.order[i]);
  }
  scratch.starts[groups] = s.count;
  return groups;
}

// Group g becomes row g, or the row of its index if `indexed`.
void SumGroups(const SparseState& s, const StepArgs& args, const GradScratch& scratch,
               int64_t groups, bool indexed, void* out) {
  args.workers->ParallelFor(groups, s.grain(), [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g) {
      const int64_t begin = scratch.starts[g];
      const int64_t row = indexed ? LoadIndex(args.in[1], s.index_type, scratch.order[begin]) : g;
      s.sum({args.in[0], s.columns, scratch.segments + begin, scratch.starts[g + 1] - begin,
             s.norm == Norm::kNone ? nullptr : scratch.weights, 1, out, row});
    }
  });
}

absl::Status RunGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SparseState*>(state);
  const GradScratch scratch(s, args.scratch);
  TENON_RETURN_IF_ERROR(ReadGrad(s, args, s.out_rows, scratch));
  // Rows that no index names have a gradient of 0.
  std::memset(args.out[0], 0, s.out_rows * s.columns * DataTypeSize(s.type));
  SumGroups(s, args, scratch, GroupByIndex(s, args, scratch), true, args.out[0]);
  return absl::OkStatus();
}

// The rows that are not zero, and their numbers.
absl::Status RunGradV2(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SparseState*>(state);
  const GradScratch scratch(s, args.scratch);
  TENON_RETURN_IF_ERROR(ReadGrad(s, args, s.out_rows, scratch));
  const int64_t groups = GroupByIndex(s, args, scratch);
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(Stacked(groups, s.row_shape)));
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, shape));
  TENON_ASSIGN_OR_RETURN(void* unique, args.run_state->AllocateOutput(1, Shape({groups})));
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t index = LoadIndex(args.in[1], s.index_type, scratch.order[scratch.starts[g]]);
    StoreIndex(unique, s.index_type, g, index);
  }
  SumGroups(s, args, scratch, groups, false, out);
  return absl::OkStatus();
}

// --- Preparation.

absl::StatusOr<std::shared_ptr<SparseState>> MakeSparseState(const Prepare& p) {
  const Shape& data = p.input_shape(0);
  if (data.rank() < 1) return p.Invalid("the data must be at least a vector");
  if (p.input_shape(1).rank() != 1 || !(p.input_shape(1) == p.input_shape(2)))
    return p.Invalid("indices and segment ids must be vectors of equal length");
  auto s = std::make_shared<SparseState>();
  s->data_rows = data.dim(0);
  s->columns = DimProduct(data, 1, data.rank());
  for (int d = 1; d < data.rank(); ++d) s->row_shape.push_back(data.dim(d));
  s->count = p.input_shape(1).dim(0);
  if (absl::StrContains(p.op().name, "Mean")) s->norm = Norm::kMean;
  if (absl::StrContains(p.op().name, "SqrtN")) s->norm = Norm::kSqrtN;
  s->type = p.input_type(0);
  s->index_type = p.input_type(1);
  s->id_type = p.input_type(2);
  s->sum = FindRowSum(s->type);
  if (p.num_inputs() < 4) return s;
  if (p.input_shape(3).rank() != 0) return p.Invalid("the number of rows must be a scalar");
  TENON_ASSIGN_OR_RETURN(s->out_rows, InputInt(p, 3));
  if (s->out_rows < 0) {
    return p.Invalid(absl::StrCat("the number of rows must not be negative, it is ", s->out_rows));
  }
  return s;
}

absl::Status SetOutput(Prepare& p, const SparseState& s) {
  if (s.out_rows < 0) {
    p.set_dynamic_output(0);
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, Stacked(s.out_rows, s.row_shape)));
  p.set_output_shape(0, out);
  return absl::OkStatus();
}

absl::Status PrepareForward(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<SparseState> s, MakeSparseState(p));
  TENON_RETURN_IF_ERROR(SetOutput(p, *s));
  p.set_scratch_bytes(static_cast<size_t>(s->count) * sizeof(int64_t));
  p.set_run(&RunForward, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<SparseState> s, MakeSparseState(p));
  TENON_RETURN_IF_ERROR(SetOutput(p, *s));
  p.set_scratch_bytes(static_cast<size_t>(GradScratch::Elements(*s)) * sizeof(int64_t));
  p.set_run(&RunGrad, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareGradV2(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<SparseState> s, MakeSparseState(p));
  p.set_dynamic_output(0);
  p.set_dynamic_output(1);
  p.set_scratch_bytes(static_cast<size_t>(GradScratch::Elements(*s)) * sizeof(int64_t));
  p.set_run(&RunGradV2, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SparseSegmentKernels() {
  static const CpuKernelSpec specs[] = {
      {"SparseSegmentSum", {{"T", kRealTypes}}, PrepareForward},
      {"SparseSegmentMean", {{"T", kFloatTypes}}, PrepareForward},
      {"SparseSegmentSqrtN", {{"T", kFloatTypes}}, PrepareForward},
      {"SparseSegmentSumWithNumSegments", {{"T", kRealTypes}}, PrepareForward, 0b1000},
      {"SparseSegmentMeanWithNumSegments", {{"T", kFloatTypes}}, PrepareForward, 0b1000},
      {"SparseSegmentSqrtNWithNumSegments", {{"T", kFloatTypes}}, PrepareForward, 0b1000},
      {"SparseSegmentSumGrad", {{"T", kFloatTypes}}, PrepareGrad, 0b1000},
      {"SparseSegmentMeanGrad", {{"T", kFloatTypes}}, PrepareGrad, 0b1000},
      {"SparseSegmentSqrtNGrad", {{"T", kFloatTypes}}, PrepareGrad, 0b1000},
      {"SparseSegmentSumGradV2", {{"T", kFloatTypes}}, PrepareGradV2, 0b1000},
      {"SparseSegmentMeanGradV2", {{"T", kFloatTypes}}, PrepareGradV2, 0b1000},
      {"SparseSegmentSqrtNGradV2", {{"T", kFloatTypes}}, PrepareGradV2, 0b1000},
  };
  return specs;
}

}  // namespace tenon::cpu
