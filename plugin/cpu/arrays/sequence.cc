// Sequences and arithmetic on shapes: Range, LinSpace, InvertPermutation, BroadcastArgs.
#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "graph/tensor/small_float.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// The element of a value input that is a scalar or, as TensorFlow takes it here, a vector of one;
// T is float for halves too.
template <typename T>
absl::StatusOr<T> ScalarValue(const Prepare& p, int i) {
  const Tensor* t = p.input_value(i);
  if (t == nullptr || t->shape().rank() > 1 || t->num_elements() != 1)
    return p.Invalid(absl::StrCat("input ", i, " must be a scalar"));
  T value{};
  if constexpr (std::is_same_v<T, float>) {
    VisitFloat(t->dtype(), [&](auto element) { value = element.template As<T>(t->data(), 0); });
  } else {
    value = PlainElement<T>().template As<T>(t->data(), 0);
  }
  return value;
}

// Writes n values value(i) of type T into output 0, known now.
template <typename T, typename F>
absl::Status SetSequence(Prepare& p, int64_t n, F value) {
  const Shape shape({n});
  TENON_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(p.output_type(0), shape));
  if constexpr (std::is_same_v<T, float>) {
    VisitFloat(out.dtype(), [&](auto element) {
      for (int64_t i = 0; i < n; ++i) element.Put(out.data(), i, value(i));
    });
  } else {
    for (int64_t i = 0; i < n; ++i) out.flat<T>()[i] = value(i);
  }
  p.set_output_shape(0, shape);
  p.set_output_value(0, std::move(out));
  return absl::OkStatus();
}

template <typename T>
absl::Status RangeOf(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const T start, ScalarValue<T>(p, 0));
  TENON_ASSIGN_OR_RETURN(const T limit, ScalarValue<T>(p, 1));
  TENON_ASSIGN_OR_RETURN(const T delta, ScalarValue<T>(p, 2));
  if (delta == 0) return p.Invalid("'delta' must not be zero");
  if (delta > 0 ? start > limit : start < limit) {
    return p.Invalid(absl::StrCat("from ", start, ", steps of ", delta, " do not lead to ", limit));
  }
  // Half and bfloat16 round after each operation, as in TensorFlow.
  const std::optional<SmallFloat> format = SmallFloatOf(p.output_type(0));
  [[maybe_unused]] const auto rounded = [&](T x) {
    return format.has_value() ? static_cast<T>(format->Decode(format->Encode(x))) : x;
  };
  int64_t n = 0;
  if constexpr (std::is_integral_v<T>) {
    // The distance of two int64 can need 65 bits.
    const __int128 span = static_cast<__int128>(limit) - start;
    const __int128 step = delta;
    const __int128 count =
        (span < 0 ? -span : span) / (step < 0 ? -step : step) + (span % step != 0);
    if (count > INT64_MAX) return p.Invalid("the range is too long");
    n = static_cast<int64_t>(count);
  } else {
    // Not in double for float: the rounding of the quotient decides on an element at the end, and
    // TensorFlow's counts so. 9e18 is below 2^63; the negation refuses a NaN as well.
    const T count = std::ceil(std::abs(rounded(rounded(limit - start) / delta)));
    if (!(count < 9e18)) return p.Invalid("the range is too long");
    n = static_cast<int64_t>(count);
  }
  return SetSequence<T>(p, n, [&](int64_t i) {
    if constexpr (std::is_integral_v<T>) {
      // In unsigned arithmetic, where wrapping is defined; the result is in range by the count.
      return static_cast<T>(static_cast<uint64_t>(start) +
                            static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
    } else {
      // A product for each element, not a running sum: errors do not add up along the sequence.
      return static_cast<T>(start + rounded(rounded(static_cast<T>(i)) * delta));
    }
  });
}

absl::Status PrepareRange(Prepare& p) {
  switch (p.output_type(0)) {
    case DataType::kInt32:
      return RangeOf<int32_t>(p);
    case DataType::kInt64:
      return RangeOf<int64_t>(p);
    case DataType::kDouble:
      return RangeOf<double>(p);
    case DataType::kInt8:
      return RangeOf<int8_t>(p);
    case DataType::kInt16:
      return RangeOf<int16_t>(p);
    case DataType::kUint16:
      return RangeOf<uint16_t>(p);
    case DataType::kUint32:
      return RangeOf<uint32_t>(p);
    default:
      return RangeOf<float>(p);
  }
}

