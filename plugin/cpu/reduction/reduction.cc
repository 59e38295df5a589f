// Sum, Mean, Prod, Max, Min, All, Any, EuclideanNorm.
//
// Dimensions are merged to a sequence of kept and reduced ones. Where the innermost is reduced,
// each output is a run over contiguous elements; where it is kept, whole rows are accumulated. Work
// is split over outputs, never over a sum, so that results do not depend on the number of threads.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/reduction/reduce_loops.h"
#include "plugin/cpu/reduction/reduce_shape.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {

namespace sse2 {
ReduceLoops FindReduceLoops(ReduceOp op, DataType t);
}
namespace avx2 {
ReduceLoops FindReduceLoops(ReduceOp op, DataType t);
}
namespace avx512 {
ReduceLoops FindReduceLoops(ReduceOp op, DataType t);
}

ReduceLoops FindReduceLoops(ReduceOp op, DataType t) {
  return SelectIsa(sse2::FindReduceLoops, avx2::FindReduceLoops, avx512::FindReduceLoops)(op, t);
}

namespace {

// --- Loops for types without vectors.

struct ComplexSum {
  template <typename C>
  static C Do(C a, C x) {
    return a + x;
  }
};
struct ComplexProd {
  template <typename C>
  static C Do(C a, C x) {
    return a * x;
  }
};
struct ComplexSquares {
  template <typename C>
  static C Do(C a, C x) {
    return a + C(std::norm(x));
  }
};

template <typename Op, typename C>
void ComplexRun(const void* x, int64_t n, void* acc) {
  C sum = *static_cast<C*>(acc);
  for (int64_t i = 0; i < n; ++i) sum = Op::Do(sum, C(static_cast<const C*>(x)[i]));
  *static_cast<C*>(acc) = sum;
}
template <typename Op, typename C>
void ComplexRows(const void* x, int64_t stride, int64_t rows, int64_t columns, void* acc) {
  for (int64_t r = 0; r < rows; ++r) {
    const C* row = reinterpret_cast<const C*>(static_cast<const char*>(x) + r * stride);
    for (int64_t j = 0; j < columns; ++j)
      static_cast<C*>(acc)[j] = Op::Do(static_cast<C*>(acc)[j], row[j]);
  }
}
template <typename C>
ReduceLoops FindComplex(ReduceOp op, DataType t) {
  switch (op) {
    case ReduceOp::kSum:
      return {&ComplexRun<ComplexSum, C>, &ComplexRows<ComplexSum, C>, t};
    case ReduceOp::kProd:
      return {&ComplexRun<ComplexProd, C>, &ComplexRows<ComplexProd, C>, t};
    case ReduceOp::kSumSquares:
      return {&ComplexRun<ComplexSquares, C>, &ComplexRows<ComplexSquares, C>, t};
    default:
      return {};
  }
}

// --- The step.

enum class Finish : uint8_t { kNone, kMean, kRoot };

struct ReduceState {
  ReduceLayout layout;
  ReduceLoops loops;
  ReduceOp op;
  Finish finish = Finish::kNone;
  DataType type;  // of the elements
  int64_t bytes;  // of an element
  int64_t acc_bytes;
  // Half precision is widened to float, integers to 64 bits for a mean.
  ElementLoop widen = nullptr;
  int64_t wide_bytes = 0;
  ElementLoop to_float = FindCastLoop(DataType::kDouble, DataType::kFloat);
  RepeatFn repeat = FindRepeat();
  int64_t tile_columns = 0;  // of a row of outputs, reduced together
  // The accumulator of no elements, of whatever type: 16 bytes hold complex128.
  alignas(16) char init[16] = {};
};

template <typename T>
T Lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::lowest();
}
template <typename T>
T Highest() {
  return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::max();
}

