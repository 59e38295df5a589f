// Rows reduced by a number that each carries: Segment* (sorted) and UnsortedSegment*.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Sets `to` to what `rows` rows of n elements, one after the other, become in this order.
using JoinRowsFn = void (*)(const char* from, int64_t rows, int64_t n, char* to);

// Columns [0, n) of rows that are `stride` elements apart; `kVectors` vectors stay in registers.
// Returns the columns that it took.
template <int kVectors, typename T, typename Rule>
int64_t JoinColumns(const T* x, int64_t rows, int64_t stride, int64_t n, const Rule& rule, T* to) {
  typedef T Vector __attribute__((vector_size(16), aligned(alignof(T))));
  constexpr int64_t kTogether = kVectors * int64_t{16 / sizeof(T)};
  int64_t i = 0;
  for (; i + kTogether <= n; i += kTogether) {
    const Vector* row =
        reinterpret_cast<const Vector*>(x + i);  // `auto` would forget the alignment
    Vector held[kVectors];
    // A loop that is not unrolled keeps them in memory.
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) held[v] = rule.Start(row[v]);
    for (int64_t r = 1; r < rows; ++r) {
      row = reinterpret_cast<const Vector*>(x + r * stride + i);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) held[v] = rule.Join(held[v], row[v]);
    }
    Vector* const sums = reinterpret_cast<Vector*>(to + i);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[v] = held[v];
  }
  return i;
}

template <typename T, typename Rule>
void JoinRows(const T* x, int64_t rows, int64_t stride, int64_t n, const Rule& rule, T* to) {
  int64_t i = JoinColumns<4>(x, rows, stride, n, rule, to);
  i += JoinColumns<1>(x + i, rows, stride, n - i, rule, to + i);
  for (; i < n; ++i) {
    T held = rule.Start(x[i]);
    for (int64_t r = 1; r < rows; ++r) held = rule.Join(held, x[r * stride + i]);
    to[i] = held;
  }
}

// Of a number or a vector of them.
struct RowSums {
  template <typename V>
  V Start(V x) const {
    return x;
  }
  template <typename V>
  V Join(V held, V x) const {
    return held + x;
  }
};
template <typename T>
void SumRun(const char* from, int64_t rows, int64_t n, char* to) {
  JoinRows(reinterpret_cast<const T*>(from), rows, n, n, RowSums(), reinterpret_cast<T*>(to));
}

// The greatest or least of columns that TensorFlow compares at once (LanesOf): whole vectors start
// from an infinity, with which a first NaN is lost.
template <typename T, bool kGreatest>
struct RowLaneExtremes {
  template <typename V>
  V Join(V held, V x) const {
    return (kGreatest ? x > held : x < held) ? x : held;
  }
  template <typename V>
  V Start(V x) const {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return Join(V{} + (kGreatest ? -kInfinity : kInfinity), x);
  }
};
// Of the rest, which starts from the row itself. The order of operands matters to a NaN:
// TensorFlow's vectors and its rest have opposite orders.
template <bool kGreatest>
struct RowRestExtremes {
  template <typename V>
  V Start(V x) const {
    return x;
  }
  template <typename V>
  V Join(V held, V x) const {
    return (kGreatest ? held > x : held < x) ? held : x;
  }
};
template <typename T, bool kGreatest>
void ExtremeRun(const char* from, int64_t rows, int64_t n, char* to) {
  const auto* const x = reinterpret_cast<const T*>(from);
  auto* const y = reinterpret_cast<T*>(to);
  int64_t lanes = 0;
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int64_t kLanes = sizeof(T) == 8 ? 4 : 8;
    lanes = n / kLanes * kLanes;
    JoinRows(x, rows, n, lanes, RowLaneExtremes<T, kGreatest>(), y);
  }
  JoinRows(x + lanes, rows, n, n - lanes, RowRestExtremes<kGreatest>(), y + lanes);
  if constexpr (std::is_floating_point_v<T>) {
    // A denormal becomes the zero of its sign, for which comparisons took it.
    for (int64_t i = 0; i < n; ++i) y[i] = y[i] == 0 ? std::copysign(T{0}, y[i]) : y[i];
  }
}