template <typename T>
absl::Status LinSpaceOf(Prepare& p, int64_t n) {
  TENON_ASSIGN_OR_RETURN(const T start, ScalarValue<T>(p, 0));
  TENON_ASSIGN_OR_RETURN(const T stop, ScalarValue<T>(p, 1));
  const T step = n > 1 ? (stop - start) / static_cast<T>(n - 1) : T(0);
  return SetSequence<T>(p, n, [&](int64_t i) {
    if (i == 0) return start;
    // Exactly, whatever rounding does to the steps.
    if (i == n - 1) return stop;
    return static_cast<T>(start + step * static_cast<T>(i));
  });
}

absl::Status PrepareLinSpace(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckScalars(p, 0, 2));
  TENON_ASSIGN_OR_RETURN(const int64_t n, InputInt(p, 2));
  if (n <= 0) return p.Invalid(absl::StrCat("'num' must be positive: ", n));
  return p.output_type(0) == DataType::kDouble ? LinSpaceOf<double>(p, n) : LinSpaceOf<float>(p, n);
}

struct LengthState {
  int64_t n;
};

template <typename T>
absl::Status RunInvert(const void* state, const StepArgs& args) {
  const int64_t n = static_cast<const LengthState*>(state)->n;
  const T* x = static_cast<const T*>(args.in[0]);
  T* out = static_cast<T*>(args.out[0]);
  // -1 marks places that nothing has filled; n distinct values in [0, n) leave none.
  std::fill_n(out, n, T{-1});
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] < 0 || x[i] >= n)
      return absl::InvalidArgumentError(absl::StrCat(x[i], " is not between 0 and ", n));
    if (out[x[i]] != -1)
      return absl::InvalidArgumentError(absl::StrCat(x[i], " is duplicated in the permutation"));
    out[x[i]] = static_cast<T>(i);
  }
  return absl::OkStatus();
}

absl::Status PrepareInvertPermutation(Prepare& p) {
  if (p.input_shape(0).rank() != 1) return p.Invalid("the permutation must be a vector");
  p.set_output_shape(0, p.input_shape(0));
  p.set_run(p.input_type(0) == DataType::kInt64 ? &RunInvert<int64_t> : &RunInvert<int32_t>,
            std::make_shared<LengthState>(LengthState{p.input_shape(0).dim(0)}));
  return absl::OkStatus();
}

// Two vectors that say shapes, and what they broadcast to.
struct ShapePair {
  Dims a, b, both;
};
absl::StatusOr<ShapePair> ReadShapePair(const Prepare& p) {
  ShapePair s;
  TENON_ASSIGN_OR_RETURN(s.a, p.InputInts(0));
  TENON_ASSIGN_OR_RETURN(s.b, p.InputInts(1));
  if (p.input_shape(0).rank() != 1 || p.input_shape(1).rank() != 1)
    return p.Invalid("the shapes must be vectors");
  std::optional<Dims> both = BroadcastDims(s.a, s.b);
  if (!both.has_value()) {
    return p.Invalid(absl::StrCat("shapes ", Shape(s.a).ToString(), " and ", Shape(s.b).ToString(),
                                  " do not broadcast"));
  }
  s.both = *std::move(both);
  return s;
}

absl::Status PrepareBroadcastArgs(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const ShapePair s, ReadShapePair(p));
  return SetInts(p, 0, s.both, Shape({static_cast<int64_t>(s.both.size())}));
}

// Along which dimensions of the broadcast shape each operand's gradient is summed.
absl::Status PrepareBroadcastGradientArgs(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const ShapePair s, ReadShapePair(p));
  for (int i = 0; i < 2; ++i) {
    const Dims& own = i == 0 ? s.a : s.b;
    const Dims& other = i == 0 ? s.b : s.a;
    Dims axes;
    if (!(own == other)) {
      const size_t missing = s.both.size() - own.size();
      for (size_t d = 0; d < s.both.size(); ++d) {
        if (d < missing || own[d - missing] == 1) axes.push_back(static_cast<int64_t>(d));
      }
    }
    TENON_RETURN_IF_ERROR(SetInts(p, i, axes, Shape({static_cast<int64_t>(axes.size())})));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SequenceKernels() {
  constexpr uint64_t kRangeTypes =
      kFloatTypes | kSignedTypes | TypeBits(DataType::kUint16, DataType::kUint32);
  static const CpuKernelSpec specs[] = {
      {"Range", {{"Tidx", kRangeTypes}}, PrepareRange, 0b111},
      {"LinSpace", {{"T", kFloatTypes}}, PrepareLinSpace, 0b111},
      {"InvertPermutation", {}, PrepareInvertPermutation},
      {"BroadcastArgs", {}, PrepareBroadcastArgs, 0b11},
      {"BroadcastGradientArgs", {}, PrepareBroadcastGradientArgs, 0b11},
  };
  return specs;
}

}  // namespace tenon::cpu
