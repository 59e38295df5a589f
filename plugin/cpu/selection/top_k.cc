// TopKV2 and NthElement: the largest elements of each row.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/element.h"
#include "plugin/cpu/elementwise/element_op.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

namespace tenon::cpu {
namespace {

struct TopKState {
  int64_t rows = 1, columns = 0, k = 0;
  DataType type, index_type;
};

// Before in the result: larger, NaN above all; of equals the one that stands first.
template <typename T>
bool Before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(b)) return false;
    if (std::isnan(a)) return true;
  }
  return a > b;
}

// `key` orders, `value` (of the stored type) is copied.
template <typename T, typename V>
void TopRow(const TopKState& s, int64_t row, const T* key, const V* value, const StepArgs& args,
            std::vector<int64_t>* order) {
  order->resize(s.columns);
  std::iota(order->begin(), order->end(), 0);
  const auto before = [key](int64_t a, int64_t b) {
    if (Before(key[a], key[b])) return true;
    return !Before(key[b], key[a]) && a < b;
  };
  const auto middle = order->begin() + s.k;
  if (s.k < s.columns) std::nth_element(order->begin(), middle, order->end(), before);
  std::sort(order->begin(), middle, before);
  for (int64_t i = 0; i < s.k; ++i) {
    static_cast<V*>(args.out[0])[row * s.k + i] = value[(*order)[i]];
    StoreIndex(args.out[1], s.index_type, row * s.k + i, (*order)[i]);
  }
}

template <typename T>
absl::Status RunTopK(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TopKState*>(state);
  args.workers->ParallelFor(s.rows, GrainFor(s.columns * 32), [&](int64_t begin, int64_t end) {
    std::vector<int64_t> order;
    for (int64_t r = begin; r < end; ++r) {
      const T* x = static_cast<const T*>(args.in[0]) + r * s.columns;
      TopRow(s, r, x, x, args, &order);
    }
  });
  return absl::OkStatus();
}

absl::Status RunTopKHalf(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TopKState*>(state);
  std::vector<int64_t> order;
  std::vector<float> wide(s.columns);
  for (int64_t r = 0; r < s.rows; ++r) {
    const uint16_t* x = static_cast<const uint16_t*>(args.in[0]) + r * s.columns;
    const void* in[] = {x};
    FindCastLoop(s.type, DataType::kFloat)(in, wide.data(), s.columns, 0);
    TopRow(s, r, wide.data(), x, args, &order);
  }
  return absl::OkStatus();
}

// The n-th smallest (largest) of each row.
template <typename T>
absl::Status RunNth(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TopKState*>(state);
  T* const row = static_cast<T*>(args.scratch);
  for (int64_t r = 0; r < s.rows; ++r) {
    const T* x = static_cast<const T*>(args.in[0]) + r * s.columns;
    std::copy(x, x + s.columns, row);
    std::nth_element(row, row + s.k, row + s.columns, [](T a, T b) { return Before(b, a); });
    static_cast<T*>(args.out[0])[r] = row[s.k];
  }
  return absl::OkStatus();
}

absl::Status RunNthHalf(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TopKState*>(state);
  float* const row = static_cast<float*>(args.scratch);
  VisitFloat(s.type, [&](auto element) {
    for (int64_t r = 0; r < s.rows; ++r) {
      for (int64_t i = 0; i < s.columns; ++i)
        row[i] = element.template As<float>(args.in[0], r * s.columns + i);
      std::nth_element(row, row + s.k, row + s.columns,
                       [](float a, float b) { return Before(b, a); });
      element.Put(args.out[0], r, row[s.k]);
    }
  });
  return absl::OkStatus();
}

struct Runs {
  RunFn top = nullptr;
  RunFn nth = nullptr;
};
Runs FindRuns(DataType t) {
  switch (t) {
    case DataType::kFloat:
      return {RunTopK<float>, RunNth<float>};
    case DataType::kDouble:
      return {RunTopK<double>, RunNth<double>};
    case DataType::kInt8:
      return {RunTopK<int8_t>, RunNth<int8_t>};
    case DataType::kUint8:
      return {RunTopK<uint8_t>, RunNth<uint8_t>};
    case DataType::kInt16:
      return {RunTopK<int16_t>, RunNth<int16_t>};
    case DataType::kUint16:
      return {RunTopK<uint16_t>, RunNth<uint16_t>};
    case DataType::kInt32:
      return {RunTopK<int32_t>, RunNth<int32_t>};
    case DataType::kUint32:
      return {RunTopK<uint32_t>, RunNth<uint32_t>};
    case DataType::kInt64:
      return {RunTopK<int64_t>, RunNth<int64_t>};
    case DataType::kUint64:
      return {RunTopK<uint64_t>, RunNth<uint64_t>};
    case DataType::kHalf:
    case DataType::kBfloat16:
      return {RunTopKHalf, RunNthHalf};
    default:
      return {};
  }
}

absl::StatusOr<int64_t> ReadCount(const Prepare& p) {
  if (p.input_shape(1).rank() != 0) return p.Invalid("'k' must be a scalar");
  return InputInt(p, 1);
}

absl::Status PrepareTopK(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t k, ReadCount(p));
  if (in.rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  const int last = in.rank() - 1;
  if (k < 0 || k > in.dim(last))
    return p.Invalid(absl::StrCat("k must be between 0 and ", in.dim(last), ", it is ", k));
  auto s = std::make_shared<TopKState>();
  s->rows = DimProduct(in, 0, last);
  s->columns = in.dim(last);
  s->k = k;
  s->type = p.input_type(0);
  s->index_type = p.output_type(1);
  Shape out = in;
  out.set_dim(last, k);
  p.set_output_shape(0, out);
  p.set_output_shape(1, out);
  const RunFn run = FindRuns(s->type).top;
  if (run == nullptr) return p.Unimplemented("no CPU kernel for this type");
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareNth(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t n, ReadCount(p));
  TENON_ASSIGN_OR_RETURN(const bool reverse, p.AttrBool("reverse"));
  if (in.rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  const int last = in.rank() - 1;
  if (n < 0 || n >= in.dim(last))
    return p.Invalid(absl::StrCat("n must be between 0 and ", in.dim(last) - 1, ", it is ", n));
  auto s = std::make_shared<TopKState>();
  s->rows = DimProduct(in, 0, last);
  s->columns = in.dim(last);
  s->type = p.input_type(0);
  s->k = reverse ? in.dim(last) - 1 - n : n;
  Shape out;
  for (int d = 0; d < last; ++d) out.push_back(in.dim(d));
  p.set_output_shape(0, out);
  if (s->rows == 0) return absl::OkStatus();
  p.set_scratch_bytes(s->columns * sizeof(double));
  const RunFn run = FindRuns(s->type).nth;
  if (run == nullptr) return p.Unimplemented("no CPU kernel for this type");
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> TopKKernels() {
  static const CpuKernelSpec specs[] = {
      {"TopKV2", {{"T", kRealTypes}}, PrepareTopK, 0b10},
      {"NthElement", {{"T", kRealTypes}}, PrepareNth, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