template <typename T>
JoinRowsFn JoinRowsOf(ElementOp combine) {
  if (combine == ElementOp::kAtLeast) return &ExtremeRun<T, true>;
  if (combine == ElementOp::kAtMost) return &ExtremeRun<T, false>;
  // Unsigned sums wrap around.
  if constexpr (std::is_integral_v<T>) return &SumRun<std::make_unsigned_t<T>>;
  if constexpr (!std::is_integral_v<T>) return &SumRun<T>;
}

// For sums and extremes. Null where ElementSteps do.
JoinRowsFn FindJoinRows(DataType type, ElementOp combine) {
  if (combine == ElementOp::kMul) return nullptr;
  switch (type) {
    case DataType::kFloat:
      return JoinRowsOf<float>(combine);
    case DataType::kDouble:
      return JoinRowsOf<double>(combine);
    case DataType::kInt32:
      return JoinRowsOf<int32_t>(combine);
    case DataType::kUint32:
      return JoinRowsOf<uint32_t>(combine);
    case DataType::kInt64:
      return JoinRowsOf<int64_t>(combine);
    case DataType::kUint64:
      return JoinRowsOf<uint64_t>(combine);
    default:
      return nullptr;
  }
}

struct SegmentState {
  JoinRowsFn join_rows = nullptr;  // of sorted segments; or null
  ElementStep combine;             // a row with what its segment holds
  ElementStep start, lanes;        // of columns that TensorFlow compares at once (LanesOf)
  ElementStep divide;              // a row by a count, for means
  int64_t rows = 0, row_elements = 0, row_bytes = 0, lane_bytes = 0;
  int64_t segments = 0;  // of the unsorted ones
  DataType type, id_type;
  Shape row_shape;       // of one segment
  char empty[16] = {};   // an element of a segment without rows
  char beyond[16] = {};  // an infinity that every number of the type replaces
  bool mean = false;
};

// An element of the type from a small number.
void PutNumber(DataType type, double value, char* to) {
  VisitElement(type, [&](auto element) { element.Put(to, 0, value); });
}

// The lowest or highest finite value.
void PutExtreme(DataType type, bool highest, char* to) {
  VisitElement(type, [&](auto element) {
    element.Put(to, 0, highest ? element.Highest() : element.Lowest());
  });
}

void FillEmpty(const SegmentState& s, char* out, int64_t rows) {
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(s.type));
  FindRepeat()(s.empty, bytes, rows * s.row_elements, out);
}

// Row `from` joins segment `to`.
void Join(const SegmentState& s, const char* from, char* to, Workers* alone) {
  if (s.lane_bytes == 0 && !s.combine.converts) {
    const void* in[] = {from, to};
    return s.combine.loop(in, to, s.row_elements, 0);
  }
  if (s.lane_bytes > 0) {
    const void* in[] = {to, from};
    RunElementStep(s.lanes, in, to, alone);
  }
  to += s.lane_bytes;
  // The order of operands matters to a NaN in Max and Min: TensorFlow's vectors and its rest have
  // opposite orders.
  const void* in[] = {from + s.lane_bytes, to};
  RunElementStep(s.combine, in, to, alone);
}

// Row `from` is the first of several in segment `to`.
void Start(const SegmentState& s, const char* from, char* to, Workers* alone) {
  std::memcpy(to, from, s.row_bytes);
  if (s.lane_bytes == 0) return;
  // TensorFlow starts whole vectors from an infinity, with which a first NaN is lost; the rest
  // starts from the row itself.
  const void* in[] = {s.beyond, from};
  RunElementStep(s.start, in, to, alone);
}

void DivideBy(const SegmentState& s, int64_t count, char* row, Workers* alone) {
  if (count <= 1) return;
  alignas(16) char element[16] = {};
  PutNumber(s.type, static_cast<double>(count), element);
  const void* in[] = {row, element};
  RunElementStep(s.divide, in, row, alone);
}

// Whether ids are not negative and do not fall.
template <typename Id>
absl::Status CheckSorted(const Id* ids, int64_t rows) {
  if (rows > 0 && ids[0] >= 0 && std::is_sorted(ids, ids + rows)) return absl::OkStatus();
  for (int64_t i = 0; i < rows; ++i) {
    if (ids[i] < 0)
      return absl::InvalidArgumentError(absl::StrCat("segment ids must be >= 0: ", ids[i]));
    if (i > 0 && ids[i] < ids[i - 1])
      return absl::InvalidArgumentError("segment ids are not increasing");
  }
  return absl::OkStatus();
}