// The value of nothing, as an accumulator.
template <typename T>
void PutInit(ReduceOp op, char* to) {
  T value = T(0);
  if (op == ReduceOp::kProd) value = T(1);
  if constexpr (std::is_arithmetic_v<T>) {
    if (op == ReduceOp::kMax) value = Lowest<T>();
    if (op == ReduceOp::kMin) value = Highest<T>();
  }
  std::memcpy(to, &value, sizeof value);
}

// Of nothing: 0 for integers and, as in TensorFlow, for complex numbers; NaN for floats.
template <typename T>
T MeanOf(T sum, int64_t n) {
  if constexpr (std::is_integral_v<T>) {
    return n == 0
               ? T(0)
               : static_cast<T>(
                     static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(sum) /
                     n);
  } else if constexpr (std::is_floating_point_v<T>) {
    return sum / static_cast<T>(n);
  } else {
    using R = typename T::value_type;
    if (n == 0) return T();
    return T(sum.real() / static_cast<R>(n), sum.imag() / static_cast<R>(n));
  }
}
template <typename T>
T RootOf(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::sqrt(static_cast<double>(x)));
  } else {
    return std::sqrt(x);
  }
}

// n accumulators of type A to results of type T.
template <typename A, typename T>
void Store(const ReduceState& s, const void* acc, int64_t n, void* out) {
  for (int64_t j = 0; j < n; ++j) {
    A value = static_cast<const A*>(acc)[j];
    if (s.finish == Finish::kMean) value = MeanOf<A>(value, s.layout.reduced_count);
    if (s.finish == Finish::kRoot) value = RootOf<A>(value);
    static_cast<T*>(out)[j] = static_cast<T>(value);
  }
}

void StoreFloats(const ReduceState& s, const void* acc, int64_t n, void* out) {
  if (s.finish != Finish::kNone) return Store<double, float>(s, acc, n, out);
  s.to_float(&acc, out, n, 0);
}

void StoreAll(const ReduceState& s, const void* acc, int64_t n, void* out) {
  if (s.finish == Finish::kNone && s.loops.acc_type == s.type) {
    std::memcpy(out, acc, n * s.bytes);
    return;
  }
  // A mean of narrow integers: the sum has 64 bits, is divided, and only then narrowed.
  if (s.finish == Finish::kMean && s.widen != nullptr && HasType(kIntTypes, s.type)) {
    int64_t wide[kReduceColumns];
    s.loops.acc_type == DataType::kInt64 ? Store<int64_t, int64_t>(s, acc, n, wide)
                                         : Store<uint64_t, uint64_t>(s, acc, n, wide);
    const void* in[] = {wide};
    FindCastLoop(s.loops.acc_type, s.type)(in, out, n, 0);
    return;
  }
  switch (s.type) {
    case DataType::kFloat:
      return s.loops.acc_type == DataType::kDouble ? StoreFloats(s, acc, n, out)
                                                   : Store<float, float>(s, acc, n, out);
    case DataType::kHalf:
    case DataType::kBfloat16: {
      float wide[kReduceColumns];
      s.loops.acc_type == DataType::kDouble ? StoreFloats(s, acc, n, wide)
                                            : Store<float, float>(s, acc, n, wide);
      const void* in[] = {wide};
      FindCastLoop(DataType::kFloat, s.type)(in, out, n, 0);
      return;
    }
    case DataType::kDouble:
      return Store<double, double>(s, acc, n, out);
    case DataType::kInt8:
      return Store<int8_t, int8_t>(s, acc, n, out);
    case DataType::kUint8:
    case DataType::kBool:
      return Store<uint8_t, uint8_t>(s, acc, n, out);
    case DataType::kInt16:
      return Store<int16_t, int16_t>(s, acc, n, out);
    case DataType::kUint16:
      return Store<uint16_t, uint16_t>(s, acc, n, out);
    case DataType::kInt32:
      return Store<int32_t, int32_t>(s, acc, n, out);
    case DataType::kUint32:
      return Store<uint32_t, uint32_t>(s, acc, n, out);
    case DataType::kInt64:
      return Store<int64_t, int64_t>(s, acc, n, out);
    case DataType::kUint64:
      return Store<uint64_t, uint64_t>(s, acc, n, out);
    case DataType::kComplex64:
      return Store<std::complex<float>, std::complex<float>>(s, acc, n, out);
    case DataType::kComplex128:
      return Store<std::complex<double>, std::complex<double>>(s, acc, n, out);
    default:
      return;
  }
}

