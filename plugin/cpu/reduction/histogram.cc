// Numbers sorted into bins: Bincount, DenseBincount, HistogramFixedWidth, Bucketize.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// --- Bincount and DenseBincount: how often each number stands in a row, or the sum of its weights.

struct BincountState {
  int64_t rows = 1, columns = 0;
  int64_t bins = 0;
  bool is64 = false;  // the numbers are int64, else int32
  bool weighted = false;
  bool binary = false;  // whether a number is there, not how often
};

// What counts are kept in: integers wrap, floats are rounded once.
template <typename T>
using CountOf = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

template <typename T>
void CountRow(const BincountState& s, int64_t row, const StepArgs& args) {
  const T* weights = static_cast<const T*>(args.in[2]);
  // Counted in scratch, not in the output, whose floats would round each addition.
  CountOf<T>* counts = static_cast<CountOf<T>*>(args.scratch) + row * s.bins;
  std::fill_n(counts, s.bins, CountOf<T>{0});
  for (int64_t i = row * s.columns; i < (row + 1) * s.columns; ++i) {
    const int64_t bin = LoadIndex(args.in[0], s.is64, i);
    // Numbers beyond the last bin are not counted, as in TensorFlow.
    if (bin >= s.bins) continue;
    if (s.binary) {
      counts[bin] = 1;
    } else {
      counts[bin] += s.weighted ? static_cast<CountOf<T>>(weights[i]) : CountOf<T>{1};
    }
  }
  T* out = static_cast<T*>(args.out[0]) + row * s.bins;
  std::transform(counts, counts + s.bins, out, [](CountOf<T> c) { return static_cast<T>(c); });
}

template <typename T>
absl::Status RunBincount(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BincountState*>(state);
  for (int64_t i = 0; i < s.rows * s.columns; ++i) {
    // All numbers are checked before threads start: CountRow can then not fail.
    const int64_t value = LoadIndex(args.in[0], s.is64, i);
    if (value < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the numbers must not be negative, number ", i, " is ", value));
    }
  }
  args.workers->ParallelFor(s.rows, GrainFor((s.columns + s.bins) * 8),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t r = begin; r < end; ++r) CountRow<T>(s, r, args);
                            });
  return absl::OkStatus();
}

// --- HistogramFixedWidth: bins of equal width; what lies outside counts as in the outermost.

struct HistogramState {
  int64_t n = 0;
  int64_t bins = 0;
  bool wide = false;  // int64 counts
};

template <typename T>
absl::Status RunHistogram(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const HistogramState*>(state);
  const T* x = static_cast<const T*>(args.in[0]);
  const T* range = static_cast<const T*>(args.in[1]);
  if (!(range[0] < range[1])) {
    return absl::InvalidArgumentError(
        absl::StrCat("value_range must rise, it is from ", range[0], " to ", range[1]));
  }
  // A value on the edge of two bins falls where this rounding puts it, in TensorFlow too.
  const double low = static_cast<double>(range[0]);
  const double bins = static_cast<double>(s.bins);
  // TensorFlow's formula: the quotient of the difference would round differently.
  const double width = static_cast<double>(range[1]) / bins - low / bins;
  std::memset(args.out[0], 0, s.bins * (s.wide ? 8 : 4));
  for (int64_t i = 0; i < s.n; ++i) {
    if (x[i] != x[i])
      return absl::InvalidArgumentError(absl::StrCat("value ", i, " to count is NaN"));
    // The order of the operands matters: a NaN, from 0 / 0, becomes 0.
    const double place = std::max(0.0, (static_cast<double>(x[i]) - low) / width);
    // Compared in double: an infinite place has no conversion to int64.
    const int64_t bin = place < bins - 1 ? static_cast<int64_t>(place) : s.bins - 1;
    if (s.wide) {
      ++static_cast<int64_t*>(args.out[0])[bin];
    } else {
      ++static_cast<uint32_t*>(args.out[0])[bin];
    }
  }
  return absl::OkStatus();
}

// --- Bucketize: the number of boundaries that are not above an element; NaN is above all.

struct BucketizeState {
  int64_t n = 0;
  std::vector<float> boundaries;
};

template <typename T>
absl::Status RunBucketize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BucketizeState*>(state);
  const auto begin = s.boundaries.begin(), end = s.boundaries.end();
  args.workers->ParallelFor(s.n, GrainFor(8 * sizeof(T)), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const T x = static_cast<const T*>(args.in[0])[i];
      static_cast<int32_t*>(args.out[0])[i] =
          static_cast<int32_t>(std::upper_bound(begin, end, x) - begin);
    }
  });
  return absl::OkStatus();
}

// --- Preparation.

struct Runs {
  RunFn bincount, histogram, bucketize;
};