// The rows [i, end) of one segment.
void JoinSegment(const SegmentState& s, const char* data, int64_t i, int64_t end, char* to,
                 Workers* alone) {
  const char* from = data + i * s.row_bytes;
  const int64_t rows = end - i;
  if (rows == 1) {
    std::memcpy(to, from, s.row_bytes);
  } else if (s.join_rows != nullptr) {
    s.join_rows(from, rows, s.row_elements, to);
  } else {
    Start(s, from, to, alone);
    for (int64_t r = 1; r < rows; ++r) Join(s, from + r * s.row_bytes, to, alone);
  }
  if (s.mean) DivideBy(s, rows, to, alone);
}

template <typename Id>
absl::Status RunSortedBy(const SegmentState& s, const StepArgs& args) {
  const auto* const ids = static_cast<const Id*>(args.in[1]);
  TENON_RETURN_IF_ERROR(CheckSorted(ids, s.rows));
  const int64_t last = s.rows == 0 ? -1 : ids[s.rows - 1];
  // The number of segments, one more, would overflow.
  if (last == INT64_MAX)
    return absl::InvalidArgumentError(absl::StrCat("no tensor holds segment ", last));
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(Stacked(last + 1, s.row_shape)));
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, shape));
  char* const out = static_cast<char*>(data);
  Workers alone(1);
  int64_t next = 0;  // the first segment that nothing has filled
  for (int64_t i = 0, end = 0; i < s.rows; i = end) {
    const int64_t id = ids[i];
    while (++end < s.rows && ids[end] == id) {
    }
    if (next < id) FillEmpty(s, out + next * s.row_bytes, id - next);
    JoinSegment(s, static_cast<const char*>(args.in[0]), i, end, out + id * s.row_bytes, &alone);
    next = id + 1;
  }
  return absl::OkStatus();
}

absl::Status RunSorted(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SegmentState*>(state);
  return s.id_type == DataType::kInt64 ? RunSortedBy<int64_t>(s, args)
                                       : RunSortedBy<int32_t>(s, args);
}

// Negative ids are left out. As in TensorFlow, nothing looks at the ids of rows without elements.
absl::Status RunUnsorted(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SegmentState*>(state);
  if (s.row_elements == 0) return absl::OkStatus();
  char* out = static_cast<char*>(args.out[0]);
  FillEmpty(s, out, s.segments);
  Workers alone(1);
  for (int64_t i = 0; i < s.rows; ++i) {
    const int64_t id = LoadIndex(args.in[1], s.id_type, i);
    if (id < 0) continue;
    if (id >= s.segments) {
      return absl::InvalidArgumentError(
          absl::StrCat("segment_ids[", i, "] = ", id, " is out of range [0, ", s.segments, ")"));
    }
    Join(s, static_cast<const char*>(args.in[0]) + i * s.row_bytes, out + id * s.row_bytes, &alone);
  }
  return absl::OkStatus();
}

struct SegmentOp {
  ElementOp combine;
  bool mean = false;
};

SegmentOp OpOf(std::string_view name) {
  if (absl::EndsWith(name, "Mean")) return {ElementOp::kAdd, true};
  if (absl::EndsWith(name, "Prod")) return {ElementOp::kMul};
  if (absl::EndsWith(name, "Max")) return {ElementOp::kAtLeast};
  if (absl::EndsWith(name, "Min")) return {ElementOp::kAtMost};
  return {ElementOp::kAdd};
}

