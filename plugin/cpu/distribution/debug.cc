// What debuggers put into graphs: DebugIdentity, DebugNanCount, DebugNumericSummary and their later
// versions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// TensorFlow's debuggers name a tensor "node" or "node:output"; the default of the attribute is
// neither.
absl::Status CheckTensorName(const Prepare& p) {
  if (p.op().FindAttr("tensor_name") == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::string_view name, p.AttrString("tensor_name"));
  if (!name.empty() && std::count(name.begin(), name.end(), ':') < 2) return absl::OkStatus();
  return p.Invalid(absl::StrCat("Failed to parse tensor name: \"", name, "\""));
}

absl::Status CheckNobodyListens(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const auto urls, p.AttrStringList("debug_urls"));
  if (urls.empty()) return absl::OkStatus();
  return p.Unimplemented("tensors are sent to no debugger: 'debug_urls' must be empty");
}

absl::Status PrepareDebugIdentity(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckTensorName(p));
  TENON_RETURN_IF_ERROR(CheckNobodyListens(p));
  p.set_output_shape(0, p.input_shape(0));
  p.Alias(0, 0);
  return absl::OkStatus();
}

struct NanCount {
  int64_t n;
  DataType type;
};

absl::Status RunNanCount(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NanCount*>(state);
  int64_t count = 0;
  VisitFloat(s.type, [&](auto element) {
    for (int64_t i = 0; i < s.n; ++i)
      count += std::isnan(element.template As<double>(args.in[0], i)) ? 1 : 0;
  });
  *static_cast<int64_t*>(args.out[0]) = count;
  return absl::OkStatus();
}

absl::Status PrepareNanCount(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckTensorName(p));
  TENON_RETURN_IF_ERROR(CheckNobodyListens(p));
  p.set_output_shape(0, Shape({1}));
  p.set_run(&RunNanCount,
            std::make_shared<NanCount>(NanCount{p.input_shape(0).num_elements(), p.input_type(0)}));
  return absl::OkStatus();
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Numbers outside of the bounds, and infinite ones, count as infinite.
struct Counts {
  int64_t nan = 0, low = 0, negative = 0, zero = 0, positive = 0, high = 0;
};

struct SummaryState {
  Shape shape;
  DataType type, output_type;
  double lower = -kInfinity, upper = kInfinity;
  int64_t mode = 0, id = 0;

  // Calls f(x) for each element.
  template <typename F>
  void ForEach(const void* data, F&& f) const {
    const int64_t n = shape.num_elements();
    VisitReal(type == DataType::kBool ? DataType::kUint8 : type, [&](auto element, auto) {
      for (int64_t i = 0; i < n; ++i) f(element.template As<double>(data, i));
    });
  }
  bool IsLow(double x) const { return x == -kInfinity || (lower != -kInfinity && x <= lower); }
  bool IsHigh(double x) const { return x == kInfinity || (upper != kInfinity && x >= upper); }
  Counts Count(const void* data) const {
    Counts c;
    ForEach(data, [&](double x) {
      ++(std::isnan(x) ? c.nan
         : IsLow(x)    ? c.low
         : IsHigh(x)   ? c.high
         : x < 0       ? c.negative
         : x > 0       ? c.positive
                       : c.zero);
    });
    return c;
  }
};

absl::Status RunSummary(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SummaryState*>(state);
  const Counts c = s.Count(args.in[0]);
  double lowest = kInfinity, highest = -kInfinity, mean = 0, variance = 0;
  int64_t finite = 0;
  s.ForEach(args.in[0], [&](double x) {
    if (!std::isfinite(x)) return;
    lowest = std::min(lowest, x);
    highest = std::max(highest, x);
    mean += x;
    ++finite;
  });
  mean = finite > 0 ? mean / static_cast<double>(finite) : kNan;
  // Two passes: squares of differences from the mean, which do not cancel as a difference of large
  // sums would.
  s.ForEach(args.in[0], [&](double x) {
    if (std::isfinite(x)) variance += (x - mean) * (x - mean);
  });
  variance = finite > 0 ? variance / static_cast<double>(finite) : kNan;
  auto* out = static_cast<double*>(args.out[0]);
  *out++ = 1;  // there is a tensor
  for (const int64_t n :
       {s.shape.num_elements(), c.nan, c.low, c.negative, c.zero, c.positive, c.high})
    *out++ = static_cast<double>(n);
  for (const double x : {lowest, highest, mean, variance}) *out++ = x;
  *out++ = static_cast<double>(s.type);
  *out++ = s.shape.rank();
  std::copy(s.shape.dims().begin(), s.shape.dims().end(), out);
  return absl::OkStatus();
}

