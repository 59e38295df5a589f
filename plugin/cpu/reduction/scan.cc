// Cumsum, Cumprod and CumulativeLogsumexp along one dimension.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// At most 1 KB of running values, which stay in the first cache.
constexpr int64_t kMostScans = 64;
// Lines that are scanned side by side. Many lines a power of two apart would share few places of
// the first cache.
constexpr int64_t kLines = 4;

enum class ScanOp : uint8_t { kSum, kProduct, kLogSumExp };

struct ScanState {
  AxisSplit split;
  bool reverse = false;
  ScanOp op = ScanOp::kSum;
};

// x as an element holds it. TensorFlow computes halves in half, so each step rounds.
template <typename Element, typename T = typename Element::Native>
T Rounded(T x) {
  const Element element;
  T memory;
  element.Put(&memory, 0, x);
  return element.template As<T>(&memory, 0);
}

// log(e^a + e^b) without overflow, not rounded. Equal operands are treated apart because the
// difference of two equal infinities is NaN.
template <typename Element, typename T>
T LogSumExp(T a, T b) {
  if (a == b) return a + Rounded<Element>(std::numbers::ln2_v<T>);
  const T ratio = Rounded<Element>(std::exp(Rounded<Element>(-std::abs(a - b))));
  return std::max(a, b) + Rounded<Element>(std::log1p(ratio));
}

// Not rounded. Integers wrap.
template <typename Element, typename T>
T Combine(T a, T b, ScanOp op) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(op == ScanOp::kProduct ? x * y : x + y);
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (op == ScanOp::kLogSumExp) return LogSumExp<Element>(a, b);
    }
    return op == ScanOp::kProduct ? a * b : a + b;
  }
}

// What changes nothing when combined.
template <typename T>
T Neutral(ScanOp op) {
  if constexpr (std::is_floating_point_v<T>) {
    if (op == ScanOp::kLogSumExp) return -std::numeric_limits<T>::infinity();
  }
  return op == ScanOp::kProduct ? T(1) : T(0);
}

// Some scans side by side, so that none waits for its own last step: their first elements are
// `first` and those `apart` elements after each other.
template <typename Element, bool kExclusive>
void ScanSome(const ScanState& s, int64_t first, int64_t width, int64_t apart,
              const StepArgs& args) {
  using T = typename Element::Native;
  const Element element;
  const auto [outer, length, inner] = s.split;
  T sum[kMostScans];
  std::fill_n(sum, width, Neutral<T>(s.op));
  for (int64_t k = 0; k < length; ++k) {
    int64_t at = first + (s.reverse ? length - 1 - k : k) * inner;
    for (int64_t j = 0; j < width; ++j, at += apart) {
      // Read before the store to the same place: output and input may share a buffer.
      const T in = element.template As<T>(args.in[0], at);
      const T last = sum[j], next = Combine<Element>(last, in, s.op);
      // `next` is stored unrounded, since Put rounds it; the running value must be the rounded one.
      sum[j] = Rounded<Element>(next);
      element.Put(args.out[0], at, kExclusive ? last : next);
    }
  }
}

// The scans of outer indices from `begin` to `end`: lines of their own, or the columns of each.
template <typename Element, bool kExclusive>
void ScanRange(const ScanState& s, int64_t begin, int64_t end, const StepArgs& args) {
  const auto [outer, length, inner] = s.split;
  // Neighbours in memory belong to one scan, so several lines are taken side by side. Otherwise
  // neighbours are different scans.
  if (inner == 1) {
    for (int64_t o = begin; o < end; o += kLines)
      ScanSome<Element, kExclusive>(s, o * length, std::min(kLines, end - o), length, args);
    return;
  }
  for (int64_t o = begin; o < end; ++o) {
    for (int64_t c = 0; c < inner; c += kMostScans)
      ScanSome<Element, kExclusive>(s, o * length * inner + c, std::min(kMostScans, inner - c), 1,
                                    args);
  }
}

template <typename Element, bool kExclusive>
absl::Status RunScan(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ScanState*>(state);
  const int64_t bytes = static_cast<int64_t>(sizeof(typename Element::Native));
  args.workers->ParallelFor(
      s.split.outer, GrainFor(s.split.size * s.split.inner * bytes * 2),
      [&](int64_t begin, int64_t end) { ScanRange<Element, kExclusive>(s, begin, end, args); });
  return absl::OkStatus();
}

RunFn FindScan(DataType t, bool exclusive) {
  RunFn run = nullptr;
  VisitElement(t, [&]<typename Element>(Element) {
    run = exclusive ? &RunScan<Element, true> : &RunScan<Element, false>;
  });
  return run;
}

absl::Status PrepareScan(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (p.input_shape(1).rank() != 0) return p.Invalid("'axis' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const int64_t axis_value, InputInt(p, 1));
  auto s = std::make_shared<ScanState>();
  TENON_ASSIGN_OR_RETURN(const bool exclusive, p.AttrBool("exclusive"));
  TENON_ASSIGN_OR_RETURN(s->reverse, p.AttrBool("reverse"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, axis_value, in.rank()));
  s->split = SplitAt(in, axis);
  if (p.op().name == "Cumprod") s->op = ScanOp::kProduct;
  if (p.op().name == "CumulativeLogsumexp") s->op = ScanOp::kLogSumExp;
  p.set_output_shape(0, in);
  p.AllowInPlace(0, 0);
  const RunFn run = FindScan(p.input_type(0), exclusive);
  if (run == nullptr) return p.Unimplemented("no CPU kernel for this type");
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> ScanKernels() {
  static const CpuKernelSpec specs[] = {
      {"Cumsum", {{"T", kNumberTypes}}, PrepareScan, 0b10},
      {"Cumprod", {{"T", kNumberTypes}}, PrepareScan, 0b10},
      {"CumulativeLogsumexp", {{"T", kFloatTypes}}, PrepareScan, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