// A tile of widened rows should stay in the first cache.
constexpr int64_t kWidenedColumns = 256;

void CallRun(const ReduceState& s, const char* x, int64_t n, void* acc) {
  if (s.widen == nullptr) return s.loops.run(x, n, acc);
  // 8 KB: elements of at most 8 bytes, widened, stay in the first cache.
  double wide[1024];
  for (int64_t i = 0; i < n; i += 1024) {
    const int64_t count = std::min<int64_t>(1024, n - i);
    const void* in[] = {x + i * s.bytes};
    s.widen(in, wide, count, 0);
    s.loops.run(wide, count, acc);
  }
}

void CallRows(const ReduceState& s, const char* x, int64_t stride, int64_t rows, int64_t columns,
              void* acc) {
  if (s.widen == nullptr) return s.loops.rows(x, stride, rows, columns, acc);
  double wide[8 * kWidenedColumns];
  const int64_t line = columns * s.wide_bytes;
  for (int64_t r = 0; r < rows; r += 8) {
    const int64_t count = std::min<int64_t>(8, rows - r);
    for (int64_t k = 0; k < count; ++k) {
      const void* in[] = {x + (r + k) * stride};
      s.widen(in, reinterpret_cast<char*>(wide) + k * line, columns, 0);
    }
    s.loops.rows(wide, line, count, columns, acc);
  }
}

