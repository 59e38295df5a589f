// Cumsum, Cumprod and CumulativeLogsumexp along one dimension.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/elementwise/element_op.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

namespace tenon::cpu {
namespace {

enum class ScanOp : uint8_t { kSum, kProduct, kLogSumExp };

struct ScanState {
  int64_t outer = 1, length = 0, inner = 1;
  bool exclusive = false, reverse = false;
  ScanOp op = ScanOp::kSum;
  DataType type;
};

// log(e^a + e^b) without overflow.
template <typename T>
T LogSumExp(T a, T b) {
  if (a == b) return a + std::numbers::ln2_v<T>;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

// Integers wrap.
template <typename T>
T Combine(T a, T b, ScanOp op) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(op == ScanOp::kProduct ? x * y : x + y);
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (op == ScanOp::kLogSumExp) return LogSumExp(a, b);
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

// One outer index: every inner column is a scan of its own, advanced line by line.
template <typename T>
void ScanBlock(const ScanState& s, const T* x, T* out) {
  std::vector<T> sum(s.inner, Neutral<T>(s.op));
  for (int64_t k = 0; k < s.length; ++k) {
    const int64_t line = (s.reverse ? s.length - 1 - k : k) * s.inner;
    for (int64_t j = 0; j < s.inner; ++j) {
      const T next = Combine(sum[j], x[line + j], s.op);
      out[line + j] = s.exclusive ? sum[j] : next;
      sum[j] = next;
    }
  }
}

template <typename T>
absl::Status RunScan(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ScanState*>(state);
  const int64_t block = s.length * s.inner;
  args.workers->ParallelFor(s.outer, GrainFor(block * static_cast<int64_t>(sizeof(T)) * 2),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t o = begin; o < end; ++o) {
                                ScanBlock(s, static_cast<const T*>(args.in[0]) + o * block,
                                          static_cast<T*>(args.out[0]) + o * block);
                              }
                            });
  return absl::OkStatus();
}

absl::Status RunScanHalf(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ScanState*>(state);
  const int64_t block = s.length * s.inner;
  std::vector<float> wide(block), scanned(block);
  for (int64_t o = 0; o < s.outer; ++o) {
    const void* in[] = {static_cast<const uint16_t*>(args.in[0]) + o * block};
    FindCastLoop(s.type, DataType::kFloat)(in, wide.data(), block, 0);
    ScanBlock(s, wide.data(), scanned.data());
    const void* back[] = {scanned.data()};
    FindCastLoop(DataType::kFloat, s.type)(back, static_cast<uint16_t*>(args.out[0]) + o * block,
                                           block, 0);
  }
  return absl::OkStatus();
}

RunFn FindRun(DataType t) {
  switch (t) {
    case DataType::kFloat:
      return RunScan<float>;
    case DataType::kDouble:
      return RunScan<double>;
    case DataType::kInt8:
      return RunScan<int8_t>;
    case DataType::kUint8:
      return RunScan<uint8_t>;
    case DataType::kInt16:
      return RunScan<int16_t>;
    case DataType::kUint16:
      return RunScan<uint16_t>;
    case DataType::kInt32:
      return RunScan<int32_t>;
    case DataType::kUint32:
      return RunScan<uint32_t>;
    case DataType::kInt64:
      return RunScan<int64_t>;
    case DataType::kUint64:
      return RunScan<uint64_t>;
    case DataType::kComplex64:
      return RunScan<std::complex<float>>;
    case DataType::kComplex128:
      return RunScan<std::complex<double>>;
    case DataType::kHalf:
    case DataType::kBfloat16:
      return RunScanHalf;
    default:
      return nullptr;
  }
}

absl::Status PrepareScan(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (p.input_shape(1).rank() != 0) return p.Invalid("'axis' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const int64_t axis_value, InputInt(p, 1));
  auto s = std::make_shared<ScanState>();
  TENON_ASSIGN_OR_RETURN(s->exclusive, p.AttrBool("exclusive"));
  TENON_ASSIGN_OR_RETURN(s->reverse, p.AttrBool("reverse"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, axis_value, in.rank()));
  s->outer = DimProduct(in, 0, axis);
  s->length = in.dim(axis);
  s->inner = DimProduct(in, axis + 1, in.rank());
  if (p.op().name == "Cumprod") s->op = ScanOp::kProduct;
  if (p.op().name == "CumulativeLogsumexp") s->op = ScanOp::kLogSumExp;
  s->type = p.input_type(0);
  p.set_output_shape(0, in);
  p.AllowInPlace(0, 0);
  const RunFn run = FindRun(s->type);
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