absl::Status PrepareSummary(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckTensorName(p));
  TENON_RETURN_IF_ERROR(CheckNobodyListens(p));
  auto s = std::make_shared<SummaryState>();
  s->shape = p.input_shape(0);
  s->type = p.input_type(0);
  TENON_ASSIGN_OR_RETURN(s->lower, p.AttrFloat("lower_bound"));
  TENON_ASSIGN_OR_RETURN(s->upper, p.AttrFloat("upper_bound"));
  // 12 figures, the type, the rank, and then the dimensions.
  p.set_output_shape(0, Shape({14 + s->shape.rank()}));
  p.set_run(&RunSummary, std::move(s));
  return absl::OkStatus();
}

// What `tensor_debug_mode` asks for, by TensorFlow's numbers.
enum SummaryMode : int64_t {
  kCurtHealth = 2,
  kConciseHealth = 3,
  kFullHealth = 4,
  kShape = 5,
  kInfinitiesAndNan = 8,
};
// TensorFlow shows so many dimensions, the last ones; missing dimensions are 0.
constexpr int kShapeDims = 6;

int64_t LengthOf(int64_t mode) {
  switch (mode) {
    case kCurtHealth:
      return 2;
    case kConciseHealth:
      return 5;
    case kFullHealth:
      return 11;
    case kShape:
      return 4 + kShapeDims;
    case kInfinitiesAndNan:
      return 3;
    default:
      return -1;
  }
}

std::vector<double> Describe(const SummaryState& s, const void* data) {
  const auto number = [](auto x) { return static_cast<double>(x); };
  const double id = number(s.id), type = number(s.type), rank = s.shape.rank(),
               size = number(s.shape.num_elements());
  if (s.mode == kShape) {
    const auto dims = s.shape.dims();
    std::vector<double> out = {id, type, rank, size};
    out.insert(out.end(), dims.size() > kShapeDims ? dims.end() - kShapeDims : dims.begin(),
               dims.end());
    out.resize(LengthOf(kShape), 0);
    return out;
  }
  const Counts c = s.Count(data);
  switch (s.mode) {
    case kCurtHealth:
      return {id, c.low + c.high + c.nan > 0 ? 1.0 : 0.0};
    case kConciseHealth:
      return {id, size, number(c.low), number(c.high), number(c.nan)};
    case kFullHealth:
      return {id,
              -1,  // of no particular device
              type,
              rank,
              size,
              number(c.low),
              number(c.high),
              number(c.nan),
              number(c.negative),
              number(c.zero),
              number(c.positive)};
    default:
      return {c.low > 0 ? -kInfinity : 0, c.high > 0 ? kInfinity : 0, c.nan > 0 ? kNan : 0};
  }
}

absl::Status RunSummaryV2(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SummaryState*>(state);
  const std::vector<double> values = Describe(s, args.in[0]);
  VisitFloat(s.output_type, [&](auto element) {
    for (size_t i = 0; i < values.size(); ++i)
      element.Put(args.out[0], static_cast<int64_t>(i), values[i]);
  });
  return absl::OkStatus();
}

absl::Status PrepareSummaryV2(Prepare& p) {
  auto s = std::make_shared<SummaryState>();
  s->shape = p.input_shape(0);
  s->type = p.input_type(0);
  s->output_type = p.output_type(0);
  TENON_ASSIGN_OR_RETURN(s->mode, p.AttrInt("tensor_debug_mode"));
  TENON_ASSIGN_OR_RETURN(s->id, p.AttrInt("tensor_id"));
  const int64_t length = LengthOf(s->mode);
  if (length < 0) return p.Unimplemented(absl::StrCat("there is no 'tensor_debug_mode' ", s->mode));
  // Numbers up to here are exact in the output's type.
  const int64_t most = int64_t{1} << (s->output_type == DataType::kFloat ? 24 : 53);
  if (s->id > most && s->mode != kInfinitiesAndNan)
    return p.Invalid(absl::StrCat("'tensor_id' must be at most ", most, ", it is ", s->id));
  p.set_output_shape(0, Shape({length}));
  p.set_run(&RunSummaryV2, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> DebugKernels() {
  constexpr uint64_t kSummarized = kRealTypes | TypeBit(DataType::kBool);
  static const CpuKernelSpec specs[] = {
      {"DebugIdentity", {}, PrepareDebugIdentity},
      {"DebugIdentityV2", {}, PrepareDebugIdentity},
      {"DebugIdentityV3", {}, PrepareDebugIdentity},
      {"DebugNanCount", {{"T", kRealTypes}}, PrepareNanCount},
      {"DebugNumericSummary", {{"T", kSummarized & ~kHalfTypes}}, PrepareSummary},
      {"DebugNumericSummaryV2", {{"T", kSummarized}}, PrepareSummaryV2},
  };
  return specs;
}

}  // namespace tenon::cpu