// Visits every combination of the reduced dimensions but the innermost one.
template <typename F>
void ForReduced(const ReduceLayout& l, const char* x, F visit) {
  const int outer = static_cast<int>(l.reduced_size.size()) - 1;
  Dims index(std::max(outer, 0), 0);
  for (;;) {
    visit(x);
    int d = outer - 1;
    for (; d >= 0; --d) {
      x += l.reduced_stride[d];
      if (++index[d] < l.reduced_size[d]) break;
      x -= index[d] * l.reduced_stride[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

// Whether each output comes from few enough elements, evenly spaced, to be reduced without an
// accumulator.
bool IsShort(const ReduceState& s, int64_t most) {
  return s.loops.short_runs != nullptr && s.widen == nullptr && s.layout.reduced_size.size() == 1 &&
         s.layout.reduced_count > 0 && s.layout.reduced_count <= most;
}

void FinishShort(const ReduceState& s, void* out, int64_t n) {
  if (s.finish == Finish::kMean) Store<float, float>(s, out, n, out);
}

void ReduceShortRuns(const ReduceState& s, const char* x, char* out, int64_t begin, int64_t end) {
  const ReduceLayout& l = s.layout;
  char* to = out + begin * s.bytes;
  // With one reduced dimension, the innermost, all kept dimensions have merged into one.
  const int64_t stride = l.kept_stride.empty() ? 0 : l.kept_stride.back();
  s.loops.short_runs(x + begin * stride, stride, end - begin, l.reduced_count, to);
  FinishShort(s, to, end - begin);
}

// Outputs [begin, end), each reduced from contiguous runs.
void ReduceRuns(const ReduceState& s, const char* x, char* out, int64_t begin, int64_t end) {
  const ReduceLayout& l = s.layout;
  for (int64_t o = begin; o < end; ++o) {
    alignas(16) char acc[16];
    std::memcpy(acc, s.init, 16);
    if (l.reduced_count > 0) {
      ForReduced(l, x + l.KeptOffset(o),
                 [&](const char* run) { CallRun(s, run, l.reduced_size.back(), acc); });
    }
    StoreAll(s, acc, 1, out + o * s.bytes);
  }
}

// Tiles [begin, end): a tile is up to tile_columns outputs of one row of outputs.
void ReduceRowTiles(const ReduceState& s, const char* x, char* out, int64_t begin, int64_t end) {
  const ReduceLayout& l = s.layout;
  const int64_t tiles = (l.columns + s.tile_columns - 1) / s.tile_columns;
  const bool few = IsShort(s, kReduceShortRows);
  alignas(64) char acc[kReduceColumns * 16];
  for (int64_t t = begin; t < end; ++t) {
    const int64_t row = t / tiles;
    const int64_t column = t % tiles * s.tile_columns;
    const int64_t count = std::min(s.tile_columns, l.columns - column);
    const char* from = x + l.KeptOffset(row) + column * s.bytes;
    char* to = out + (row * l.columns + column) * s.bytes;
    if (few) {
      s.loops.short_rows(from, l.reduced_stride.back(), l.reduced_count, count, to);
      FinishShort(s, to, count);
      continue;
    }
    s.repeat(s.init, s.acc_bytes, count, acc);
    if (l.reduced_count > 0) {
      ForReduced(l, from, [&](const char* rows) {
        CallRows(s, rows, l.reduced_stride.back(), l.reduced_size.back(), count, acc);
      });
    }
    StoreAll(s, acc, count, to);
  }
}

absl::Status RunReduce(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ReduceState*>(state);
  const ReduceLayout& l = s.layout;
  const char* x = static_cast<const char*>(args.in[0]);
  char* out = static_cast<char*>(args.out[0]);
  if (l.inner_reduced && IsShort(s, s.loops.short_run)) {
    args.workers->ParallelFor((l.kept_count + kReduceRuns - 1) / kReduceRuns,
                              GrainFor(kReduceRuns * l.reduced_count * s.bytes),
                              [&](int64_t begin, int64_t end) {
                                // Whole blocks of kReduceRuns runs: a run then shares its vector
                                // with the same runs, and rounds alike, whatever the number of
                                // threads.
                                ReduceShortRuns(s, x, out, begin * kReduceRuns,
                                                std::min(end * kReduceRuns, l.kept_count));
                              });
    return absl::OkStatus();
  }
  if (l.inner_reduced) {
    args.workers->ParallelFor(
        l.kept_count, GrainFor(l.reduced_count * s.bytes),
        [&](int64_t begin, int64_t end) { ReduceRuns(s, x, out, begin, end); });
    return absl::OkStatus();
  }
  const int64_t tiles = (l.columns + s.tile_columns - 1) / s.tile_columns;
  args.workers->ParallelFor(
      l.kept_count * tiles,
      GrainFor(l.reduced_count * std::min(l.columns, s.tile_columns) * s.bytes),
      [&](int64_t begin, int64_t end) { ReduceRowTiles(s, x, out, begin, end); });
  return absl::OkStatus();
}

// Wide tiles read memory in long pieces; narrow ones can be shared. The numbers are the same.
int64_t TileColumns(const ReduceState& s, int threads) {
  constexpr int64_t kLeast = 64;
  const int64_t share = s.layout.columns * s.layout.kept_count / threads;
  return std::clamp(share / kLeast * kLeast, kLeast,
                    s.widen != nullptr ? kWidenedColumns : kReduceColumns);
}

bool FillState(ReduceState* s) {
  DataType compute = s->type;
  if (HasType(kHalfTypes, compute)) {
    s->widen = FindCastLoop(compute, DataType::kFloat);
    compute = DataType::kFloat;
  } else if (s->finish == Finish::kMean && HasType(kIntTypes, compute) &&
             DataTypeSize(compute) < 8) {
    const DataType wide = HasType(kSignedTypes, compute) ? DataType::kInt64 : DataType::kUint64;
    s->widen = FindCastLoop(compute, wide);
    compute = wide;
  }
  s->wide_bytes = static_cast<int64_t>(DataTypeSize(compute));
  s->loops = FindReduceLoops(s->op, compute);
  if (compute == DataType::kComplex64) s->loops = FindComplex<std::complex<float>>(s->op, compute);
  if (compute == DataType::kComplex128)
    s->loops = FindComplex<std::complex<double>>(s->op, compute);
  if (s->loops.run == nullptr) return false;
  s->acc_bytes = static_cast<int64_t>(DataTypeSize(s->loops.acc_type));
  switch (s->loops.acc_type) {
    case DataType::kFloat:
      PutInit<float>(s->op, s->init);
      break;
    case DataType::kDouble:
      PutInit<double>(s->op, s->init);
      break;
    case DataType::kInt8:
      PutInit<int8_t>(s->op, s->init);
      break;
    case DataType::kUint8:
      PutInit<uint8_t>(s->op, s->init);
      break;
    case DataType::kBool:
      PutInit<bool>(s->op, s->init);
      break;
    case DataType::kInt16:
      PutInit<int16_t>(s->op, s->init);
      break;
    case DataType::kUint16:
      PutInit<uint16_t>(s->op, s->init);
      break;
    case DataType::kInt32:
      PutInit<int32_t>(s->op, s->init);
      break;
    case DataType::kUint32:
      PutInit<uint32_t>(s->op, s->init);
      break;
    case DataType::kInt64:
      PutInit<int64_t>(s->op, s->init);
      break;
    case DataType::kUint64:
      PutInit<uint64_t>(s->op, s->init);
      break;
    case DataType::kComplex64:
      PutInit<std::complex<float>>(s->op, s->init);
      break;
    case DataType::kComplex128:
      PutInit<std::complex<double>>(s->op, s->init);
      break;
    default:
      return false;
  }
  return true;
}

template <ReduceOp kOp, Finish kFinish>
absl::Status PrepareReduce(Prepare& p) {
  auto state = std::make_shared<ReduceState>();
  state->op = kOp;
  state->finish = kFinish;
  state->type = p.input_type(0);
  state->bytes = static_cast<int64_t>(DataTypeSize(state->type));
  TENON_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReadReducedAxes(p));
  TENON_ASSIGN_OR_RETURN(const bool keep_dims, p.AttrBool("keep_dims"));
  p.set_output_shape(0, ReducedShape(p.input_shape(0), reduced, keep_dims));
  state->layout = ReduceLayout::Make(p.input_shape(0), reduced, state->bytes);
  // One element each: the result is the input (but for a norm, which drops the sign).
  if (state->layout.reduced_count == 1 && kFinish != Finish::kRoot) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  if (!FillState(state.get())) return p.Unimplemented("no CPU kernel for this type");
  state->tile_columns = TileColumns(*state, p.workers().threads());
  p.set_run(&RunReduce, std::move(state));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> ReductionKernels() {
  static const CpuKernelSpec specs[] = {
      {"Sum", {{"T", kNumberTypes}}, PrepareReduce<ReduceOp::kSum, Finish::kNone>, 0b10},
      {"Mean", {{"T", kNumberTypes}}, PrepareReduce<ReduceOp::kSum, Finish::kMean>, 0b10},
      {"Prod", {{"T", kNumberTypes}}, PrepareReduce<ReduceOp::kProd, Finish::kNone>, 0b10},
      {"Max", {{"T", kRealTypes}}, PrepareReduce<ReduceOp::kMax, Finish::kNone>, 0b10},
      {"Min", {{"T", kRealTypes}}, PrepareReduce<ReduceOp::kMin, Finish::kNone>, 0b10},
      {"EuclideanNorm",
       {{"T", kNumberTypes}},
       PrepareReduce<ReduceOp::kSumSquares, Finish::kRoot>,
       0b10},
      // On bytes of 0 and 1 "all" is the minimum and "any" the maximum.
      {"All", {}, PrepareReduce<ReduceOp::kMin, Finish::kNone>, 0b10},
      {"Any", {}, PrepareReduce<ReduceOp::kMax, Finish::kNone>, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