absl::StatusOr<std::shared_ptr<SegmentState>> MakeState(const Prepare& p, int id_rank,
                                                        bool sorted) {
  const Shape& data = p.input_shape(0);
  auto s = std::make_shared<SegmentState>();
  s->type = p.input_type(0);
  s->id_type = p.input_type(1);
  const SegmentOp op = OpOf(p.op().name);
  s->rows = DimProduct(data, 0, id_rank);
  s->row_elements = DimProduct(data, id_rank, data.rank());
  s->row_bytes = s->row_elements * static_cast<int64_t>(DataTypeSize(s->type));
  for (int d = id_rank; d < data.rank(); ++d) s->row_shape.push_back(data.dim(d));
  s->mean = op.mean;
  if (sorted) s->join_rows = FindJoinRows(s->type, op.combine);
  const bool extreme = op.combine == ElementOp::kAtLeast || op.combine == ElementOp::kAtMost;
  const int64_t lanes = sorted && extreme && HasType(kFloatTypes, s->type)
                            ? s->row_elements / LanesOf(s->type) * LanesOf(s->type)
                            : 0;
  s->lane_bytes = lanes * static_cast<int64_t>(DataTypeSize(s->type));
  const Shape head({lanes}), row({s->row_elements - lanes});
  if (!MakeElementStep(op.combine, s->type, row, row, &s->combine) ||
      !MakeElementStep(op.combine, s->type, head, head, &s->lanes) ||
      !MakeElementStep(op.combine, s->type, Shape(), head, &s->start) ||
      (op.mean && !MakeElementStep(ElementOp::kDiv, s->type, row, Shape(), &s->divide))) {
    return p.Unimplemented("no CPU kernel for this type");
  }
  if (op.combine == ElementOp::kMul) PutNumber(s->type, 1, s->empty);
  const double infinity = std::numeric_limits<double>::infinity();
  if (lanes > 0)
    PutNumber(s->type, op.combine == ElementOp::kAtMost ? infinity : -infinity, s->beyond);
  // Empty segments: TensorFlow's sorted ops give 0, its unsorted ones the lowest or highest finite
  // value.
  if (extreme && !sorted) PutExtreme(s->type, op.combine == ElementOp::kAtMost, s->empty);
  return s;
}

absl::Status PrepareSorted(Prepare& p) {
  const Shape& data = p.input_shape(0);
  const Shape& ids = p.input_shape(1);
  if (data.rank() < 1 || ids.rank() != 1)
    return p.Invalid("the segment ids must be a vector, the data at least one");
  if (ids.dim(0) != data.dim(0)) return p.Invalid("there must be one segment id per row");
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<SegmentState> s, MakeState(p, 1, true));
  p.set_dynamic_output(0);
  p.set_run(&RunSorted, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareUnsorted(Prepare& p) {
  const Shape& data = p.input_shape(0);
  const Shape& ids = p.input_shape(1);
  if (ids.rank() > data.rank())
    return p.Invalid("the data's shape must start with that of the segment ids");
  for (int d = 0; d < ids.rank(); ++d) {
    if (ids.dim(d) != data.dim(d))
      return p.Invalid("the data's shape must start with that of the segment ids");
  }
  if (p.input_shape(2).rank() != 0) return p.Invalid("'num_segments' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const int64_t segments, InputInt(p, 2));
  if (segments < 0)
    return p.Invalid(absl::StrCat("'num_segments' must not be negative: ", segments));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<SegmentState> s, MakeState(p, ids.rank(), false));
  s->segments = segments;
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, Stacked(segments, s->row_shape)));
  p.set_output_shape(0, out);
  p.set_run(&RunUnsorted, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SegmentKernels() {
  static const CpuKernelSpec specs[] = {
      {"SegmentSum", {{"T", kNumberTypes}}, PrepareSorted},
      {"SegmentMean", {{"T", kNumberTypes}}, PrepareSorted},
      {"SegmentProd", {{"T", kNumberTypes}}, PrepareSorted},
      {"SegmentMax", {{"T", kRealTypes}}, PrepareSorted},
      {"SegmentMin", {{"T", kRealTypes}}, PrepareSorted},
      {"UnsortedSegmentSum", {{"T", kNumberTypes}}, PrepareUnsorted, 0b100},
      {"UnsortedSegmentProd", {{"T", kNumberTypes}}, PrepareUnsorted, 0b100},
      {"UnsortedSegmentMax", {{"T", kRealTypes}}, PrepareUnsorted, 0b100},
      {"UnsortedSegmentMin", {{"T", kRealTypes}}, PrepareUnsorted, 0b100},
  };
  return specs;
}

}  // namespace tenon::cpu