template <typename T>
constexpr Runs RunsOf() {
  return {&RunBincount<T>, &RunHistogram<T>, &RunBucketize<T>};
}

Runs FindRuns(DataType t) {
  switch (t) {
    case DataType::kInt32:
      return RunsOf<int32_t>();
    case DataType::kInt64:
      return RunsOf<int64_t>();
    case DataType::kFloat:
      return RunsOf<float>();
    default:
      return RunsOf<double>();
  }
}
constexpr uint64_t kTypes = kIndexTypes | TypeBits(DataType::kFloat, DataType::kDouble);

// `dims`: of the result, the last of them the bins. The counts lie in scratch, 8 bytes each.
absl::Status FinishBincount(Prepare& p, std::shared_ptr<BincountState> s, Dims dims) {
  const Shape& weights = p.input_shape(2);
  s->is64 = p.input_type(0) == DataType::kInt64;
  s->bins = dims.back();
  s->weighted = weights.num_elements() > 0;
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  dims.push_back(8);
  TENON_ASSIGN_OR_RETURN(const Shape scratch, CheckedShape(p, dims));
  p.set_output_shape(0, out);
  p.set_scratch_bytes(static_cast<size_t>(scratch.num_elements()));
  p.set_run(FindRuns(p.output_type(0)).bincount, std::move(s));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> BinsOf(const Prepare& p, int input) {
  if (p.input_shape(input).rank() != 0) return p.Invalid("the number of bins must be a scalar");
  TENON_ASSIGN_OR_RETURN(const int64_t bins, InputInt(p, input));
  if (bins < 0)
    return p.Invalid(absl::StrCat("the number of bins must not be negative, it is ", bins));
  return bins;
}

absl::Status PrepareBincount(Prepare& p) {
  auto s = std::make_shared<BincountState>();
  s->columns = p.input_shape(0).num_elements();
  const int64_t weights = p.input_shape(2).num_elements();
  if (weights != 0 && weights != s->columns)
    return p.Invalid("there must be one weight per number, or none");
  TENON_ASSIGN_OR_RETURN(const int64_t bins, BinsOf(p, 1));
  return FinishBincount(p, std::move(s), {bins});
}

absl::Status PrepareDenseBincount(Prepare& p) {
  const Shape& in = p.input_shape(0);
  const Shape& weights = p.input_shape(2);
  if (in.rank() > 2) return p.Invalid("the numbers must be a vector or matrix");
  if (!(weights == in) && weights.num_elements() != 0)
    return p.Invalid("there must be one weight per number, in the same shape, or none");
  auto s = std::make_shared<BincountState>();
  TENON_ASSIGN_OR_RETURN(s->binary, p.AttrBool("binary_output"));
  TENON_ASSIGN_OR_RETURN(const int64_t bins, BinsOf(p, 1));
  if (in.rank() < 2) {
    s->columns = in.num_elements();
    return FinishBincount(p, std::move(s), {bins});
  }
  s->rows = in.dim(0);
  s->columns = in.dim(1);
  return FinishBincount(p, std::move(s), {in.dim(0), bins});
}

absl::Status PrepareHistogram(Prepare& p) {
  if (!(p.input_shape(1) == Shape({2}))) return p.Invalid("'value_range' must hold two values");
  auto s = std::make_shared<HistogramState>();
  TENON_ASSIGN_OR_RETURN(s->bins, BinsOf(p, 2));
  if (s->bins == 0) return p.Invalid("the number of bins must be positive, it is 0");
  s->n = p.input_shape(0).num_elements();
  s->wide = p.output_type(0) == DataType::kInt64;
  p.set_output_shape(0, Shape({s->bins}));
  p.set_run(FindRuns(p.input_type(0)).histogram, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareBucketize(Prepare& p) {
  auto s = std::make_shared<BucketizeState>();
  TENON_ASSIGN_OR_RETURN(const AttrValue boundaries, p.AttrOf("boundaries"));
  TENON_ASSIGN_OR_RETURN(s->boundaries, boundaries.AsFloatList());
  if (!std::is_sorted(s->boundaries.begin(), s->boundaries.end()))
    return p.Invalid("'boundaries' must not fall");
  s->n = p.input_shape(0).num_elements();
  p.set_output_shape(0, p.input_shape(0));
  p.set_run(FindRuns(p.input_type(0)).bucketize, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> HistogramKernels() {
  static const CpuKernelSpec specs[] = {
      {"Bincount", {{"T", kTypes}}, PrepareBincount, 0b10},
      {"DenseBincount", {{"T", kTypes}, {"Tidx", kIndexTypes}}, PrepareDenseBincount, 0b10},
      {"HistogramFixedWidth", {{"T", kTypes}}, PrepareHistogram, 0b100},
      {"Bucketize", {{"T", kTypes}}, PrepareBucketize},
  };
  return specs;
}

}  // namespace tenon::cpu
