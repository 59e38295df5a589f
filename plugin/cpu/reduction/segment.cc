// Rows reduced by a number that each carries: Segment* (sorted) and UnsortedSegment*.
#include <cstring>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Sets `to` to the sum of `rows` rows of n elements, one after the other, in this order.
using SumRunFn = void (*)(const char* from, int64_t rows, int64_t n, char* to);

// Sums of four vectors stay in registers.
template <typename T>
void SumRun(const char* from, int64_t rows, int64_t n, char* to) {
  typedef T Vector __attribute__((vector_size(16), aligned(alignof(T))));
  constexpr int64_t kLanes = 16 / sizeof(T), kTogether = 4 * kLanes;
  const auto* const x = reinterpret_cast<const T*>(from);
  auto* const sums = reinterpret_cast<T*>(to);
  int64_t i = 0;
  for (; i + kTogether <= n; i += kTogether) {
    const Vector* row =
        reinterpret_cast<const Vector*>(x + i);  // `auto` would forget the alignment
    Vector sum[4] = {row[0], row[1], row[2], row[3]};
    for (int64_t r = 1; r < rows; ++r) {
      row = reinterpret_cast<const Vector*>(x + r * n + i);
      for (int v = 0; v < 4; ++v) sum[v] += row[v];
    }
    std::memcpy(sums + i, sum, sizeof(sum));
  }
  for (; i < n; ++i) {
    T sum = x[i];
    for (int64_t r = 1; r < rows; ++r) sum += x[r * n + i];
    sums[i] = sum;
  }
}

// Null where ElementSteps do. Unsigned sums wrap around.
SumRunFn FindSumRun(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return &SumRun<float>;
    case DataType::kDouble:
      return &SumRun<double>;
    case DataType::kInt32:
    case DataType::kUint32:
      return &SumRun<uint32_t>;
    case DataType::kInt64:
    case DataType::kUint64:
      return &SumRun<uint64_t>;
    default:
      return nullptr;
  }
}

struct SegmentState {
  SumRunFn sum = nullptr;    // of sorted sums and means; or null
  ElementStep combine;       // a row with what its segment holds
  ElementStep start, lanes;  // of columns that TensorFlow compares at once (LanesOf)
  ElementStep divide;        // a row by a count, for means
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

absl::Status RunSorted(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SegmentState*>(state);
  const auto id = [&](int64_t i) { return LoadIndex(args.in[1], s.id_type, i); };
  for (int64_t i = 0; i < s.rows; ++i) {
    if (id(i) < 0)
      return absl::InvalidArgumentError(absl::StrCat("segment ids must be >= 0: ", id(i)));
    if (i > 0 && id(i) < id(i - 1))
      return absl::InvalidArgumentError("segment ids are not increasing");
  }
  const int64_t last = s.rows == 0 ? -1 : id(s.rows - 1);
  // The number of segments, one more, would overflow.
  if (last == INT64_MAX)
    return absl::InvalidArgumentError(absl::StrCat("no tensor holds segment ", last));
  const int64_t segments = last + 1;
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(Stacked(segments, s.row_shape)));
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, shape));
  char* out = static_cast<char*>(data);
  FillEmpty(s, out, segments);
  Workers alone(1);
  for (int64_t i = 0, end = 0; i < s.rows && s.sum != nullptr; i = end) {
    while (++end < s.rows && id(end) == id(i)) {
    }
    char* const to = out + id(i) * s.row_bytes;
    s.sum(static_cast<const char*>(args.in[0]) + i * s.row_bytes, end - i, s.row_elements, to);
    if (s.mean) DivideBy(s, end - i, to, &alone);
  }
  if (s.sum != nullptr) return absl::OkStatus();
  for (int64_t i = 0, start = 0; i < s.rows; ++i) {
    if (i > 0 && id(i) != id(i - 1)) start = i;
    char* to = out + id(i) * s.row_bytes;
    const char* from = static_cast<const char*>(args.in[0]) + i * s.row_bytes;
    const bool ends = i + 1 == s.rows || id(i + 1) != id(i);
    if (i > start) {
      Join(s, from, to, &alone);
    } else if (ends) {
      std::memcpy(to, from, s.row_bytes);
    } else {
      Start(s, from, to, &alone);
    }
    if (s.mean && ends) DivideBy(s, i + 1 - start, to, &alone);
  }
  return absl::OkStatus();
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
  if (sorted && op.combine == ElementOp::kAdd) s->sum = FindSumRun(s->type);
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
